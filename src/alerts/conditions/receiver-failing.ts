/** `receiver_failing`: figures can't be fetched from Google or Microsoft: at once if somebody has to act, otherwise after a day. */

import { RECEIVER_NAMES, type ReceiverId } from '../../config/receivers.ts';
import { DAY_MS } from '../../lib/durations.ts';
import { type AccountState, PASSING_PROBLEMS } from '../../receivers/account-state.ts';
import { type Condition, NO, UNKNOWN } from './condition.ts';

interface Value {
  receiver: ReceiverId;
  state: AccountState;
  /** What happened and what to do, as sentences. */
  detail: string;
}

/** Nobody may have signed in yet because the account is new. */
const LATER = [...PASSING_PROBLEMS, 'sign_in_required'];

const nameOf = ({ receiver }: Value): string => RECEIVER_NAMES[receiver];

export const receiverFailing: Condition<'receiver', Value> = {
  observes: ['receiver'],
  threshold: null,
  isOfNoDomain: true,

  evaluate({ receiver, state, problem, detail, failingMs }) {
    if (state === 'working') return NO;
    // Figures come a day late anyway.
    if (problem !== null && LATER.includes(problem) && failingMs < DAY_MS) return UNKNOWN;
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
    "figures can't be fetched from Google or Microsoft: at once if somebody must act, after a day if the receiver can't be reached. Also if Microsoft ends the access soon: nine months after the last sign-in, or 25 days after a key was first used",
  shortText: 'figures can’t be fetched',
  openedText: ({ subject, value }) => ({
    title:
      value.state === 'expiring'
        ? `${subject}: access to ${nameOf(value)} ends soon`
        : `${subject}: figures can’t be fetched from ${nameOf(value)}`,
    lead: value.detail,
  }),
  resolvedTitle: ({ subject, value }) =>
    value.state === 'expiring'
      ? `${subject}: access to ${nameOf(value)} was renewed`
      : `${subject}: figures can be fetched from ${nameOf(value)} again`,
  unwatchedText: ({ subject }) => ({
    title: `The account ${subject} was removed`,
    lead: 'The incident is resolved because the account is no longer in the configuration.',
  }),
  measurements: ({ value }) => [['Receiver', nameOf(value)]],
  isRelevantFix: () => false,
  fixes: ({ value: { detail } }) => [
    {
      title: detail,
      text: 'To try the account now, run: deliverability doctor --receivers',
      record: null,
    },
  ],
  subjectLabel: 'Account',
  page: () => ({ label: 'View accounts', path: '/receivers' }),
  sampleValue: () => ({
    receiver: 'microsoft_snds',
    state: 'not_signed_in',
    detail:
      'login.microsoftonline.com no longer accepts the sign-in: invalid_grant. The sign-in was not used for too long. Sign in again.',
  }),
};
