/** The advice on the policy of a domain, from what is stored about it. */

import type { App } from '../../app.ts';
import { feedbackOf } from '../../domains/feedback/state.ts';
import { dayBefore, type Period, reporterCount } from '../sums.ts';
import { type Advice, type AdvisedSource, adviseOn, MIN_DAYS, nextStep } from './advice.ts';
import { basisOf } from './kind.ts';
import { messagesOf, type SourceSums, sourcesOf, unnamedFailures } from './queries.ts';
import { sumsByFrom } from './sums-by-from.ts';

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
