/** What conditions about the team's own domains share: their subjects, which begin with the name of a verified domain. */

import type { Config } from '../../config/config.ts';
import type { Db, Tx } from '../../store/open.ts';

const nameIn = (subject: string): string => subject.split(' ')[0]!;

export async function findVerified(
  db: Db | Tx,
  _config: Config,
  subjects: string[],
): Promise<Set<string>> {
  const rows = await db
    .selectFrom('domains')
    .select('name')
    .where('name', 'in', subjects.map(nameIn))
    .where('status', '=', 'verified')
    .execute();
  const names = new Set(rows.map(({ name }) => name));
  return new Set(subjects.filter((subject) => names.has(nameIn(subject))));
}

export const healthPage = ({ value }: { value: { domain_id: string } }) => ({
  label: 'View all domain checks',
  path: `/domains/${value.domain_id}`,
});

/** The texts if an incident ends because nobody looks at its domain anymore. */
export const noLongerVerified = ({ subject }: { subject: string }) => ({
  title: `${nameIn(subject)} is no longer watched`,
  lead: 'The incident is resolved because the domain was removed, or is no longer verified. The problem may persist.',
});
