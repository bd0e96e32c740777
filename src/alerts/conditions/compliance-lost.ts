/** `compliance_lost`: Google says that a domain does not meet one of its requirements for senders. */

import type { Fix } from '../../analysis/check.ts';
import { truncate } from '../../lib/format/plain-text.ts';
import { dayInWords } from '../../lib/format/times.ts';
import { complianceOf } from '../../picture/compliance.ts';
import {
  adviceOnRequirement,
  checksOfRequirement,
  codeInWords,
  requirementName,
} from '../../receivers/requirements.ts';
import { type Condition, NO, type Step, UNKNOWN } from './condition.ts';
import { findRequirements, gmailPage } from './of-receivers.ts';

interface Value {
  domain: string;
  domain_id: string;
  /** The name that Google uses. */
  requirement: string;
  /** Why, as Google says it. */
  reason: string | null;
  /** A time; null if it was so when it was first read. */
  since: string | null;
  /** What our own checks said about the same thing when the incident was opened. Empty if no check can tell. */
  own: OwnFinding[];
  /** What a check that found a problem says about fixing it. */
  fix: Fix | null;
}

interface OwnFinding {
  title: string;
  status: string;
  at: string;
}

export const complianceLost: Condition<'requirement', Value> = {
  observes: ['requirement'],
  threshold: null,

  evaluate({ domain, domainId, requirement, status, previous, reason, ...observation }) {
    if (status === 'COMPLIANT') return NO;
    if (status !== 'NEEDS_WORK') return UNKNOWN;
    const since = previous === null ? null : observation.since;
    const value = { domain, domain_id: domainId, requirement, reason, since, own: [], fix: null };
    return { answer: 'yes', value };
  },
  async completeValue(tx, app, value) {
    const domain = await tx
      .selectFrom('domains')
      .selectAll()
      .where('id', '=', value.domain_id)
      .executeTakeFirstOrThrow();
    const { requirements } = await complianceOf({ ...app, db: tx }, domain);
    const row = requirements.find(({ requirement }) => requirement === value.requirement);
    if (!row) return value;
    const own = row.own.map(({ title, status, at }) => ({ title, status, at }));
    return { ...value, own, fix: row.fix };
  },
  findWatched: findRequirements,

  choice: {
    text: 'Google says that a requirement is not met',
    hint: 'The compliance status in Google Postmaster Tools says “Needs work” for one of Google’s requirements for senders, such as SPF or one-click unsubscribe.',
  },
  alertsWhen: () => 'Google says that one of its requirements for senders needs work',
  documentation:
    'the compliance status in Google Postmaster Tools says that one of Google’s requirements for senders needs work',
  shortText: 'Google says that a requirement needs work',
  openedText: ({ value: { domain, requirement, reason, since, own } }) => ({
    title: `Google says that ${domain} needs work: ${requirementName(requirement)}`,
    lead: [
      since === null
        ? 'The compliance status in Google Postmaster Tools says so.'
        : `Google Postmaster Tools has said so since ${dayInWords(since.slice(0, 10))}.`,
      ...(reason === null ? [] : [`Its reason: ${sentence(codeInWords(reason))}`]),
      ...(own.length === 0 ? [] : [ownInWords(own)]),
    ].join(' '),
  }),
  resolvedTitle: ({ value: { domain, requirement } }) =>
    `Google says that ${domain} is compliant: ${requirementName(requirement)}`,
  unwatchedText: ({ value: { domain, requirement } }) => ({
    title: `Google’s requirement is no longer watched for ${domain}: ${requirementName(requirement)}`,
    lead: 'The incident is resolved because the domain or the account was removed, or because Google no longer shows the requirement. The problem may persist.',
  }),
  measurements: ({ value: { requirement, own } }) =>
    own.length === 0
      ? [['Our checks', whyNone(requirement)]]
      : own
          .slice(0, MAX_FINDINGS)
          .map(({ title, at }) => [`Our check on ${dayInWords(at.slice(0, 10))}`, title]),
  isRelevantFix: () => false,
  fixes: ({ value: { requirement, own, fix } }) => {
    const advice: Step = { title: '', text: adviceOnRequirement(requirement), record: null };
    if (fix === null) return [advice];
    const found = own.find(hasProblem);
    return [{ title: found?.title ?? '', text: fix.text, record: fix.record ?? null }];
  },
  subjectLabel: 'Requirement',
  subjectName: ({ value: { domain, requirement } }) =>
    `${requirementName(requirement)} of ${domain}`,
  domainName: ({ value: { domain } }) => domain,
  page: gmailPage,
  sampleValue: () => ({
    domain: 'example.com',
    domain_id: 'dom_sample',
    requirement: 'DKIM',
    reason: null,
    since: '2026-11-21T06:10:00.000Z',
    own: [],
    fix: null,
  }),
};

const MAX_FINDINGS = 3;
const MAX_REASON_LENGTH = 200;

/** With a period, unless it ends with one. */
const sentence = (text: string): string =>
  `${truncate(text, MAX_REASON_LENGTH).replace(/\.$/, '')}.`;

const hasProblem = ({ status }: OwnFinding): boolean => status !== 'pass';

/** Where the two disagree, both are told with their dates: Google sees all mail, a test sees one message. */
function ownInWords(own: OwnFinding[]): string {
  const found = own.find(hasProblem);
  if (found) return `Our own check also found a problem: ${sentence(found.title)}`;
  const latest = own
    .map(({ at }) => at)
    .toSorted()
    .at(-1)!;
  return `Our own checks passed, last on ${dayInWords(latest.slice(0, 10))}: look for mail that we did not test.`;
}

const whyNone = (requirement: string): string =>
  checksOfRequirement(requirement).length === 0
    ? 'No check of this service can tell.'
    : 'No result in the last 30 days.';
