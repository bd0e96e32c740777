/** The advice on the policy of a domain, from what is stored about it. */

import type { App } from '../../app.ts';
import { feedbackOf } from '../../domains/feedback/state.ts';
import { dayBefore, type Period, reporterCount } from '../sums.ts';
import { type Advice, adviseOn, MIN_DAYS } from './advice.ts';
import { messagesOf, type SourceSums, sourcesOf, unnamedMessages } from './queries.ts';

export interface StoredAdvice extends Advice {
  /** The sources that the advice names, with their sums. */
  sources: SourceSums[];
}

export async function adviceFor(app: App, period: Period): Promise<StoredAdvice> {
  const { db } = app;
  const { domain, from } = period;
  // The current day is not over: only reporters in other time zones cover a part of it.
  const to = dayBefore(period.to, 1);
  const past = { domain, from, to };
  const days = await db
    .selectFrom('dmarc_days')
    .select('day')
    .where('domain_id', '=', domain.id)
    .where('day', '>=', from)
    .where('day', '<=', to)
    .where('messages', '>', 0)
    .orderBy('day')
    .execute();
  const sources = await sourcesOf(db, past);
  const recent = await messagesOf(db, { domain, from: dayBefore(to, MIN_DAYS - 1), to });
  const { address, records } = await feedbackOf(app, db, domain);
  const advice = adviseOn({
    // Until the first lookup, nothing is known about it.
    record: records.length === 0 ? undefined : records[0]!.current,
    proposal: records[0]?.value ?? `v=DMARC1; p=none; rua=mailto:${address}`,
    unnamed: await unnamedMessages(db, past),
    days: days.map(({ day }) => day),
    reporters: await reporterCount(db, past),
    sources: sources.map(({ row, kind, messages, passed }) => ({
      id: row.id,
      name: row.label ?? row.name,
      kind,
      messages,
      passed,
      recent: recent.get(row.id) ?? { messages: 0, passed: 0 },
    })),
  });
  return { ...advice, sources };
}
