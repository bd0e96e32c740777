/** `mta_sts`: whether the From domain has an MTA-STS record and a valid policy. */

import { derivedToken } from '../../lib/crypto.ts';
import { formatDuration } from '../../lib/durations.ts';
import type { WebFailureReason } from '../../net/guarded-connection.ts';
import {
  type Check,
  type Context,
  type Finding,
  type Fix,
  info,
  lookupFailed,
  offline,
  PUBLIC_FAILED_LOOKUPS,
  rfc,
  skipped,
  unknown,
} from '../check.ts';
import { explainRepeated, repeatedZone } from '../dns/appended-zone.ts';
import { mailHosts } from '../dns/mail-hosts.ts';
import { fromDomain } from '../dns/names.ts';
import { pastedAround, withoutPasted } from '../dns/pasted-text.ts';
import { parseTagList } from '../dns/tag-list.ts';
import { isFromWildcard } from '../dns/wildcard.ts';

const NOT_CHECKED = 'MTA-STS was not checked.';

export const mtaSts: Check = {
  id: 'mta_sts',
  category: 'infrastructure',
  points: 0,
  label: 'MTA-STS',
  reference: rfc(8461, '3'),
  publicEvidence: {
    name: 'shown',
    records: 'shown',
    policy_url: 'shown',
    policy: {
      '': 'shown',
      version: 'shown',
      mode: 'shown',
      max_age: 'shown',
      mx: 'shown',
      content_type: 'shown',
    },
    problems: 'shown',
    lists_none: 'shown',
    ...PUBLIC_FAILED_LOOKUPS,
  },
  about: fromDomain,
  async run(context) {
    const domain = fromDomain(context);
    if (domain === null) return skipped(NOT_CHECKED, 'The From field has no domain.');
    if (context.offline) return offline(NOT_CHECKED);
    const name = `_mta-sts.${domain}`;
    const answer = await context.resolver(name, 'TXT');
    if (answer.status === 'error')
      return lookupFailed('Could not look up the MTA-STS record.', [
        { name, type: 'TXT', reason: answer.reason },
      ]);
    // Senders ignore other TXT records, and ignore all if several match (RFC 8461 §3.1).
    const candidates = (answer.status === 'found' ? answer.records : []).filter(resemblesRecord);
    const evidence = { name, records: candidates.slice(0, 10).map((text) => text.slice(0, 500)) };
    const fix = recordFix(domain, name, candidates);
    if (candidates.length === 0) {
      const repeated = await repeatedZone(name, domain, resemblesRecord, context.resolver);
      return repeated
        ? misplacedRecord(domain, name, repeated)
        : { ...noRecord(domain, evidence), fix };
    }
    const records = candidates.filter((text) => /^v=STSv1\s*;/.test(text));
    if (records.length !== 1 || !hasId(records[0]!))
      return { ...invalidRecord(domain, candidates, evidence), fix };
    return evaluatePolicy(context, domain, evidence);
  },
};

/** A wildcard may return unrelated TXT records for this name. */
function resemblesRecord(text: string): boolean {
  return /^(?:v\s*[=:]*\s*)?stsv\d|^v\s*[=:]\s*sts|^id\s*[=:].*[;,\s]v\s*[=:]\s*stsv/i.test(
    withoutPasted(text),
  );
}

function hasId(record: string): boolean {
  return /^[a-z0-9]{1,32}$/i.test(parseTagList(record).get('id') ?? '');
}

async function evaluatePolicy(
  context: Context,
  domain: string,
  recordEvidence: Evidence,
): Promise<Finding> {
  const fetched = await context.fact(fetchedPolicy);
  const evidence = { ...recordEvidence, policy_url: stsPolicyUrl(domain) };
  if (fetched.unknown !== undefined)
    return unknown(`Could not check the MTA-STS policy of ${domain}.`, fetched.unknown, {
      ...evidence,
      policy: 'not fetched',
    });
  if (fetched.text === null)
    return invalidPolicy(
      domain,
      [`${fetched.problem}${await wildcardNote(context, domain)}`],
      evidence,
    );
  const policy = parseStsPolicy(fetched.text);
  const problems = [...typeProblems(fetched.contentType), ...policy.problems];
  const policyFacts = { ...evidence, ...policyEvidence(policy, fetched.contentType) };
  const hosts = await mailHosts(context, domain);
  const names = hosts.hosts.map(({ name }) => name);
  const unlisted = names.filter((name) => !matchesMx(name, policy.mx));
  if (problems.length > 0) return invalidPolicy(domain, problems, policyFacts);
  if (policy.mode !== 'none' && unlisted.length > 0)
    return incompletePolicy(domain, unlisted, policy, {
      ...policyFacts,
      ...(unlisted.length === names.length && { lists_none: true }),
    });
  if (hosts.kind === 'error')
    return lookupFailed(
      `Could not determine whether the MTA-STS policy of ${domain} lists its mail servers.`,
      hosts.unanswered,
      policyFacts,
    );
  if (policy.mode !== 'none' && (policy.maxAge ?? 0) < WEEK)
    return shortPolicy(domain, policy.maxAge ?? 0, policyFacts);
  return validPolicy(domain, policy, policyFacts);
}

