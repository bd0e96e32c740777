/** Reads SMTP TLS reports (RFC 8460 §4). */

import { normalizeAddress } from '../../lib/addresses.ts';
import { LIMITS, RefusedError } from './limits.ts';
import { Notes } from './notes.ts';
import { type FileName, readPeriod } from './period.ts';
import type { TlsFailure, TlsPolicy, TlsReport } from './report.ts';
import { addCounts, firstOf, isoMs, notedText, readCount, readNamedDomain } from './values.ts';

const MAX_TEXT = 255;
const MAX_DETAIL = 500;
const MAX_LINES = 50;

type Json = Record<string, unknown>;

/** JSON with fewer than two of these members is no TLS report. */
const MEMBERS = ['organization-name', 'date-range', 'report-id', 'policies'];

export interface TlsContext {
  /** TLS-Report-Domain of the message, for policies without a domain. */
  domain: string | null;
  sender: string | null;
  file: FileName | null;
  now: number;
}

/** One report for each policy domain. Throws RefusedError, with `not_a_report` if the JSON is no TLS report. */
export function readTls(
  text: string,
  context: TlsContext,
): { reports: TlsReport[]; repaired: string[] } {
  const notes = new Notes();
  const json = parse(text, notes);
  if (MEMBERS.filter((name) => json[name] !== undefined).length < 2)
    throw new RefusedError('not_a_report', 'The JSON is not a TLS report.');
  const period = periodOf(json, context, notes);
  try {
    const string = (name: string) => stringOf(json[name], MAX_TEXT, name, notes);
    const name = string('organization-name');
    if (name === null) notes.add('no reporter name');
    const report = {
      type: 'tls' as const,
      reporter: (name ?? context.sender ?? 'unknown').toLowerCase(),
      contact: string('contact-info'),
      reportId: string('report-id') ?? String(period.begin),
      ...period,
    };
    const read = readPolicies(json.policies, context.domain ?? context.file?.domain ?? null, notes);
    const reports = [...groupByDomain(read).values()].map((own) => ({ ...report, policies: own }));
    return {
      // Nothing was sent, which is worth knowing too.
      reports: reports.length > 0 ? reports : [{ ...report, policies: [] }],
      repaired: notes.list(),
    };
  } catch (error) {
    if (error instanceof RefusedError && period.isDated)
      error.about = { domain: context.domain, begin: period.begin, end: period.end };
    throw error;
  }
}

function parse(text: string, notes: Notes): Json {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    // Some reports end with NUL bytes.
    const end = text.lastIndexOf('}') + 1;
    if (end < text.length && text.slice(end).trim() !== '')
      try {
        const json = objectOf(JSON.parse(text.slice(0, end)));
        notes.add('bytes after the JSON');
        return json;
      } catch {}
    throw new RefusedError('unreadable', 'The JSON is not valid.');
  }
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const objectOf = (value: unknown): Json => (isObject(value) ? value : {});

/** An entry of a list. Notes anything but an object. */
function entryOf(value: unknown, what: string, notes: Notes): Json[] {
  if (isObject(value)) return [value];
  notes.addValue(`an invalid ${what}`, value);
  return [];
}

/** A list, or a single value in its place. */
const listOf = (value: unknown): unknown[] => {
  if (Array.isArray(value)) return value;
  return value === undefined || value === null ? [] : [value];
};

function stringOf(value: unknown, max: number, what: string, notes: Notes): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' || typeof value === 'number')
    return notedText(String(value), max, what, notes);
  notes.addValue(`${what} that is not text`, value);
  return null;
}

const stringsOf = (value: unknown, what: string, notes: Notes): string[] =>
  firstOf(listOf(value), MAX_LINES, what, notes).flatMap(
    (one) => stringOf(one, MAX_DETAIL, what, notes) ?? [],
  );

