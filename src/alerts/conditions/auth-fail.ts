/** `auth_fail`: the SPF, DKIM or DMARC result of a test is known and not `pass`. */

import type { TestRow } from '../../store/tables.generated.ts';
import { type Condition, NO, UNKNOWN, type Verdict } from './condition.ts';
import { MAX_PAST_ROWS, timesOf } from './history.ts';

const METHODS = ['spf', 'dkim', 'dmarc'] as const;
/** As in RFC 8601 §2.7. */
type Results = Pick<TestRow, (typeof METHODS)[number]>;

const LIST_FORMAT = new Intl.ListFormat('en-GB');
const isConclusive = (result: string | null): boolean => result !== null && result !== 'temperror';
const hasFailed = (result: string | null): boolean => isConclusive(result) && result !== 'pass';

function judge({ spf, dkim, dmarc }: Results): Verdict<Results> {
  const results = { spf, dkim, dmarc };
  if (METHODS.some((method) => hasFailed(results[method])))
    return { answer: 'yes', value: results };
  return METHODS.every((method) => isConclusive(results[method])) ? NO : UNKNOWN;
}

export const authFail: Condition<'test', Results> = {
  observes: ['test'],
  threshold: null,

  evaluate: ({ test }) => judge(test),
  history: {
    missing: 'no test with known results',
    async timesSince(reading) {
      const rows = await reading.db
        .selectFrom('tests')
        .select(['completed_at', 'from_domain', ...METHODS])
        .where('livemode', '=', 1)
        .where('completed_at', '>=', reading.since)
        .orderBy('completed_at', 'desc')
        .limit(MAX_PAST_ROWS)
        .execute();
      const answers = rows.flatMap(({ completed_at: at, from_domain: subject, ...results }) =>
        subject === null ? [] : [{ at: at!, subject, answer: judge(results).answer }],
      );
      return timesOf(answers, reading, rows.length === MAX_PAST_ROWS);
    },
  },

  choice: {
    text: 'SPF, DKIM or DMARC does not pass',
    hint: "Checked on each completed test. Unknown results don't count.",
  },
  alertsWhen: () => 'SPF, DKIM or DMARC does not pass',
  documentation: 'the SPF, DKIM or DMARC result is known and is not `pass`',
  shortText: 'SPF, DKIM or DMARC fails',
  openedText({ subject, value }) {
    const failed = METHODS.filter((method) => hasFailed(value[method]));
    const names = LIST_FORMAT.format(failed.map((method) => method.toUpperCase()));
    const results = LIST_FORMAT.format(
      failed.map((method) => `${method.toUpperCase()} is “${value[method]}”`),
    );
    return {
      title: `${names} ${failed.length === 1 ? 'does' : 'do'} not pass for mail from ${subject}`,
      lead: `${results}. Mailbox providers may reject this mail or deliver it to spam.`,
    };
  },
  resolvedTitle: ({ subject }) => `SPF, DKIM and DMARC pass again for mail from ${subject}`,
  measurements: ({ value }, { endedBy }) =>
    METHODS.map((method) => [
      method.toUpperCase(),
      describeResult(value[method], endedBy?.[method]),
    ]),
  isRelevantFix: ({ category }) => category === 'authentication',
  sampleValue: () => ({ spf: 'pass', dkim: 'fail', dmarc: 'pass' }),
};

/** `current` is undefined where there is no later result. */
function describeResult(opening: string | null, current: string | null | undefined): string {
  if (current === undefined) return opening ?? 'unknown';
  return current === opening
    ? `${current}`
    : `${current ?? 'unknown'} (was ${opening ?? 'unknown'})`;
}