/** Whether another web server answers because the name of the policy server was never published; empty if not. */
async function wildcardNote({ resolver }: Context, domain: string): Promise<string> {
  const host = `mta-sts.${domain}`;
  const types = ['A', 'AAAA'] as const;
  const areFrom = await Promise.all(types.map((type) => isFromWildcard(host, type, resolver)));
  return areFrom.includes(true)
    ? ` The address of ${host} comes from a wildcard record. Publish an A or AAAA record for ${host} with the address of your policy server.`
    : '';
}

/** In seconds. */
const DAY = 86_400;
const WEEK = 7 * DAY;

/** Only what a sender remembers protects it from an attacker who hides the record (§10.2). */
function shortPolicy(domain: string, maxAge: number, evidence: Evidence): Finding {
  const time = formatDuration(maxAge * 1000);
  const problem =
    maxAge < DAY
      ? `Senders forget it after ${time}, so most mail is sent without any policy if the record cannot be read.`
      : `Senders forget it after ${time}, so it does not protect mail from senders that write to you less often than that.`;
  return {
    ...info(`Senders remember the MTA-STS policy of ${domain} for only ${time}.`, problem, {
      ...evidence,
      problems: [problem],
    }),
    fix: {
      text: `In the policy at ${stsPolicyUrl(domain)}, set max_age to 2592000 (30 days), or at least to ${WEEK} (a week). Then change the id in the DNS record.`,
    },
  };
}

/** A fact: the policy of the From domain, fetched once. Only for a domain with an MTA-STS record. */
const fetchedPolicy = (context: Context): Promise<FetchedPolicy> =>
  fetchStsPolicy(context, fromDomain(context) ?? '');

/** Of these mail servers, those that a usable policy of the From domain does not list. */
export async function unlistedHosts(context: Context, hosts: string[]): Promise<string[]> {
  const domain = fromDomain(context);
  if (domain === null || hosts.length === 0 || !(await hasStsRecord(context, domain))) return [];
  const { text } = await context.fact(fetchedPolicy);
  if (text === null) return [];
  const { mode, mx, problems } = parseStsPolicy(text);
  if (problems.length > 0 || mode === 'none') return [];
  return hosts.filter((host) => !matchesMx(host, mx));
}

/** Whether the domain has exactly one MTA-STS record, so that senders fetch its policy. */
export async function hasStsRecord(context: Context, domain: string): Promise<boolean> {
  const answer = await context.resolver(`_mta-sts.${domain}`, 'TXT');
  const texts = answer.status === 'found' ? answer.records : [];
  return texts.filter(isRecord).length === 1;
}

/** §3.2: the media type must be text/plain, so that nobody can inject a policy through other content. */
function typeProblems(contentType: string): string[] {
  if (/^text\/plain\s*(?:;|$)/i.test(contentType)) return [];
  return [
    `The policy is served ${contentType === '' ? 'without a content type' : `as ${contentType.slice(0, 60)}`}, not as text/plain.`,
  ];
}

function policyEvidence(policy: StsPolicy, contentType: string) {
  return {
    policy: {
      version: policy.version?.slice(0, 60) ?? null,
      mode: policy.mode?.slice(0, 60) ?? null,
      max_age: policy.maxAge,
      mx: policy.mx.slice(0, 20).map((pattern) => pattern.slice(0, 255)),
      content_type: contentType.slice(0, 100),
    },
  };
}

type Evidence = NonNullable<Finding['evidence']>;

const ID_LENGTH = 14;

/** The record to publish. Its id differs from those of the `records` that it replaces, and does not depend on the time. */
function recordFix(domain: string, name: string, records: string[]): Fix {
  const token = derivedToken([domain, ...records.toSorted()].join('\n'), ID_LENGTH);
  // What no sender has read can keep its id.
  const [only, ...others] = records;
  const written = /id\s*[=:]\s*([^;,\s]+)/i.exec(withoutPasted(only ?? ''))?.[1];
  const kept = others.length > 0 ? undefined : written?.replace(/[^a-z0-9]/gi, '').slice(0, 32);
  const id = kept || token;
  return {
    text: `Serve a policy at ${stsPolicyUrl(domain)}, then publish this as the only record at its name. Change the id whenever the policy changes.`,
    record: { type: 'TXT', name, value: `v=STSv1; id=${id}` },
  };
}

