/** `domain_unreachable`: DNS gives receivers no answer about a verified domain. */

import { deadDns } from '../../domains/dead-dns.ts';
import { type Condition, NO, type Step, UNKNOWN } from './condition.ts';
import { findVerified, healthPage, noLongerVerified } from './of-domains.ts';

interface Value {
  problem: string;
  /** What to do; null if the cause is not known. */
  step: Step | null;
  domain_id: string;
}

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
    text: 'DNS gives no answer about your domain',
    hint: 'Checked on health checks and hourly looks: DNSSEC or the name servers of a verified domain are broken for others.',
  },
  alertsWhen: () => 'DNS gives no answer about a verified domain',
  documentation:
    'for others, DNSSEC or the name servers of a verified domain are broken. Or three hourly looks in a row get no answer, and the resolver works',
  shortText: 'DNS gives no answer',
  openedText: ({ subject, value: { problem } }) => ({
    title: `${subject} is unreachable in DNS`,
    lead: `${problem} Receivers can’t see your records, so they reject or defer mail from and to the domain.`,
  }),
  resolvedTitle: ({ subject }) => `${subject} is reachable in DNS again`,
  unwatchedText: noLongerVerified,
  measurements: ({ value: { problem } }) => [['Problem', problem]],
  isRelevantFix: () => false,
  fixes: ({ value: { step } }) => [step ?? { title: '', text: ASK_PROVIDER, record: null }],
  subjectLabel: 'Domain',
  page: healthPage,
  sampleValue: () => ({
    problem: 'The name servers of example.com do not answer.',
    ...{ step: null, domain_id: 'dom_sample' },
  }),
};

const ASK_PROVIDER =
  'Ask your DNS provider whether its name servers work, and your registrar whether the domain is delegated to them and its DS record fits.';
