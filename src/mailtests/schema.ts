/** Schemas of tests in requests and responses (contract §4). */

import * as v from 'valibot';
import { CATEGORIES, CHECK_STATUSES } from '../analysis/check.ts';
import { AUTH_RESULTS, PROVIDERS } from '../analysis/result.ts';
import { described, Name, PAGE_QUERY, QueryTime, queryInteger, Time } from '../http/schemas.ts';
import { normalizeDomain } from '../lib/domain-names.ts';

const TEST_STATUSES = ['waiting', 'processing', 'completed', 'failed'] as const;
export const KINDS = ['auto', 'marketing', 'transactional'] as const;
const PLACEMENTS = [
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

const nullable = <S extends v.GenericSchema>(schema: S) => v.nullable(schema);
const AuthResult = nullable(v.picklist(AUTH_RESULTS));

const CategoryScore = v.object({
  name: v.picklist(CATEGORIES),
  score: described(
    nullable(v.number()),
    'Score of the category, from 0 to 100. Null if none of its checks ran.',
  ),
  weight: described(v.number(), 'Weight of the category in the overall score.'),
  earned: described(v.number(), 'Points that the checks of the category earned.'),
  points: described(v.number(), 'Points that the checks of the category could earn.'),
});

const Reference = v.object({ name: v.string(), url: v.string() });

const CheckItem = v.object({
  id: v.string(),
  category: v.picklist(CATEGORIES),
  label: v.string(),
  status: v.picklist(CHECK_STATUSES),
  title: described(v.string(), 'The finding in one sentence.'),
  detail: described(v.string(), 'Why the finding matters, or why the check did not run.'),
  evidence: described(
    v.record(v.string(), v.unknown()),
    'The facts behind the finding. The keys depend on the check.',
  ),
  points: described(v.number(), 'Points that the check can earn.'),
  earned: described(
    nullable(v.number()),
    'Points that the check earned. Null if it did not run or is informational.',
  ),
  gain: described(v.number(), 'How much the overall score would rise if only this check passed.'),
  reference: Reference,
  fix: described(
    nullable(
      v.object({
        text: v.string(),
        record: v.optional(
          described(
            v.object({ type: v.string(), name: v.string(), value: v.string() }),
            'A DNS record to publish.',
          ),
        ),
      }),
    ),
    'What to change. Null if there is nothing to fix.',
  ),
});

const Envelope = v.object({
  mail_from: nullable(v.string()),
  client_ip: nullable(v.string()),
  helo: nullable(v.string()),
  tls: nullable(
    v.object({ used: v.boolean(), version: nullable(v.string()), cipher: nullable(v.string()) }),
  ),
});

const JudgedKind = v.object({
  kind: v.picklist(['marketing', 'transactional']),
  by: v.picklist(['sender', 'message']),
  reasons: v.array(v.string()),
});

const ProviderItem = v.object({
  provider: v.picklist(PROVIDERS),
  name: v.string(),
  ready: described(
    v.boolean(),
    'Whether the message meets every applicable rule that can be checked with one message.',
  ),
  reference: Reference,
  rules: v.array(
    v.object({
      id: v.string(),
      title: v.string(),
      applies: described(
        v.picklist(['any', 'bulk']),
        '`any`: the rule applies to all senders. `bulk`: it applies to bulk senders only.',
      ),
      status: described(
        v.picklist(['met', 'not_met', 'unknown']),
        '`unknown`: the result could not be determined, or one message is not enough to tell.',
      ),
      detail: v.string(),
      checks: described(v.array(v.string()), 'IDs of the checks behind the status.'),
      error: described(
        nullable(v.string()),
        'The SMTP error that the provider publishes for the rule. Null if it publishes none.',
      ),
    }),
  ),
});

/** The fields of a test in lists and events. */
const LISTED_FIELDS = {
  id: v.string(),
  object: v.literal('test'),
  status: v.picklist(TEST_STATUSES),
  failure_reason: described(
    nullable(v.picklist(['not_received', 'unreadable', 'analysis_error'])),
    'Why the test failed. Null unless `status` is `failed`.',
  ),
  name: nullable(v.string()),
  kind: described(
    v.picklist(KINDS),
    'The kind of mail that you declared. With `auto`, the service detects it from the message.',
  ),
  metadata: described(v.record(v.string(), v.string()), 'Your own key-value pairs.'),
  livemode: described(v.boolean(), 'False for tests created with a test-mode key.'),
  address: described(v.string(), 'The test address. Send one message to it before `expires_at`.'),
  token: described(v.string(), 'The local part of the test address.'),
  seed_addresses: v.array(v.object({ provider: v.string(), address: v.string() })),
  domain_id: described(
    nullable(v.string()),
    'The domain that the test belongs to. Null if there is none.',
  ),
  created_at: Time,
  expires_at: described(Time, 'When the test address expires.'),
  received_at: nullable(Time),
  completed_at: described(nullable(Time), 'When the test completed or failed.'),
  score: described(
    nullable(v.pipe(v.number(), v.integer())),
    'The score, from 0 to 100. Null if too little is known for a score.',
  ),
  grade: nullable(v.picklist(['A', 'B', 'C', 'D', 'F'])),
  summary: nullable(v.string()),
  coverage: described(
    nullable(v.number()),
    'Points of completed checks as a share of the points of all applicable checks, from 0 to 1.',
  ),
  from_address: nullable(v.string()),
  subject: nullable(v.string()),
  message_size: described(nullable(v.number()), 'Size of the message in bytes.'),
  line_ends_converted: described(
    v.boolean(),
    'Whether bare LF line endings of a submitted message were converted to CRLF.',
  ),
  auth_results: v.object({ spf: AuthResult, dkim: AuthResult, dmarc: AuthResult }),
  inbox_placement: v.record(v.string(), v.picklist(PLACEMENTS)),
  categories: v.array(CategoryScore),
  ruleset: described(nullable(v.string()), 'Version of the rules that produced the result.'),
  previous: described(
    nullable(
      v.object({
        score: nullable(v.number()),
        grade: nullable(v.string()),
        ruleset: nullable(v.string()),
        completed_at: Time,
      }),
    ),
    'The result before the last reanalysis. Null if the test was never reanalyzed.',
  ),
};

export const ListedTest = v.object(LISTED_FIELDS);
export type ListedTest = v.InferOutput<typeof ListedTest>;

export const Test = v.object({
  ...LISTED_FIELDS,
  envelope: described(
    nullable(Envelope),
    'The SMTP session that delivered the message, or the values submitted with it.',
  ),
  cap: described(
    nullable(v.object({ limit: v.number(), reason: v.string(), reference: v.string() })),
    'The highest possible score until certain findings are fixed. Null if the score is not capped.',
  ),
  checks: v.array(CheckItem),
  judged_kind: described(
    nullable(JudgedKind),
    'The kind of mail whose rules were applied, and the reason.',
  ),
  providers: v.array(ProviderItem),
  placement: v.array(v.unknown()),
});
export type Test = v.InferOutput<typeof Test>;

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
      v.maxLength(40, 'must have at most 40 characters'),
    ),
    v.pipe(v.string('must be a string'), v.maxLength(500, 'must have at most 500 characters')),
  ),
  v.check(
    (pairs) => Object.keys(pairs).length <= MAX_METADATA_KEYS,
    `must have at most ${MAX_METADATA_KEYS} keys`,
  ),
);

