/** `seed_failing`: a seed mailbox can't be read: at once if somebody has to act, otherwise after a while. */

import { isTransient } from '../../net/account-error.ts';
import { seedAdvice, seedErrorWords } from '../../placement/seeds.ts';
import { providerName } from '../../report/placement-rates.ts';
import { type Condition, NO, UNKNOWN } from './condition.ts';

/** How long a server may be unreachable. The service tries again every few minutes. */
const MAX_OUTAGE_MS = 15 * 60_000;
const MAX_OUTAGE_MINUTES = MAX_OUTAGE_MS / 60_000;

interface Value {
  /** The ID of the provider. */
  provider: string;
  /** The code of the error. */
  error: string;
  /** What happened, as a sentence. */
  detail: string;
}

export const seedFailing: Condition<'seed', Value> = {
  observes: ['seed'],
  threshold: null,
  isOfNoDomain: true,

  evaluate({ seed: { provider, error, error_detail, failing_since }, at }) {
    if (error === null) return NO;
    const failingMs = failing_since === null ? 0 : at - Date.parse(failing_since);
    if (isTransient(error) && failingMs < MAX_OUTAGE_MS) return UNKNOWN;
    return { answer: 'yes', value: { provider, error, detail: error_detail ?? '' } };
  },
  async findWatched(_db, { SEED_MAILBOXES }) {
    return new Set(SEED_MAILBOXES.map(({ name }) => name));
  },

  choice: {
    text: 'A seed mailbox can’t be read',
    hint: `Checked while placement tests need the mailbox, and otherwise once a week. A server that is unreachable counts after ${MAX_OUTAGE_MINUTES} minutes.`,
  },
  alertsWhen: () => 'a seed mailbox can’t be read',
  documentation: `a seed mailbox can't be read: at once if its password or token is rejected, after ${MAX_OUTAGE_MINUTES} minutes if its server can't be reached`,
  shortText: 'the seed mailbox can’t be read',
  openedText: ({ subject, value: { detail } }) => ({
    title: `The seed mailbox ${subject} can’t be read`,
    lead: `${detail} Until this is fixed, placement tests show this mailbox as unknown.`.trim(),
  }),
  resolvedTitle: ({ subject }) => `The seed mailbox ${subject} can be read again`,
  unwatchedText: ({ subject }) => ({
    title: `The seed mailbox ${subject} was removed`,
    lead: 'The incident is resolved because the mailbox is no longer in the configuration.',
  }),
  measurements: ({ value: { provider, error } }) => [
    ['Provider', providerName(provider)],
    ['Error', seedErrorWords(error)],
  ],
  isRelevantFix: () => false,
  fixes: ({ value: { error, detail } }) => [
    { title: detail, text: seedAdvice(error), record: null },
  ],
  subjectLabel: 'Seed mailbox',
  page: () => ({ label: 'View all seed mailboxes', path: '/system#seed-mailboxes' }),
  sampleValue: () => ({
    provider: 'gmail',
    error: 'sign_in_failed',
    detail: 'imap.gmail.com rejects the user name or password. Create a new app password.',
  }),
};
