/** The columns that the table of domains can be sorted by, as SQL. What is not known is null, and comes last. */

import { type Expression, sql } from 'kysely';
import { DOMAIN_STATES, STATE_SQL } from '../domains/states.ts';

type Value = string | number | null;

export interface SortColumn {
  value: Expression<Value>;
  /** The order that people want first. */
  order: 'asc' | 'desc';
}

const asc = (value: Expression<Value>): SortColumn => ({ value, order: 'asc' });
const desc = (value: Expression<Value>): SortColumn => ({ value, order: 'desc' });

const stateRank = sql<Value>`case ${STATE_SQL} ${sql.join(
  DOMAIN_STATES.map((state, rank) => sql`when ${sql.lit(state)} then ${sql.lit(rank)}`),
  sql` `,
)} end`;

const policyRank = sql<Value>`case digest.policy when 'missing' then 0 when 'none' then 200 + digest.pct when 'quarantine' then 400 + digest.pct when 'reject' then 600 + digest.pct end`;

export const COLUMNS = {
  name: asc(sql<Value>`domains.name`),
  state: asc(stateRank),
  tags: asc(sql<Value>`nullif(domains.tags, '[]')`),
  policy: asc(policyRank),
  spf: asc(sql<Value>`digest.spf_rate`),
  dkim: asc(sql<Value>`digest.dkim_rate`),
  dmarc: asc(sql<Value>`digest.dmarc_rate`),
  spam_rate: desc(sql<Value>`digest.spam_rate`),
  placement: asc(sql<Value>`digest.inbox_rate`),
  last_change: desc(sql<Value>`digest.changed_at`),
  next_step: desc(sql<Value>`nullif(digest.cost, 0)`),
} as const satisfies Record<string, SortColumn>;

export type Sort = keyof typeof COLUMNS;
export const SORTS = Object.keys(COLUMNS) as [Sort, ...Sort[]];
