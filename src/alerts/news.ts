/** The words for what has happened, and for its end, by the condition of the rule. */

import { printable } from '../lib/log.ts';
import type { AlertIncidentRow, AlertRow } from '../store/watching-tables.ts';
import { DEFAULT_THRESHOLD, type Listing } from './conditions.ts';
import { DOMAIN_CHECK } from './facts.ts';
import type { AboutTest } from './occasion.ts';

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
export function newsOf(story: Story): { title: string; lead: string } {
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
export function measuredOf(
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
export function conditionOf({ condition, threshold }: AlertRow): string {
  if (condition === 'score_below') return `a test scores below ${threshold ?? DEFAULT_THRESHOLD}`;
  return condition === 'auth_fail'
    ? 'SPF, DKIM or DMARC does not pass'
    : 'a blocklist lists the sender, a linked domain, or what a monitor looks at';
}
