/** `domain_unreachable`: receivers can’t look up a verified domain in DNS. */

import type { DomainCheck, DomainHealth } from '../../analysis/domain/health.ts';
import { type Condition, NO, type Step, UNKNOWN } from './condition.ts';
import { findVerified, healthPage, noLongerVerified } from './of-domains.ts';

interface Value {
  problem: string;
  /** What to do; null if the cause is not known. */
  step: Step | null;
  domain_id: string;
}

/** The finding that says that others get no answer about the domain, and why. */
const deadDns = ({ checks }: Pick<DomainHealth, 'checks'>): DomainCheck | undefined =>
  checks.find(({ id, severity }) => id === 'name_servers' && severity === 'critical');

export const domainUnreachable: Condition<'health' | 'dns_answer', Value> = {
  observes: ['health', 'dns_answer'],
  threshold: null,

  evaluate(observation) {
    const { domainId: domain_id } = observation;
    if (observation.kind === 'dns_answer') {
      const { problem } = observation;
      return problem === null ? NO : { answer: 'yes', value: { problem, step: null, domain_id } };
    }
    const { health } = observation;
    if (health.status === 'unknown') return UNKNOWN;
    const finding = deadDns(health);
    if (!finding) return NO;
    const { title, fix } = finding;
    const step = fix && { title: '', text: fix.text, record: fix.record ?? null };
    return { answer: 'yes', value: { problem: title, step, domain_id } };
  },
  findWatched: findVerified,

  choice: {
    text: 'Your domain can’t be looked up in DNS',
    hint: 'Evaluated at health checks and hourly record checks: others can’t look up a verified domain because its DNSSEC or name servers are broken.',
  },
  alertsWhen: () => 'a verified domain can’t be looked up in DNS',
  documentation:
    "others can't look up a verified domain because its DNSSEC or name servers are broken. Or three hourly record checks in a row get no answer, although the resolver works",
  shortText: 'the domain can’t be looked up',
  openedText: ({ subject, value: { problem } }) => ({
    title: `${subject} can’t be looked up in DNS`,
    lead: `${problem} Receivers can’t see your records, so mail from and to the domain is delayed or rejected.`,
  }),
  resolvedTitle: ({ subject }) => `${subject} can be looked up in DNS again`,
  unwatchedText: noLongerVerified,
  measurements: ({ value: { problem } }) => [['Problem', problem]],
  isRelevantFix: () => false,
  fixes: ({ value: { step } }) => [step ?? { title: '', text: ASK_PROVIDER, record: null }],
  subjectLabel: 'Domain',
  page: healthPage,
  sampleValue: () => ({
    problem: 'The name servers of example.com do not answer.',
    step: null,
    domain_id: 'dom_sample',
  }),
};

const ASK_PROVIDER =
  'At your registrar, check that the domain uses the name servers and the DS record that your DNS provider shows. If it does, ask the DNS provider whether its name servers answer for the domain.';
