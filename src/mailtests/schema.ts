/** Schemas of tests in requests and responses (contract §4). */

import * as v from 'valibot';
import { AUTH_RESULTS } from '../analysis/auth-results.ts';
import { CATEGORIES, CHECK_STATUSES, KIND_CONFIDENCES } from '../analysis/check.ts';
import { RECEIVER_METHODS } from '../analysis/receipt/results.ts';
import { PROVIDERS, READINESS } from '../analysis/result.ts';
import { FINDING_FIELDS, Fix, Reference } from '../domains/finding.ts';
import { asText, field, labeled, quoted, short } from '../events/line.ts';
import type { EventDeclaration } from '../http/openapi/webhooks.ts';
import {
  described,
  exampleId,
  idOf,
  lineOfText,
  maxCharacters,
  Name,
  named,
  noDuplicates,
  PAGE_QUERY,
  QueryTime,
  queryInteger,
  separatedList,
  Text,
  Time,
  typeField,
  Url,
} from '../http/schemas.ts';
import { normalizeDomain } from '../lib/domain-names.ts';

const TEST_STATUSES = ['waiting', 'processing', 'completed', 'failed'] as const;
export const KINDS = ['auto', 'marketing', 'transactional'] as const;
export const PLACEMENTS = [
  'inbox',
  'promotions',
  'social',
  'updates',
  'forums',
  'spam',
  'missing',
  'pending',
  'unknown',
] as const;
const PLACEMENT_STATUSES = ['none', 'waiting', 'settled'] as const;
const MATCHES = ['address', 'token', 'message_id', 'probable'] as const;

const AuthResult = v.nullable(v.picklist(AUTH_RESULTS));

const CategoryScore = named(
  'CategoryScore',
  v.object({
    name: described(v.picklist(CATEGORIES), 'The category of checks.'),
    score: described(
      v.nullable(v.number()),
      'Score of the category, from 0 to 100. Null if none of its checks ran.',
    ),
    weight: described(v.number(), 'Weight of the category in the overall score.'),
    earned: described(v.number(), 'Points that the checks of the category earned.'),
    points: described(v.number(), 'Points that the checks of the category could earn.'),
  }),
  'The score of one category of checks.',
  { name: 'authentication', score: 90, weight: 40, earned: 36, points: 40 },
);

const EXAMPLE_CHECK = {
  id: 'dmarc_policy',
  category: 'authentication',
  label: 'DMARC policy',
  status: 'warn',
  title: 'DMARC policy is p=none: failing mail is still delivered',
  detail: 'Anyone can send mail that claims to be from example.com, and most of it is delivered.',
  points: 4,
  earned: 2,
  gain: 2,
  goes_with: null,
  fix: {
    text: 'Change the DMARC policy to p=quarantine.',
    record: {
      type: 'TXT',
      name: '_dmarc.example.com',
      value: 'v=DMARC1; p=quarantine; rua=mailto:dmarc@example.com',
    },
  },
} as const;

const CheckItem = named(
  'Check',
  v.object({
    id: described(v.string(), 'The ID of the check, which never changes.'),
    category: described(v.picklist(CATEGORIES), 'The category that the points count in.'),
    label: v.string(),
    status: described(
      v.picklist(CHECK_STATUSES),
      '`info` earns no points. `error`: the check could not be completed. `skipped`: it does not apply. Neither `error` nor `skipped` counts.',
    ),
    ...FINDING_FIELDS,
    earned: described(
      v.nullable(v.number()),
      'Points that the check earned. Null if it did not run or is informational.',
    ),
    gain: described(v.number(), 'How much the overall score would rise if only this check passed.'),
    goes_with: described(
      Text,
      'The ID of the check whose fix also solves this problem, because both have the same cause. Null if there is none.',
      'dkim',
    ),
    reference: described(Reference, 'The rule that the check applies.'),
    fix: described(v.nullable(Fix), 'What to change. Null if there is nothing to fix.'),
  }),
  'The finding of one check.',
  EXAMPLE_CHECK,
);

