/** The check `mta_sts`: does the From domain ask for verified TLS, and does its policy hold? */

import { isoTime } from '../../lib/clock.ts';
import { formatDuration } from '../../lib/durations.ts';
import type { WebFailure } from '../../net/guarded-connection.ts';
import {
  type Check,
  type Context,
  type Finding,
  type Fix,
  info,
  notAnswered,
  offline,
  PUBLIC_UNANSWERED,
  rfc,
  skipped,
  unknown,
} from '../check.ts';
import { mailHosts } from '../dns/mail-hosts.ts';
import { fromDomain } from '../dns/names.ts';
import { parseTagList } from '../dns/tag-list.ts';

const NOT_CHECKED = 'MTA-STS was not looked up.';

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
    ...PUBLIC_UNANSWERED,
  },
  async run(context) {
    const domain = fromDomain(context);
    if (domain === null) return skipped(NOT_CHECKED, 'The From field holds no domain.');
    if (context.offline) return offline(NOT_CHECKED);
    const name = `_mta-sts.${domain}`;
    const answer = await context.resolver(name, 'TXT');
    if (answer.status === 'error')
      return notAnswered('MTA-STS could not be looked up.', [
        { name, type: 'TXT', reason: answer.reason },
      ]);
    // Other TXT records do not count, several that do count as none (RFC 8461 §3.1).
    const all = (answer.status === 'found' ? answer.records : []).filter(resemblesRecord);
    const evidence = { name, records: all.slice(0, 10).map((text) => text.slice(0, 500)) };
    const fix = recordFix(domain, name, context.receivedAt);
    if (all.length === 0) return { ...noRecord(domain, evidence), fix };
    const records = all.filter((text) => /^v=STSv1\s*;/.test(text));
    if (records.length !== 1 || !hasId(records[0]!))
      return { ...badRecord(domain, records.length, evidence), fix };
    return judgePolicy(context, domain, evidence);
  },
};

