/** What conditions about feedback share: their subjects and pages. */

import type { Config } from '../../config/config.ts';
import type { Db, Tx } from '../../store/open.ts';
import type { IncidentEnd, OpenedIncident } from './condition.ts';

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

/** The texts if an incident ends because its source was removed. */
export const sourceRemoved = ({
  value: { domain, source },
}: Pick<OpenedIncident<{ domain: string; source: string }>, 'value'>) => ({
  title: `${source} is no longer a source of ${domain}`,
  lead: 'The incident is resolved because the source or its domain was removed.',
});

/** The texts if an incident ends because its domain was removed. */
export const domainRemoved = ({ subject }: Pick<OpenedIncident, 'subject'>) => ({
  title: `${subject} was removed`,
  lead: 'The incident is resolved because the domain was removed.',
});

export const domainPage = ({ value }: Pick<OpenedIncident<{ domain_id: string }>, 'value'>) => ({
  label: 'View what receivers report',
  path: `/feedback/domains/${value.domain_id}`,
});

/** Without reports for a week, nobody knows whether the condition is still met. */
export const endsWithoutReports = (
  _opened: unknown,
  { day }: { day: string | null },
  { answer }: { answer: 'no' | 'unknown' },
): IncidentEnd | null => {
  if (day === null) return 'no_longer_watched';
  return answer === 'no' ? 'condition_ended' : null;
};

export const noReports =
  (type: 'TLS' | 'DMARC') =>
  ({ subject }: Pick<OpenedIncident, 'subject'>) => ({
    title: `No recent ${type} reports about ${subject}`,
    lead: `The incident is resolved because no ${type} report has arrived for a week, or because the domain was removed. The problem may persist.`,
  });