const CONFIDENCE_TEXT =
  '`certain`: you declared the kind, or fields that only campaigns have show it. `uncertain`: see `alternative`.';

const MailKind = v.picklist(['marketing', 'transactional']);

const Alternative = named(
  'AlternativeScore',
  v.object({
    kind: described(MailKind, 'The other kind of mail.'),
    score: described(v.nullable(v.number()), 'The score as that kind of mail, from 0 to 100.'),
    grade: described(
      v.nullable(v.picklist(['A', 'B', 'C', 'D', 'F'])),
      'The grade as that kind of mail.',
    ),
  }),
  'The score and grade of a message if it is of the other kind.',
  { kind: 'marketing', score: 75, grade: 'C' },
);

const ReportingServer = named(
  'ReportingServer',
  v.object({
    client_ip: described(v.string(), 'The IP address of the mail server.'),
    name: described(Text, 'The name of the mail server. Null if it gave none.'),
    method: described(
      v.nullable(v.picklist(['xclient', 'xforward', 'received'])),
      'How it reported the client: with XCLIENT, with XFORWARD, or in its `Received` field. Null if it did not, or not in a known form: the client is unknown.',
    ),
  }),
  'A mail server of yours, trusted to report the client of a message.',
  { client_ip: '10.0.0.5', name: 'mx.example.com', method: 'received' },
);

const OriginOfValue = named(
  'OriginOfValue',
  v.object({
    source: described(
      v.picklist(['file', 'given']),
      '`given`: the value was sent with the message.',
    ),
    field: described(Text, 'The header field. Null if given.'),
    by: described(Text, 'The server that wrote the field. Null if given.'),
  }),
  'Where a value of the envelope comes from.',
  { source: 'file', field: 'Received', by: 'mx.google.com' },
);

const ReceiverResults = named(
  'ReceiverResults',
  v.object(
    v.entriesFromList(
      RECEIVER_METHODS,
      described(v.optional(v.picklist(AUTH_RESULTS)), 'Missing if it recorded none.'),
    ),
  ),
  'What a receiving server recorded about authentication.',
  { spf: 'pass', dkim: 'pass', dmarc: 'pass' },
);

const FileReceipt = named(
  'FileReceipt',
  v.object({
    by: described(Text, 'The server that received the message.'),
    provider: described(
      Text,
      'The mailbox provider that runs the server. Null for any other server.',
    ),
    at: described(v.nullable(Time), 'When the server received the message.'),
    results: described(
      v.nullable(ReceiverResults),
      'What the server recorded about authentication. Null if it recorded nothing.',
    ),
    origins: described(
      v.record(
        v.picklist(['at', 'client_ip', 'helo', 'tls', 'mail_from', 'results']),
        OriginOfValue,
      ),
      'Where each known value comes from.',
    ),
  }),
  'What the header of an uploaded message says about its receipt. Values that are null or missing are not known.',
  {
    by: 'mx.google.com',
    provider: 'Gmail',
    at: '2026-11-20T09:46:12.000Z',
    results: { spf: 'pass', dkim: 'pass', dmarc: 'pass' },
    origins: { client_ip: { source: 'file', field: 'Received', by: 'mx.google.com' } },
  },
);

