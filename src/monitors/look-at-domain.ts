/** Looks at the health of a domain, and keeps of it what a monitor tells. */

import type { DomainCheck } from '../analysis/domain/domain-health.ts';
import type { App } from '../app.ts';
import { shareLook } from '../domains/health.ts';
import type { DomainRow } from '../store/watching-tables.ts';
import type { DomainFinding, Finding, Outcome } from './findings.ts';

export async function lookAtDomain(app: App, domain: DomainRow): Promise<Outcome> {
  const { checks, status } = await shareLook(app, domain);
  const unanswered = checks.filter((check) => check.status === 'error');
  return {
    findings: checks.filter(isFinding).map(findingOf),
    unknown: unanswered.map((check) => ({ id: check.id, selector: selectorOf(check) })),
    inTheDark: status === 'unknown',
    mayStand: (former: Finding) => unanswered.some((check) => covers(check, former)),
  };
}

const isFinding = ({ status, severity }: DomainCheck): boolean =>
  status === 'warn' || status === 'fail' || severity !== null;

const findingOf = (check: DomainCheck): DomainFinding => ({
  id: check.id,
  selector: selectorOf(check),
  status: check.status,
  severity: check.severity,
  title: check.title,
});

function selectorOf({ evidence }: DomainCheck): string | null {
  return typeof evidence.selector === 'string' ? evidence.selector : null;
}

/** Where it is not even known which selectors there are, nothing is known of any. */
function covers(check: DomainCheck, former: Finding): boolean {
  if (!('id' in former) || former.id !== check.id) return false;
  const selector = selectorOf(check);
  return selector === null || selector === former.selector;
}