function periodOf(json: Json, context: TlsContext, notes: Notes) {
  const range = objectOf(json['date-range']);
  const texts = { begin: range['start-datetime'], end: range['end-datetime'] };
  const time = (value: unknown) => (typeof value === 'string' ? isoMs(value) : null);
  const times = { begin: time(texts.begin), end: time(texts.end) };
  return readPeriod({ texts, ...times }, context, notes);
}

function readPolicies(policies: unknown, domain: string | null, notes: Notes): TlsPolicy[] {
  let sum = 0;
  let details = 0;
  const entries = listOf(policies);
  if (entries.length > LIMITS.rows)
    throw new RefusedError('too_many', `The report has more than ${LIMITS.rows} policies.`);
  return entries
    .flatMap((entry) => entryOf(entry, 'policy', notes))
    .map((entry) => {
      const { policy, summary, 'failure-details': failures } = entry;
      const declared = objectOf(policy);
      const counts = objectOf(summary);
      if (!isObject(policy)) notes.add('an entry without a policy');
      if (!isObject(summary))
        notes.add('a policy without a summary, so that its sessions are missing');
      const succeeded = sessionsOf(counts, 'total-successful-session-count', notes);
      const failed = sessionsOf(counts, 'total-failure-session-count', notes);
      sum = addCounts(sum, succeeded + failed);
      const list = listOf(failures);
      details += list.length;
      if (details > LIMITS.records)
        throw new RefusedError('too_many', 'The report has more than 100,000 failure details.');
      const text = (name: string, max: number) => stringOf(declared[name], max, name, notes);
      const domainText = text('policy-domain', MAX_TEXT);
      if (domainText === null && domain !== null) notes.add('a policy without a domain');
      return {
        policyType: text('policy-type', 40)?.toLowerCase() ?? 'unknown',
        policyString: stringsOf(declared['policy-string'], 'lines of a policy', notes),
        policyDomain: readNamedDomain(domainText, 'policy domain', notes) ?? domain,
        mxHosts: stringsOf(
          declared['mx-host'] ?? declared['mx-host-pattern'],
          'mail servers',
          notes,
        ),
        succeeded,
        failed,
        failures: folded(
          list
            .flatMap((failure) => entryOf(failure, 'failure', notes))
            .map((failure) => readFailure(failure, notes)),
          notes,
        ),
      };
    });
}

function sessionsOf(counts: Json, name: string, notes: Notes): number {
  const value = counts[name];
  if (value === undefined || value === null) return 0;
  if (typeof value === 'string') notes.add('counts as text');
  return readCount(value, 'session count', notes);
}

/** Those with the most sessions are kept one by one, and the others summed up by type. */
function folded(failures: TlsFailure[], notes: Notes): TlsFailure[] {
  if (failures.length <= LIMITS.rows) return failures;
  notes.add(`failure details beyond ${LIMITS.rows}, which are summed up`);
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

function readFailure(failure: Json, notes: Notes): TlsFailure {
  const text = (name: string, max: number) => stringOf(failure[name], max, name, notes);
  const address = (name: string) => {
    const value = text(name, 100);
    const address = value === null ? null : normalizeAddress(value);
    if (value !== null && address === null) notes.addValue(`an invalid ${name}`, value);
    return address ?? value;
  };
  return {
    resultType: text('result-type', 100)?.toLowerCase() ?? 'unknown',
    sendingIp: address('sending-mta-ip'),
    receivingMx: text('receiving-mx-hostname', MAX_TEXT)?.toLowerCase() ?? null,
    receivingMxHelo: text('receiving-mx-helo', MAX_TEXT),
    receivingIp: address('receiving-ip'),
    sessions: sessionsOf(failure, 'failed-session-count', notes),
    additionalInformation: text('additional-information', MAX_DETAIL),
    reasonCode: text('failure-reason-code', MAX_DETAIL),
  };
}

const groupByDomain = (policies: TlsPolicy[]): Map<string | null, TlsPolicy[]> =>
  Map.groupBy(policies, ({ policyDomain }) => policyDomain);
