/** What conditions about feedback share: their subjects and pages. */

import type { Config } from '../../config/config.ts';
import type { Db, Tx } from '../../store/open.ts';
import type { OpenedIncident } from './condition.ts';

/** The subject is the ID of a source. */
export async function findSources(
  db: Db | Tx,
  _config: Config,
  subjects: string[],
): Promise<Set<string>> {
  const rows = await db
    .selectFrom('feedback_sources')
    .select('id')
    .where('id', 'in', subjects)
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** The subject is the name of a domain. */
export async function findDomains(
  db: Db | Tx,
  _config: Config,
  subjects: string[],
): Promise<Set<string>> {
  const rows = await db
    .selectFrom('domains')
    .select('name')
    .where('name', 'in', subjects)
    .execute();
  return new Set(rows.map(({ name }) => name));
}

export const sourcePage = ({ subject }: Pick<OpenedIncident, 'subject'>) => ({
  label: 'Open the source',
  path: `/feedback/sources/${subject}`,
});

export const domainPage = ({ value }: Pick<OpenedIncident<{ domain_id: string }>, 'value'>) => ({
  label: 'View what receivers report',
  path: `/feedback/domains/${value.domain_id}`,
});
