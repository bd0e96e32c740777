/** Evaluates a rule's condition on an observation, and decides whether the observation resolves an incident. */

import type { Observation } from '../events/observations.ts';
import type { AlertIncidentRow, AlertRow } from '../store/tables.generated.ts';
import {
  type IncidentEnd,
  type OpenedIncident,
  UNKNOWN,
  type Verdict,
} from './conditions/condition.ts';
import { conditionOf, thresholdOf } from './conditions/index.ts';

/** Whether the condition of a rule is about this kind of observation. */
export const observes = (
  { condition }: Pick<AlertRow, 'condition'>,
  { kind }: Observation,
): boolean => conditionOf({ condition }).observes.includes(kind);

/** Whether a rule covers the domain of an observation. `tagsOf`: the tags of domains, by ID. */
export function covers(
  { domain_id, tags }: Pick<AlertRow, 'domain_id' | 'tags'>,
  { domainId }: Observation,
  tagsOf: Map<string, string[]>,
): boolean {
  if (tags === null) return domain_id === null || domain_id === domainId;
  const found = domainId === null ? undefined : tagsOf.get(domainId);
  return (JSON.parse(tags) as string[]).some((tag) => found?.includes(tag));
}

/** Evaluates the condition of a rule on an observation. */
export function evaluateCondition(
  rule: Pick<AlertRow, 'condition' | 'threshold'>,
  observation: Observation,
): Verdict {
  const condition = conditionOf(rule);
  return condition.observes.includes(observation.kind)
    ? condition.evaluate(observation, thresholdOf(rule))
    : UNKNOWN;
}

/** How an observation that doesn't meet the condition resolves an incident; null if it doesn't. */
export function resolutionOf(
  incident: Pick<AlertIncidentRow, 'condition' | 'subject' | 'value' | 'run_id'>,
  observation: Observation,
  context: { answer: 'no' | 'unknown'; blocklistsInUse: ReadonlySet<string> },
): IncidentEnd | null {
  const condition = conditionOf(incident);
  if (!condition.observes.includes(observation.kind)) return null;
  if (condition.resolutionOf)
    return condition.resolutionOf(openedIncident(incident), observation, context);
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

type Described = Pick<AlertIncidentRow, 'condition' | 'subject' | 'value' | 'run_id'>;

/** What people call the subject of an incident. */
export const nameOfSubject = (incident: Described): string =>
  conditionOf(incident).subjectName?.(openedIncident(incident)) ?? incident.subject;

/** The name of the domain that an incident is about; for some conditions, the subject itself. */
export const domainNameOf = (incident: Described): string =>
  conditionOf(incident).domainName?.(openedIncident(incident)) ?? incident.subject;
