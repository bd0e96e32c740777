/** Domains as the API takes and answers them (contract §7). */

import * as v from 'valibot';
import { CATEGORIES, CHECK_STATUSES } from '../analysis/check.ts';
import { readDomainName } from '../analysis/domain/read-domain-name.ts';
import { described, PAGE, Time } from '../http/schemas.ts';
import { normalizeDomain } from '../lib/domain-names.ts';

/** Whole texts beyond this are no domain name in any form; nobody parses them. */
const TEXT_MAX = 1000;

const DomainName = v.pipe(
  v.string('must be text'),
  v.maxLength(TEXT_MAX, 'is too long for a domain name'),
  v.check(
    (text) => readDomainName(text).name !== null,
    ({ input }) => readDomainName(input).fault ?? 'is not a domain name such as example.com',
  ),
  v.metadata({
    jsonSchema: { type: 'string', format: 'idn-hostname', minLength: 1, maxLength: TEXT_MAX },
  }),
  v.transform((text) => readDomainName(text).name!),
);

/** More keys than anybody signs with at a time. */
export const MOST_SELECTORS = 20;
const SELECTOR_MAX = 63;

/** RFC 6376 §3.1: labels, as in `s=`; of those that people give, and that mail shows. */
export const isSelector = (text: string): boolean =>
  text.length <= SELECTOR_MAX && normalizeDomain(text) !== null;

const Selector = v.pipe(
  v.string('must be text'),
  v.maxLength(SELECTOR_MAX, `must have at most ${SELECTOR_MAX} characters`),
  v.check(isSelector, 'must be a DKIM selector: what stands in DKIM-Signature after s='),
  v.metadata({ jsonSchema: { type: 'string', minLength: 1, maxLength: SELECTOR_MAX } }),
  v.transform((text) => normalizeDomain(text)!),
);
const Selectors = v.pipe(
  v.array(Selector, 'must be a list of selectors'),
  v.maxLength(MOST_SELECTORS, `must have at most ${MOST_SELECTORS} selectors`),
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
    'What the check came to when it could be found out last, where it cannot be now: severity and score are by it until it can.',
  ),
  severity: described(
    v.nullable(v.picklist(['critical', 'warning'])),
    'critical: mail of the domain is refused, or anybody can send as it. Null: nothing to see to.',
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
    'When the last look began that found out enough; a later one that did not changes nothing here.',
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
    'Of a verified domain: since when its verification record has not been there. After three days the domain has failed.',
  ),
  last_checked_at: described(
    v.nullable(Time),
    'When the last lookup of the verification record began.',
  ),
  last_check_detail: described(
    v.nullable(v.string()),
    'What the last lookup or look could not find, or not find out, in words; null where all is well.',
  ),
  next_check_at: described(
    v.nullable(Time),
    'Null for a failed domain, which is looked up no more.',
  ),
  dkim_selectors: described(
    v.array(v.string()),
    'Those given, then those learnt from received mail: of signatures that verify and are aligned with the From domain. One that was learnt, has signed nothing for 7 days and has no key any more is dropped.',
  ),
  badge_enabled: v.boolean(),
  health: v.object(HEALTH),
  created_at: Time,
};
/** The list form, which events embed too: without the checks of the health. */
export const ListedDomain = v.object(DOMAIN);
export type ListedDomain = v.InferOutput<typeof ListedDomain>;

export const Domain = v.object({
  ...DOMAIN,
  health: v.object({ ...HEALTH, checks: v.array(DomainCheck) }),
});
export type Domain = v.InferOutput<typeof Domain>;

const RecordToPublish = v.object({
  ...RECORD,
  purpose: described(v.string(), 'What it is for, and when to publish it.'),
  action: described(
    v.picklist(['add', 'replace']),
    'Whether it comes beside what there is, or in the place of what replaces holds.',
  ),
  replaces: described(
    v.array(v.string()),
    'The values at the same type and name to delete; others stay.',
  ),
  required: described(
    v.boolean(),
    'true: without it the domain is not verified, or a check fails. false: it makes good better.',
  ),
});
export type RecordToPublish = v.InferOutput<typeof RecordToPublish>;

export const DomainHealthAnswer = v.object({
  object: v.literal('domain_health'),
  domain_id: v.string(),
  name: v.string(),
  status: HealthStatus,
  score: Score,
  summary: v.string(),
  checks: v.array(DomainCheck),
  records: described(
    v.array(RecordToPublish),
    'What to publish, as it stands: one for a type and name at most. What only you know, such as a key or a mailbox, is told of in the checks.',
  ),
  checked_at: Time,
});
export type DomainHealthAnswer = v.InferOutput<typeof DomainHealthAnswer>;

export const DomainListQuery = v.strictObject({
  ...PAGE,
  status: v.optional(v.picklist(DOMAIN_STATUSES, `must be one of ${DOMAIN_STATUSES.join(', ')}`)),
});
export type DomainListQuery = v.InferOutput<typeof DomainListQuery>;
