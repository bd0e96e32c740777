/** Schemas of shared reports, for the team and for the public (contract §5). */

import * as v from 'valibot';
import { responseFilter } from '../http/response.ts';
import {
  described,
  exampleId,
  idOf,
  maxCharacters,
  Name,
  named,
  noDuplicates,
  oneOf,
  PAGE_QUERY,
  Time,
  typeField,
  Url,
  wholeNumber,
} from '../http/schemas.ts';
import { TagLimit } from '../http/tags.ts';
import { EXAMPLE_TEST, TEST_FIELDS } from '../mailtests/schema.ts';
import { SEED_PLACEMENT_FIELDS } from '../mailtests/schemas/placement.ts';
import { STATES } from '../picture/vocabulary.ts';
import { SHARE_PREVIEWS } from '../report/report.ts';
import type { DomainStatus } from '../report/status.ts';

const MAX_TESTS = 100;
const Count = v.pipe(v.number(), v.integer());
const WEEK_S = 604_800;
const YEAR_S = 31_536_000;

const PREVIEW =
  'Whether the shared page shows the messages: `none`, `without_images`, or `with_images` (those that were loaded with `POST /v1/tests/{id}/images`).';

const TAGS =
  'Instead of tests, the link shows the status of the domains that have one of these tags when it is opened. Null for a link to tests.';

const TestId = v.pipe(
  v.string('must be the ID of a test'),
  v.minLength(1, 'must be the ID of a test'),
  maxCharacters(100, 'must have at most 100 characters'),
);

export const NewShare = named(
  'ShareReport',
  v.strictObject({
    test_ids: v.optional(
      described(
        v.pipe(
          v.array(TestId, 'must be a list of test IDs'),
          v.minLength(1, 'must contain at least one test'),
          v.maxLength(MAX_TESTS, `must contain at most ${MAX_TESTS} tests`),
          noDuplicates('is a duplicate'),
        ),
        'The tests to share, in display order. Required unless `tags` is set.',
      ),
    ),
    tags: v.optional(described(TagLimit, TAGS, ['client:acme'])),
    expires_in: v.optional(
      described(wholeNumber(60, YEAR_S), 'Seconds until the link expires.', WEEK_S),
      WEEK_S,
    ),
    title: described(v.optional(v.nullable(Name)), 'The title of the shared report.'),
    preview: v.optional(
      described(
        oneOf(SHARE_PREVIEWS),
        `${PREVIEW} Everyone with the link can then read the messages.`,
        'without_images',
      ),
      'without_images',
    ),
  }),
  'What to share, and for how long: tests, or the status of domains.',
  { test_ids: [exampleId('test')], title: 'The spring newsletter' },
);
export type NewShare = v.InferOutput<typeof NewShare>;

const SHARE = {
  id: idOf('rpt'),
  object: typeField('shared_report'),
  title: described(v.nullable(v.string()), 'The title. Null if there is none.'),
  preview: described(v.picklist(SHARE_PREVIEWS), PREVIEW),
  tags: described(v.nullable(v.array(v.string())), TAGS, ['client:acme']),
  test_ids: described(
    v.array(v.string()),
    'The shared tests, in display order. Some may have been deleted since.',
  ),
  expires_at: Time,
  created_at: Time,
  revoked_at: v.nullable(Time),
  view_count: described(
    v.pipe(v.number(), v.integer()),
    'Number of times the report was opened, in any format.',
  ),
  last_viewed_at: described(v.nullable(Time), 'When the report was last opened. Null before that.'),
};
const EXAMPLE = {
  title: 'The spring newsletter',
  preview: 'without_images',
  tags: null,
  test_ids: [exampleId('test')],
  revoked_at: null,
  view_count: 3,
  last_viewed_at: '2026-11-22T08:30:00.000Z',
  url: 'https://mail.example.com/reports/public/q3v9k2m7x5t1w8b4',
  token: 'q3v9k2m7x5t1w8b4',
} as const;

export const Share = named(
  'SharedReport',
  v.object({
    ...SHARE,
    url: described(v.nullable(Url), 'The shared link. Null unless you are an admin or the owner.'),
    token: described(
      v.nullable(v.string()),
      'The secret part of the link. Null unless you are an admin or the owner.',
    ),
  }),
  'A public link to the reports of one or more tests.',
  EXAMPLE as never,
);
export type Share = v.InferOutput<typeof Share>;
export const ShareWithLink = named(
  'SharedReportWithLink',
  v.object({
    ...SHARE,
    url: described(Url, 'The shared link.'),
    token: described(v.string(), 'The secret part of the link.'),
  }),
  'A new shared report with its link.',
  EXAMPLE as never,
);

