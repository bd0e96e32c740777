/** What the latest test of each sender of a domain says. */

import type { CheckResult } from '../analysis/result.ts';
import { truncate } from '../report/plain-text.ts';
import { formatCount } from '../report/summary.ts';
import type { Db, Tx } from '../store/open.ts';
import type { TestRow } from '../store/tables.generated.ts';
import type { IssueId } from './costs.ts';
import {
  byCost,
  type Finding,
  fine,
  notKnown,
  problem,
  reportOf,
  type SourceReport,
  sectionOf,
} from './findings.ts';
import { daysAgo, RECENT_DAYS, type Reading } from './reading.ts';
import { topicOf } from './topics.ts';
import type { Topic } from './types.ts';

/** The checks of a test are up to 100 KB of JSON. */
const MAX_TESTS = 12;
/** More tests without a result are not skipped to find them. */
const MAX_SEARCHED = 500;

export type ReadTest = Pick<
  TestRow,
  'id' | 'name' | 'from_address' | 'score' | 'spf' | 'dkim' | 'dmarc' | 'envelope'
> & { completed_at: string; checks: CheckResult[] };

/** The latest completed tests of the domain in live mode, newest first, at most 30 days old. */
export async function latestTests(
  db: Db | Tx,
  domainId: string,
  { from }: { from: string },
): Promise<ReadTest[]> {
  const latest = db
    .selectFrom('tests')
    .select(['id', 'status'])
    .where('livemode', '=', 1)
    .where('domain_id', '=', domainId)
    .orderBy('id', 'desc')
    .limit(MAX_SEARCHED);
  const completed = db
    .selectFrom(latest.as('latest'))
    .select('latest.id')
    .where('latest.status', '=', 'completed')
    .orderBy('latest.id', 'desc')
    .limit(MAX_TESTS);
  const rows = await db
    .selectFrom('tests')
    .select(['id', 'name', 'from_address', 'completed_at', 'score'])
    .select(['spf', 'dkim', 'dmarc', 'envelope', 'checks'])
    .where('id', 'in', completed)
    .orderBy('id', 'desc')
    .execute();
  return rows.flatMap(({ checks, completed_at, ...row }) =>
    checks === null || completed_at === null || completed_at < from
      ? []
      : [{ ...row, completed_at, checks: JSON.parse(checks) as CheckResult[] }],
  );
}

export async function testsReport(reading: Reading): Promise<SourceReport> {
  const { db, domain } = reading;
  const tests = await latestTests(db, domain.id, { from: daysAgo(reading, RECENT_DAYS) });
  const section = { source: 'tests' as const, path: sectionOf(domain.id, 'tests') };
  const [latest] = tests;
  if (!latest) return reportOf(await withoutTests(reading, section), []);
  const series = [...Map.groupBy(tests, senderOf).values()];
  const findings = series.flatMap(findingsOf);
  return reportOf(
    {
      ...section,
      state: tests.slice(0, 1).every(isAuthenticationKnown) ? 'pass' : 'unknown',
      text: textOf(latest, series.length),
      at: latest.completed_at,
      basis: `Latest of ${formatCount(tests.length, 'test')} from ${formatCount(series.length, 'sender')}`,
    },
    worstByTopic(findings),
  );
}

async function withoutTests(
  { db, domain }: Reading,
  section: { source: 'tests'; path: string },
): Promise<Parameters<typeof reportOf>[0]> {
  const last = await db
    .selectFrom('tests')
    .select('completed_at')
    .where('livemode', '=', 1)
    .where('domain_id', '=', domain.id)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return last
    ? {
        ...section,
        ...{ state: 'unknown', at: last.completed_at, basis: null },
        text: `No test has been completed in the last ${RECENT_DAYS} days.`,
      }
    : {
        ...section,
        ...{ state: 'not_set_up', at: null, basis: null },
        text: 'Not tested yet. Send a message from this domain to a test address.',
      };
}

/** Messages with the same name, or from the same address, were sent in the same way. */
const senderOf = ({ name, from_address }: ReadTest): string =>
  name === null ? `from ${from_address?.toLowerCase()}` : `name ${name}`;

const MAX_SENDER = 60;
const senderName = ({ name, from_address }: ReadTest): string =>
  truncate(name ?? from_address ?? 'an unknown address', MAX_SENDER);

