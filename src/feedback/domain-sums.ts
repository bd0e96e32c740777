/** The sums of several domains, for lists. */

import type { Db } from '../store/open.ts';

/** By the ID of the domain. `from` and `to` are days. */
export async function sumsOfDomains(
  db: Db,
  { ids, from, to }: { ids: string[]; from: string; to: string },
): Promise<Map<string, { messages: number; passed: number }>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('dmarc_days')
    .select('domain_id')
    .select(({ fn }) => [fn.sum('messages').as('messages'), fn.sum('passed').as('passed')])
    .where('domain_id', 'in', ids)
    .where('day', '>=', from)
    .where('day', '<=', to)
    .groupBy('domain_id')
    .execute();
  return new Map(
    rows.map(({ domain_id, messages, passed }) => [
      domain_id,
      { messages: Number(messages), passed: Number(passed) },
    ]),
  );
}
