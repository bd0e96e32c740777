/** API schemas of tests in responses, and their events (contract §4). */

import * as v from 'valibot';
import { AUTH_RESULTS } from '../analysis/auth-results.ts';
import { KIND_CONFIDENCES } from '../analysis/check.ts';
import { asText, field, labeled, quoted, short } from '../events/line.ts';
import type { EventDeclaration } from '../http/openapi/webhooks.ts';
import { described, exampleId, idOf, named, Text, Time, typeField, Url } from '../http/schemas.ts';
import { Cap, CategoryScore, CheckItem, PreviousResult } from './schemas/check.ts';
import { Envelope } from './schemas/envelope.ts';
import { Alternative, CONFIDENCE_TEXT, JudgedKind, KINDS } from './schemas/kind.ts';
import { PLACEMENT_STATUSES, PLACEMENTS, SeedAddress, SeedPlacement } from './schemas/placement.ts';
import { ProviderItem } from './schemas/provider.ts';

export const TEST_STATUSES = ['waiting', 'processing', 'completed', 'failed'] as const;

const AuthResult = v.nullable(v.picklist(AUTH_RESULTS));

const AuthResults = named(
  'AuthResults',
  v.object({
    spf: described(AuthResult, 'The SPF result. Null before there is one.'),
    dkim: described(AuthResult, 'The DKIM result. Null before there is one.'),
    dmarc: described(AuthResult, 'The DMARC result. Null before there is one.'),
  }),
  'Authentication results in the words of RFC 8601.',
  { spf: 'pass', dkim: 'pass', dmarc: 'pass' },
);

const Grade = v.picklist(['A', 'B', 'C', 'D', 'F']);

const Score = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100));

