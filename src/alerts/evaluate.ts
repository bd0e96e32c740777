/** Evaluates a rule's condition on a result, and decides whether the result resolves an incident. */

import type { Config } from '../config/config.ts';
import type { Result } from '../events/events.ts';
import { monitorAddress } from '../monitors/placement-address.ts';
import type { Tx } from '../store/open.ts';
import type {
  AlertIncidentRow,
  AlertRow,
  MonitorRow,
  MonitorRunRow,
  TestRow,
} from '../store/tables.generated.ts';
import {
  type Condition,
  type IncidentEnd,
  type ObservedRun,
  type ObservedTest,
  type OpenedIncident,
  UNKNOWN,
  type Verdict,
} from './conditions/condition.ts';
import { conditionOf, thresholdOf } from './conditions/index.ts';

/** What a result says about one subject, as the facts that each condition reads from it. */
export interface Observation {
  subject: string;
  /** null if the result says nothing. Computed once per condition and reused for all rules. */
  factsFor<Facts>(condition: Condition<Facts>): Facts | null;
}

/** Empty if the result has no subject, such as a message without a From field. */
export async function observe(
  tx: Tx,
  config: Pick<Config, 'INBOX_DOMAIN'>,
  result: Result,
): Promise<Observation[]> {
  switch (result.kind) {
    case 'test':
      return observeTest(result.test);
    case 'run':
      return observeRun(
        result.run,
        await targetsOf(tx, config, result.monitor),
        result.monitor.name,
      );
    case 'seed':
      return [observation(result.seed.id, (condition) => condition.factsOfSeed?.(result) ?? null)];
  }
}

/** The subject of a test is its From domain. */
export function observeTest(
  test: Pick<TestRow, 'from_domain' | 'score' | 'spf' | 'dkim' | 'dmarc' | 'checks'>,
): Observation[] {
  if (test.from_domain === null) return [];
  const observed: ObservedTest = {
    ...test,
    checks: test.checks === null ? [] : JSON.parse(test.checks),
  };
  return [observation(test.from_domain, (condition) => condition.factsOfTest?.(observed) ?? null)];
}

/** The subjects of a run are the targets of its monitor. */
export function observeRun(
  run: Pick<MonitorRunRow, 'findings' | 'changes'>,
  targets: string[],
  monitor = '',
): Observation[] {
  const observed: ObservedRun = {
    monitor,
    findings: JSON.parse(run.findings),
    changes: JSON.parse(run.changes),
  };
  return targets.map((target) =>
    observation(target, (condition) => condition.factsOfRun?.(observed, target) ?? null),
  );
}

function observation(subject: string, readFacts: (condition: Condition) => unknown): Observation {
  const facts = new Map<Condition, unknown>();
  return {
    subject,
    factsFor<Facts>(condition: Condition<Facts>): Facts | null {
      if (!facts.has(condition)) facts.set(condition, readFacts(condition));
      return facts.get(condition) as Facts | null;
    },
  };
}

/** The targets of a monitor, its address, or its domain. */
async function targetsOf(
  tx: Tx,
  config: Pick<Config, 'INBOX_DOMAIN'>,
  monitor: MonitorRow,
): Promise<string[]> {
  const { targets, domain_id } = monitor;
  const address = monitorAddress(monitor, config);
  if (address !== null) return [address];
  if (targets !== null) return JSON.parse(targets);
  const domain = await tx
    .selectFrom('domains')
    .select('name')
    .where('id', '=', domain_id)
    .executeTakeFirst();
  return domain ? [domain.name] : [];
}

/** Evaluates the condition of a rule on an observation. */
export function evaluateCondition(
  rule: Pick<AlertRow, 'condition' | 'threshold'>,
  observed: Observation,
): Verdict {
  const condition = conditionOf(rule);
  const facts = observed.factsFor(condition);
  return facts === null ? UNKNOWN : condition.evaluate(facts, thresholdOf(rule));
}

/** How an observation that doesn't meet the condition resolves an incident; null if it doesn't. */
export function resolutionOf(
  incident: Pick<AlertIncidentRow, 'condition' | 'subject' | 'value' | 'run_id'>,
  observed: Observation,
  context: { answer: 'no' | 'unknown'; blocklistsInUse: ReadonlySet<string> },
): IncidentEnd | null {
  const condition = conditionOf(incident);
  const facts = observed.factsFor(condition);
  if (facts === null) return null;
  if (condition.resolutionOf)
    return condition.resolutionOf(openedIncident(incident), facts, context);
  return context.answer === 'no' ? 'condition_ended' : null;
}

/** The part of an incident that conditions use. */
export const openedIncident = ({
  subject,
  value,
  run_id,
}: Pick<AlertIncidentRow, 'subject' | 'value' | 'run_id'>): OpenedIncident => ({
  subject,
  value: JSON.parse(value),
  foundByRun: run_id !== null,
});
