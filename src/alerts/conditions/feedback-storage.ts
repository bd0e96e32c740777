/** `feedback_storage`: the space for feedback of a domain, or of all domains, is nearly full. */

import type { Config } from '../../config/config.ts';
import { NEARLY_FULL, STORAGE_ADVICE } from '../../feedback/storage/shares.ts';
import { ALL_DOMAINS } from '../../feedback/storage/watch-job.ts';
import { formatSize } from '../../lib/durations.ts';
import type { Db, Tx } from '../../store/open.ts';
import { type Condition, NO } from './condition.ts';
import { domainRemoved, findDomains } from './of-feedback.ts';

interface Value {
  percent: number;
  used: number;
  limit: number;
  /** Of these bytes, those from reporters that nobody has confirmed, and their limit. */
  unverified: number;
  unverified_limit: number;
  threshold: number;
}

/** In percent. */
const THRESHOLD = {
  min: 10,
  max: 100,
  default: NEARLY_FULL * 100,
  unit: 'percent',
  text: 'At least this percentage of the space in use triggers the alert.',
};

export const feedbackStorage: Condition<'feedback_storage', Value> = {
  observes: ['feedback_storage'],
  threshold: THRESHOLD,

  evaluate({ percent, used, limit }, threshold) {
    if (percent < threshold) return NO;
    const value = {
      percent,
      used: used.total,
      limit: limit.total,
      threshold,
      unverified: used.unverified,
      unverified_limit: limit.unverified,
    };
    return { answer: 'yes', value };
  },
  async findWatched(db: Db | Tx, config: Config, subjects: string[]) {
    return new Set([ALL_DOMAINS, ...(await findDomains(db, config, subjects))]);
  },

  choice: {
    text: 'The space for feedback is nearly full',
    hint: 'Checked every 5 minutes, for each domain and for all together. Once it is full, reports of reporters that nobody has confirmed are deferred.',
  },
  alertsWhen: (threshold) => `at least ${threshold}% of the space for feedback is in use`,
  documentation: `at least \`threshold\` percent (${THRESHOLD.min}–${THRESHOLD.max}, default ${THRESHOLD.default}) of the [space for feedback](disk.md) is in use`,
  shortText: 'the space for feedback is nearly full',
  openedText: ({ subject, value: { percent } }) => ({
    title: `The space for feedback of ${subject} is ${percent}% full`,
    lead: 'Once it is full, reports of reporters that nobody has confirmed are deferred. Tests are not affected.',
  }),
  resolvedTitle: ({ subject }) => `The space for feedback of ${subject} is below the threshold`,
  unwatchedText: domainRemoved,
  measurements: ({ value: { used, limit, unverified, unverified_limit } }) => [
    ['In use', `${formatSize(used)} of ${formatSize(limit)}`],
    ['Unconfirmed reporters', `${formatSize(unverified)} of ${formatSize(unverified_limit)}`],
  ],
  isRelevantFix: () => false,
  fixes: () => [{ title: '', text: STORAGE_ADVICE, record: null }],
  subjectLabel: 'Domain',
  page: () => ({ label: 'View all reports', path: '/feedback' }),
  sampleValue: (threshold) => ({
    percent: Math.max(85, threshold),
    used: 60_000_000,
    limit: 100_000_000,
    threshold,
    unverified: 17_000_000,
    unverified_limit: 20_000_000,
  }),
};