function misplacedRecord(
  domain: string,
  name: string,
  { name: repeated, texts }: { name: string; texts: string[] },
): Finding {
  const problem = explainRepeated(name, repeated, domain);
  const value = texts.find(isRecord);
  return {
    ...info(`The MTA-STS record of ${domain} is published at the wrong name.`, problem, {
      name,
      records: texts.map((text) => text.slice(0, 500)),
      problems: [problem],
    }),
    fix: {
      text: `Move the record to ${name}.`,
      record:
        value === undefined ? recordFix(domain, name, texts).record : { type: 'TXT', name, value },
    },
  };
}

const isRecord = (text: string): boolean => /^v=STSv1\s*;/.test(text) && hasId(text);

function noRecord(domain: string, evidence: Evidence): Finding {
  return info(
    `${domain} does not use MTA-STS.`,
    'MTA-STS lets you require verified TLS for mail sent to your domain. It protects mail you receive and does not affect mail you send.',
    evidence,
  );
}

function invalidRecord(domain: string, records: string[], evidence: Evidence): Finding {
  const around = pastedAround(records[0] ?? '');
  const problem =
    records.length > 1
      ? 'There are several records, so senders ignore all of them.'
      : around !== null
        ? `It ${around}, so senders ignore it.`
        : 'It must start with v=STSv1; and have an id of 1 to 32 letters and digits.';
  return info(`The MTA-STS record of ${domain} is invalid.`, problem, {
    ...evidence,
    problems: [problem],
  });
}

function invalidPolicy(domain: string, problems: string[], evidence: Evidence): Finding {
  return {
    ...info(
      `Senders cannot use the MTA-STS policy of ${domain}.`,
      `${problems.join(' ')} Senders deliver without a policy, or use a cached one until it expires.`,
      { ...evidence, problems },
    ),
    fix: {
      text: `Serve the policy at ${stsPolicyUrl(domain)} as text/plain, with a valid certificate and without a redirect. It needs version, mode and max_age, and an mx line for each of your mail servers. Then change the id in the DNS record.`,
    },
  };
}

/** For mail servers that the policy does not list (§4.1). */
function incompletePolicy(
  domain: string,
  hosts: string[],
  { mode }: StsPolicy,
  evidence: Evidence,
): Finding {
  const problem = `It does not list ${hosts.join(', ')}.`;
  const outcome =
    mode === 'enforce'
      ? 'Senders that support MTA-STS do not deliver to unlisted servers.'
      : 'In testing mode, senders only report this. In enforce mode, they do not deliver to unlisted servers.';
  return {
    ...info(
      evidence.lists_none
        ? `The MTA-STS policy of ${domain} lists none of its mail servers.`
        : `The MTA-STS policy of ${domain} does not cover all its mail servers.`,
      `${problem} ${outcome}`,
      { ...evidence, problems: [problem] },
    ),
    fix: {
      text: `Add these lines to the policy at ${stsPolicyUrl(domain)}: ${hosts.map((host) => `"mx: ${host}"`).join(', ')}. Then change the id in the DNS record.`,
    },
  };
}

function validPolicy(domain: string, { mode, maxAge }: StsPolicy, evidence: Evidence): Finding {
  const cacheTime = formatDuration((maxAge ?? 0) * 1000);
  const details: Record<string, string> = {
    enforce: `Senders that support MTA-STS deliver to you only over verified TLS. They cache the policy for ${cacheTime}.`,
    testing:
      'In testing mode, senders report failures but still deliver. Once the reports show no failures, change the mode to enforce.',
    none: 'With mode "none", senders discard any previous policy.',
  };
  return info(
    `${domain} has a valid MTA-STS policy (${mode}).`,
    details[mode ?? ''] ?? '',
    evidence,
  );
}

// Parses an MTA-STS policy (RFC 8461 §3.2).

interface StsPolicy {
  version: string | null;
  mode: string | null;
  /** Seconds; null if absent or not a number. */
  maxAge: number | null;
  /** Host names, or `*.` and a host name, in lower case. */
  mx: string[];
  /** Why senders ignore the policy, as sentences. */
  problems: string[];
}

/** Seconds: about one year (§3.2). */
export const MAX_MAX_AGE = 31_557_600;
/** Bounds the work on a hostile policy. */
const MAX_LINES = 500;
const MAX_MX = 100;

export const STS_MODES = ['enforce', 'testing', 'none'] as const;
const MODES: readonly string[] = STS_MODES;
const MX_PATTERN = /^(?:\*\.)?(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9-]{1,63}$/;

