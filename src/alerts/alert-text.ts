/** The content of a notification, the same for all channels: what happened, since when, and what to do. */

import type { CheckResult } from '../analysis/result.ts';
import { checksToFix } from '../analysis/summary.ts';
import type { App } from '../app.ts';
import { PLACEHOLDER } from '../domains/merge-records.ts';
import { truncate } from '../lib/format/plain-text.ts';
import { timeInWords } from '../lib/format/times.ts';
import type {
  AlertIncidentRow,
  AlertRow,
  MonitorRow,
  MonitorRunRow,
} from '../store/tables.generated.ts';
import type { Step, TestSummary } from './conditions/condition.ts';
import { conditionOf, thresholdOf } from './conditions/index.ts';
import { nameOfSubject, openedIncident } from './evaluate.ts';

/** What a notification says: `test` is a sample. */
export type News = 'triggered' | 'reminder' | 'resolved' | 'test';

declare module '../store/vocabularies.ts' {
  interface Vocabularies {
    news: News;
  }
}

/** What a notification is about. */
export interface IncidentEvent {
  type: News;
  alert: AlertRow;
  /** null for a sample. */
  incident: AlertIncidentRow | null;
  /** The test that opened or resolved it, if it is still stored; for a reminder, the latest one. */
  test: TestSummary | null;
  /** The run that opened or resolved it; for a reminder, the latest one. */
  run: RunSummary | null;
}
export interface RunSummary extends Pick<MonitorRunRow, 'findings'> {
  monitor: Pick<MonitorRow, 'id' | 'name' | 'type' | 'domain_id'>;
}

/** Contains names and subjects from untrusted sources as plain text: each channel escapes them. */
export interface Notification {
  kind: 'Alert' | 'Reminder' | 'Resolved' | 'Sample';
  /** What happened: a heading and email subject, without a final period. */
  title: string;
  /** What it means. */
  lead: string;
  facts: [label: string, value: string][];
  /** What to do, in order; empty if there is nothing to do. */
  steps: Step[];
  /** What happens next, if worth saying. */
  followUp: string | null;
  link: { label: string; url: string } | null;
  /** Name and ID of the rule. */
  rule: string;
  /** The incident ID, by which recipients recognize a duplicate; null for a sample. */
  incident: string | null;
  /** The same for each attempt to post it. */
  id?: string;
}

/** Composes the notification of an opened or resolved incident, a reminder of it, or a sample. */
export function composeNotification(
  config: Pick<App['config'], 'APP_URL'>,
  event: IncidentEvent,
): Notification {
  const { type, alert, incident } = event;
  if (type === 'test' || incident === null) return sampleOf(config, alert);
  const isOver = type === 'resolved';
  return {
    kind: KINDS[type],
    ...headlineOf(event, incident),
    facts: factsOf(event, incident),
    steps: isOver ? [] : stepsOf(event, incident),
    followUp: isOver ? null : followUpOf(event, incident),
    link: linkOf(config, event, incident),
    rule: ruleOf(alert),
    incident: incident.id,
  };
}

/** How long after the alert the last reminder can be sent. */
export const MAX_REMINDER_DAYS = 30;

const KINDS: Record<Exclude<News, 'test'>, Notification['kind']> = {
  triggered: 'Alert',
  reminder: 'Reminder',
  resolved: 'Resolved',
};

function followUpOf(
  { type, alert: { reminder_hours: hours }, test }: IncidentEvent,
  { next_reminder_at, test_id }: AlertIncidentRow,
): string {
  if (hours === null) return 'No further alerts until this is resolved.';
  if (type === 'reminder' && next_reminder_at === null) {
    const isTestGone = test_id !== null && test === null;
    const why = isTestGone
      ? 'the test that opened the incident is no longer stored'
      : `reminders end after ${MAX_REMINDER_DAYS} days`;
    return `This is the last reminder, because ${why}. The incident stays open.`;
  }
  const time = hours === 1 ? 'hour' : `${hours} hours`;
  return type === 'reminder'
    ? `The next reminder follows in ${hours === 1 ? 'an hour' : time} unless this is resolved.`
    : `A reminder follows every ${time} until this is resolved, for up to ${MAX_REMINDER_DAYS} days.`;
}

function headlineOf(
  { type, alert, test }: IncidentEvent,
  incident: AlertIncidentRow,
): Pick<Notification, 'title' | 'lead'> {
  const condition = conditionOf(alert);
  const opened = openedIncident(incident);
  if (incident.resolution === 'no_longer_watched' && alert.tags !== null)
    return {
      title: `${nameOfSubject(incident)} is no longer watched by this rule`,
      lead: 'The incident is resolved because the domain has no tag of the rule anymore, or because it is no longer checked. The problem may persist.',
    };
  if (incident.resolution === 'no_longer_watched')
    return (
      condition.unwatchedText?.(opened) ?? {
        title: `${incident.subject} is no longer monitored`,
        lead: 'The incident is resolved because no monitor checks this target anymore, or because the blocklists that listed it are no longer in use. The problem may persist.',
      }
    );
  if (type === 'triggered') return condition.openedText(opened);
  if (type === 'reminder') {
    const { title, lead } = condition.openedText(opened);
    return { title, lead: `Still open since ${timeInWords(incident.opened_at)}. ${lead}` };
  }
  return {
    title: condition.resolvedTitle(opened, { threshold: thresholdOf(alert), test }),
    lead: 'The latest result no longer meets the alert condition, so the incident is resolved.',
  };
}