/** A text of another kind, as a wildcard brings it to every name, says nothing of MTA-STS. */
function resemblesRecord(text: string): boolean {
  return /^[\s"']*v\s*=\s*sts/i.test(text);
}

function hasId(record: string): boolean {
  return /^[a-z0-9]{1,32}$/i.test(parseTagList(record).get('id') ?? '');
}

async function judgePolicy(context: Context, domain: string, told: Evidence): Promise<Finding> {
  const fetched = await fetchStsPolicy(context, domain);
  const evidence = { ...told, policy_url: stsPolicyUrl(domain) };
  if (fetched.open !== undefined)
    return unknown(`The MTA-STS policy of ${domain} could not be looked at.`, fetched.open, {
      ...evidence,
      policy: 'not fetched',
    });
  if (fetched.text === null) return broken(domain, [fetched.problem], evidence);
  const policy = parseStsPolicy(fetched.text);
  const problems = [...typeProblems(fetched.contentType), ...policy.problems];
  const whole = { ...evidence, ...policyEvidence(policy, fetched.contentType) };
  const hosts = await mailHosts(context, domain);
  const names = hosts.hosts.map(({ name }) => name);
  const strangers = names.filter((name) => !matchesMx(name, policy.mx));
  if (problems.length > 0) return broken(domain, problems, whole);
  if (policy.mode !== 'none' && strangers.length > 0)
    return uncovered(domain, strangers, policy, whole);
  if (hosts.kind === 'error')
    return notAnswered(
      `Whether the MTA-STS policy of ${domain} names its mail servers could not be found out.`,
      hosts.unanswered,
      whole,
    );
  return sound(domain, policy, whole);
}

/** §3.2: the media type is text/plain, so that nobody can plant a policy in other content. */
function typeProblems(contentType: string): string[] {
  if (/^text\/plain\s*(?:;|$)/i.test(contentType)) return [];
  return [
    `The policy is served as ${contentType.slice(0, 60) || 'nothing in particular'}, not as text/plain.`,
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

// What the check `mta_sts` says of a record and a policy; `evidence.problems` tells what is broken.

type Evidence = NonNullable<Finding['evidence']>;

/** The record to publish; its id is the time, as everyone does it. */
function recordFix(domain: string, name: string, now: number): Fix {
  const id = isoTime(now).slice(0, 19).replace(/\D/g, '');
  return {
    text: `Serve a policy at ${stsPolicyUrl(domain)}, then publish this record alone at its name; change its id whenever the policy changes.`,
    record: { type: 'TXT', name, value: `v=STSv1; id=${id}` },
  };
}

function noRecord(domain: string, evidence: Evidence): Finding {
  return info(
    `${domain} does not use MTA-STS.`,
    'MTA-STS lets a domain ask that mail to it is only delivered over verified TLS. It protects the mail you receive and has no bearing on the mail you send.',
    evidence,
  );
}

function badRecord(domain: string, count: number, evidence: Evidence): Finding {
  const problem =
    count > 1
      ? 'There are several, and senders then pass over all of them.'
      : 'It needs to begin with v=STSv1; and to hold an id of 1 to 32 letters and digits.';
  return info(`The MTA-STS record of ${domain} is not valid.`, problem, {
    ...evidence,
    problems: [problem],
  });
}

function broken(domain: string, problems: string[], evidence: Evidence): Finding {
  return {
    ...info(
      `The MTA-STS policy of ${domain} is broken.`,
      `${problems.join(' ')} Senders act as if there were no policy, or keep to the one they know until it ends.`,
      { ...evidence, problems },
    ),
    fix: {
      text: `Serve the policy at ${stsPolicyUrl(domain)} with a valid certificate, as text/plain, without a redirect: the lines version, mode, max_age, and an mx line for each of your mail servers. Then change the id in the DNS record.`,
    },
  };
}

/** Mail servers that the policy does not name (§4.1). */
function uncovered(
  domain: string,
  hosts: string[],
  { mode }: StsPolicy,
  evidence: Evidence,
): Finding {
  const problem = `It does not name ${hosts.join(', ')}.`;
  const outcome =
    mode === 'enforce'
      ? 'Senders that heed it do not deliver to such a server.'
      : 'In testing, senders report that; under enforce they would not deliver there.';
  return {
    ...info(
      `The MTA-STS policy of ${domain} does not cover all its mail servers.`,
      `${problem} ${outcome}`,
      { ...evidence, problems: [problem] },
    ),
    fix: {
      text: `Add to the policy at ${stsPolicyUrl(domain)}: ${hosts.map((host) => `"mx: ${host}"`).join(', ')}. Then change the id in the DNS record.`,
    },
  };
}

function sound(domain: string, { mode, maxAge }: StsPolicy, evidence: Evidence): Finding {
  const time = formatDuration((maxAge ?? 0) * 1000);
  const details: Record<string, string> = {
    enforce: `Senders that support it deliver to you over verified TLS only, and remember that for ${time}.`,
    testing:
      'It is in testing: senders report what would fail, and deliver all the same. Once the reports are clean, change its mode to enforce.',
    none: 'Its mode is none, which takes a former policy back.',
  };
  return info(
    `${domain} has a sound MTA-STS policy (${mode}).`,
    details[mode ?? ''] ?? '',
    evidence,
  );
}

// Reads an MTA-STS policy (RFC 8461 §3.2) and tells what is wrong with it.

interface StsPolicy {
  version: string | null;
  mode: string | null;
  /** Seconds; null where absent or not a number. */
  maxAge: number | null;
  /** Host names, or `*.` before one; in lower case. */
  mx: string[];
  /** What makes senders pass over the policy, as sentences. */
  problems: string[];
}

/** §3.2: about a year; what is more is not valid. */
const MAX_AGE_LIMIT = 31_557_600;
/** Beyond these nothing is read: no domain has so many mail servers. */
const MAX_LINES = 500;
const MAX_MX = 100;

const MODES = ['enforce', 'testing', 'none'];
const MX_PATTERN = /^(?:\*\.)?(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9-]{1,63}$/;

function parseStsPolicy(text: string): StsPolicy {
  const fields = new Map<string, string>();
  const mx: string[] = [];
  const problems: string[] = [];
  const lines = text.split(/\r?\n/, MAX_LINES).filter((line) => line.trim() !== '');
  for (const line of lines) {
    const colon = line.indexOf(':');
    const key = line.slice(0, Math.max(colon, 0)).trim();
    const value = line.slice(colon + 1).trim();
    if (key === '') problems.push(`The policy has a line that is no field: "${shown(line)}".`);
    else if (key === 'mx') mx.push(value.toLowerCase());
    // Of a field that is there twice the first counts.
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

const shown = (text: string): string => text.trim().slice(0, 60);

function readMaxAge(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : null;
}

function fieldProblems({ version, mode, maxAge }: StsPolicy, written?: string): string[] {
  const problems: string[] = [];
  if (version !== 'STSv1') problems.push('The policy does not say version: STSv1.');
  if (mode === null) problems.push('The policy has no mode.');
  else if (!MODES.includes(mode))
    problems.push(`The mode of the policy is "${shown(mode)}", not enforce, testing or none.`);
  if (written === undefined) problems.push('The policy has no max_age.');
  else if (maxAge === null || maxAge > MAX_AGE_LIMIT)
    problems.push(
      `The max_age of the policy is "${shown(written)}", not a number of seconds up to ${MAX_AGE_LIMIT}.`,
    );
  return problems;
}

function mxProblems({ mode, mx }: StsPolicy): string[] {
  if (mx.length === 0) return mode === 'none' ? [] : ['The policy names no mail server (mx).'];
  return mx
    .filter((pattern) => pattern.length > 255 || !MX_PATTERN.test(pattern))
    .slice(0, 5)
    .map((pattern) => `The policy names "${shown(pattern)}", which is no name of a mail server.`);
}

/** §4.1: the name itself, or, for a `*.` at the front, exactly one label in its place. */
function matchesMx(host: string, patterns: string[]): boolean {
  const name = host.toLowerCase();
  const parent = name.slice(name.indexOf('.') + 1);
  return patterns.some(
    (pattern) => pattern === name || (pattern.startsWith('*.') && pattern.slice(2) === parent),
  );
}

// Fetches the MTA-STS policy of a domain as senders do (RFC 8461 §3.3).

const MAX_BYTES = 64 * 1024;

function stsPolicyUrl(domain: string): string {
  return `https://mta-sts.${domain}/.well-known/mta-sts.txt`;
}

/** `problem`: what keeps every sender from it. `open`: why it could not be found out. Sentences. */
type FetchedPolicy =
  | { text: string; contentType: string; problem?: undefined; open?: undefined }
  | { text: null; problem: string; open?: undefined }
  | { text: null; problem?: undefined; open: string };

const LASTING: Partial<Record<WebFailure, (domain: string) => string>> = {
  no_such_name: (domain) => `The name mta-sts.${domain} does not exist.`,
  forbidden_address: (domain) => `mta-sts.${domain} has no public address.`,
  tls: (domain) => `mta-sts.${domain} has no certificate that is valid for it.`,
  protocol: (domain) => `What answers at mta-sts.${domain} is no web server.`,
  too_large: () => 'The policy is larger than 64 KiB.',
};

/** One request, redirects not followed: senders must not follow them either. */
async function fetchStsPolicy({ web }: Context, domain: string): Promise<FetchedPolicy> {
  const answer = await web({ method: 'GET', url: stsPolicyUrl(domain), maxBytes: MAX_BYTES });
  if (answer.status === 'failed') {
    const lasting = LASTING[answer.reason];
    if (lasting) return { text: null, problem: lasting(domain) };
    return { text: null, open: `The policy could not be fetched: ${answer.detail}.` };
  }
  const { code, headers, body } = answer;
  if (code === 200)
    return {
      text: Buffer.from(body).toString('utf8'),
      contentType: headers['content-type'] ?? '',
    };
  if (code >= 300 && code < 400)
    return {
      text: null,
      problem: `The server of the policy answers with a redirect (${code}), which senders do not follow.`,
    };
  // A server in trouble serves again another day.
  if (code === 429 || code >= 500)
    return { text: null, open: `The server of the policy answers ${code}.` };
  return { text: null, problem: `The server of the policy answers ${code} instead of 200.` };
}
