/** The state of all domains at a glance: how many are in which state. */

import type { Db } from '../store/open.ts';
import type { DomainRow } from '../store/tables.generated.ts';

export interface DomainCounts {
  /** Verified domains by the result of their last health check. */
  health: Record<DomainRow['health_status'], number>;
  pending: number;
  failed: number;
  total: number;
}

/** Counts all domains by state, with one query. */
export async function countDomains(db: Db): Promise<DomainCounts> {
  const rows = await db
    .selectFrom('domains')
    .select(({ fn }) => ['status', 'health_status', fn.countAll<number | string>().as('count')])
    .groupBy(['status', 'health_status'])
    .execute();
  const count = (matches: (row: (typeof rows)[number]) => boolean) =>
    rows.filter(matches).reduce((sum, row) => sum + Number(row.count), 0);
  const verified = (health: DomainRow['health_status']) =>
    count(({ status, health_status }) => status === 'verified' && health_status === health);
  return {
    health: {
      healthy: verified('healthy'),
      warning: verified('warning'),
      critical: verified('critical'),
      unknown: verified('unknown'),
    },
    pending: count(({ status }) => status === 'pending'),
    failed: count(({ status }) => status === 'failed'),
    total: count(() => true),
  };
}

/** The domain whose verification was requested last and is not complete. */
export async function findUnverifiedDomain(
  db: Db,
): Promise<Pick<DomainRow, 'id' | 'name'> | undefined> {
  return db
    .selectFrom('domains')
    .select(['id', 'name'])
    .where('status', '!=', 'verified')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** The domain with exactly this name, in A-labels. */
export async function findDomainByName(
  db: Db,
  name: string,
): Promise<Pick<DomainRow, 'id' | 'name'> | undefined> {
  return db
    .selectFrom('domains')
    .select(['id', 'name'])
    .where('name', '=', name)
    .executeTakeFirst();
}
