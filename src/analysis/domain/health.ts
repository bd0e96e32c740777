/** Computes the health of a domain from its checks. The result is stored, served and printed as is. */

import { bothForms, readableDomain } from '../../lib/readable-domain.ts';
import { namesOf } from '../blocklists/outcomes.ts';
import type { Category, Fix, Reference } from '../check.ts';
import { earnedOf, wholeScore } from '../score.ts';
import { CRITICAL_BELOW, type JudgedCheck, limitOf, type Severity, worstFirst } from './dangers.ts';

export type HealthStatus = 'healthy' | 'warning' | 'critical' | 'unknown';

export interface DomainCheck extends JudgedCheck {
  label: string;
  category: Category;
  title: string;
  detail: string;
  reference: Reference;
  fix: Fix | null;
}

export interface DomainHealth {
  /** In A-labels. */
  name: string;
  status: HealthStatus;
  /** 0–100; null if the status is `unknown`, or no check with points completed. */
  score: number | null;
  summary: string;
  checks: DomainCheck[];
}

/** Without the results of these, the health of a domain is unknown. */
const ESSENTIAL = new Set(['spf_record', 'dmarc_policy', 'dmarc_record', 'mx']);

export function healthOf(name: string, checks: DomainCheck[]): DomainHealth {
  const status = statusOf(checks);
  const summary = summarize(name, status, checks);
  return { name, status, score: status === 'unknown' ? null : scoreOf(checks), summary, checks };
}

/** A critical finding decides. Otherwise the health is unknown if an essential check is incomplete. */
function statusOf(checks: DomainCheck[]): HealthStatus {
  if (checks.some(({ severity }) => severity === 'critical')) return 'critical';
  if (incomplete(checks).some(({ id }) => ESSENTIAL.has(id))) return 'unknown';
  return checks.some(({ severity }) => severity === 'warning') ? 'warning' : 'healthy';
}

/**
 * The mean of the completed checks with points; a `warn` counts half. The keys of several selectors
 * count as one check, so that many good keys do not outweigh other checks. A critical finding limits the score, and
 * without one, it is never as low: so scores order domains by danger.
 */
function scoreOf(checks: DomainCheck[]): number | null {
  const shares = new Map<string, number[]>();
  for (const check of checks) {
    const earned = earnedOf({ ...check, status: check.former_status ?? check.status });
    if (earned === null) continue;
    shares.set(check.id, [...(shares.get(check.id) ?? []), earned / check.points]);
  }
  if (shares.size === 0) return null;
  const score = wholeScore(100 * mean([...shares.values()].map(mean)));
  const limit = Math.min(...checks.map(limitOf));
  return limit < CRITICAL_BELOW ? Math.min(score, limit) : Math.max(score, CRITICAL_BELOW);
}

