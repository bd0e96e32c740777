/** Composes the emails of a report, one for each recipient. Slow: never call it in a transaction. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { conditionOf } from '../alerts/conditions/index.ts';
import { domainNameOf, nameOfSubject } from '../alerts/evaluate.ts';
import type { App } from '../app.ts';
import { brandOf } from '../brand/feature.ts';
import { allows, type Role } from '../http/actor.ts';
import { CLIENT_PREFIX } from '../http/tags.ts';
import { isoTime } from '../lib/clock.ts';
import type { MailAttachment } from '../net/smtp/compose.ts';
import type { OutgoingMail } from '../outbox/queue.ts';
import { pictureOf } from '../picture/picture.ts';
import type { State } from '../picture/vocabulary.ts';
import { accountNames } from '../receivers/queries.ts';
import { smallParagraph } from '../report/mail-frame.ts';
import { forClients } from '../report/status.ts';
import type { ScheduledReport } from '../report/summary.ts';
import { previewOf, reportMail } from '../report/summary-mail.ts';
import type { Db } from '../store/open.ts';
import type { ReportScheduleRow } from '../store/tables.generated.ts';
import { summarize } from '../summary/summary.ts';
import { type Audience, audiencesOf, domainsOf, SCHEDULE_ROW } from './queries.ts';
import { findUnsubscribed, unsubscribeToken } from './recipients.ts';
import { localDate, periodUntil, type ReportPeriod } from './times.ts';

/**
 * Emails to one audience by address, without unsubscribed recipients; empty if outgoing mail is not configured. `at` is
 * the send time of the report, in milliseconds since the Unix epoch. For a PDF, rejects with the
 * errors of `app.reportRenderer`.
 */
export async function composeReportMails(
  app: App,
  schedule: ReportScheduleRow,
  { tag, recipients }: Audience,
  { period, at }: { period: ReportPeriod; at: number },
): Promise<Map<string, OutgoingMail>> {
  const mails = new Map<string, OutgoingMail>();
  const unsubscribed = await findUnsubscribed(app.db, schedule.id, recipients);
  const subscribed = recipients.filter((email) => !unsubscribed.has(email));
  if (app.mailer === null || subscribed.length === 0) return mails;
  const report = await gatherReport(app, schedule, period, tag);
  const attachments = schedule.format === 'pdf' ? [await pdfOf(app, report, at)] : undefined;
  for (const to of subscribed) {
    const url = `${app.config.APP_URL}/unsubscribe/${unsubscribeToken(app, schedule.id, to)}`;
    const mail = reportMail(report, { unsubscribeUrl: url, hasPdf: attachments !== undefined });
    // Composing an email takes a few milliseconds, so yield after each.
    await nextTurn();
    const fromName = report.brand?.name;
    mails.set(to, { to, fromName, ...mail, headers: unsubscribeHeaders(url), attachments });
  }
  return mails;
}

/** One-click unsubscribe requires https (RFC 8058 §3.1). */
function unsubscribeHeaders(url: string): Record<string, string> {
  const field = { 'List-Unsubscribe': `<${url}>` };
  return url.startsWith('https:')
    ? { ...field, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }
    : field;
}

async function pdfOf(app: App, report: ScheduledReport, at: number): Promise<MailAttachment> {
  const { bytes } = await app.reportRenderer.render({ kind: 'summary', report });
  return {
    filename: `deliverability-${localDate(at, report.timezone)}.pdf`,
    contentType: 'application/pdf',
    content: bytes,
  };
}

// Gathers the data of a scheduled report: summary, health of the domains, incidents.

const MAX_LISTED = 20;

const clientOf = (tag: string): string =>
  tag.startsWith(CLIENT_PREFIX) ? tag.slice(CLIENT_PREFIX.length) : tag;

export async function gatherReport(
  app: Pick<App, 'db' | 'config' | 'clock'>,
  schedule: ReportScheduleRow,
  period: ReportPeriod,
  tag: string,
): Promise<ScheduledReport> {
  const { db, config } = app;
  const { name, frequency, timezone } = schedule;
  const { include_sections: sections } = SCHEDULE_ROW.decode(schedule);
  const ids = await domainsOf(db, schedule, tag);
  const client = tag === '' ? null : clientOf(tag);
  // Without this section, nothing shows them.
  const hasAlerts = sections.includes('alerts');
  const domains = hasAlerts ? await healthOf(db, ids) : [];
  const incidents = hasAlerts ? await incidentsOf(db, ids && domains, period, client) : [];
  return {
    name,
    client,
    brand: await brandOf(db),
    frequency,
    timezone,
    sections,
    summary: await summarize(
      db,
      { ...period, livemode: true, domains: ids },
      config.SEED_MAILBOXES,
      accountNames(config),
    ),
    domains: (await withHeadlines(app, domains.slice(0, MAX_LISTED))).map((domain) =>
      client === null ? domain : { ...domain, headline: forClients(domain.headline) },
    ),
    omittedDomainCount: Math.max(0, domains.length - MAX_LISTED),
    incidents: incidents.slice(0, MAX_LISTED),
    omittedIncidentCount: Math.max(0, incidents.length - MAX_LISTED),
    appUrl: config.APP_URL,
  };
}

/** Unknown comes before healthy, because it may hide a problem. */
const WORST_FIRST = ['critical', 'warning', 'unknown', 'healthy'];

