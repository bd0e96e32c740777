/** Gathers what a scheduled report tells: the summary, the health of the domains, the incidents of the alert rules. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import type { ScheduledReport } from '../render/summary.ts';
import type { Db } from '../store/open.ts';
import type { ReportScheduleRow } from '../store/report-tables.ts';
import { domainsOf } from './schedule-queries.ts';
import type { Section } from './schedule-schema.ts';
import type { Covered } from './schedule-times.ts';
import { summarize } from './summary.ts';

const MOST_LISTED = 20;

export async function gatherReport(
  { db, config }: Pick<App, 'db' | 'config'>,
  schedule: ReportScheduleRow,
  covered: Covered,
): Promise<ScheduledReport> {
  const { name, frequency, timezone } = schedule;
  const sections: Section[] = JSON.parse(schedule.include_sections);
  const ids = await domainsOf(db, schedule);
  const domains = await healthOf(db, ids);
  const incidents = sections.includes('alerts')
    ? await incidentsOf(db, ids && domains, covered)
    : [];
  return {
    ...{ name, frequency, timezone, sections },
    summary: await summarize(db, { ...covered, livemode: true, domains: ids }),
    domains: domains.slice(0, MOST_LISTED).map(({ name, health, score }) => ({
      ...{ name, health, score },
    })),
    domainsLeftOut: Math.max(0, domains.length - MOST_LISTED),
    incidents: incidents.slice(0, MOST_LISTED),
    incidentsLeftOut: Math.max(0, incidents.length - MOST_LISTED),
    appUrl: config.APP_URL,
  };
}

/** From the worst: what is not known may be bad. */
const WORST_FIRST = ['critical', 'warning', 'unknown', 'healthy'];

type Domain = ScheduledReport['domains'][number] & { id: string };

async function healthOf(db: Db, ids: string[] | null): Promise<Domain[]> {
  if (ids?.length === 0) return [];
  let query = db
    .selectFrom('domains')
    .select(['id', 'name', 'health_status as health', 'health_score as score']);
  if (ids !== null) query = query.where('id', 'in', ids);
  const domains = await query.orderBy('name').execute();
  return domains.toSorted(
    (a, b) =>
      WORST_FIRST.indexOf(a.health) - WORST_FIRST.indexOf(b.health) ||
      (a.score ?? 101) - (b.score ?? 101),
  );
}

/** What was opened or ended in the period, and what is open still; of some domains, what is about them. */
async function incidentsOf(
  db: Db,
  domains: Domain[] | null,
  { from, to }: Covered,
): Promise<ScheduledReport['incidents']> {
  const rows = await db
    .selectFrom('alert_incidents as incident')
    .leftJoin('alerts', 'alerts.id', 'incident.alert_id')
    .select([
      'alerts.name as rule',
      'alerts.domain_id',
      'incident.condition',
      'incident.subject',
      'incident.opened_at',
      'incident.resolved_at',
    ])
    .where('incident.opened_at', '<', isoTime(to))
    .where(({ or, eb }) =>
      or([eb('incident.resolved_at', 'is', null), eb('incident.resolved_at', '>=', isoTime(from))]),
    )
    .orderBy('incident.opened_at', 'desc')
    .execute();
  const own = rows.filter(
    ({ subject, domain_id }) => domains === null || concerns(domains, subject, domain_id),
  );
  const isOver = ({ resolved_at }: { resolved_at: string | null }) => Number(resolved_at !== null);
  return own
    .toSorted((a, b) => isOver(a) - isOver(b))
    .map(({ domain_id: _, rule, ...incident }) => ({
      ...incident,
      rule: rule ?? 'a rule that was deleted',
    }));
}

/** A subject is a From domain, or what a monitor looks at. */
function concerns(domains: Domain[], subject: string, domainId: string | null): boolean {
  return domains.some(
    ({ id, name }) => id === domainId || subject === name || subject.endsWith(`.${name}`),
  );
}
