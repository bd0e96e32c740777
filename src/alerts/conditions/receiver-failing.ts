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
    text: 'Figures of Google or Microsoft can’t be fetched',
    hint: 'Or the access to Microsoft SNDS ends soon. A receiver that is unreachable counts after a day.',
  },
  alertsWhen: () => 'figures can’t be fetched from Google or Microsoft, or the access ends soon',
  documentation:
    "figures can't be fetched from Google or Microsoft: at once if somebody has to act, after a day if the receiver can't be reached. Also if Microsoft will end the access soon: after nine months without a sign-in, or 25 days after a key was first used",
  shortText: 'figures can’t be fetched',
  openedText: ({ subject, value }) => ({
    title:
      value.state === 'expiring'
        ? `The access of ${subject} to ${nameOf(value)} ends soon`
        : `${nameOf(value)} can’t be read with ${subject}`,
    lead: value.detail,
  }),
  resolvedTitle: ({ subject, value }) =>
    value.state === 'expiring'
      ? `The access of ${subject} to ${nameOf(value)} was renewed`
      : `${nameOf(value)} can be read with ${subject} again`,
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