export const Envelope = named(
  'Envelope',
  v.object({
    mail_from: described(
      Text,
      'The envelope sender (MAIL FROM). Empty for bounces. Null if it is not known.',
    ),
    client_ip: described(
      Text,
      'The IPv4 or IPv6 address of the sending server. Null if it is not known.',
    ),
    helo: described(
      Text,
      'The name that the sending server gave in HELO or EHLO. Null if it is not known.',
    ),
    tls: described(
      v.nullable(
        named(
          'EnvelopeTls',
          v.object({
            used: described(v.boolean(), 'Whether the connection was encrypted.'),
            version: described(Text, 'The TLS version. Null without TLS.'),
            cipher: described(Text, 'The cipher suite. Null without TLS.'),
          }),
          'The encryption of an SMTP connection.',
          { used: true, version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384' },
        ),
      ),
      'The encryption of the connection. Null if it is not known.',
    ),
    reported_by: described(
      v.nullable(ReportingServer),
      'Your mail server that passed the message on and reported the client. Null if the client itself connected.',
    ),
    file: described(
      v.nullable(FileReceipt),
      'For an uploaded message: what its header says about its receipt, and where each value comes from. Null if the message was sent here.',
    ),
  }),
  'The SMTP session that delivered a message.',
  {
    mail_from: 'bounces@example.com',
    client_ip: '192.0.2.25',
    helo: 'mail.example.com',
    tls: { used: true, version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384' },
    reported_by: null,
    file: null,
  },
);

const JudgedKind = named(
  'DetectedKind',
  v.object({
    kind: described(MailKind, 'The kind of mail whose rules were applied.'),
    by: described(
      v.picklist(['sender', 'message']),
      '`sender`: you declared the kind. `message`: the service detected it.',
    ),
    confidence: described(v.picklist(KIND_CONFIDENCES), CONFIDENCE_TEXT),
    reasons: described(v.array(v.string()), 'What shows the kind, as sentences.'),
  }),
  'The kind of mail whose rules were applied, and the reason.',
  {
    kind: 'marketing',
    by: 'message',
    confidence: 'likely',
    reasons: ['The message has a List-Unsubscribe header field.'],
  },
);

const EXAMPLE_RULE = {
  id: 'spf_or_dkim',
  title: 'Set up SPF or DKIM for your sending domain.',
  applies: 'any',
  status: 'met',
  detail: 'SPF and DKIM pass.',
  checks: ['spf', 'dkim'],
  error: '550 5.7.26',
};

const ProviderRule = named(
  'ProviderRule',
  v.object({
    id: described(v.string(), 'The ID of the rule, which never changes.'),
    title: described(v.string(), 'The requirement in one or two sentences.'),
    applies: described(
      v.picklist(['any', 'bulk']),
      '`any`: the rule applies to all senders. `bulk`: it applies to bulk senders only, so it counts only for marketing mail.',
    ),
    status: described(
      v.picklist(['met', 'not_met', 'unknown']),
      '`unknown`: the result could not be determined, or one message is not enough to tell.',
    ),
    detail: described(v.string(), 'Why the rule has this status.'),
    checks: described(v.array(v.string()), 'IDs of the checks behind the status.'),
    error: described(
      Text,
      'The SMTP error that the provider publishes for the rule. Null if it publishes none.',
    ),
  }),
  'A published requirement of a mailbox provider, and whether the message meets it.',
  EXAMPLE_RULE as never,
);

const EXAMPLE_PROVIDER = {
  provider: 'gmail',
  name: 'Gmail',
  ready: true,
  status: 'ready',
  reference: {
    name: 'Gmail sender guidelines',
    url: 'https://support.google.com/mail/answer/81126',
  },
};

const ProviderItem = named(
  'ProviderVerdict',
  v.object({
    provider: described(v.picklist(PROVIDERS), 'The ID of the mailbox provider.'),
    name: described(v.string(), 'The name of the mailbox provider.'),
    ready: described(
      v.boolean(),
      'Whether the message is known to meet every applicable rule that one message can show. Rules for bulk senders apply to marketing mail only.',
    ),
    status: described(
      v.picklist(READINESS),
      '`not_ready`: a rule that applies is not met. `unknown`: none is known to be unmet, but at least one could not be determined.',
    ),
    reference: described(Reference, 'The published sender requirements of the provider.'),
    rules: described(v.array(ProviderRule), 'The rules of the provider.'),
  }),
  'Whether a message meets the published rules of one mailbox provider.',
  EXAMPLE_PROVIDER as never,
);

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

export const SeedAddress = named(
  'SeedAddress',
  v.object({
    provider: described(v.string(), 'The mailbox provider of the seed mailbox.'),
    address: described(v.string(), 'The address of the seed mailbox.'),
  }),
  'A seed mailbox to which the message should be sent too.',
  { provider: 'gmail', address: 'seed-1@example.net' },
);

const PlacementReason = named(
  'PlacementReason',
  v.object({
    field: described(
      v.string(),
      'The header field, as the provider added it. `folder` for a message that was moved.',
    ),
    name: described(
      v.string(),
      'What the value is about, such as `dmarc` or `SFV`. `moved_from`: the value is the placement before.',
    ),
    value: described(v.string(), 'The value.'),
    text: described(v.string(), 'What it means, as a sentence.'),
  }),
  'What the provider itself wrote into its copy of the message.',
  {
    field: 'X-Forefront-Antispam-Report',
    name: 'SFV',
    value: 'SPM',
    text: 'Microsoft’s filters marked the message as spam.',
  },
);

const EXAMPLE_SEED_PLACEMENT = {
  provider: 'gmail',
  address: 'seed+k7q2m9x4t1w8b3z6@gmail.com',
  placement: 'inbox',
  settled: true,
  match: 'address',
  folder: 'INBOX',
  searched: ['[Gmail]/Spam', 'INBOX'],
  seconds: 2,
  problem: null,
  detail: null,
  reasons: [
    {
      field: 'Authentication-Results',
      name: 'dmarc',
      value: 'pass',
      text: 'DMARC passes at the provider.',
    },
  ],
} as const;

/** For schemas with some of these fields. */
export const SEED_PLACEMENT_FIELDS = {
  provider: described(v.string(), 'The mailbox provider of the seed mailbox.'),
  address: described(v.string(), 'The address of the seed mailbox for this test.'),
  placement: described(
    v.picklist(PLACEMENTS),
    'The folder or tab. `pending`: not found yet. `missing`: in none of the folders in `searched`. `unknown`: see `problem`.',
  ),
  settled: described(
    v.boolean(),
    'Whether the placement is final. A message that was found is checked again for some minutes, because providers can move it. `missing` is shown after 15 minutes, and becomes final later.',
  ),
  match: described(
    v.nullable(v.picklist(MATCHES)),
    'How the message was recognized. `address`: by the seed address of the test. `probable`: only by sender, subject and time. Null if it was not found.',
  ),
  folder: described(Text, 'The folder of the message. Null if it was not found.'),
  searched: described(v.array(v.string()), 'The folders that were searched.'),
  arrived_at: described(
    v.nullable(Time),
    'When the provider received the message, by its own clock. Null if it was not found.',
  ),
  seconds: described(
    v.nullable(v.number()),
    'Seconds between the arrival at the test address and at the seed mailbox. Null if either is missing.',
  ),
  problem: described(Text, 'Why the placement is unknown. Null otherwise.', 'sign_in_failed'),
  detail: described(
    Text,
    'The same in sentences, with what to do. Null without a problem.',
    'The mail server rejects the user name or password. Create a new app password.',
  ),
  reasons: described(
    v.array(PlacementReason),
    'What the provider wrote into the header, and whether the message was moved after its delivery. Empty if nothing is known.',
  ),
};

const SeedPlacement = named(
  'SeedPlacement',
  v.object(SEED_PLACEMENT_FIELDS),
  'Where the message arrived in one seed mailbox.',
  EXAMPLE_SEED_PLACEMENT as never,
);
export type SeedPlacement = v.InferOutput<typeof SeedPlacement>;

const Grade = v.picklist(['A', 'B', 'C', 'D', 'F']);
const Score = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100));