export const ShareListQuery = v.strictObject(PAGE_QUERY);

/** Unknown parameters and values are ignored: email clients and trackers add their own. */
export const FormatQuery = v.object({
  format: described(
    v.optional(v.string()),
    'Set to `pdf` to get the report as a PDF. Other values are ignored.',
    'pdf',
  ),
});

/** Excludes the test address and the team's own notes. A new field of `Test` is not public until it is added here. */
const PUBLIC_FIELDS = [
  'id',
  'object',
  'status',
  'failure_reason',
  'name',
  'kind',
  'kind_confidence',
  'alternative',
  'created_at',
  'expires_at',
  'received_at',
  'completed_at',
  'score',
  'grade',
  'summary',
  'coverage',
  'from_address',
  'subject',
  'message_size',
  'line_ends_converted',
  'auth_results',
  'placement_status',
  'inbox_placement',
  'categories',
  'ruleset',
  'previous',
  'cap',
  'checks',
  'judged_kind',
  'providers',
  'placement',
] as const;

const pickPublic = <T extends object>(
  fields: T,
): Pick<T, (typeof PUBLIC_FIELDS)[number] & keyof T> =>
  Object.fromEntries(PUBLIC_FIELDS.map((name) => [name, fields[name as keyof T]])) as never;

const PublicSeedPlacement = named(
  'PublicSeedPlacement',
  v.object({
    provider: SEED_PLACEMENT_FIELDS.provider,
    placement: SEED_PLACEMENT_FIELDS.placement,
    seconds: SEED_PLACEMENT_FIELDS.seconds,
  }),
  'Where the message arrived in one seed mailbox, without its address and folders.',
  { provider: 'gmail', placement: 'inbox', seconds: 2 },
);

export const PublicTest = named(
  'PublicTest',
  v.object({
    ...pickPublic(TEST_FIELDS),
    placement: described(
      v.array(PublicSeedPlacement),
      'Where the message arrived in each seed mailbox. Empty without seed mailboxes.',
    ),
  }),
  'A test as the public sees it: without its address, its envelope and your notes.',
  pickPublic(EXAMPLE_TEST) as never,
);

const PublicDomain = named(
  'PublicDomainStatus',
  v.object({
    name: described(v.string(), 'The domain name, in A-labels.', 'example.com'),
    state: described(v.picklist(STATES), 'The worst of all sources.'),
    headline: described(
      v.string(),
      'The problem that costs most, or that there is none.',
      'There is no SPF record.',
    ),
    since: described(v.nullable(v.string()), 'When it started: a time or a day.', '2026-11-19'),
    policy: described(v.string(), 'The DMARC policy, or in words that it is not known.', 'reject'),
    messages: described(Count, 'Messages in DMARC reports of the last two weeks.', 12_480),
    passed: described(Count, 'Of these, those that pass DMARC.', 12_380),
    problems: described(
      v.array(
        named(
          'PublicDomainProblem',
          v.object({
            title: described(v.string(), 'The problem.', 'There is no SPF record.'),
            step: described(v.string(), 'What to do first.', 'Publish an SPF record.'),
          }),
          'A problem of a domain.',
        ),
      ),
      'All problems with what to do first, what costs most first.',
      [{ title: 'There is no SPF record.', step: 'Publish an SPF record.' }],
    ),
  }),
  'A domain as a client sees it.',
);

const filterDomain = responseFilter(PublicDomain);

/** Drops every field that is not declared. */
export const publicDomain = (status: DomainStatus): unknown => filterDomain(status);

export const PublicReport = named(
  'PublicReport',
  v.object({
    object: typeField('public_report'),
    title: described(v.nullable(v.string()), 'The title. Null if there is none.', 'The newsletter'),
    created_at: Time,
    expires_at: Time,
    deleted_tests: described(
      v.pipe(v.number(), v.integer()),
      'Number of shared tests that have since been deleted.',
      0,
    ),
    tests: described(v.array(PublicTest), 'The shared tests, in display order.'),
    domains: described(
      v.nullable(v.array(PublicDomain)),
      'The domains with the tags of the link, the worst first. Null for a link to tests.',
    ),
  }),
  'The reports behind a shared link.',
);