export function parseStsPolicy(text: string): StsPolicy {
  const fields = new Map<string, string>();
  const mx: string[] = [];
  const problems: string[] = [];
  const lines = text.split(/\r?\n/, MAX_LINES).filter((line) => line.trim() !== '');
  for (const line of lines) {
    const colon = line.indexOf(':');
    const key = line.slice(0, Math.max(colon, 0)).trim();
    const value = line.slice(colon + 1).trim();
    if (key === '') problems.push(`The policy has an invalid line: "${excerpt(line)}".`);
    else if (key === 'mx') mx.push(value.toLowerCase());
    // The first of duplicate fields counts.
    else if (!fields.has(key)) fields.set(key, value);
  }
  const policy: StsPolicy = {
    version: fields.get('version') ?? null,
    mode: fields.get('mode') ?? null,
    maxAge: readMaxAge(fields.get('max_age')),
    mx: mx.slice(0, MAX_MX),
    problems: problems.slice(0, 5),
  };
  policy.problems.push(...fieldProblems(policy, fields.get('max_age')), ...mxProblems(policy));
  return policy;
}

const excerpt = (text: string): string => text.trim().slice(0, 60);

function readMaxAge(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : null;
}

function fieldProblems({ version, mode, maxAge }: StsPolicy, maxAgeText?: string): string[] {
  const problems: string[] = [];
  if (version !== 'STSv1') problems.push('The policy has no line "version: STSv1".');
  if (mode === null) problems.push('The policy has no mode.');
  else if (!MODES.includes(mode))
    problems.push(`The policy mode is "${excerpt(mode)}", not enforce, testing or none.`);
  if (maxAgeText === undefined) problems.push('The policy has no max_age.');
  else if (maxAge === null || maxAge > MAX_MAX_AGE)
    problems.push(
      `The policy's max_age is "${excerpt(maxAgeText)}", not a number of seconds up to ${MAX_MAX_AGE}.`,
    );
  return problems;
}

function mxProblems({ mode, mx }: StsPolicy): string[] {
  if (mx.length === 0) return mode === 'none' ? [] : ['The policy lists no mail servers (mx).'];
  return mx
    .filter((pattern) => pattern.length > 255 || !MX_PATTERN.test(pattern))
    .slice(0, 5)
    .map((pattern) => `The policy lists "${excerpt(pattern)}", which is not a valid host name.`);
}

/** §4.1: the same name, or exactly one label in place of a leading `*`. */
export function matchesMx(host: string, patterns: string[]): boolean {
  const name = host.toLowerCase();
  const parent = name.slice(name.indexOf('.') + 1);
  return patterns.some(
    (pattern) => pattern === name || (pattern.startsWith('*.') && pattern.slice(2) === parent),
  );
}

// Fetches the MTA-STS policy of a domain as a sending server does (RFC 8461 §3.3).

const MAX_BYTES = 64 * 1024;

export function stsPolicyUrl(domain: string): string {
  return `https://mta-sts.${domain}/.well-known/mta-sts.txt`;
}

/** `problem`: why no sender can fetch it. `unknown`: why the result is not conclusive. Sentences. */
type FetchedPolicy =
  | { text: string; contentType: string; problem?: undefined; unknown?: undefined }
  | { text: null; problem: string; unknown?: undefined }
  | { text: null; problem?: undefined; unknown: string };

const PERMANENT_FAILURES: Partial<Record<WebFailureReason, (domain: string) => string>> = {
  no_such_name: (domain) => `The name mta-sts.${domain} does not exist.`,
  forbidden_address: (domain) => `mta-sts.${domain} has no public IP address.`,
  tls: (domain) => `mta-sts.${domain} has no valid certificate.`,
  protocol: (domain) => `mta-sts.${domain} does not respond over HTTP.`,
  too_large: () => 'The policy is larger than 64 KB.',
};

/** Does not follow redirects: senders must not follow them either. */
async function fetchStsPolicy({ web }: Context, domain: string): Promise<FetchedPolicy> {
  const response = await web({ method: 'GET', url: stsPolicyUrl(domain), maxBytes: MAX_BYTES });
  if (response.status === 'failed') {
    const problemOf = PERMANENT_FAILURES[response.reason];
    if (problemOf) return { text: null, problem: problemOf(domain) };
    return { text: null, unknown: `Could not fetch the policy: ${response.detail}.` };
  }
  const { code, headers, body } = response;
  if (code === 200)
    return {
      text: Buffer.from(body).toString('utf8'),
      contentType: headers['content-type'] ?? '',
    };
  if (code >= 300 && code < 400)
    return {
      text: null,
      problem: `The policy server redirects (${code}), and senders do not follow redirects.`,
    };
  // These errors are temporary.
  if (code === 429 || code >= 500)
    return { text: null, unknown: `The policy server responded with ${code}.` };
  return { text: null, problem: `The policy server responded with ${code} instead of 200.` };
}