function sampleOf({ APP_URL }: Pick<App['config'], 'APP_URL'>, alert: AlertRow): Notification {
  return {
    kind: 'Sample',
    title: `Alerts from “${shortName(alert.name)}” will arrive here`,
    lead: 'This is a sample, sent to test the channels of an alert rule. Nothing is wrong, and no action is needed.',
    facts: [
      ['Rule', alert.name],
      ['Alerts when', conditionOf(alert).alertsWhen(thresholdOf(alert))],
    ],
    steps: [],
    followUp:
      'A real alert says what happened, which domain or IP address is affected, and what to do. A “Resolved” notification follows when the problem ends.',
    link: { label: 'Open the alert rule', url: `${APP_URL}/alerts/${alert.id}` },
    rule: ruleOf(alert),
    incident: null,
  };
}

const ruleOf = ({ name, id }: AlertRow): string => `“${shortName(name)}” (${id})`;

/** The page with the details: the report of a test, a domain, or a monitor. */
function linkOf(
  { APP_URL }: Pick<App['config'], 'APP_URL'>,
  { alert, test, run }: IncidentEvent,
  incident: AlertIncidentRow,
): Notification['link'] {
  const page = conditionOf(alert).page?.(openedIncident(incident));
  if (page) return { label: page.label, url: `${APP_URL}${page.path}` };
  if (test) return { label: 'Open report', url: `${APP_URL}/tests/${test.id}` };
  if (!run) return null;
  const { id, type, domain_id } = run.monitor;
  return type === 'domain_health' && domain_id !== null
    ? { label: 'View all domain checks', url: `${APP_URL}/domains/${domain_id}` }
    : { label: 'View monitor runs', url: `${APP_URL}/monitors/${id}` };
}

function factsOf(
  { type, alert, test, run }: IncidentEvent,
  incident: AlertIncidentRow,
): Notification['facts'] {
  // If the monitor was deleted, the kind of its target is unknown.
  const monitored = run?.monitor.type === 'domain_health' ? 'Domain' : 'Target';
  const subjectLabel =
    conditionOf(alert).subjectLabel ?? (incident.run_id === null ? 'From domain' : monitored);
  return [
    [subjectLabel, nameOfSubject(incident)],
    ...conditionOf(alert).measurements(openedIncident(incident), {
      threshold: thresholdOf(alert),
      isOver: incident.status === 'resolved',
      endedBy: type === 'resolved' ? test : null,
    }),
    ['Since', timeInWords(incident.opened_at)],
    ...(incident.resolved_at === null
      ? []
      : [['Until', timeInWords(incident.resolved_at)] as [string, string]]),
    ...(test?.subject
      ? [['Message', truncate(test.subject, MAX_SUBJECT_LENGTH)] as [string, string]]
      : []),
    ...(run ? [['Monitor', run.monitor.name] as [string, string]] : []),
    ['Rule', alert.name],
  ];
}

const MAX_NAME_LENGTH = 80;
const MAX_SUBJECT_LENGTH = 200;

/** To fit a heading. */
const shortName = (name: string): string => truncate(name, MAX_NAME_LENGTH);

// What to do about an incident: the fixes of the report, or those of the condition for a run.

const MAX_STEPS = 3;
/** Longer records are shown in the report only. */
const MAX_RECORD_LENGTH = 450;

function stepsOf({ alert, test, run }: IncidentEvent, incident: AlertIncidentRow): Step[] {
  const condition = conditionOf(alert);
  if (condition.fixes)
    return condition.fixes(openedIncident(incident)).map((step) => ({
      ...step,
      record: copyable(step.record ?? undefined),
    }));
  if (!test?.checks)
    return run && condition.fixesForRun
      ? condition.fixesForRun(openedIncident(incident), JSON.parse(run.findings))
      : [];
  const checks: CheckResult[] = JSON.parse(test.checks);
  // `checksToFix` sorts by gain, highest first.
  return checksToFix(checks)
    .filter((check) => condition.isRelevantFix(check))
    .slice(0, MAX_STEPS)
    .map(({ title, fix }) => ({ title, text: fix?.text ?? '', record: copyable(fix?.record) }));
}

/** A record with a placeholder, such as for a key that only the signer knows, can't be copied as it is. */
const copyable = (record: NonNullable<CheckResult['fix']>['record']): Step['record'] =>
  record && record.value.length <= MAX_RECORD_LENGTH && !PLACEHOLDER.test(record.value)
    ? record
    : null;
