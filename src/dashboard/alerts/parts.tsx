/** What the pages about alerts share: states of rules and notifications, and what an incident is about. */

import { type ChannelId, channelName } from '../../alerts/channels/index.ts';
import { conditionOf, thresholdOf } from '../../alerts/conditions/index.ts';
import type { openedIncident } from '../../alerts/evaluate.ts';
import type { Alert, AlertIncident, AlertNotification } from '../../alerts/schema.ts';
import { StateMark } from '../../ui/components.tsx';
import { NotSetUp, Waiting } from '../frame/states.tsx';
import { Ago } from '../frame/times.tsx';

type Notified = Pick<AlertNotification, 'channel' | 'status'>;

/** "Email sent", "Slack failed": the state of one notification. */
export function NotificationMark({ channel, status }: Notified) {
  const name = channelName(channel);
  if (status === 'queued') return <Waiting>{`${name} queued`}</Waiting>;
  if (status === 'unconfigured') return <NotSetUp>{`${name} not configured`}</NotSetUp>;
  if (status === 'sent') return <StateMark state="pass" word={`${name} sent`} />;
  if (status === 'failed') return <StateMark state="fail" word={`${name} failed`} />;
  return <StateMark state="unknown" word={`${name} not sent`} />;
}

/** The worst first. */
const SEVERITY: AlertNotification['status'][] = [
  'failed',
  'unconfigured',
  'queued',
  'suppressed',
  'sent',
];

/** One mark for each channel: the worst state of its notifications. */
export function NotificationMarks({ notifications }: { notifications: Notified[] }) {
  if (notifications.length === 0) return <span class="muted">None</span>;
  const worst = new Map<ChannelId, Notified>();
  for (const notification of notifications) {
    const other = worst.get(notification.channel);
    if (!other || SEVERITY.indexOf(notification.status) < SEVERITY.indexOf(other.status))
      worst.set(notification.channel, notification);
  }
  return (
    <span class="channel-marks">
      {[...worst.values()].map((notification) => (
        <NotificationMark key={notification.channel} {...notification} />
      ))}
    </span>
  );
}

/** Triggered and undeliverable rules stand out; a disabled rule is gray, because it watches nothing. */
export function RuleState({ alert }: { alert: Alert }) {
  if (!alert.enabled) return <StateMark state="unknown" word="Disabled" />;
  if (alert.state === 'triggered') return <StateMark state="fail" word="Triggered" />;
  if (alert.channels.length === alert.unconfigured_channels.length)
    return <StateMark state="warn" word="Notifies nobody" />;
  return <StateMark state="pass" word="No open incident" />;
}

/** "a test scores below 70", as a sentence without a period. */
export function conditionText(rule: Pick<Alert, 'condition' | 'threshold'>): string {
  const text = conditionOf(rule).alertsWhen(thresholdOf(rule));
  return text.charAt(0).toUpperCase() + text.slice(1);
}

type Described = Pick<AlertIncident, 'subject' | 'value' | 'run_id' | 'condition' | 'threshold'>;

const openedOf = ({ subject, value, run_id }: Described): ReturnType<typeof openedIncident> => ({
  subject,
  value,
  foundByRun: run_id !== null,
});

/** What happened, as in the notification. */
export const incidentText = (incident: Described): { title: string; lead: string } =>
  conditionOf(incident).openedText(openedOf(incident));

/** What people call the subject. */
export const subjectOf = (incident: Described): string =>
  conditionOf(incident).subjectName?.(openedOf(incident)) ?? incident.subject;

/** The page with the details, for a subject that has neither a test nor a run. */
export const pageOf = (incident: Described): { label: string; path: string } | undefined =>
  conditionOf(incident).page?.(openedOf(incident));

/** What was measured when the incident was opened. */
export const incidentFacts = (incident: Described): [label: string, value: string][] =>
  conditionOf(incident).measurements(openedOf(incident), {
    threshold: thresholdOf(incident),
    isOver: false,
    endedBy: null,
  });

/** The measurements in one line: "Score 61 of 100 · Alerts below 70". */
export function incidentSummary(incident: Described): string {
  const facts = incidentFacts(incident).map(([label, value]) => `${label} ${value}`);
  return facts.length > 0 ? facts.join(' · ') : incidentText(incident).title;
}

export function IncidentState({ incident }: { incident: Pick<AlertIncident, 'status'> }) {
  return incident.status === 'open' ? (
    <StateMark state="fail" word="Open" />
  ) : (
    <StateMark state="pass" word="Resolved" />
  );
}

/** Follows "Resolved: ". */
export const RESOLUTION_TEXTS: Record<NonNullable<AlertIncident['resolution']>, string> = {
  condition_ended: 'the latest result no longer meets the condition.',
  no_longer_watched: 'nothing watches its subject anymore.',
  alert_disabled: 'the rule was disabled.',
  alert_changed: 'the condition of the rule was changed.',
  alert_deleted: 'the rule was deleted.',
};

/** When the rule last opened an incident. */
export const LastTriggered = ({ at }: { at: string | null }) =>
  at === null ? <span class="muted">Never</span> : <Ago at={at} />;
