/** Schemas of tests in requests and responses (contract §4). */

import * as v from 'valibot';
import { CATEGORIES, CHECK_STATUSES } from '../analysis/check.ts';
import { AUTH_RESULTS, PROVIDERS } from '../analysis/result.ts';
import { Name, PAGE, QueryTime, queryInteger, Time } from '../http/schemas.ts';
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
const AuthWord = nullable(v.picklist(AUTH_RESULTS));

const CategoryScore = v.object({
  name: v.picklist(CATEGORIES),
  score: nullable(v.number()),
  weight: v.number(),
  earned: v.number(),
  points: v.number(),
});

const Reference = v.object({ name: v.string(), url: v.string() });

const CheckItem = v.object({
  id: v.string(),
  category: v.picklist(CATEGORIES),
  label: v.string(),
  status: v.picklist(CHECK_STATUSES),
  title: v.string(),
  detail: v.string(),
  evidence: v.record(v.string(), v.unknown()),
  points: v.number(),
  earned: nullable(v.number()),
  gain: v.number(),
  reference: Reference,
  fix: nullable(
    v.object({
      text: v.string(),
      record: v.optional(v.object({ type: v.string(), name: v.string(), value: v.string() })),
    }),
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
  ready: v.boolean(),
  reference: Reference,
  rules: v.array(
    v.object({
      id: v.string(),
      title: v.string(),
      applies: v.picklist(['any', 'bulk']),
      status: v.picklist(['met', 'not_met', 'unknown']),
      detail: v.string(),
      checks: v.array(v.string()),
      error: nullable(v.string()),
    }),
  ),
});

/** The list form, which events contain too. */
const LISTED = {
  id: v.string(),
  object: v.literal('test'),
  status: v.picklist(TEST_STATUSES),
  failure_reason: nullable(v.picklist(['not_received', 'unreadable', 'analysis_error'])),
  name: nullable(v.string()),
  kind: v.picklist(KINDS),
  metadata: v.record(v.string(), v.string()),
  livemode: v.boolean(),
  address: v.string(),
  token: v.string(),
  seed_addresses: v.array(v.object({ provider: v.string(), address: v.string() })),
  domain_id: nullable(v.string()),
  created_at: Time,
  expires_at: Time,
  received_at: nullable(Time),
  completed_at: nullable(Time),
  score: nullable(v.pipe(v.number(), v.integer())),
  grade: nullable(v.picklist(['A', 'B', 'C', 'D', 'F'])),
  summary: nullable(v.string()),
  coverage: nullable(v.number()),
  from_address: nullable(v.string()),
  subject: nullable(v.string()),
  message_size: nullable(v.number()),
  line_ends_converted: v.boolean(),
  auth_results: v.object({ spf: AuthWord, dkim: AuthWord, dmarc: AuthWord }),
  inbox_placement: v.record(v.string(), v.picklist(PLACEMENTS)),
  categories: v.array(CategoryScore),
  ruleset: nullable(v.string()),
  previous: nullable(
    v.object({
      score: nullable(v.number()),
      grade: nullable(v.string()),
      ruleset: nullable(v.string()),
      completed_at: Time,
    }),
  ),
};

export const ListedTest = v.object(LISTED);
export type ListedTest = v.InferOutput<typeof ListedTest>;

export const Test = v.object({
  ...LISTED,
  envelope: nullable(Envelope),
  cap: nullable(v.object({ limit: v.number(), reason: v.string(), reference: v.string() })),
  checks: v.array(CheckItem),
  judged_kind: nullable(JudgedKind),
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
    v.pipe(v.string('must be text'), v.maxLength(500, 'must have at most 500 characters')),
  ),
  v.check(
    (pairs) => Object.keys(pairs).length <= MAX_METADATA_KEYS,
    `must have at most ${MAX_METADATA_KEYS} keys`,
  ),
);

export const EXPIRES_IN_DEFAULT = 3600;

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
    ),
    EXPIRES_IN_DEFAULT,
  ),
  domain_id: v.optional(
    v.nullable(
      v.pipe(v.string('must be text'), v.maxLength(100, 'must have at most 100 characters')),
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

/** HELO and MAIL FROM accept any text: an invalid one is a finding, not an error. */
export const SubmitQuery = v.strictObject({
  name: v.optional(Name),
  kind: v.optional(v.picklist(KINDS), 'auto'),
  client_ip: v.optional(v.pipe(v.string(), v.ip('must be an IP address'))),
  helo: v.optional(v.string()),
  mail_from: v.optional(v.string()),
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
  q: v.optional(v.pipe(v.string(), v.maxLength(200))),
};
export const TestFilters = v.strictObject(FILTERS);
export type TestFilters = v.InferOutput<typeof TestFilters>;
export const TestListQuery = v.strictObject({ ...PAGE, ...FILTERS });
export const WaitQuery = v.strictObject({ wait: v.optional(queryInteger(0, 50), '0') });
