/** What there is to say of an incident, once for all channels: what has happened, since when, and what to do. */

import type { CheckResult } from '../analysis/result.ts';
import { toFix } from '../analysis/summary.ts';
import type { App } from '../app.ts';
import { printable } from '../lib/log.ts';
import { timeInWords } from '../render/utc-time.ts';
import type { TestRow } from '../store/tables.ts';
import type { AlertIncidentRow, AlertNotificationRow, AlertRow } from '../store/watching-tables.ts';
import { DEFAULT_THRESHOLD, type Listing } from './conditions.ts';

/** Plain text from whoever wrote names and subjects: each channel escapes it. */
export interface Notice {
  subject: string;
  title: string;
  /** What has happened, and what it means. */
  paragraphs: string[];
  facts: [label: string, value: string][];
  /** What to do, the first thing first; empty where nothing is to be done. */
  fixes: string[];
  link: { label: string; url: string } | null;
}

export interface Occasion {
  news: AlertNotificationRow['news'];
  alert: AlertRow;
  /** null for a sample. */
  incident: AlertIncidentRow | null;
  /** The test that it is about, where there is one that is still kept. */
  test: Pick<TestRow, 'id' | 'checks' | 'subject'> | null;
}

export function noticeOf(config: Pick<App['config'], 'APP_URL'>, occasion: Occasion): Notice {
  const { news, alert, incident, test } = occasion;
  const name = short(alert.name);
  if (news === 'test' || incident === null) return sampleOf(config, alert);
  const { subject } = incident;
  const what = happened(alert, incident);
  const facts = factsOf(alert, incident, test);
  const link = test && {
    label: 'Open the report',
    url: `${config.APP_URL}/v1/tests/${test.id}/report.html`,
  };
  if (news === 'resolved')
    return {
      subject: `Resolved: ${name} (${subject})`,
      title: `Resolved: ${name}`,
      paragraphs: [
        `A later result for ${subject} no longer meets the condition: ${conditionOf(alert)}. The incident is over.`,
      ],
      facts,
      fixes: [],
      link,
    };
  return {
    subject: `Alert: ${name} (${subject})`,
    title: `Alert: ${name}`,
    paragraphs: [what, 'Nothing more is said of it until it is over.'],
    facts,
    fixes: fixesOf(alert, test),
    link,
  };
}

function sampleOf({ APP_URL }: Pick<App['config'], 'APP_URL'>, alert: AlertRow): Notice {
  return {
    subject: `Sample: ${short(alert.name)}`,
    title: `Sample: ${short(alert.name)}`,
    paragraphs: [
      'This is a sample, sent to try where the notifications of an alert rule go. Nothing has happened, and there is nothing to do.',
    ],
    facts: [
      ['Rule', `${alert.name} (${alert.id})`],
      ['Condition', conditionOf(alert)],
    ],
    fixes: [],
    link: { label: 'Open the team’s pages', url: APP_URL },
  };
}

function conditionOf({ condition, threshold }: AlertRow): string {
  if (condition === 'score_below') return `the score is below ${threshold ?? DEFAULT_THRESHOLD}`;
  return condition === 'auth_fail' ? 'SPF, DKIM or DMARC does not pass' : 'a blocklist lists it';
}

/** In the words of the value with which the incident was opened. */
function happened({ condition }: AlertRow, { subject, value, run_id }: AlertIncidentRow): string {
  const found = JSON.parse(value);
  if (condition === 'score_below')
    return `A test of mail from ${subject} scored ${found.score}, which is below ${found.threshold}.`;
  if (condition === 'auth_fail') {
    const failed = (['spf', 'dkim', 'dmarc'] as const)
      .filter((method) => ![null, 'pass', 'temperror'].includes(found[method]))
      .map((method) => `${method.toUpperCase()} is “${found[method]}”`);
    return `Mail from ${subject} is not authenticated as it should be: ${LIST.format(failed)}.`;
  }
  const lists = (found.lists as Listing[]).map(({ name }) => name);
  const who = run_id === null ? `Mail from ${subject}` : subject;
  return `${who} is affected by a blocklist: ${LIST.format(lists)}`.replace(/\.?$/, '.');
}

const LIST = new Intl.ListFormat('en-GB');
function factsOf(
  alert: AlertRow,
  incident: AlertIncidentRow,
  test: Occasion['test'],
): Notice['facts'] {
  return [
    ['About', incident.subject],
    ['Since', timeInWords(incident.opened_at)],
    ...(incident.resolved_at === null
      ? []
      : [['Until', timeInWords(incident.resolved_at)] as [string, string]]),
    ...(test?.subject ? [['Message', test.subject] as [string, string]] : []),
    ['Rule', `${alert.name} (${alert.id})`],
    // Who gets the same twice sees it by this.
    ['Incident', incident.id],
  ];
}

const MOST_FIXES = 3;
const LIST_CHECKS = ['ip_blocklists', 'domain_blocklists', 'link_blocklists'];

/** The fixes of what the condition is about, the greatest gain first. */
function fixesOf({ condition }: AlertRow, test: Occasion['test']): string[] {
  if (!test?.checks) return [];
  const checks: CheckResult[] = JSON.parse(test.checks);
  return toFix(checks)
    .filter(({ id, category }) => {
      if (condition === 'blocklist_hit') return LIST_CHECKS.includes(id);
      return condition === 'score_below' || category === 'authentication';
    })
    .slice(0, MOST_FIXES)
    .map(({ title, fix }) => (fix ? `${title} ${fix.text}` : title));
}

const SHORT_LENGTH = 80;

/** Enough of a name for a subject. */
function short(name: string): string {
  const whole = [...printable(name)];
  return whole.length <= SHORT_LENGTH
    ? whole.join('')
    : `${whole.slice(0, SHORT_LENGTH - 1).join('')}…`;
}
