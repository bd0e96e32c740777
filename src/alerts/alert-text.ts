/** What there is to say of an incident, once for all channels: what has happened, since when, and what to do. */

import { LISTS } from '../analysis/blocklists/lists.ts';
import { removalAdvice } from '../analysis/blocklists/outcomes.ts';
import type { CheckResult } from '../analysis/result.ts';
import { toFix } from '../analysis/summary.ts';
import type { App } from '../app.ts';
import { printable } from '../lib/log.ts';
import type { Finding } from '../monitors/findings.ts';
import { timeInWords } from '../report/times.ts';
import type {
  AlertIncidentRow,
  AlertNotificationRow,
  AlertRow,
  MonitorRow,
  MonitorRunRow,
  TestRow,
} from '../store/tables.ts';
import { DEFAULT_THRESHOLD, DOMAIN_CHECK, LIST_CHECKS, type Listing } from './conditions.ts';

/** What a notification is about. */
export interface IncidentEvent {
  news: AlertNotificationRow['news'];
  alert: AlertRow;
  /** null for a sample. */
  incident: AlertIncidentRow | null;
  /** The test that it is about, where there is one that is still kept. */
  test: AboutTest | null;
  /** The run that opened it, or that tells of its end. */
  run: AboutRun | null;
}
export type AboutTest = Pick<
  TestRow,
  'id' | 'checks' | 'subject' | 'score' | 'spf' | 'dkim' | 'dmarc'
