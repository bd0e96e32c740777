/** `receiver_failing`: figures can't be fetched from Google or Microsoft: at once if somebody has to act, otherwise after a day. */

import { RECEIVER_NAMES, type ReceiverId } from '../../config/receivers.ts';
import { DAY_MS } from '../../lib/durations.ts';
import { type AccountState, isPassing } from '../../receivers/account-state.ts';
import { type Condition, NO, UNKNOWN } from './condition.ts';

interface Value {
  receiver: ReceiverId;
  state: AccountState;
  /** What happened and what to do, as sentences. */
  detail: string;
}

/** A new account may wait for its first sign-in. */
const isLater = (problem: string) => problem === 'sign_in_required' || isPassing(problem);

export const receiverFailing: Condition<'receiver', Value> = {
  observes: ['receiver'],
  threshold: null,
  isOfNoDomain: true,

  evaluate({ receiver, state, problem, detail, failingMs }) {
    if (state === 'working') return NO;
    // Figures come a day late anyway.
    if (problem !== null && isLater(problem) && failingMs < DAY_MS) return UNKNOWN;
    return { answer: 'yes', value: { receiver, state, detail: detail ?? '' } };
  },
  async findWatched(_db, { RECEIVERS }) {
    return new Set(RECEIVERS.map(({ name }) => name));
  },

  choice: {
    text: 'Figures can’t be fetched from Google or Microsoft',
    hint: 'Or the access to Microsoft SNDS ends soon. A receiver that is unreachable counts after a day.',
  },
  alertsWhen: () => 'figures can’t be fetched from Google or Microsoft, or the access ends soon',
  documentation:
    "figures can't be fetched from Google or Microsoft: at once if somebody must act, after a day if the receiver can't be reached. Also if access to Microsoft SNDS ends soon",
  shortText: 'figures can’t be fetched',
  openedText: ({ subject, value: { receiver, state, detail } }) => ({
    title:
      state === 'expiring'
        ? `${subject}: access to ${RECEIVER_NAMES[receiver]} ends soon`
        : `${subject}: figures can’t be fetched from ${RECEIVER_NAMES[receiver]}`,
    lead: detail,
  }),
  resolvedTitle: ({ subject, value: { receiver } }) =>
    `${subject}: figures can be fetched from ${RECEIVER_NAMES[receiver]} again`,
  unwatchedText: ({ subject }) => ({
    title: `The account ${subject} was removed`,
    lead: 'The incident is resolved because the account is no longer in the configuration.',
  }),
  measurements: ({ value: { receiver } }) => [['Receiver', RECEIVER_NAMES[receiver]]],
  isRelevantFix: () => false,
  fixes: ({ value: { detail } }) => [
    { title: detail, text: 'To try it, run: deliverability doctor --receivers', record: null },
  ],
  subjectLabel: 'Account',
  page: () => ({ label: 'View accounts', path: '/receivers' }),
  sampleValue: () => ({
    receiver: 'microsoft_snds',
    state: 'not_signed_in',
    detail: 'Microsoft SNDS does not accept the sign-in. Sign in again.',
  }),
};
