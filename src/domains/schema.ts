/** API schemas of domains (contract §7). */

import * as v from 'valibot';
import { CATEGORIES, CHECK_STATUSES } from '../analysis/check.ts';
import { readDomainName } from '../analysis/domain/read-domain-name.ts';
import { described, PAGE_QUERY, Time } from '../http/schemas.ts';
import { normalizeDomain } from '../lib/domain-names.ts';

/** Longer than a domain name in any notation. */
const MAX_TEXT_LENGTH = 1000;

const DomainName = v.pipe(
  v.string('must be a string'),
  v.maxLength(MAX_TEXT_LENGTH, 'is too long for a domain name'),
  v.check(
    (text) => readDomainName(text).name !== null,
    ({ input }) => readDomainName(input).fault ?? 'is not a domain name such as example.com',
  ),
  v.metadata({
    jsonSchema: {
      type: 'string',
      format: 'idn-hostname',
      minLength: 1,
      maxLength: MAX_TEXT_LENGTH,
    },
  }),
  v.transform((text) => readDomainName(text).name!),
);

/** More keys than a domain signs with at a time. */
export const MAX_SELECTORS = 20;
const MAX_SELECTOR_LENGTH = 63;

/** RFC 6376 §3.1: DNS labels separated by dots. */
export const isSelector = (text: string): boolean =>
  text.length <= MAX_SELECTOR_LENGTH && normalizeDomain(text) !== null;

const Selector = v.pipe(
  v.string('must be a string'),
  v.maxLength(MAX_SELECTOR_LENGTH, `must have at most ${MAX_SELECTOR_LENGTH} characters`),
  v.check(isSelector, 'must be a DKIM selector, the value after s= in the DKIM-Signature header'),
  v.metadata({ jsonSchema: { type: 'string', minLength: 1, maxLength: MAX_SELECTOR_LENGTH } }),
  v.transform((text) => normalizeDomain(text)!),
);
const Selectors = v.pipe(
  v.array(Selector, 'must be a list of selectors'),
  v.maxLength(MAX_SELECTORS, `must contain at most ${MAX_SELECTORS} selectors`),
  v.transform((selectors) => [...new Set(selectors)]),
);
const Badge = v.boolean('must be true or false');

export const NewDomain = v.strictObject({
  name: DomainName,
  dkim_selectors: v.optional(Selectors, []),
  badge_enabled: v.optional(Badge, false),
});
export type NewDomain = v.InferOutput<typeof NewDomain>;

export const DomainPatch = v.strictObject({
  dkim_selectors: v.optional(v.nullable(Selectors)),
  badge_enabled: v.optional(Badge),
});
export type DomainPatch = v.InferOutput<typeof DomainPatch>;

const DOMAIN_STATUSES = ['pending', 'verified', 'failed'] as const;
const HealthStatus = v.picklist(['healthy', 'warning', 'critical', 'unknown']);
const Score = v.nullable(v.pipe(v.number(), v.integer()));

const RECORD = { type: v.string(), name: v.string(), value: v.string() };

const DomainCheck = v.object({
  id: v.string(),
  label: v.string(),
  category: v.picklist(CATEGORIES),
  status: v.picklist(CHECK_STATUSES),
  former_status: described(
    v.optional(v.picklist(CHECK_STATUSES)),
    'If the check could not be completed, its last known status, which severity and score are based on.',
  ),
  severity: described(
    v.nullable(v.picklist(['critical', 'warning'])),
    '`critical`: mailbox providers reject mail from the domain, or anyone can send as the domain. Null if there is nothing to fix.',
  ),
  title: v.string(),
  detail: v.string(),
  evidence: v.record(v.string(), v.unknown()),
  points: v.number(),
  reference: v.object({ name: v.string(), url: v.string() }),
  fix: v.nullable(v.object({ text: v.string(), record: v.optional(v.object(RECORD)) })),
});

const HEALTH = {
  status: HealthStatus,
  score: Score,
  checked_at: described(
    v.nullable(Time),
    'When the last conclusive health check started. Inconclusive checks do not change it.',
  ),
};

const DOMAIN = {
  id: v.string(),
  object: v.literal('domain'),
  name: v.string(),
  status: v.picklist(DOMAIN_STATUSES),
  verification: v.object({ type: v.literal('TXT'), name: v.string(), value: v.string() }),
  verified_at: v.nullable(Time),
  missing_since: described(
    v.nullable(Time),
    'For a verified domain, when its verification record was first found missing. After three days, the status changes to `failed`.',
  ),
  last_checked_at: described(
    v.nullable(Time),
    'When the last lookup of the verification record started.',
  ),
  last_check_detail: described(
    v.nullable(v.string()),
    'What the last lookup or health check could not find or determine. Null if there was no problem.',
  ),
  next_check_at: described(
    v.nullable(Time),
    'When the next lookup of the record starts. Null for a failed domain, which is no longer checked.',
  ),
  dkim_selectors: described(
    v.array(v.string()),
    'Your selectors, followed by those learned from valid, aligned signatures in received messages. A learned selector is removed when its key is gone and it has signed nothing for 7 days.',
  ),
  badge_enabled: v.boolean(),
  health: v.object(HEALTH),
  created_at: Time,
};
/** The list form, also used in events: without the health checks. */
export const ListedDomain = v.object(DOMAIN);
export type ListedDomain = v.InferOutput<typeof ListedDomain>;

export const Domain = v.object({
  ...DOMAIN,
  health: v.object({ ...HEALTH, checks: v.array(DomainCheck) }),
});
export type Domain = v.InferOutput<typeof Domain>;

const RecordToPublish = v.object({
  ...RECORD,
  purpose: described(v.string(), 'What the record is for, and when to publish it.'),
  action: described(
    v.picklist(['add', 'replace']),
    '`add`: keep existing records. `replace`: publish it in place of the records in `replaces`.',
  ),
  replaces: described(
    v.array(v.string()),
    'The existing values to delete at this type and name. Keep all others.',
  ),
  required: described(
    v.boolean(),
    'True if verification or a check fails without the record. False if the record is only recommended.',
  ),
});
export type RecordToPublish = v.InferOutput<typeof RecordToPublish>;

export const DomainHealthResponse = v.object({
  object: v.literal('domain_health'),
  domain_id: v.string(),
  name: v.string(),
  status: HealthStatus,
  score: Score,
  summary: v.string(),
  checks: v.array(DomainCheck),
  records: described(
    v.array(RecordToPublish),
    'The DNS records to publish, at most one per type and name. Records that need a value only you know, such as a key or a mailbox, are described in the checks.',
  ),
  checked_at: Time,
});
export type DomainHealthResponse = v.InferOutput<typeof DomainHealthResponse>;

export const DomainListQuery = v.strictObject({
  ...PAGE_QUERY,
  status: v.optional(v.picklist(DOMAIN_STATUSES, `must be one of ${DOMAIN_STATUSES.join(', ')}`)),
});
export type DomainListQuery = v.InferOutput<typeof DomainListQuery>;
