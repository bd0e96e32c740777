/** The states of domains in lists. */

import { sql } from 'kysely';
import type { ListedDomain } from './schema.ts';

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

type Status = Pick<ListedDomain, 'status'> & { health: Pick<ListedDomain['health'], 'status'> };

/** Health counts for verified domains only: the others are no longer checked, or not yet. */
export const domainStateOf = ({ status, health }: Status): DomainState =>
  status === 'verified' ? health.status : status;

/** The same in SQL. */
export const STATE_SQL = sql<DomainState>`case when domains.status = 'verified' then domains.health_status else domains.status end`;
