/** Reads SMTP TLS reports (RFC 8460 §4). */

import { LIMITS, RefusedError } from './limits.ts';
import type { TlsFailure, TlsPolicy, TlsReport } from './report.ts';
import { addCounts, isoMs, readCount, readDomain, requirePeriod, shortText } from './values.ts';

const MAX_TEXT = 255;
const MAX_DETAIL = 500;
const MAX_LINES = 50;

type Json = Record<string, unknown>;

/**
 * One report for each policy domain. `domain` is what the message names (TLS-Report-Domain), for policies without one.
 * Throws RefusedError, with `not_a_report` if the JSON is something else.
 */
export function readTls(
  text: string,
  { domain, sender, now }: { domain: string | null; sender: string | null; now: number },
): { reports: TlsReport[]; repaired: string[] } {
  const repaired = new Set<string>();
  const json = parse(text);
  const policies = json.policies;
  if (!Array.isArray(policies) && json['organization-name'] === undefined)
    throw new RefusedError('not_a_report', 'The JSON is not a TLS report.');
  const range = objectOf(json['date-range']);
  const begin = timeOf(range['start-datetime'], 'beginning');
  const end = timeOf(range['end-datetime'], 'end');
  requirePeriod(begin, end, now);
  const reporter = (stringOf(json['organization-name'], MAX_TEXT) ?? sender)?.toLowerCase();
  if (!reporter) throw new RefusedError('invalid', 'The report does not name its reporter.');
  if (json['organization-name'] === undefined) repaired.add('no name of the reporter');
  const report = {
    type: 'tls' as const,
    reporter,
    contact: stringOf(json['contact-info'], MAX_TEXT),
    reportId: stringOf(json['report-id'], MAX_TEXT) ?? String(begin),
    begin,
    end,
  };
  const read = readPolicies(Array.isArray(policies) ? policies : [], domain, repaired);
  const reports = [...groupByDomain(read).values()].map((own) => ({ ...report, policies: own }));
  return {
    // Nothing was sent, which is worth knowing too.
    reports: reports.length > 0 ? reports : [{ ...report, policies: [] }],
    repaired: [...repaired].sort(),
  };
}

function parse(text: string): Json {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    throw new RefusedError('unreadable', 'The JSON is not valid.');
  }
}

const objectOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};

const stringOf = (value: unknown, max: number): string | null =>
  typeof value === 'string' || typeof value === 'number' ? shortText(String(value), max) : null;

/** A list, or a single value in its place. */
const stringsOf = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value])
    .slice(0, MAX_LINES)
    .flatMap((one) => stringOf(one, MAX_DETAIL) ?? []);

function timeOf(value: unknown, name: string): number {
  const ms = typeof value === 'string' ? isoMs(value) : null;
  if (ms === null) throw new RefusedError('invalid', `The report has no valid ${name}.`);
  return ms;
}

function readPolicies(
  policies: unknown[],
  domain: string | null,
  repaired: Set<string>,
): TlsPolicy[] {
  let sum = 0;
  let details = 0;
  if (policies.length > LIMITS.rows)
    throw new RefusedError('too_many', `The report has more than ${LIMITS.rows} policies.`);
  return policies.map((entry) => {
    const { policy, summary, 'failure-details': failures } = objectOf(entry);
    const declared = objectOf(policy);
    const counts = objectOf(summary);
    const count = (value: unknown) => {
      if (typeof value === 'string') repaired.add('counts as text');
      return value === undefined || value === null ? 0 : readCount(value, 'count of sessions');
    };
    const succeeded = count(counts['total-successful-session-count']);
    const failed = count(counts['total-failure-session-count']);
    sum = addCounts(sum, succeeded + failed);
    const list = Array.isArray(failures) ? failures : [];
    details += list.length;
    if (details > LIMITS.records)
      throw new RefusedError('too_many', 'The report has more than 100,000 failure details.');
    const policyDomain = readDomain(stringOf(declared['policy-domain'], MAX_TEXT)) ?? domain;
    if (stringOf(declared['policy-domain'], 1) === null && domain !== null)
      repaired.add('a policy without a domain');
    return {
      policyType: stringOf(declared['policy-type'], 40)?.toLowerCase() ?? 'unknown',
      policyString: stringsOf(declared['policy-string']),
      policyDomain,
      mxHosts: stringsOf(declared['mx-host'] ?? declared['mx-host-pattern']),
      succeeded,
      failed,
      failures: folded(
        list.map((failure) => readFailure(objectOf(failure), repaired)),
        repaired,
      ),
    };
  });
}

/** Those with the most sessions are kept one by one, and the others summed up by type. */
function folded(failures: TlsFailure[], repaired: Set<string>): TlsFailure[] {
  if (failures.length <= LIMITS.rows) return failures;
  repaired.add(`failure details beyond ${LIMITS.rows}, which are summed up`);
  const sorted = failures.toSorted((a, b) => b.sessions - a.sessions);
  const sums = new Map<string, TlsFailure>();
  for (const { resultType, sessions } of sorted.slice(LIMITS.rows)) {
    const sum = sums.get(resultType);
    if (sum) sum.sessions = addCounts(sum.sessions, sessions);
    else
      sums.set(resultType, {
        resultType,
        sessions,
        sendingIp: null,
        receivingMx: null,
        receivingMxHelo: null,
        receivingIp: null,
        additionalInformation: null,
        reasonCode: null,
      });
  }
  return [...sorted.slice(0, LIMITS.rows), ...sums.values()];
}

function readFailure(failure: Json, repaired: Set<string>): TlsFailure {
  const sessions = failure['failed-session-count'];
  if (typeof sessions === 'string') repaired.add('counts as text');
  return {
    resultType: stringOf(failure['result-type'], 100)?.toLowerCase() ?? 'unknown',
    sendingIp: stringOf(failure['sending-mta-ip'], 100),
    receivingMx: stringOf(failure['receiving-mx-hostname'], MAX_TEXT)?.toLowerCase() ?? null,
    receivingMxHelo: stringOf(failure['receiving-mx-helo'], MAX_TEXT),
    receivingIp: stringOf(failure['receiving-ip'], 100),
    sessions: sessions === undefined ? 0 : readCount(sessions, 'count of sessions'),
    additionalInformation: stringOf(failure['additional-information'], MAX_DETAIL),
    reasonCode: stringOf(failure['failure-reason-code'], MAX_DETAIL),
  };
}

const groupByDomain = (policies: TlsPolicy[]): Map<string | null, TlsPolicy[]> =>
  Map.groupBy(policies, ({ policyDomain }) => policyDomain);
