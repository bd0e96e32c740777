/** The health of a domain: what its checks add up to. Plain data, as it is stored, served and printed. */

import { namesOf } from '../blocklists/outcomes.ts';
import type { Category, CheckStatus, Fix, Json, Reference } from '../check.ts';
import { earnedOf, wholeScore } from '../score.ts';

export type HealthStatus = 'healthy' | 'warning' | 'critical' | 'unknown';

/** `critical`: mail of the domain is refused, or anybody can send as it. null: nothing to see to. */
export type Severity = 'critical' | 'warning' | null;

export interface DomainCheck {
  /** As in a report; `dkim_selector` stands there once for each selector (`evidence.selector`). */
  id: string;
  label: string;
  category: Category;
  status: CheckStatus;
  /** What it came to when it could be found out last, where it cannot now: severity and score are by it. */
  former_status?: CheckStatus;
  severity: Severity;
  title: string;
  detail: string;
  evidence: { [key: string]: Json };
  /** 0 for what only informs. */
  points: number;
  reference: Reference;
  fix: Fix | null;
}

export interface DomainHealth {
  /** In A-labels. */
  name: string;
  status: HealthStatus;
  /** 0–100; null where nothing that has points could be found out. */
  score: number | null;
  /** A sentence or two. */
  summary: string;
  checks: DomainCheck[];
}

/** Without an answer to these nobody can say that a domain is in order. */
const ESSENTIAL = new Set(['spf_record', 'dmarc_policy', 'dmarc_record', 'mx']);

/** `exists`: whether the DNS knows the name at all. */
export function healthOf(name: string, checks: DomainCheck[], exists = true): DomainHealth {
  const status = statusOf(checks);
  const summary = exists
    ? summarize(name, status, checks)
    : `${name} does not exist in the DNS: register it, or look whether the name is right.`;
  return { name, status, score: scoreOf(checks), summary, checks };
}

/** A known critical finding stands; else what is not known about the essentials leaves all unknown. */
function statusOf(checks: DomainCheck[]): HealthStatus {
  if (checks.some(({ severity }) => severity === 'critical')) return 'critical';
  if (unanswered(checks).some(({ id }) => ESSENTIAL.has(id))) return 'unknown';
  return checks.some(({ severity }) => severity === 'warning') ? 'warning' : 'healthy';
}

/**
 * The mean of the checks that have points and ran, each counted once: a `warn` is half. The keys of
 * several selectors are one check, so that many good ones do not outweigh the rest.
 */
function scoreOf(checks: DomainCheck[]): number | null {
  const shares = new Map<string, number[]>();
  for (const check of checks) {
    const earned = earnedOf({ ...check, status: check.former_status ?? check.status });
    if (earned === null) continue;
    shares.set(check.id, [...(shares.get(check.id) ?? []), earned / check.points]);
  }
  return shares.size === 0 ? null : wholeScore(100 * mean([...shares.values()].map(mean)));
}

const mean = (values: number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

const unanswered = (checks: DomainCheck[]): DomainCheck[] =>
  checks.filter(({ status }) => status === 'error');

function summarize(name: string, status: HealthStatus, checks: DomainCheck[]): string {
  const open = unanswered(checks).map(({ label }) => label);
  const missed = open.length > 0 ? ` Not found out: ${open.join(', ')}.` : '';
  return `${lead(name, status, checks)}${missed}`;
}

function lead(name: string, status: HealthStatus, checks: DomainCheck[]): string {
  const count = (severity: Severity) =>
    checks.filter((check) => check.severity === severity).length;
  const warnings = plural(count('warning'), 'warning');
  if (status === 'critical') {
    const beside = count('warning') > 0 ? ` and ${warnings}` : '';
    return `${name} needs attention: ${plural(count('critical'), 'critical problem')}${beside}.`;
  }
  if (status === 'warning') return `${name} works, with ${warnings}.`;
  if (status === 'healthy') return `${name} is in good order.`;
  return `Too little could be found out about ${name} to tell whether it is in order.`;
}

const plural = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

// Keeps what was known of a domain where a look could not find out: a DNS that fails in part is no move.

/** `former`: the checks of the last look, as this left them. A look that found out too little stays so. */
export function withFormer(health: DomainHealth, former: DomainCheck[]): DomainHealth {
  if (health.status === 'unknown') return health;
  const checks = health.checks.map((check) => {
    const before = former.filter((one) => isSame(check, one));
    return before.length === 0 ? check : withListings(withVerdict(check, before), before[0]!);
  });
  const isNew = checks.some((check, index) => check !== health.checks[index]);
  return isNew ? healthOf(health.name, checks) : health;
}

/** Where it is not even known which selectors there are, it could be any of them. */
const isSame = ({ id, evidence }: DomainCheck, former: DomainCheck): boolean =>
  id === former.id &&
  (evidence.selector === undefined || evidence.selector === former.evidence.selector);

const RANK: Severity[] = [null, 'warning', 'critical'];
const worse = (a: Severity, b: Severity): Severity => (RANK.indexOf(b) > RANK.indexOf(a) ? b : a);

const verdictOf = ({ status, former_status }: DomainCheck) => former_status ?? status;

function withVerdict(check: DomainCheck, before: DomainCheck[]): DomainCheck {
  if (check.status !== 'error') return check;
  const known = before.filter((one) => verdictOf(one) !== 'error');
  const gravest = known.toSorted((a, b) => RANK.indexOf(b.severity) - RANK.indexOf(a.severity))[0];
  if (!gravest) return check;
  return { ...check, severity: gravest.severity, former_status: verdictOf(gravest) };
}

/** A list as the evidence of a check of blocklists has it. */
interface ListAnswer {
  [key: string]: string | number | boolean;
  zone: string;
  name: string;
  tier: number;
  status: string;
  /** It listed when it answered last, and does not answer. */
  stands: boolean;
}

const listsOf = ({ evidence }: DomainCheck): ListAnswer[] =>
  Array.isArray(evidence.lists) ? (evidence.lists as unknown as ListAnswer[]) : [];

const isSilent = ({ status }: ListAnswer): boolean => status === 'error' || status === 'left_out';

/** A list that has listed and is silent now still lists. */
function withListings(check: DomainCheck, before: DomainCheck): DomainCheck {
  const listed = new Set(
    listsOf(before).flatMap(({ zone, status, stands }) =>
      status === 'listed' || stands ? [zone] : [],
    ),
  );
  const lists = listsOf(check);
  // Where the check itself could not be made, nothing has answered.
  const all =
    lists.length > 0 || check.status !== 'error'
      ? lists
      : listsOf(before).map((one) => ({ ...one, status: 'error' }));
  const standing = all.filter((one) => isSilent(one) && listed.has(one.zone));
  if (standing.length === 0) return check;
  const told = all.map((one) => (standing.includes(one) ? { ...one, stands: true } : one));
  const grave = standing.reduce<Severity>(
    (sum, { tier }) => worse(sum, tier === 1 ? 'critical' : tier === 2 ? 'warning' : null),
    check.severity,
  );
  const names = namesOf(standing.map(({ name }) => name));
  return {
    ...check,
    detail: `${check.detail} Listed by ${names} when last heard from.`,
    evidence: { ...check.evidence, lists: told },
    severity: grave,
    ...(grave === check.severity ? {} : { former_status: verdictOf(before) }),
  };
}
