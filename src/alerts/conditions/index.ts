/** Every condition that an alert rule can have, in the order in which the API documents them. */

import type { ObservationKind } from '../../events/observations.ts';
import { SPAM_RATE } from '../../figures/gmail.ts';
import type { AlertRow } from '../../store/tables.generated.ts';
import { authFail } from './auth-fail.ts';
import { blocklistHit } from './blocklist-hit.ts';
import { complaintRate } from './complaint-rate.ts';
import { complianceLost } from './compliance-lost.ts';
import type { Condition } from './condition.ts';
import { domainHealth } from './domain-health.ts';
import { domainUnreachable } from './domain-unreachable.ts';
import { feedbackStopped } from './feedback-stopped.ts';
import { feedbackStorage } from './feedback-storage.ts';
import { newSource } from './new-source.ts';
import { placementProblem } from './placement-problem.ts';
import { receiverFailing } from './receiver-failing.ts';
import { recordChanged } from './record-changed.ts';
import { scoreBelow } from './score-below.ts';
import { seedFailing } from './seed-failing.ts';
import { sendingAddressBlocked } from './sending-address-blocked.ts';
import { sourceFailing } from './source-failing.ts';
import { spamRate } from './spam-rate.ts';
import { tlsFailing } from './tls-failing.ts';
import { unknownCondition } from './unknown.ts';

const DECLARED = {
  score_below: scoreBelow,
  auth_fail: authFail,
  blocklist_hit: blocklistHit,
  domain_health: domainHealth,
  record_changed: recordChanged,
  domain_unreachable: domainUnreachable,
  placement_problem: placementProblem,
  seed_failing: seedFailing,
  receiver_failing: receiverFailing,
  source_failing: sourceFailing,
  new_source: newSource,
  feedback_stopped: feedbackStopped,
  tls_failing: tlsFailing,
  complaint_rate: complaintRate,
  [SPAM_RATE.name]: spamRate,
  compliance_lost: complianceLost,
  sending_address_blocked: sendingAddressBlocked,
  feedback_storage: feedbackStorage,
};

/** The database takes any text: a newer version of the program may have stored another one. */
export type ConditionId = keyof typeof DECLARED;

declare module '../../store/vocabularies.ts' {
  interface Vocabularies {
    condition: ConditionId;
  }
}

export const CONDITION_IDS = Object.keys(DECLARED) as ConditionId[];

export const CONDITIONS: (Condition & { id: ConditionId })[] = CONDITION_IDS.map((id) => ({
  id,
  ...(DECLARED[id] as Condition),
}));

type Rule = Pick<AlertRow, 'condition' | 'threshold'>;

/** For an id of a newer version, a condition that observes nothing. */
export const conditionOf = ({ condition }: Pick<Rule, 'condition'>): Condition =>
  CONDITIONS.find(({ id }) => id === condition) ?? unknownCondition(condition);

/** The rule's own threshold, or its condition's default; 0 if the condition has none. */
export const thresholdOf = (rule: Rule): number =>
  rule.threshold ?? conditionOf(rule).threshold?.default ?? 0;

/** Any value that at least one condition accepts. */
export const THRESHOLD_RANGE = {
  min: Math.min(...CONDITIONS.flatMap(({ threshold }) => threshold?.min ?? [])),
  max: Math.max(...CONDITIONS.flatMap(({ threshold }) => threshold?.max ?? [])),
};

/** For people: what a condition is evaluated on. */
export const OBSERVED_ON: Record<ObservationKind, string> = {
  test: 'tests',
  run: 'monitor runs',
  health: 'health checks',
  record: 'hourly record checks',
  dns_answer: 'hourly record checks',
  seed: 'seed mailboxes',
  receiver: 'fetches from receivers',
  source: 'DMARC reports',
  tls: 'TLS reports',
  receiver_day: 'complaints and DMARC reports',
  feedback: 'DMARC and TLS reports',
  [SPAM_RATE.name]: 'Google Postmaster Tools',
  requirement: 'Google Postmaster Tools',
  sending_address: 'Microsoft SNDS',
  feedback_storage: 'the disk',
};

/** The table in docs/monitoring.md, as Markdown without a final line break. */
export function conditionTable(): string {
  return [
    '| `condition` | Met when | Evaluated on |',
    '|---|---|---|',
    ...CONDITIONS.map(({ id, documentation, observes }) => {
      const kinds = observes.map((kind) => OBSERVED_ON[kind]);
      return `| \`${id}\` | ${documentation} | ${kinds.join(' and ')} |`;
    }),
  ].join('\n');
}
