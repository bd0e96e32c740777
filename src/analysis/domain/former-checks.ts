/** Keeps what was known of a domain where a look could not find out: a DNS that fails in part is no move. */

import { namesOf } from '../reputation/outcomes.ts';
import { type DomainCheck, type DomainHealth, healthOf, type Severity } from './domain-health.ts';

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
