/** What a notification says, once for all channels: what has happened, since when, and what to do. */

import type { CheckResult } from '../analysis/result.ts';
import { toFix } from '../analysis/summary.ts';
import type { App } from '../app.ts';
import { printable } from '../lib/log.ts';
import { timeInWords } from '../report/times.ts';
import type {
  AlertIncidentRow,
  AlertNotificationRow,
  AlertRow,
  MonitorRow,
  MonitorRunRow,
} from '../store/tables.generated.ts';
import type { Step, TestSummary } from './conditions/condition.ts';
import { conditionOf, thresholdOf } from './conditions/index.ts';
import { openedIncident } from './judge.ts';

/** What a notification is about. */
export interface IncidentEvent {
  type: AlertNotificationRow['news'];
  alert: AlertRow;
  /** null for a sample. */
  incident: AlertIncidentRow | null;
  /** The test that it is about, where there is one that is still kept. */
  test: TestSummary | null;
  /** The run that opened it, or that ended it. */
  run: RunSummary | null;
}
export interface RunSummary extends Pick<MonitorRunRow, 'findings'> {
  monitor: Pick<MonitorRow, 'id' | 'name' | 'type' | 'domain_id'>;
}

/** Plain text from whoever wrote names and subjects: each channel escapes it. */
export interface Notification {
  kind: 'Alert' | 'Resolved' | 'Sample';
  /** What has happened: half a sentence that stands as a heading and as a subject. */
  title: string;
  /** What it means. */
  lead: string;
  facts: [label: string, value: string][];
  /** What to do, the first thing first; empty where nothing is to be done. */
  steps: Step[];
  /** What comes next, where that is to be said. */
  after: string | null;
  link: { label: string; url: string } | null;
  /** The rule by its name and its id. */
  rule: string;
  /** Who gets the same twice sees it by this; null for a sample. */
  incident: string | null;
}

/** What the notifications of an incident's beginning or end say, or those of a sample. */
export function composeNotification(
  config: Pick<App['config'], 'APP_URL'>,
  event: IncidentEvent,
): Notification {
  const { type, alert, incident, test, run } = event;
  if (type === 'test' || incident === null) return sampleOf(config, alert);
  const isOver = type === 'resolved';
  return {
    kind: isOver ? 'Resolved' : 'Alert',
    ...headlineOf(event, incident),
    facts: factsOf(event, incident),
    steps: isOver ? [] : stepsOf(event, incident),
    after: isOver ? null : 'Nothing more is sent about this until it is over.',
    link: linkOf(config, test, run),
    rule: ruleOf(alert),
    incident: incident.id,
  };
}

function headlineOf(
  { type, alert, test }: IncidentEvent,
  incident: AlertIncidentRow,
): Pick<Notification, 'title' | 'lead'> {
  if (incident.resolution === 'no_longer_watched')
    return {
      title: `${incident.subject} is no longer looked at`,
      lead: 'No monitor looks at it any more, or none of the blocklists that listed it is in use, and so the incident is over. Whether what was found has changed is not known.',
    };
  const condition = conditionOf(alert);
  const opened = openedIncident(incident);
  if (type !== 'resolved') return condition.openedText(opened);
  return {
    title: condition.endedTitle(opened, { threshold: thresholdOf(alert), test }),
    lead: 'A later result no longer meets the condition of the rule, and the incident is over.',
  };
}

function sampleOf({ APP_URL }: Pick<App['config'], 'APP_URL'>, alert: AlertRow): Notification {
  return {
    kind: 'Sample',
    title: `The alert rule “${short(alert.name)}” reaches you here`,
    lead: 'This is a sample, sent to try where the notifications of an alert rule go. Nothing has happened, and there is nothing to do.',
    facts: [
      ['Rule', alert.name],
      ['Alerts when', conditionOf(alert).alertsWhen(thresholdOf(alert))],
    ],
    steps: [],
    after:
      'A real one says what has happened to which domain or address, since when, and what to do. One that says “Resolved” follows when it is over.',
    link: { label: 'Open the team’s pages', url: APP_URL },
    rule: ruleOf(alert),
    incident: null,
  };
}

const ruleOf = ({ name, id }: AlertRow): string => `“${short(name)}” (${id})`;

/** The pages that say more; what only a run knows is read where its monitor is. */
function linkOf(
  { APP_URL }: Pick<App['config'], 'APP_URL'>,
  test: IncidentEvent['test'],
  run: IncidentEvent['run'],
): Notification['link'] {
  if (test) return { label: 'Open the report', url: `${APP_URL}/v1/tests/${test.id}/report.html` };
  if (!run) return null;
  const { id, type, domain_id } = run.monitor;
  return type === 'domain_health' && domain_id !== null
    ? { label: 'See all checks of the domain', url: `${APP_URL}/v1/domains/${domain_id}/health` }
    : { label: 'See the runs of the monitor', url: `${APP_URL}/v1/monitors/${id}/runs` };
}

function factsOf(
  { type, alert, test, run }: IncidentEvent,
  incident: AlertIncidentRow,
): Notification['facts'] {
  // Of a run whose monitor is gone it is not known what kind of target it was.
  const watched = run?.monitor.type === 'domain_health' ? 'Domain' : 'Target';
  const about = incident.run_id === null ? 'From domain' : watched;
  return [
    [about, incident.subject],
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
      ? [['Message', short(test.subject, MAX_SUBJECT_LENGTH)] as [string, string]]
      : []),
    ...(run ? [['Monitor', run.monitor.name] as [string, string]] : []),
    ['Rule', alert.name],
  ];
}

const MAX_NAME_LENGTH = 80;
const MAX_SUBJECT_LENGTH = 200;

/** Enough of a name for a heading. */
function short(name: string, most = MAX_NAME_LENGTH): string {
  const whole = [...printable(name)];
  return whole.length <= most ? whole.join('') : `${whole.slice(0, most - 1).join('')}…`;
}

// What to do about an incident: the fixes of the report, or what the condition knows about a run.

const MAX_STEPS = 3;
/** A longer record belongs in the report, from which it can be copied. */
const MAX_RECORD_LENGTH = 450;

function stepsOf({ alert, test, run }: IncidentEvent, incident: AlertIncidentRow): Step[] {
  const condition = conditionOf(alert);
  if (!test?.checks)
    return run && condition.remediesOfRun
      ? condition.remediesOfRun(openedIncident(incident), JSON.parse(run.findings))
      : [];
  const checks: CheckResult[] = JSON.parse(test.checks);
  // The greatest gain first.
  return toFix(checks)
    .filter((check) => condition.isRemedy(check))
    .slice(0, MAX_STEPS)
    .map(({ title, fix }) => ({ title, text: fix?.text ?? '', record: copyable(fix?.record) }));
}

/** A key that only the signer knows leaves a gap like this: such a record cannot be copied. */
const GAP = /<[^<>]+>/;

const copyable = (record: NonNullable<CheckResult['fix']>['record']): Step['record'] =>
  record && record.value.length <= MAX_RECORD_LENGTH && !GAP.test(record.value) ? record : null;