const mean = (values: number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

const incomplete = (checks: DomainCheck[]): DomainCheck[] =>
  checks.filter(({ status }) => status === 'error');

/** The health in one or two sentences, with both forms of an internationalized name. */
export function summarize(name: string, status: HealthStatus, checks: DomainCheck[]): string {
  const incompleteLabels = incomplete(checks).map(({ label }) => label);
  const gaps =
    incompleteLabels.length > 0 ? ` Could not check: ${incompleteLabels.join(', ')}.` : '';
  const text = headline(readableDomain(name), status, checks);
  return `${text.replace(readableDomain(name), bothForms(name))}${gaps}`;
}

function headline(name: string, status: HealthStatus, checks: DomainCheck[]): string {
  const cause = onlyCause(checks);
  if (cause) return `${cause.title} Nothing else was checked.`;
  if (status === 'healthy') return `${name} is healthy.`;
  const [worst, ...others] = worstFirst(checks);
  if (status === 'unknown' || !worst) return `Could not determine the health of ${name}.`;
  const count = (severity: Severity) =>
    others.filter((check) => check.severity === severity).length;
  const rest = [
    ...(count('critical') > 0 ? [plural(count('critical'), 'more critical problem')] : []),
    ...(count('warning') > 0 ? [plural(count('warning'), 'warning')] : []),
  ].join(' and ');
  if (status === 'warning')
    return `${name} works, with ${plural(1 + count('warning'), 'warning')}: ${worst.title}${firstStep(worst)}`;
  const more = rest === '' ? '' : ` Also: ${rest}.`;
  return `${name} needs attention: ${worst.title}${firstStep(worst)}${more}`;
}

/** What to do about a problem, as one sentence after a space; empty if nothing is proposed. */
function firstStep({ fix, label }: DomainCheck): string {
  if (!fix) return '';
  const [sentence = fix.text] = /^.+?[.!?](?=\s|$)/s.exec(fix.text) ?? [];
  return fix.record
    ? ` Start here: publish the ${fix.record.type} record under “${label}”.`
    : ` Start here: ${sentence}`;
}

/** The critical finding on which all other checks depend, such as a domain that does not exist. */
function onlyCause(checks: DomainCheck[]): DomainCheck | undefined {
  const [first, ...others] = checks.filter(({ status }) => status !== 'skipped');
  return others.length === 0 && first?.severity === 'critical' ? first : undefined;
}

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

// Keeps the last known results where a run could not get new ones, so that a partial DNS failure does
// not change the health of a domain.

/** `previous`: the checks returned for the previous run. Leaves an unknown health unchanged. */
export function keepPreviousResults(health: DomainHealth, previous: DomainCheck[]): DomainHealth {
  if (health.status === 'unknown') return health;
  const checks = health.checks.map((check) => {
    const previousChecks = previous.filter((candidate) => isSameCheck(check, candidate));
    return previousChecks.length === 0
      ? check
      : withListings(withLastVerdict(check, previousChecks), previousChecks[0]!);
  });
  const isChanged = checks.some((check, index) => check !== health.checks[index]);
  return isChanged ? healthOf(health.name, checks) : health;
}

/** A check without a selector (the selectors are unknown) matches the checks of all selectors. */
const isSameCheck = ({ id, evidence }: DomainCheck, previous: DomainCheck): boolean =>
  id === previous.id &&
  (evidence.selector === undefined || evidence.selector === previous.evidence.selector);

const RANK: Severity[] = [null, 'warning', 'critical'];
const worse = (a: Severity, b: Severity): Severity => (RANK.indexOf(b) > RANK.indexOf(a) ? b : a);

const verdictOf = ({ status, former_status }: DomainCheck) => former_status ?? status;

function withLastVerdict(check: DomainCheck, previousChecks: DomainCheck[]): DomainCheck {
  if (check.status !== 'error') return check;
  const completed = previousChecks.filter((previous) => verdictOf(previous) !== 'error');
  const worst = completed.toSorted(
    (a, b) => RANK.indexOf(b.severity) - RANK.indexOf(a.severity),
  )[0];
  if (!worst) return check;
  return { ...check, severity: worst.severity, former_status: verdictOf(worst) };
}

/** A list in the evidence of a blocklist check. */
interface ListEvidence {
  [key: string]: string | number | boolean;
  zone: string;
  name: string;
  tier: number;
  status: string;
  /** The last known result is a listing, and the list does not respond now. */
  stands: boolean;
}

const listsOf = ({ evidence }: DomainCheck): ListEvidence[] =>
  Array.isArray(evidence.lists) ? (evidence.lists as unknown as ListEvidence[]) : [];

const hasNoResult = ({ status }: ListEvidence): boolean =>
  status === 'error' || status === 'left_out';

/** A list's last result, if it was a listing, still counts while the list does not respond. */
function withListings(check: DomainCheck, previous: DomainCheck): DomainCheck {
  const listedZones = new Set(
    listsOf(previous).flatMap(({ zone, status, stands }) =>
      status === 'listed' || stands ? [zone] : [],
    ),
  );
  const lists = listsOf(check);
  // The check itself failed, so no list responded.
  const currentLists =
    lists.length > 0 || check.status !== 'error'
      ? lists
      : listsOf(previous).map((list) => ({ ...list, status: 'error' }));
  const stillListed = currentLists.filter(
    (list) => hasNoResult(list) && listedZones.has(list.zone),
  );
  if (stillListed.length === 0) return check;
  const markedLists = currentLists.map((list) =>
    stillListed.includes(list) ? { ...list, stands: true } : list,
  );
  const severity = stillListed.reduce<Severity>(
    (worst, { tier }) => worse(worst, tier === 1 ? 'critical' : tier === 2 ? 'warning' : null),
    check.severity,
  );
  const names = namesOf(stillListed.map(({ name }) => name));
  return {
    ...check,
    detail: `${check.detail} Last known result: listed by ${names}.`,
    evidence: { ...check.evidence, lists: markedLists },
    severity,
    ...(severity === check.severity ? {} : { former_status: verdictOf(previous) }),
  };
}
