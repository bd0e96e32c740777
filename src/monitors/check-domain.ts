/**
 * Converts the health of a domain to monitor findings. A monitor's run is a check of the domain, and each check of the
 * domain is a run of its monitors if its result differs from their last one.
 */

import type { DomainCheck, DomainHealth } from '../analysis/domain/health.ts';
import { failedDependencies } from '../analysis/result.ts';
import type { App } from '../app.ts';
import { isUnleased } from '../store/leases.ts';
import { lockIn } from '../store/open.ts';
import type { Subscriber } from '../store/subscribers.ts';
import type { DomainRow } from '../store/tables.generated.ts';
import { hasAnswered, isConclusive } from './check-blocklists.ts';
import {
  type BlocklistFinding,
  compareRuns,
  coversFinding,
  type DomainFinding,
  type Finding,
  LIST_CHECK,
  type Outcome,
  type UnknownPart,
} from './findings.ts';
import { lastRun } from './queries.ts';
import { storeRun } from './record-run.ts';

/** The health of a domain as the outcome of a run. */
export function outcomeOf(
  name: string,
  { checks, status }: Pick<DomainHealth, 'checks' | 'status'>,
): Outcome {
  const others = checks.filter(({ id }) => id !== LIST_CHECK);
  const lists = listsOf(checks.find(({ id }) => id === LIST_CHECK));
  const unknown: UnknownPart[] = [
    ...others.filter(isUnanswered).map((check) => ({ id: check.id, selector: selectorOf(check) })),
    ...silentParts(lists),
  ];
  return {
    findings: [
      ...others.filter(isFinding).map(findingOf),
      ...lists.filter(({ status }) => status === 'listed').map((list) => listingOf(name, list)),
    ],
    unknown,
    targets: [{ target: name, known: isConclusive(lists), answered: hasAnswered(lists) }],
    allUnknown: status === 'unknown',
    canPersist: (previous: Finding) =>
      unknown.some((part) => coversFinding(part, previous)) ||
      ('list' in previous && lists.length === 0),
  };
}

/** A check that was skipped because another failed may pass once the other does. */
const isUnanswered = (check: DomainCheck): boolean =>
  check.status === 'error' || failedDependencies(check).length > 0;

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

/** A list in the evidence of the check. */
interface ListAnswer {
  zone: string;
  name: string;
  tier: BlocklistFinding['tier'];
  status: 'listed' | 'not_listed' | 'error' | 'left_out';
  codes: string[];
  meaning: string | null;
}

/** Empty if no list was queried, because none is enabled or the check failed. */
const listsOf = (check: DomainCheck | undefined): ListAnswer[] =>
  Array.isArray(check?.evidence.lists) ? (check.evidence.lists as unknown as ListAnswer[]) : [];

/** Without any list, it is unknown whether the domain is listed. */
function silentParts(lists: ListAnswer[]): UnknownPart[] {
  if (lists.length === 0) return [{ id: LIST_CHECK, selector: null }];
  return lists
    .filter(({ status }) => status === 'error' || status === 'left_out')
    .map(({ zone }) => ({ target: null, list: zone }));
}

const listingOf = (
  target: string,
  { zone, name, tier, codes, meaning }: ListAnswer,
): BlocklistFinding => ({ target, list: zone, list_name: name, tier, codes, meaning });

/** Monitors that are running now are left alone: their own result follows in a moment. */
export function followHealth(app: App): Subscriber<[domain: DomainRow, health: DomainHealth]> {
  return async (tx, { id, name }, health) => {
    const monitors = tx
      .selectFrom('monitors')
      .selectAll()
      .where('domain_id', '=', id)
      .where('type', '=', 'domain_health')
      .where('enabled', '=', 1)
      .where(isUnleased(app.clock))
      .orderBy('id');
    const outcome = outcomeOf(name, health);
    for (const monitor of await lockIn(tx, monitors).execute()) {
      const previous = await lastRun(tx, monitor.id);
      // The first run is due anyway.
      if (!previous) continue;
      const { status, changes } = compareRuns(JSON.parse(previous.findings), outcome);
      if (status === monitor.status && changes.appeared.length + changes.gone.length === 0)
        continue;
      const { next_run_at: nextRunAt } = monitor;
      await storeRun(tx, app, monitor, { outcome, startedAt: app.clock.now(), nextRunAt });
    }
  };
}