>;
export interface AboutRun extends Pick<MonitorRunRow, 'findings'> {
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

export function composeNotification(
  config: Pick<App['config'], 'APP_URL'>,
  occasion: IncidentEvent,
): Notification {
  const { news, alert, incident, test, run } = occasion;
  if (news === 'test' || incident === null) return sampleOf(config, alert);
  const isOver = news === 'resolved';
  return {
    kind: isOver ? 'Resolved' : 'Alert',
    ...alertText({ isOver, alert, incident, test }),
    facts: factsOf(occasion, incident),
    steps: isOver ? [] : stepsOf(alert, incident, { test, run }),
    after: isOver ? null : 'Nothing more is sent about this until it is over.',
    link: linkOf(config, test, run),
    rule: ruleOf(alert),
    incident: incident.id,
  };
}

function sampleOf({ APP_URL }: Pick<App['config'], 'APP_URL'>, alert: AlertRow): Notification {
  return {
    kind: 'Sample',
    title: `The alert rule “${short(alert.name)}” reaches you here`,
    lead: 'This is a sample, sent to try where the notifications of an alert rule go. Nothing has happened, and there is nothing to do.',
    facts: [
      ['Rule', alert.name],
      ['Alerts when', conditionOf(alert)],
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
  { news, alert, test, run }: IncidentEvent,
  incident: AlertIncidentRow,
): Notification['facts'] {
  // Of a run whose monitor is gone it is not known what kind of target it was.
  const watched = run?.monitor.type === 'domain_health' ? 'Domain' : 'Target';
  const about = incident.run_id === null ? 'From domain' : watched;
  return [
    [about, incident.subject],
    ...measuredOf(alert, incident, news === 'resolved' ? test : null),
    ['Since', timeInWords(incident.opened_at)],
    ...(incident.resolved_at === null
      ? []
      : [['Until', timeInWords(incident.resolved_at)] as [string, string]]),
    ...(test?.subject
      ? [['Message', short(test.subject, SUBJECT_LENGTH)] as [string, string]]
      : []),
    ...(run ? [['Monitor', run.monitor.name] as [string, string]] : []),
    ['Rule', alert.name],
  ];
}

const SHORT_LENGTH = 80;
const SUBJECT_LENGTH = 200;

/** Enough of a name for a heading. */
function short(name: string, most = SHORT_LENGTH): string {
  const whole = [...printable(name)];
  return whole.length <= most ? whole.join('') : `${whole.slice(0, most - 1).join('')}…`;
}

// The words for what has happened, and for its end, by the condition of the rule.

interface Story {
  isOver: boolean;
  alert: AlertRow;
  incident: AlertIncidentRow;
  /** That which tells of it. */
  test: AboutTest | null;
}

const LIST = new Intl.ListFormat('en-GB');
const METHODS = ['spf', 'dkim', 'dmarc'] as const;

/** `title` has no full stop: it is a heading, and the subject of a mail. */
function alertText(story: Story): { title: string; lead: string } {
  const { condition } = story.alert;
  if (story.incident.resolution === 'no_longer_watched') return unwatched(story);
  if (story.isOver) return { title: endOf(story), lead: END };
  if (condition === 'score_below') return lowScore(story);
  return condition === 'auth_fail' ? notAuthenticated(story) : listed(story);
}

const END = 'A later result no longer meets the condition of the rule, and the incident is over.';

const unwatched = ({ incident: { subject } }: Story) => ({
  title: `${subject} is no longer looked at`,
  lead: 'No monitor looks at it any more, or none of the blocklists that listed it is in use, and so the incident is over. Whether what was found has changed is not known.',
});

function lowScore({ incident: { subject, value } }: Story) {
  const { score, threshold } = JSON.parse(value);
  return {
    title: `Mail from ${subject} scored ${score}, below ${threshold}`,
    lead: `The rule asks for ${threshold} of 100 at least. The lower the score, the likelier the spam folder.`,
  };
}

function notAuthenticated({ incident: { subject, value } }: Story) {
  const found = JSON.parse(value);
  const failed = METHODS.filter((method) => ![null, 'pass', 'temperror'].includes(found[method]));
  const names = LIST.format(failed.map((method) => method.toUpperCase()));
  const words = LIST.format(failed.map((one) => `${one.toUpperCase()} is “${found[one]}”`));
  return {
    title: `${names} ${failed.length === 1 ? 'does' : 'do'} not pass for mail from ${subject}`,
    lead: `${words}. So the mail does not prove who sent it: receivers may refuse it, or take it for spam.`,
  };
}

function listed({ incident: { subject, value, run_id } }: Story) {
  const lists: Listing[] = JSON.parse(value).lists;
  const [first] = lists;
  const names = few(lists.map(({ name }) => printable(name)));
  const strict = lists.some(({ tier }) => tier === 1);
  const lead = strict
    ? 'Large receivers refuse mail because of such a listing.'
    : 'Spam filters count such a listing against mail.';
  // A look at the health of a domain tells its listings in a sentence.
  if (first?.zone === DOMAIN_CHECK) return { title: first.name.replace(/\.$/, ''), lead };
  if (run_id !== null) return { title: `${subject} is listed by ${names}`, lead };
  const title = `Mail from ${subject} is affected by ${lists.length === 1 ? 'a blocklist' : 'blocklists'}: ${names}`;
  return {
    title,
    lead: `A test found its sender, or a domain that it links to, listed. ${lead}`,
  };
}

const MOST_NAMES = 3;

function few(names: string[]): string {
  const rest = names.length - MOST_NAMES;
  return LIST.format(rest > 0 ? [...names.slice(0, MOST_NAMES), `${rest} more`] : names);
}

function endOf({ alert: { condition, threshold }, incident, test }: Story): string {
  const { subject, run_id } = incident;
  const limit = threshold ?? DEFAULT_THRESHOLD;
  if (condition === 'auth_fail') return `SPF, DKIM and DMARC pass again for mail from ${subject}`;
  if (condition === 'blocklist_hit')
    return run_id === null
      ? `No blocklist affects mail from ${subject} any more`
      : `${subject} is no longer listed`;
  const score = test?.score ?? null;
  return score !== null && score >= limit
    ? `Mail from ${subject} scored ${score}, no longer below ${limit}`
    : `Mail from ${subject} no longer scores below ${limit}`;
}

/** What was measured, and against what. `now`: the test with which it ended, where one is known. */
function measuredOf(
  { condition, threshold }: AlertRow,
  { value, status }: AlertIncidentRow,
  now: AboutTest | null,
): [label: string, value: string][] {
  const found = JSON.parse(value);
  if (condition === 'score_below') {
    const limit = found.threshold ?? threshold;
    const isHigher = now !== null && now.score !== null && now.score >= limit;
    const score = isHigher
      ? `${now.score} of 100 (it was ${found.score})`
      : `${found.score} of 100`;
    return [
      [now === null || isHigher ? 'Score' : 'Score then', score],
      ['Alerts below', `${limit}`],
    ];
  }
  if (condition === 'auth_fail')
    return METHODS.map((method) => [method.toUpperCase(), changeOf(found[method], now?.[method])]);
  const lists = found.lists as Listing[];
  if (lists[0]?.zone === DOMAIN_CHECK) return [];
  return [[status === 'open' ? 'Listed by' : 'Was listed by', few(lists.map(({ name }) => name))]];
}

function changeOf(then: string | null, now: string | null | undefined): string {
  if (now === undefined) return then ?? 'not known';
  return now === then ? `${now}` : `${now ?? 'not known'} (it was ${then ?? 'not known'})`;
}

/** After "when". */
function conditionOf({ condition, threshold }: AlertRow): string {
  if (condition === 'score_below') return `a test scores below ${threshold ?? DEFAULT_THRESHOLD}`;
  return condition === 'auth_fail'
    ? 'SPF, DKIM or DMARC does not pass'
    : 'a blocklist lists the sender, a linked domain, or what a monitor looks at';
}

// What to do about an incident: the fixes of the report, or how a listing is taken away.

export interface Step {
  /** What is wrong, in a sentence; empty where the heading has said it. */
  title: string;
  /** What to do about it. */
  text: string;
  /** What to publish in the DNS, where it is known. */
  record: { type: string; name: string; value: string } | null;
}

const MOST_STEPS = 3;
/** A longer record belongs into the report, from which it can be copied. */
const RECORD_MAX = 450;

function stepsOf(
  alert: AlertRow,
  incident: AlertIncidentRow,
  { test, run }: Pick<IncidentEvent, 'test' | 'run'>,
): Step[] {
  if (test?.checks) return stepsOfChecks(alert, JSON.parse(test.checks));
  return run ? stepsOfListing(incident, JSON.parse(run.findings)) : [];
}

/** Of what the condition is about, the greatest gain first. */
function stepsOfChecks({ condition }: AlertRow, checks: CheckResult[]): Step[] {
  return toFix(checks)
    .filter(({ id, category }) => {
      if (condition === 'blocklist_hit') return LIST_CHECKS.includes(id);
      return condition === 'score_below' || category === 'authentication';
    })
    .slice(0, MOST_STEPS)
    .map(({ title, fix }) => {
      return { title, text: fix?.text ?? '', record: copied(fix?.record) };
    });
}

/** A key that only the signer knows leaves a gap like this: such a record cannot be copied. */
const GAP = /<[^<>]+>/;

const copied = (record: NonNullable<CheckResult['fix']>['record']): Step['record'] =>
  record && record.value.length <= RECORD_MAX && !GAP.test(record.value) ? record : null;

const STOP =
  'First find and stop what caused it: a hijacked account or web form, an infected machine, or mail to people who did not ask for it.';

/** Of the lists that the program knows; an operator's own are looked up by their names. */
function stepsOfListing({ subject, value }: AlertIncidentRow, findings: Finding[]): Step[] {
  const listings: Listing[] = JSON.parse(value).lists ?? [];
  if (listings.some(({ zone }) => zone === DOMAIN_CHECK))
    return [{ title: '', text: `${STOP} The checks of the domain say where.`, record: null }];
  const known = listings.flatMap(({ zone }) => {
    const list = LISTS.find((one) => one.zone === zone);
    const found = findings.find(
      (one) => 'list' in one && one.list === zone && one.target === subject,
    );
    const codes = found && 'list' in found && found.codes.length > 0 ? found.codes : [''];
    return list ? [{ list, codes }] : [];
  });
  const text = known.length > 0 ? removalAdvice(known, STOP) : STOP;
  return [{ title: '', text, record: null }];
}
