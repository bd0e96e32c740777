/** The health of a domain: what its checks add up to. Plain data, as it is stored, served and printed. */

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