/** The fields of a test in lists and events. */
const LISTED_FIELDS = {
  id: idOf('test'),
  object: typeField('test'),
  status: described(
    v.picklist(TEST_STATUSES),
    '`waiting` for the message, then `processing`, then `completed` or `failed`. The last two are final.',
  ),
  failure_reason: described(
    v.nullable(v.picklist(['not_received', 'unreadable', 'analysis_error'])),
    'Why the test failed. Null unless `status` is `failed`.',
  ),
  report_url: described(
    Url,
    'The page of the test, for signed-in members: its progress, then its report.',
  ),
  name: described(Text, 'The name that you gave the test.'),
  kind: described(
    v.picklist(KINDS),
    'The kind of mail that you declared. With `auto`, the service detects it from the message.',
  ),
  kind_confidence: described(
    v.nullable(v.picklist(KIND_CONFIDENCES)),
    `${CONFIDENCE_TEXT} Null before the result.`,
  ),
  alternative: described(
    v.nullable(Alternative),
    'The score and grade if the message is of the other kind. Null unless `kind_confidence` is `uncertain`.',
  ),
  metadata: described(v.record(v.string(), v.string()), 'Your own key-value pairs.', {
    campaign: 'spring',
  }),
  tags: described(
    v.array(v.string()),
    'The tags of the test, in alphabetical order, to find and filter tests by.',
    ['newsletter', 'release'],
  ),
  livemode: described(v.boolean(), 'False for tests created with a test-mode key.'),
  address: described(
    v.pipe(v.string(), v.metadata({ format: 'email' })),
    'The test address. Send one message to it before `expires_at`.',
  ),
  token: described(v.string(), 'The local part of the test address.'),
  seed_addresses: described(
    v.array(SeedAddress),
    'The seed mailboxes of a placement test, to which the message should be sent too. Empty if placement is not tested.',
  ),
  domain_id: described(Text, 'The domain that the test belongs to. Null if there is none.'),
  monitor_id: described(
    Text,
    'The placement monitor to whose address the message was sent. Null for other tests.',
  ),
  inbox_id: described(
    Text,
    'The inbox to whose address the message was sent. Null for other tests.',
  ),
  created_at: Time,
  expires_at: described(Time, 'When the test address expires.'),
  received_at: described(
    v.nullable(Time),
    'When the message arrived at the service. `envelope.file.at` says when the recipient of an uploaded message received it. Null before that.',
  ),
  completed_at: described(v.nullable(Time), 'When the test completed or failed.'),
  score: described(
    v.nullable(Score),
    'The score, from 0 to 100. Null if too little is known for a score.',
  ),
  grade: described(v.nullable(Grade), 'The letter for the score. Null without a score.'),
  summary: described(Text, 'The result in one sentence.'),
  coverage: described(
    v.nullable(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
    'Points of completed checks as a share of the points of all applicable checks, from 0 to 1.',
  ),
  from_address: described(Text, 'The address in the From field of the message.'),
  subject: Text,
  message_size: described(
    v.nullable(v.pipe(v.number(), v.integer())),
    'Size of the message in bytes.',
  ),
  line_ends_converted: described(
    v.boolean(),
    'Whether bare LF line endings of a submitted message were converted to CRLF.',
  ),
  auth_results: described(AuthResults, 'The results of SPF, DKIM and DMARC.'),
  placement_status: described(
    v.picklist(PLACEMENT_STATUSES),
    '`none`: placement is not tested. `waiting`: some placements are not final. `settled`: all are.',
  ),
  inbox_placement: described(
    v.record(v.string(), v.picklist(PLACEMENTS)),
    'The folder in which the message arrived, by mailbox provider: the most frequent one, or the worse one of two. Empty without seed mailboxes, and if none of them received the message.',
    { gmail: 'inbox' },
  ),
  categories: described(v.array(CategoryScore), 'The score by category. Empty without a result.'),
  ruleset: described(Text, 'Version of the rules that produced the result.'),
  previous: described(
    v.nullable(PreviousResult),
    'The result before the last reanalysis. Null if the test was never reanalyzed.',
  ),
};

const EXAMPLE = {
  status: 'completed',
  failure_reason: null,
  name: 'Spring newsletter',
  kind: 'marketing',
  livemode: true,
  address: 'k7q2m9x4t1w8b3z6@inbox.example.com',
  token: 'k7q2m9x4t1w8b3z6',
  seed_addresses: [],
  monitor_id: null,
  inbox_id: null,
  expires_at: '2026-11-21T11:00:00.000Z',
  score: 92,
  grade: 'A',
  summary: 'This message meets the rules of Gmail, Yahoo, Microsoft and Apple.',
  coverage: 0.97,
  from_address: 'news@example.com',
  message_size: 24816,
  report_url: `https://mail.example.com/tests/${exampleId('test')}`,
  kind_confidence: 'certain',
  alternative: null,
  line_ends_converted: false,
  placement_status: 'none',
  inbox_placement: {},
  ruleset: '1',
  previous: null,
} as const;

export const ListedTest = named(
  'TestListItem',
  v.object(LISTED_FIELDS),
  'A test as lists and events contain it: without its checks, providers, placement and envelope.',
  EXAMPLE as never,
);

export type ListedTest = v.InferOutput<typeof ListedTest>;

/** For schemas with some of these fields. */
export const TEST_FIELDS = {
  ...LISTED_FIELDS,
  envelope: described(
    v.nullable(Envelope),
    'The SMTP session that delivered the message, or the values submitted with it.',
  ),
  cap: described(
    v.nullable(Cap),
    'The highest possible score until certain findings are fixed. Null if the score is not capped.',
  ),
  checks: described(v.array(CheckItem), 'The findings. Empty without a result.'),
  judged_kind: described(
    v.nullable(JudgedKind),
    'The kind of mail whose rules were applied, and the reason.',
  ),
  providers: described(
    v.array(ProviderItem),
    'Whether the message meets the published rules of each mailbox provider.',
  ),
  placement: described(
    v.array(SeedPlacement),
    'Where the message arrived in each seed mailbox. Empty without seed mailboxes.',
  ),
};

/** A test with every field. */
export const EXAMPLE_TEST = {
  ...EXAMPLE,
  cap: null,
  judged_kind: {
    kind: 'marketing',
    by: 'sender',
    confidence: 'certain',
    reasons: ['You chose this kind.'],
  },
  placement: [],
};

export const Test = named(
  'Test',
  v.object(TEST_FIELDS),
  'A test examines one message. Its result is a score, a grade and findings.',
  EXAMPLE_TEST as never,
);

export type Test = v.InferOutput<typeof Test>;

const MAX_PROVIDERS = 20;

/** The folder at each provider, or what an empty object means. */
function placementParts(placement: unknown): (string | null)[] {
  if (typeof placement !== 'object' || placement === null) return [];
  const parts = Object.entries(placement).slice(0, MAX_PROVIDERS);
  if (parts.length === 0) return ['no seed mailbox received the message'];
  return parts.map(([provider, folder]) => labeled(short(provider), folder));
}

/** The event types of this feature. */
export const TEST_EVENTS: EventDeclaration[] = [
  {
    type: 'test.completed',
    summary: 'A test completed',
    description: 'A test finished with a result. Reanalyses send no event.',
    data: ListedTest,
    object: 'the test',
    line: (data) => [
      typeof data.score === 'number'
        ? `score ${data.score}, grade ${asText(data.grade)}`
        : 'no score',
      quoted(data.subject),
      labeled('from', data.from_address),
      ...['spf', 'dkim', 'dmarc'].map((name) =>
        labeled(name.toUpperCase(), field(data.auth_results, name)),
      ),
    ],
  },
  {
    type: 'test.failed',
    summary: 'A test failed',
    description:
      'A test ended without a result: the message did not arrive in time, or it could not be analyzed.',
    data: ListedTest,
    object: 'the test',
    line: (data) => [asText(data.failure_reason), labeled('address', data.address)],
  },
  {
    type: 'test.placement_settled',
    summary: 'The placement of a test settled',
    description:
      'The placement in every seed mailbox is final. Follows `test.completed` or `test.failed`, for tests with `placement` only.',
    data: ListedTest,
    object: 'the test',
    line: (data) => [...placementParts(data.inbox_placement), quoted(data.subject)],
  },
];
