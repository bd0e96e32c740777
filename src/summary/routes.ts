/** The operation that summarizes the tests of a period. */

import * as v from 'valibot';
import { requireDomain } from '../domains/queries.ts';
import { valuesOf } from '../figures/figure.ts';
import { INBOX_RATE, PLACES } from '../figures/placement.ts';
import { route } from '../http/route.ts';
import {
  described,
  exampleId,
  maxCharacters,
  named,
  oneOf,
  Time,
  typeField,
} from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import { accountNames } from '../receivers/queries.ts';
import { MIN_PLACEMENT_SAMPLES } from '../report/placement-rates.ts';
import { FeedbackFigures } from './feedback-schema.ts';
import { ReceiverFigures } from './receiver-schema.ts';
import { PERIODS, periodEndingAt, summarize } from './summary.ts';

// Schemas of the summary (contract §5).

const Period = oneOf(PERIODS);

const SummaryQuery = v.strictObject({
  period: described(
    v.optional(Period, 'week'),
    'The period that ends now: 24 hours, 7 days or 30 days.',
  ),
  domain_id: described(
    v.optional(
      v.pipe(
        v.string('must be the ID of a domain'),
        v.minLength(1, 'must be the ID of a domain'),
        maxCharacters(100, 'must have at most 100 characters'),
      ),
    ),
    'Only tests of this domain of your team.',
    exampleId('dom'),
  ),
  include: described(
    v.optional(oneOf(['all', 'tests'] as const), 'all'),
    '`tests`: only the figures of tests, which are fast even with thousands of domains. `feedback` and `receivers` are null then.',
  ),
});

const Count = v.pipe(v.number(), v.integer(), v.minValue(0));
/** Rounded to two decimals; 0 without scores. */
const MeanScore = v.pipe(v.number(), v.minValue(0), v.maxValue(100));
/** A fraction, rounded to four decimals; 0 without results. */
const Rate = v.pipe(v.number(), v.minValue(0), v.maxValue(1));

const Means = {
  scored: described(Count, 'Number of tests with a score. If 0, ignore `avg_score`.', 40),
  avg_score: described(MeanScore, 'Average score of the tests that have one.', 87.25),
  [INBOX_RATE.name]: described(Rate, `${INBOX_RATE.description}, from 0 to 1.`, INBOX_RATE.example),
  placement_samples: described(
    Count,
    `Number of samples behind \`${INBOX_RATE.name}\`. If 0, ignore \`${INBOX_RATE.name}\`.`,
    0,
  ),
};

const TotalTests = described(Count, 'Number of completed tests.', 42);
const rate = (name: string) =>
  described(Rate, `The share of known ${name} results that are \`pass\`.`, 0.98);
const sampleCount = (name: string) => described(Count, `The number of known ${name} results.`, 40);
const gradeCount = (grade: string) =>
  described(Count, `The number of tests with grade ${grade}.`, 8);

const PlacementFigures = {
  samples: described(Count, 'Number of seed mailboxes with a result.', 12),
  ...valuesOf(PLACES, 'name', ({ description, example }) =>
    described(Count, `${description}.`, example),
  ),
  [INBOX_RATE.name]: described(
    v.nullable(Rate),
    `The share of \`inbox\` in \`samples\`, from 0 to 1. Null with fewer than ${MIN_PLACEMENT_SAMPLES} configured seed mailboxes of the provider, or fewer than ${MIN_PLACEMENT_SAMPLES} samples: they say little about it.`,
    0.75,
  ),
};

const ProviderPlacement = named(
  'ProviderPlacement',
  v.object({
    provider: described(v.string(), 'The ID of the provider.', 'gmail'),
    ...PlacementFigures,
    tabs: described(Count, 'Of `inbox`, how many were in a tab such as Promotions.', 2),
    trend: described(
      v.array(
        named(
          'ProviderPlacementPoint',
          v.object({
            from: described(Time, 'The start of the interval.'),
            ...PlacementFigures,
          }),
          'The placement at a provider in one hour or one day.',
        ),
      ),
      'The same intervals as the `trend` of the summary.',
    ),
  }),
  'Where the messages of a period arrived at one provider.',
);