const isAuthenticationKnown = ({ spf, dkim, dmarc }: ReadTest): boolean =>
  [spf, dkim, dmarc].filter((result) => result !== null && result !== 'temperror').length >= 2;

function textOf({ score }: ReadTest, senders: number): string {
  const which = senders === 1 ? 'The last test' : 'The last test of each sender';
  const result = score === null || senders > 1 ? '' : `, with ${formatCount(score, 'point')}`;
  return `${which} found no problem${result}.`;
}

/** What the latest test of a sender says about each topic. `series`: newest first. */
function findingsOf(series: ReadTest[]): Finding[] {
  const [latest] = series;
  return [...Map.groupBy(latest!.checks, ({ id }) => topicOf(id))].flatMap(([topic, checks]) =>
    findingAbout(topic, checks, series),
  );
}

const RANK: Partial<Record<CheckResult['status'], number>> = {
  fail: 0,
  warn: 1,
  error: 2,
  pass: 3,
};

function findingAbout(topic: Topic, checks: CheckResult[], series: ReadTest[]): Finding[] {
  const latest = series[0]!;
  const counted = checks
    .filter(({ status, points }) => status in RANK && points > 0)
    .toSorted(
      (a, b) => RANK[a.status]! - RANK[b.status]! || b.gain - a.gain || b.points - a.points,
    );
  const [worst] = counted;
  if (!worst) return [];
  const path = `/tests/${latest.id}`;
  const said = {
    ...{ source: 'tests' as const, origin: `Test of ${senderName(latest)}`, topic, path },
    ...{ text: worst.title, at: latest.completed_at },
  };
  if (worst.status === 'pass') return [fine(said)];
  if (worst.status === 'error') return [notKnown(said)];
  const { count, since } = history(worst, series);
  return [
    problem(issueOfCheck(topic, worst), {
      ...said,
      since,
      basis: `In ${formatCount(count)} of the last ${formatCount(series.length, 'test')} of this sender`,
      firstStep: worst.fix && { text: worst.fix.text, record: worst.fix.record ?? null, path },
    }),
  ];
}

const isProblem = ({ status }: CheckResult): boolean => status === 'fail' || status === 'warn';

/** In how many tests the check found a problem, and the first of the latest ones in a row. */
function history({ id }: CheckResult, series: ReadTest[]): { count: number; since: string } {
  const found = series.map(({ checks }) => checks.find((check) => check.id === id));
  const count = found.filter((check) => check && isProblem(check)).length;
  // A test that could not tell does not end a row.
  const end = found.findIndex((check) => check?.status === 'pass');
  const row = series.slice(0, end < 0 ? undefined : end);
  const first = row.findLast((_, index) => found[index] && isProblem(found[index]))!;
  return { count, since: first.completed_at };
}

/** Receivers refuse such messages or move them to spam: see the consequences of the score. */
const REFUSED = new Set([
  ...['from', 'message_id', 'header_duplicates', 'encoding', 'attachments', 'active_content'],
  ...['hidden_text', 'link_text', 'spamassassin', 'rspamd'],
]);

function issueOfCheck(topic: Topic, { id, status }: CheckResult): IssueId {
  const failed = status === 'fail';
  switch (topic) {
    case 'dmarc':
      return failed && id === 'dmarc' ? 'dmarc_fails' : 'authentication_weak';
    case 'spf':
    case 'dkim':
    case 'dmarc_policy':
      return failed ? 'authentication_broken' : 'authentication_weak';
    case 'blocklists':
      return failed ? 'blocklisted' : 'listed_minor';
    case 'reverse_dns':
    case 'tls':
      return failed ? 'server_setup' : 'setup_weak';
    case 'mail_servers':
      return failed ? 'cannot_receive' : 'setup_weak';
    case 'unsubscribe':
      return failed ? 'unsubscribe_missing' : 'message_weak';
    default:
      return failed && REFUSED.has(id) ? 'message_refused' : 'message_weak';
  }
}

/** Of several senders, the one with the worst result about a topic. */
const worstByTopic = (findings: Finding[]): Finding[] =>
  [...Map.groupBy(findings, ({ topic }) => topic).values()].map(
    (about) => about.toSorted(byCost)[0]!,
  );