export const DEFAULT_EXPIRES_IN = 3600;

export const NewTest = v.strictObject({
  name: v.optional(v.nullable(Name)),
  kind: v.optional(v.picklist(KINDS), 'auto'),
  metadata: v.optional(Metadata, {}),
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
  domain_id: v.optional(
    v.nullable(
      v.pipe(v.string('must be a string'), v.maxLength(100, 'must have at most 100 characters')),
    ),
  ),
  // Reserved: placement tests are not available yet.
  placement: v.optional(
    v.pipe(
      v.boolean(),
      v.check((wanted) => !wanted, 'requires seed mailboxes, but none are configured'),
    ),
    false,
  ),
});
export type NewTest = v.InferOutput<typeof NewTest>;

/** HELO and MAIL FROM accept any text: an invalid value is a finding, not an error. */
export const SubmitQuery = v.strictObject({
  name: v.optional(Name),
  kind: v.optional(v.picklist(KINDS), 'auto'),
  client_ip: v.optional(
    v.pipe(
      v.string(),
      v.ip('must be an IP address'),
      v.description('The IP address of the sending server, for checks such as SPF.'),
    ),
  ),
  helo: v.optional(described(v.string(), 'The HELO name of the sending server.')),
  mail_from: v.optional(described(v.string(), 'The envelope sender (MAIL FROM).')),
});
export type SubmitQuery = v.InferOutput<typeof SubmitQuery>;

export const TestPatch = v.strictObject({
  name: v.optional(v.nullable(Name)),
  metadata: v.optional(v.nullable(Metadata)),
});

const FILTERS = {
  status: v.optional(v.picklist(TEST_STATUSES)),
  domain_id: v.optional(v.string()),
  from_domain: v.optional(
    v.pipe(
      v.string(),
      v.check((name) => normalizeDomain(name) !== null, 'must be a domain name'),
      v.transform((name) => normalizeDomain(name)!),
    ),
  ),
  created_after: v.optional(QueryTime),
  created_before: v.optional(QueryTime),
  min_score: v.optional(queryInteger(0, 100)),
  max_score: v.optional(queryInteger(0, 100)),
  q: v.optional(
    v.pipe(
      v.string(),
      v.maxLength(200),
      v.description('Text to search for in the name and the subject.'),
    ),
  ),
};
export const TestFilters = v.strictObject(FILTERS);
export type TestFilters = v.InferOutput<typeof TestFilters>;
export const TestListQuery = v.strictObject({ ...PAGE_QUERY, ...FILTERS });
export const WaitQuery = v.strictObject({ wait: v.optional(queryInteger(0, 50), '0') });
