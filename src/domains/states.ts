/** The states of domains in lists. */

import { sql } from 'kysely';

/** In the order of lists: what fails comes first, what is fine last. */
export const DOMAIN_STATES = [
  'critical',
  'failed',
  'warning',
  'pending',
  'unknown',
  'healthy',
] as const;
export type DomainState = (typeof DOMAIN_STATES)[number];

/** The state of a row of `domains`. Health counts for verified domains only: the others are no longer checked, or not yet. */
export const STATE_SQL = sql<DomainState>`case when domains.status = 'verified' then domains.health_status else domains.status end`;
