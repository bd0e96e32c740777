/** What the latest test of each sender of a domain says. */

import type { Envelope } from '../analysis/check.ts';
import type { CheckResult } from '../analysis/result.ts';
import { normalizeAddress } from '../lib/addresses.ts';
import { formatCount } from '../lib/format/numbers.ts';
import { truncate } from '../lib/format/plain-text.ts';
import type { Db, Tx } from '../store/open.ts';
import type { TestRow } from '../store/tables.generated.ts';
import { type IssueId, issueOf } from './costs.ts';
import {
  byCost,
  type Finding,
  fine,
  notKnown,
  problem,
  reportOf,
  type SourceReport,
  sectionOf,
  shortTitle,
} from './findings.ts';
import { daysAgo, RECENT_DAYS, type Reading } from './reading.ts';
import { topicOf } from './topics.ts';
import type { Topic } from './vocabulary.ts';

/** The checks of a test are up to 100 KB of JSON. */
const MAX_TESTS = 12;
/** More tests without a result are not skipped to find them. */
const MAX_SEARCHED = 500;

export type ReadTest = Pick<
  TestRow,
  'id' | 'name' | 'from_address' | 'score' | 'spf' | 'dkim' | 'dmarc'
> & { completed_at: string; checks: CheckResult[] };

/** A subquery: the IDs of the latest completed tests of the domain in live mode. */
export function latestIds(db: Db | Tx, domainId: string) {
  const latest = db
    .selectFrom('tests')
    .select(['id', 'status'])
    .where('livemode', '=', 1)
    .where('domain_id', '=', domainId)
    .orderBy('id', 'desc')
    .limit(MAX_SEARCHED);
  return db
    .selectFrom(latest.as('latest'))
    .select('latest.id')
    .where('latest.status', '=', 'completed')
    .orderBy('latest.id', 'desc')
    .limit(MAX_TESTS);
}

/** Those completed since a time, newest first. */
export const latestTests = (
  db: Db | Tx,
  domainId: string,
  { from }: { from: string },
): Promise<ReadTest[]> => readTests(db, latestIds(db, domainId), from);

export async function readTests(
  db: Db | Tx,
  ids: string[] | ReturnType<typeof latestIds>,
  from: string,
): Promise<ReadTest[]> {
  if (Array.isArray(ids) && ids.length === 0) return [];
  const rows = await db
    .selectFrom('tests')
    .select(['id', 'name', 'from_address', 'completed_at', 'score'])
    .select(['spf', 'dkim', 'dmarc', 'checks'])
    .where('id', 'in', ids)
    .orderBy('id', 'desc')
    .execute();
  return rows.flatMap(({ checks, completed_at, ...row }) =>
    checks === null || completed_at === null || completed_at < from
      ? []
      : [{ ...row, completed_at, checks: JSON.parse(checks) as CheckResult[] }],
  );
}

/** The addresses that sent the messages of these tests, as the listener saw them. */
export async function testedAddresses(
  db: Db | Tx,
  domainId: string,
  { from }: { from: string },
): Promise<string[]> {
  const rows = await db
    .selectFrom('tests')
    .select('envelope')
    .where('id', 'in', latestIds(db, domainId))
    .where('completed_at', '>=', from)
    .execute();
  return rows.flatMap(({ envelope }) => {
    const ip = envelope === null ? null : (JSON.parse(envelope) as Partial<Envelope>).client_ip;
    return (ip && normalizeAddress(ip)) || [];
  });
}

export async function testsReport(reading: Reading): Promise<SourceReport> {
  const { db, domain } = reading;
  const tests = await latestTests(db, domain.id, { from: daysAgo(reading, RECENT_DAYS) });
  const section = { source: 'tests' as const, path: sectionOf(domain.id, 'tests') };
  const [latest] = tests;
  if (!latest) return reportOf(await withoutTests(reading, section), []);
  const series = [...Map.groupBy(tests, senderOf).values()];
  const findings = series.flatMap(findingsOf);
  const isKnown = series.every(([last]) => isAuthenticationKnown(last!));
  return reportOf(
    {
      ...section,
      state: isKnown ? 'pass' : 'unknown',
      text: isKnown
        ? textOf(latest, series.length)
        : 'SPF, DKIM and DMARC could not be checked in the last test.',
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
        state: 'unknown',
        at: last.completed_at,
        basis: null,
        text: `No test has been completed in the last ${RECENT_DAYS} days.`,
      }
    : {
        ...section,
        state: 'not_set_up',
        at: null,
        basis: null,
        text: 'Not tested yet. Send a message from this domain to a test address.',
      };
}

/** Messages with the same name, or from the same address, were sent in the same way. */
export const senderOf = ({
  name,
  from_address,
}: Pick<ReadTest, 'name' | 'from_address'>): string =>
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
export function findingsOf(series: ReadTest[]): Finding[] {
  const [latest] = series;
  return [...Map.groupBy(latest!.checks, ({ id }) => topicOf(id))].flatMap(([topic, checks]) =>
    findingAbout(topic, checks, series),
  );
}

function findingAbout(topic: Topic, checks: CheckResult[], series: ReadTest[]): Finding[] {
  const latest = series[0]!;
  // Without points, a check only informs.
  const counted = checks.filter(({ points }) => points > 0);
  const worst = counted
    .filter(isProblem)
    .toSorted((a, b) => costOf(topic, b) - costOf(topic, a) || b.gain - a.gain)[0];
  const path = `/tests/${latest.id}`;
  const said = {
    source: 'tests' as const,
    origin: `Test of ${senderName(latest)}`,
    topic,
    path,
    at: latest.completed_at,
  };
  if (!worst) {
    const open = counted.find(({ status }) => status === 'error');
    if (open) return [notKnown({ ...said, text: open.title })];
    const passed = counted.find(({ status }) => status === 'pass');
    return passed ? [fine({ ...said, text: passed.title })] : [];
  }
  const { count, since } = history(worst, series);
  return [
    problem(issueOfCheck(topic, worst), {
      ...said,
      text: worst.title,
      title: shortTitle(worst.title, worst.id),
      since,
      basis: `In ${formatCount(count)} of the last ${formatCount(series.length, 'test')} of this sender`,
      firstStep: worst.fix && { text: worst.fix.text, record: worst.fix.record ?? null, path },
    }),
  ];
}

const costOf = (topic: Topic, check: CheckResult): number =>
  issueOf(issueOfCheck(topic, check)).cost;

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
  'from',
  'message_id',
  'header_duplicates',
  'encoding',
  'attachments',
  'active_content',
  'hidden_text',
  'link_text',
  'spamassassin',
  'rspamd',
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