const PreviousResult = named(
  'PreviousResult',
  v.object({
    score: described(v.nullable(v.number()), 'The score, from 0 to 100.'),
    grade: described(Text, 'The grade.'),
    ruleset: described(Text, 'Version of the rules that produced the result.'),
    completed_at: described(Time, 'When the analysis completed.'),
  }),
  'The result of a test before its last reanalysis.',
  { score: 88, grade: 'B', ruleset: '1', completed_at: '2026-11-20T10:00:04.000Z' },
);

const Cap = named(
  'ScoreCap',
  v.object({
    limit: described(v.number(), 'The highest possible score.'),
    reason: described(v.string(), 'Why the score is capped.'),
    reference: described(v.string(), 'The rule behind the cap.'),
  }),
  'The highest score possible while certain findings remain.',
  {
    limit: 40,
    reason: 'SPF and DKIM fail, so mailbox providers reject the message.',
    reference: 'https://support.google.com/mail/answer/81126',
  },
);

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

/** What `TEST_FIELDS` adds to the example of the list form. */
const EXAMPLE_DETAILS = {
  envelope: {
    mail_from: 'bounces@example.com',
    client_ip: '192.0.2.25',
    helo: 'mail.example.com',
    tls: { used: true, version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384' },
    reported_by: null,
    file: null,
  },
  cap: null,
  judged_kind: {
    kind: 'marketing',
    by: 'sender',
    confidence: 'certain',
    reasons: ['You chose this kind.'],
  },
  placement: [],
};

/** A test with every field. */
export const EXAMPLE_TEST = { ...EXAMPLE, ...EXAMPLE_DETAILS };

export const Test = named(
  'Test',
  v.object(TEST_FIELDS),
  'A test examines one message. Its result is a score, a grade and findings.',
  EXAMPLE_TEST as never,
);
export type Test = v.InferOutput<typeof Test>;

/** The event types of this feature. */
const MAX_PROVIDERS = 20;

/** The folder at each provider, or what an empty object means. */
function placementParts(placement: unknown): (string | null)[] {
  if (typeof placement !== 'object' || placement === null) return [];
  const parts = Object.entries(placement).slice(0, MAX_PROVIDERS);
  if (parts.length === 0) return ['no seed mailbox received the message'];
  return parts.map(([provider, folder]) => labeled(short(provider), folder));
}

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

const MAX_METADATA_KEYS = 20;
const METADATA_JSON_SCHEMA = {
  type: 'object',
  maxProperties: MAX_METADATA_KEYS,
  propertyNames: { minLength: 1, maxLength: 40 },
  additionalProperties: { type: 'string', maxLength: 500 },
};
/** Keys that valibot drops silently. */
const RESERVED_KEYS = ['__proto__', 'constructor', 'prototype'];
const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const Metadata = v.pipe(
  v.custom<Record<string, string>>(isObject, 'must be an object with string values'),
  v.check(
    (pairs) => !Object.keys(pairs).some((key) => RESERVED_KEYS.includes(key)),
    `must not contain the keys ${RESERVED_KEYS.join(', ')}`,
  ),
  v.metadata({ jsonSchema: METADATA_JSON_SCHEMA }),
  v.record(
    v.pipe(
      v.string(),
      v.minLength(1, 'must not be empty'),
      maxCharacters(40, 'must have at most 40 characters'),
    ),
    v.pipe(v.string('must be a string'), maxCharacters(500, 'must have at most 500 characters')),
  ),
  v.check(
    (pairs) => Object.keys(pairs).length <= MAX_METADATA_KEYS,
    `must have at most ${MAX_METADATA_KEYS} keys`,
  ),
);

export const MAX_TAGS = 10;
const MAX_TAG_LENGTH = 50;

/** Tags that differ only in case, in outer space, or in the encoding of accents are the same. */
export const normalizeTag = (text: string): string => text.trim().normalize('NFC').toLowerCase();

const Tag = v.pipe(
  lineOfText(MAX_TAG_LENGTH),
  v.regex(/^[^,]*$/, 'must not contain commas'),
  v.transform(normalizeTag),
  // Lower case can be longer.
  maxCharacters(MAX_TAG_LENGTH, `must have at most ${MAX_TAG_LENGTH} characters`),
);

const Tags = v.pipe(
  v.array(Tag, 'must be an array of strings'),
  v.maxLength(MAX_TAGS, `must have at most ${MAX_TAGS} tags`),
  noDuplicates('is a duplicate'),
);

export const DEFAULT_EXPIRES_IN = 3600;

const NAME_TEXT = 'A name for the test, shown in lists and in the report.';
const KIND_TEXT =
  'The kind of mail, which decides the rules that apply. With `auto`, the service detects it.';
const METADATA_TEXT = 'Your own key-value pairs, such as the ID of a campaign.';
const TAGS_TEXT =
  'Tags to find and filter tests by. Each is trimmed and converted to lowercase, and contains no commas.';

export const NewTest = named(
  'CreateTest',
  v.strictObject({
    name: described(v.optional(v.nullable(Name)), NAME_TEXT),
    kind: described(v.optional(v.picklist(KINDS), 'auto'), KIND_TEXT),
    metadata: described(v.optional(Metadata, {}), METADATA_TEXT),
    tags: described(v.optional(Tags, []), TAGS_TEXT, ['newsletter', 'release']),
    expires_in: v.optional(
      v.pipe(
        v.number('must be a number of seconds'),
        v.integer('must be a whole number'),
        v.minValue(60, 'must be at least 60'),
        v.maxValue(86400, 'must be at most 86400'),
        v.description('Seconds until the test address expires.'),
      ),
      DEFAULT_EXPIRES_IN,
    ),
    domain_id: described(
      v.optional(
        v.nullable(
          v.pipe(
            v.string('must be a string'),
            maxCharacters(100, 'must have at most 100 characters'),
          ),
        ),
      ),
      'The domain that the test belongs to. By default, the domain of your team that matches the From address.',
      exampleId('dom'),
    ),
    placement: described(
      v.optional(v.boolean(), false),
      'Whether to test the placement in seed mailboxes too. Send the same message to the test address and to all `seed_addresses`. Requires seed mailboxes.',
    ),
    reusable: described(
      v.optional(v.boolean(), false),
      'Whether to create an inbox instead of a test: an address that never expires, whose every message becomes a new test with these settings. `expires_in` does not apply, and `placement` needs a placement monitor instead.',
    ),
  }),
  'The settings of a new test. All fields are optional.',
  {
    name: 'Spring newsletter',
    kind: 'marketing',
    metadata: { campaign: 'spring' },
    tags: ['newsletter', 'release'],
    expires_in: 3600,
  },
);
export type NewTest = v.InferOutput<typeof NewTest>;

/** HELO and MAIL FROM accept any text: an invalid value is a finding, not an error. */
export const SubmitQuery = v.strictObject({
  name: described(v.optional(Name), NAME_TEXT, 'Spring newsletter'),
  kind: described(v.optional(v.picklist(KINDS), 'auto'), KIND_TEXT),
  tags: v.optional(
    described(
      separatedList(Tag, MAX_TAGS),
      `Up to ${MAX_TAGS} tags, separated by commas. Each is trimmed and converted to lowercase.`,
      'newsletter,release',
    ),
    '',
  ),
  client_ip: v.optional(
    v.pipe(
      v.string(),
      v.ip('must be an IP address'),
      v.description('The IPv4 or IPv6 address of the sending server, for checks such as SPF.'),
      v.examples(['192.0.2.25']),
    ),
  ),
  helo: v.optional(
    described(v.string(), 'The HELO name of the sending server.', 'mail.example.com'),
  ),
  mail_from: v.optional(
    described(v.string(), 'The envelope sender (MAIL FROM).', 'bounces@example.com'),
  ),
});
export type SubmitQuery = v.InferOutput<typeof SubmitQuery>;

export const TestPatch = named(
  'UpdateTest',
  v.strictObject({
    name: described(v.optional(v.nullable(Name)), NAME_TEXT),
    metadata: described(
      v.optional(v.nullable(Metadata)),
      'Your own key-value pairs. They replace the current ones; null removes them all.',
    ),
    tags: described(
      v.optional(Tags),
      `${TAGS_TEXT} They replace the current ones; an empty array removes them all.`,
      ['newsletter', 'release'],
    ),
  }),
  'The changes to a test. Omitted fields keep their value.',
  {
    name: 'Summer newsletter',
    metadata: { campaign: 'summer' },
    tags: ['newsletter'],
  },
);

export const Reanalysis = named(
  'ReanalyzeTest',
  v.strictObject({
    kind: described(
      v.optional(v.picklist(KINDS)),
      'The kind of mail from now on. Without it, the declared kind stays.',
    ),
  }),
  'How to analyze the stored message again.',
  { kind: 'marketing' },
);

/** Two pages of the longest lists. */
export const MAX_FILTER_IDS = 200;

const FILTERS = {
  ids: v.optional(
    described(
      separatedList(v.string(), MAX_FILTER_IDS),
      `Only these tests: up to ${MAX_FILTER_IDS} IDs, separated by commas. Unknown ones are ignored.`,
      exampleId('test'),
    ),
  ),
  status: described(v.optional(v.picklist(TEST_STATUSES)), 'Only tests with this status.'),
  inbox_id: described(
    v.optional(v.string()),
    'Only tests of messages to this inbox.',
    exampleId('ibx'),
  ),
  domain_id: described(
    v.optional(v.string()),
    'Only tests of this domain of your team.',
    exampleId('dom'),
  ),
  from_domain: v.optional(
    described(
      v.pipe(
        v.string(),
        v.check((name) => normalizeDomain(name) !== null, 'must be a domain name'),
        v.transform((name) => normalizeDomain(name)!),
      ),
      'Only tests of messages with this domain in the From address.',
      'example.com',
    ),
  ),
  from_address: described(
    v.optional(v.string()),
    'Only tests of messages with exactly this From address. Its case does not matter.',
    'news@example.com',
  ),
  name: described(
    v.optional(v.string()),
    'Only tests with exactly this name.',
    'Spring newsletter',
  ),
  tag: v.optional(
    described(Tag, 'Only tests with this tag. Its case does not matter.', 'newsletter'),
  ),
  created_after: described(v.optional(QueryTime), 'Only tests created at or after this time.'),
  created_before: described(v.optional(QueryTime), 'Only tests created before this time.'),
  min_score: described(v.optional(queryInteger(0, 100)), 'Only tests with at least this score.'),
  max_score: described(v.optional(queryInteger(0, 100)), 'Only tests with at most this score.'),
  q: v.optional(
    described(
      v.pipe(v.string(), maxCharacters(200, 'must have at most 200 characters')),
      'Text to search for in the name, the subject and the sender.',
      'newsletter',
    ),
  ),
};
export const TestFilters = v.strictObject(FILTERS);
export type TestFilters = v.InferOutput<typeof TestFilters>;
/** An export reads all tests anyway, so it needs no index for its filters. */
export const TestExportQuery = v.strictObject({
  ...FILTERS,
  completed_after: described(
    v.optional(QueryTime),
    'Only tests that completed or failed at or after this time, by which summaries count tests.',
  ),
  completed_before: described(
    v.optional(QueryTime),
    'Only tests that completed or failed before this time.',
  ),
});
export type TestExportQuery = v.InferOutput<typeof TestExportQuery>;
export const TestListQuery = v.strictObject({ ...PAGE_QUERY, ...FILTERS });
export const WaitQuery = v.strictObject({
  wait: described(
    v.optional(queryInteger(0, 50), '0'),
    'The maximum number of seconds to wait for the test to end.',
  ),
  for: described(
    v.optional(v.picklist(['result', 'placement']), 'result'),
    'What to wait for: the result of the analysis, or also the final placement.',
  ),
});