type Listed = ScheduledReport['domains'][number];
type Domain = Omit<Listed, 'headline'> & { id: string };

const worstFirst = (a: Omit<Domain, 'id'>, b: Omit<Domain, 'id'>): number =>
  WORST_FIRST.indexOf(a.health) - WORST_FIRST.indexOf(b.health) ||
  (a.score ?? 101) - (b.score ?? 101);

async function healthOf(db: Db, ids: string[] | null): Promise<Domain[]> {
  if (ids?.length === 0) return [];
  let query = db
    .selectFrom('domains')
    .select(['id', 'name', 'health_status as health', 'health_score as score']);
  if (ids !== null) query = query.where('id', 'in', ids);
  const domains = await query.orderBy('name').execute();
  return domains.toSorted(worstFirst);
}

/** What the page of each domain says at its top. A problem that any source knows of counts as one of its health. */
async function withHeadlines(
  app: Pick<App, 'db' | 'config' | 'clock'>,
  domains: Domain[],
): Promise<Listed[]> {
  if (domains.length === 0) return [];
  const rows = await app.db
    .selectFrom('domains')
    .selectAll()
    .where(
      'id',
      'in',
      domains.map(({ id }) => id),
    )
    .execute();
  const listed: Listed[] = [];
  for (const { id, name, health, score } of domains) {
    const row = rows.find((one) => one.id === id);
    // It was removed a moment ago.
    if (!row) continue;
    await nextTurn();
    const { state, headline } = await pictureOf(app, row);
    const worst = [health, HEALTH_OF[state]].toSorted(
      (a, b) => WORST_FIRST.indexOf(a) - WORST_FIRST.indexOf(b),
    );
    listed.push({ name, score, headline, health: state === 'unknown' ? health : worst[0]! });
  }
  return listed.toSorted(worstFirst);
}

const HEALTH_OF = {
  fail: 'critical',
  warn: 'warning',
  unknown: 'unknown',
  pass: 'healthy',
} as const satisfies Record<State, Listed['health']>;

/**
 * Incidents that are open now or were open at some time in the period; with `domains`, only those that concern
 * them. Clients do not see the names of rules, which the team gave.
 */
async function incidentsOf(
  db: Db,
  domains: Domain[] | null,
  { from, to }: ReportPeriod,
  client: string | null,
): Promise<ScheduledReport['incidents']> {
  const rows = await db
    .selectFrom('alert_incidents as incident')
    .leftJoin('alerts', 'alerts.id', 'incident.alert_id')
    .select([
      'alerts.name as rule',
      'alerts.domain_id',
      'incident.condition',
      'incident.subject',
      'incident.value',
      'incident.run_id',
      'incident.opened_at',
      'incident.resolved_at',
    ])
    .where(({ and, or, eb }) =>
      or([
        eb('incident.resolved_at', 'is', null),
        and([
          eb('incident.opened_at', '<', isoTime(to)),
          eb('incident.resolved_at', '>=', isoTime(from)),
        ]),
      ]),
    )
    .orderBy('incident.opened_at', 'desc')
    .execute();
  const relevant = rows.filter(
    (incident) => domains === null || concerns(domains, domainNameOf(incident), incident.domain_id),
  );
  const resolvedRank = ({ resolved_at }: { resolved_at: string | null }) =>
    Number(resolved_at !== null);
  return relevant
    .toSorted((a, b) => resolvedRank(a) - resolvedRank(b))
    .map(({ rule, opened_at, resolved_at, ...incident }) => ({
      opened_at,
      resolved_at,
      subject: nameOfSubject(incident),
      condition: conditionOf(incident).shortText,
      rule: client === null ? (rule ?? 'a deleted rule') : null,
    }));
}

/** `subject` is a From domain, the target of a monitor, or the domain of a source. */
function concerns(domains: Domain[], subject: string, domainId: string | null): boolean {
  return domains.some(
    ({ id, name }) => id === domainId || subject === name || subject.endsWith(`.${name}`),
  );
}

// The preview of the report that a schedule would send now.

const HIDDEN_SECTIONS_NOTICE =
  'Domains and alerts are hidden in this preview. Recipients see them, and team members with a role above viewer can preview them.';

/** Returns HTML. Hides domains and incidents from viewers, including in the subject. */
export async function previewReport(
  app: App,
  schedule: ReportScheduleRow,
  role: Role,
): Promise<string> {
  const [audience] = audiencesOf(schedule);
  const period = periodUntil(schedule, app.clock.now());
  const report = await gatherReport(app, schedule, period, audience?.tag ?? '');
  const visibleReport = allows(role, 'member') ? report : withoutDomainsAndAlerts(report);
  const html = previewOf(reportMail(visibleReport, { unsubscribeUrl: null, hasPdf: false }));
  if (visibleReport.sections.length === report.sections.length) return html;
  return html.replace(
    /<body[^>]*>/,
    (body) => `${body}\n<div style="padding:16px">${smallParagraph(HIDDEN_SECTIONS_NOTICE)}</div>`,
  );
}

const withoutDomainsAndAlerts = (report: ScheduledReport): ScheduledReport => ({
  ...report,
  sections: report.sections.filter((section) => section !== 'alerts'),
  domains: [],
  omittedDomainCount: 0,
  incidents: [],
  omittedIncidentCount: 0,
});
