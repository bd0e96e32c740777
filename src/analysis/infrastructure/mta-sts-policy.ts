/** Reads an MTA-STS policy (RFC 8461 §3.2) and tells what is wrong with it. */

export interface StsPolicy {
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

export function parseStsPolicy(text: string): StsPolicy {
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
export function matchesMx(host: string, patterns: string[]): boolean {
  const name = host.toLowerCase();
  const parent = name.slice(name.indexOf('.') + 1);
  return patterns.some(
    (pattern) => pattern === name || (pattern.startsWith('*.') && pattern.slice(2) === parent),
  );
}
