/** What conditions about feedback share: their subjects and pages. */

import type { Config } from '../../config/config.ts';
import type { EventType } from '../../events/events.ts';
import { formatCount } from '../../lib/format/numbers.ts';
import { idAt } from '../../lib/ids.ts';
import type { Db, Tx } from '../../store/open.ts';
import type { IncidentEnd, OpenedIncident } from './condition.ts';
import { type History, keptSince } from './history.ts';

/** Feedback has an event for each time that such a rule alerts. Without reports, there is no data. */
export const countedByEvents = (type: EventType): History => ({
  missing: 'no DMARC or TLS report',
  async timesSince(reading) {
    const since = keptSince(reading);
    const { times, last_at } = await reading.db
      .selectNoFrom(({ selectFrom }) => [
        selectFrom('events')
          .select(({ fn }) => fn.countAll<number | string>().as('count'))
          .where('type', '=', type)
          .where('id', '>=', idAt('evt', Date.parse(since)))
          .as('times'),
        selectFrom('feedback_domains')
          .select(({ fn }) => fn.max('last_at').as('last_at'))
          .as('last_at'),
      ])
      .executeTakeFirstOrThrow();
    return last_at !== null && last_at >= since ? { times: Number(times), since } : null;
  },
});

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

/** What incidents about a source store of it. */
export interface SourceValue {
  /** The name of the domain. */
  domain: string;
  /** The name of the source. */
  source: string;
  /** Its name when the incident was opened, if its addresses belong to another source since. */
  earlier_source?: string;
  /** The name of the source that its addresses belong to since the incident ended. */
  moved_to?: string;
}

export const movedSource = <Value extends SourceValue>(
  value: Value,
  { name }: { name: string },
  isFollowing: boolean,
): Value =>
  isFollowing
    ? { ...value, source: name, earlier_source: value.earlier_source ?? value.source }
    : { ...value, moved_to: name };

/** What was measured about every source, in the order of the notification. */
export const sourceFacts = ({
  domain,
  earlier_source,
}: SourceValue): [label: string, value: string][] => [
  ['Domain', domain],
  ...(earlier_source ? [['Named before', earlier_source] as [string, string]] : []),
];

/** The texts if an incident ends because its addresses belong to another source, or because of what `lead` says. */
export const sourceGone =
  (lead: string) =>
  ({ value: { domain, source, moved_to } }: Pick<OpenedIncident<SourceValue>, 'value'>) =>
    moved_to === undefined
      ? { title: `Mail from ${domain} sent through ${source} is no longer watched`, lead }
      : {
          title: `${source} now counts as ${moved_to}`,
          lead: `The addresses of ${source} belong to the source ${moved_to} of ${domain}, so the incident is resolved. If the problem persists there, that source has its own incident.`,
        };

/** The texts if an incident ends because its domain was removed. */
export const domainRemoved = ({ subject }: Pick<OpenedIncident, 'subject'>) => ({
  title: `${subject} was removed`,
  lead: 'The incident is resolved because the domain was removed.',
});

export const domainPage = ({ value }: Pick<OpenedIncident<{ domain_id: string }>, 'value'>) => ({
  label: 'View what receivers report',
  path: `/feedback/domains/${value.domain_id}`,
});

/** How many reporters a number is based on; empty if there are none. */
export const countedBy = (reporters: number): string =>
  reporters ? `, according to ${formatCount(reporters, 'reporter')}` : '';

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
