/** The advice on the policy of a domain, from what is stored about it. */

import { sql } from 'kysely';
import type { App } from '../../app.ts';
import { feedbackOf } from '../../domains/feedback/state.ts';
import type { Db } from '../../store/open.ts';
import { dayBefore, type Period, reporterCount } from '../sums.ts';
import { type Advice, type AdvisedSource, adviseOn, MIN_DAYS, nextStep } from './advice.ts';
import { rowSums, SUM_COLUMNS, type SumColumn } from './days.ts';
import { basisOf } from './kind.ts';
import type { PolicyStep } from './policy-step.ts';
import { messagesOf, type SourceSums, sourcesOf, unnamedFailures } from './queries.ts';
import { senderOf } from './tenants.ts';

export interface StoredAdvice extends Advice {
  /** The sources that the advice names, with sums of the messages that the next step affects. */
  sources: SourceSums[];
}

export async function adviceFor(app: App, period: Period): Promise<StoredAdvice> {
  const { db } = app;
  const { domain, from } = period;
  // The current day is not over: only reporters in other time zones cover a part of it.
  const to = dayBefore(period.to, 1);
  const past = { domain, from, to };
  const lately = { domain, from: dayBefore(to, MIN_DAYS - 1), to };
  const days = await db
    .selectFrom('dmarc_days')
    .select('day')
    .where('domain_id', '=', domain.id)
    .where('day', '>=', from)
    .where('day', '<=', to)
    .where('messages', '>', 0)
    .orderBy('day')
    .execute();
  const { address, records, isParked, proposal } = await feedbackOf(app, db, domain);
  const all = await sourcesOf(db, past);
  const input = {
    // Until the first lookup, nothing is known about it.
    record: records.length === 0 ? undefined : records[0]!.current,
    proposal: proposal ?? `v=DMARC1; p=none; rua=mailto:${address}`,
    isParked,
    unnamed: await unnamedFailures(db, past),
    days: days.map(({ day }) => day),
    reporters: await reporterCount(db, past),
    sources: advised(all, await messagesOf(db, lately)),
  };
  const { scope = 'all' } = nextStep(input) ?? {};
  if (scope === 'all') return { ...adviseOn(input), sources: all };
  const sums = await sumsByFrom(db, past, scope);
  const sources = all.flatMap((source) => {
    const counts = sums.get(source.row.id);
    return counts ? [{ ...source, ...counts }] : [];
  });
  const affected = advised(sources, await sumsByFrom(db, lately, scope));
  return { ...adviseOn({ ...input, affected }), sources };
}

const advised = (
  sources: SourceSums[],
  recent: Map<string, { messages: number; passed: number }>,
): AdvisedSource[] =>
  sources.map(({ row, kind, messages, passed }) => ({
    id: row.id,
    name: row.label ?? row.name,
    kind,
    isService: row.mark === null && basisOf(row.key) === 'service',
    messages,
    passed,
    recent: recent.get(row.id) ?? { messages: 0, passed: 0 },
  }));

type Sums = Record<SumColumn, number>;

/**
 * The sums of sources by the domain in From, by the ID of the source: `p` applies to the domain itself, and `sp` to its subdomains.
 * Read from the rows, which only a record with a policy for subdomains needs.
 */
async function sumsByFrom(
  db: Db,
  { domain, from, to }: Period,
  scope: Exclude<PolicyStep['scope'], 'all'>,
): Promise<Map<string, Sums>> {
  const isOfDomain = sql`coalesce(r.header_from, ${domain.name}) = ${domain.name}`;
  const { rows } = await sql<Record<SumColumn | 'source_id', string>>`
    select a.source_id, ${rowSums}
    from dmarc_rows r
    inner join feedback_addresses a on a.id = r.domain_id || ' ' || ${senderOf('r')}
    where r.domain_id = ${domain.id} and r.counted = 1 and r.day >= ${from} and r.day <= ${to}
      and a.source_id is not null
      and ${scope === 'domain' ? isOfDomain : sql`not ${isOfDomain}`}
    group by a.source_id`.execute(db);
  return new Map(
    rows.map(({ source_id, ...counts }) => [
      source_id,
      Object.fromEntries(SUM_COLUMNS.map((name) => [name, Number(counts[name])])) as Sums,
    ]),
  );
}