export const ReportSummary = named(
  'ReportSummary',
  v.object({
    object: typeField('report_summary'),
    period: described(Period, 'The length of the period.'),
    from: described(Time, 'The start of the period.'),
    to: described(Time, 'The end of the period: the time of the request.'),
    total_tests: TotalTests,
    ...Means,
    grades: described(
      named(
        'GradeCounts',
        v.object({
          A: gradeCount('A'),
          B: gradeCount('B'),
          C: gradeCount('C'),
          D: gradeCount('D'),
          F: gradeCount('F'),
        }),
        'The number of tests by grade.',
      ),
      'The number of tests by grade.',
    ),
    auth_rates: described(
      named(
        'AuthRates',
        v.object({ spf: rate('SPF'), dkim: rate('DKIM'), dmarc: rate('DMARC') }),
        'Shares of authentication results that are `pass`.',
      ),
      'Share of known results that are `pass`, from 0 to 1.',
    ),
    auth_samples: described(
      named(
        'AuthSamples',
        v.object({
          spf: sampleCount('SPF'),
          dkim: sampleCount('DKIM'),
          dmarc: sampleCount('DMARC'),
        }),
        'Numbers of known authentication results.',
      ),
      'Number of known results behind each rate in `auth_rates`. If 0, ignore the rate.',
    ),
    top_issues: described(
      v.array(
        named(
          'IssueCount',
          v.object({
            check: described(v.string(), 'The ID of the check.', 'dmarc_policy'),
            issue: described(v.string(), 'The issue in a few words.', 'DMARC policy is weak'),
            count: described(Count, 'The number of tests with this issue.', 12),
          }),
          'An issue, and how many tests have it.',
        ),
      ),
      'The most frequent issues, at most 10.',
    ),
    previous: described(
      named(
        'PreviousPeriod',
        v.object({ total_tests: TotalTests, ...Means }),
        'The figures of the previous period.',
      ),
      'The same figures for the 24 hours, 7 days or 30 days before `from`.',
    ),
    trend: described(
      v.array(
        named(
          'TrendPoint',
          v.object({
            from: described(Time, 'The start of the interval.'),
            tests: described(Count, 'Number of completed tests.', 6),
            ...Means,
          }),
          'The figures of one hour or one day.',
        ),
      ),
      'The figures of each hour of a day, or of each day of a week or month.',
    ),
    placement: described(
      named(
        'PlacementSummary',
        v.object({
          seeds: described(Count, 'Number of configured seed mailboxes.', 5),
          by_provider: described(
            v.array(ProviderPlacement),
            'The providers of seed mailboxes with samples, by ID. Empty without placement tests.',
          ),
        }),
        'Placement in seed mailboxes.',
      ),
      'Placement in seed mailboxes by provider. Seed mailboxes are a sample: nobody opens, moves or answers mail in them.',
    ),
    feedback: described(
      v.nullable(FeedbackFigures),
      'What receivers report about the days of the period. Null without reports, and in test mode.',
    ),
    receivers: described(
      v.nullable(ReceiverFigures),
      'What Google Postmaster Tools and Microsoft SNDS publish about the days of the period. Null if they published nothing, and in test mode.',
    ),
  }),
  'Figures over the tests of a period.',
);

const getSummary = route({
  method: 'GET',
  path: '/v1/reports/summary',
  operation: 'getReportSummary',
  limited: true,
  role: 'viewer',
  summary: 'Get a summary of many tests',
  description:
    'Summarizes the completed tests of the last day, week or month, for one domain or for all. Test-mode keys get the figures of test mode.',
  query: SummaryQuery,
  response: ReportSummary,
  async handle({ app, actor, query }) {
    const { period, domain_id = null, include } = query;
    await requireDomain(app.db, domain_id);
    const now = app.clock.now();
    const scope = {
      livemode: actor.livemode,
      domains: domain_id === null ? null : [domain_id],
    };
    const summary = await summarize(
      app.db,
      { ...periodEndingAt(now, period), ...scope },
      app.config.SEED_MAILBOXES,
      include === 'tests' ? null : accountNames(app.config),
    );
    return { object: 'report_summary' as const, period, ...summary, to: isoTime(now) };
  },
});

export const summaryOperations = { get: getSummary };
