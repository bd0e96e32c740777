/** API schemas of domains (contract §7). */

import * as v from 'valibot';
import { CATEGORIES, CHECK_STATUSES } from '../analysis/check.ts';
import { readDomain } from '../analysis/domain/read-pasted.ts';
import { asText, field, labeled } from '../events/line.ts';
import type { EventDeclaration } from '../http/openapi/webhooks.ts';
import {
  described,
  exampleId,
  idOf,
  maxCharacters,
  named,
  oneOf,
  PAGE_QUERY,
  Time,
  typeField,
} from '../http/schemas.ts';
import { Tag, Tags } from '../http/tags.ts';
import { normalizeDomain } from '../lib/domain-names.ts';
import { FEEDBACK_STATES } from './feedback/state.ts';
import { FINDING_FIELDS, Fix, RECORD, Reference } from './finding.ts';

/** Longer than a domain name in any notation, or a web address that people paste. */
export const MAX_TEXT_LENGTH = 1000;

/** `faultOf` continues a sentence that begins with the text; null if it is accepted. */
export const domainName = (faultOf: (text: string) => string | null | undefined) =>
  v.pipe(
    v.string('must be a string'),
    maxCharacters(MAX_TEXT_LENGTH, 'is too long for a domain name'),
    v.check(
      (text) => !faultOf(text),
      ({ input }) => faultOf(input) ?? '',
    ),
    v.metadata({
      jsonSchema: { type: 'string', minLength: 1, maxLength: MAX_TEXT_LENGTH },
    }),
    v.transform((text) => readDomain(text).name!),
  );

/** More keys than a domain signs with at a time. */
export const MAX_SELECTORS = 20;
const MAX_SELECTOR_LENGTH = 63;

/** RFC 6376 §3.1: DNS labels separated by dots. */
export const isSelector = (text: string): boolean =>
  text.length <= MAX_SELECTOR_LENGTH && normalizeDomain(text) !== null;

const Selector = v.pipe(
  v.string('must be a string'),
  maxCharacters(MAX_SELECTOR_LENGTH, `must have at most ${MAX_SELECTOR_LENGTH} characters`),
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

const SELECTORS_TEXT =
  'The DKIM selectors of the domain. Selectors of received mail are learned automatically.';
export const TAGS_TEXT =
  'Tags to group and filter domains by, such as `client:acme`. Each is trimmed and converted to lowercase, and contains no commas.';
const BADGE_TEXT = 'Whether anyone can get the score badge of the domain.';

export const NewDomain = named(
  'CreateDomain',
  v.strictObject({
    name: described(
      domainName((text) => readDomain(text).fault),
      'The domain name, or a web address or email address with it. It can have international characters. `www.` is removed, except after `@`.',
    ),
    dkim_selectors: described(v.optional(Selectors, []), SELECTORS_TEXT),
    badge_enabled: described(v.optional(Badge, false), BADGE_TEXT),
    tags: described(v.optional(Tags, []), TAGS_TEXT, ['client:acme']),
  }),
  'A domain to add.',
  { name: 'example.com', dkim_selectors: ['s1'], badge_enabled: false, tags: ['client:acme'] },
);
export type NewDomain = v.InferOutput<typeof NewDomain>;

export const DomainPatch = named(
  'UpdateDomain',
  v.strictObject({
    dkim_selectors: described(v.optional(v.nullable(Selectors)), SELECTORS_TEXT),
    badge_enabled: described(v.optional(Badge), BADGE_TEXT),
    tags: described(
      v.optional(Tags),
      `${TAGS_TEXT} They replace the current ones; an empty array removes them all.`,
      ['client:acme'],
    ),
  }),
  'The changes to a domain. Omitted fields keep their value.',
  { dkim_selectors: ['s1', 's2'], badge_enabled: true, tags: ['client:acme'] },
);
export type DomainPatch = v.InferOutput<typeof DomainPatch>;

const DOMAIN_STATUSES = ['pending', 'verified', 'failed'] as const;
const HEALTH_STATUSES = ['healthy', 'warning', 'critical', 'unknown'] as const;
export const HealthStatus = v.picklist(HEALTH_STATUSES);
export const Score = v.nullable(v.pipe(v.number(), v.integer()));

export const SCORE_TEXT = 'The score of the domain, from 0 to 100. Null if too little is known.';

export const DomainCheck = named(
  'DomainCheck',
  v.object({
    id: described(v.string(), 'The ID of the check, which never changes.'),
    label: v.string(),
    category: described(v.picklist(CATEGORIES), 'The category of the check.'),
    status: described(
      v.picklist(CHECK_STATUSES),
      '`error`: the check could not be completed. `skipped`: it does not apply.',
    ),
    former_status: described(
      v.optional(v.picklist(CHECK_STATUSES)),
      'If the check could not be completed, its last known status, which severity and score are based on.',
    ),
    severity: described(
      v.nullable(v.picklist(['critical', 'warning'])),
      '`critical`: mailbox providers reject mail from the domain, or anyone can send as the domain. Null if there is nothing to fix.',
    ),
    ...FINDING_FIELDS,
    reference: described(Reference, 'The rule that the check applies.'),
    fix: described(v.nullable(Fix), 'What to change. Null if there is nothing to fix.'),
  }),
  'The finding of one check of a domain.',
  {
    id: 'dmarc_policy',
    label: 'DMARC policy',
    category: 'authentication',
    status: 'warn',
    severity: 'warning',
    title: 'DMARC policy is p=none: failing mail is still delivered',
    detail: 'Anyone can send mail that claims to be from example.com, and most of it is delivered.',
    points: 4,
    fix: { text: 'Change the DMARC policy to p=quarantine.' },
  },
);

export const HEALTH_TEXT =
  '`critical`: mailbox providers reject mail from the domain, or anyone can send as the domain. `unknown`: not checked yet, too little is known, or three hourly record checks in a row got no answer from DNS.';

const HEALTH = {
  status: described(HealthStatus, HEALTH_TEXT),
  score: described(Score, SCORE_TEXT, 95),
  checked_at: described(
    v.nullable(Time),
    'When the last conclusive health check started. Inconclusive checks do not change it.',
  ),
};

const DomainVerification = named(
  'DomainVerification',
  v.object({
    type: described(v.literal('TXT'), 'The type of the record. Always `TXT`.'),
    name: described(v.string(), 'The full name of the record.'),
    value: described(v.string(), 'The value of the record.'),
  }),
  'The DNS record that proves control over a domain.',
  {
    name: '_deliverability.example.com',
    value: 'deliverability-verify=q3v9k2m7x5t1w8b4',
  },
);

const DOMAIN = {
  id: idOf('dom'),
  object: typeField('domain'),
  name: described(v.string(), 'The domain name, with A-labels for international characters.'),
  status: described(
    v.picklist(DOMAIN_STATUSES),
    '`verified` once the verification record is found. `failed`: it was not found in time, or it has disappeared.',
  ),
  verification: described(DomainVerification, 'The record to publish to verify the domain.'),
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
    'No TXT record at _deliverability.example.com.',
  ),
  next_check_at: described(
    v.nullable(Time),
    'When the next lookup of the record starts. Null for a failed domain, which is no longer checked.',
  ),
  dkim_selectors: described(
    v.array(v.string()),
    'Your selectors, followed by those learned from valid, aligned signatures in received messages. A learned selector is removed when its key is gone and it has signed nothing for 7 days.',
  ),
  badge_enabled: described(v.boolean(), BADGE_TEXT),
  tags: described(v.array(v.string()), 'The tags of the domain, in alphabetical order.'),
  health: described(
    named('DomainHealthStatus', v.object(HEALTH), 'The health of a domain, without its checks.'),
    'The result of the last health check.',
  ),
  created_at: described(Time, 'When the domain was added.'),
};

const EXAMPLE = {
  id: exampleId('dom'),
  object: 'domain',
  name: 'example.com',
  status: 'verified',
  verification: {
    type: 'TXT',
    name: '_deliverability.example.com',
    value: 'deliverability-verify=q3v9k2m7x5t1w8b4',
  },
  verified_at: '2026-11-21T10:05:00.000Z',
  missing_since: null,
  last_checked_at: '2026-11-22T10:05:00.000Z',
  last_check_detail: null,
  next_check_at: '2026-11-23T10:05:00.000Z',
  dkim_selectors: ['s1'],
  badge_enabled: false,
  tags: ['client:acme'],
  health: { status: 'warning', score: 95, checked_at: '2026-11-22T10:05:00.000Z' },
  created_at: '2026-11-21T10:00:00.000Z',
} as const;

/** The list form, also used in events: without the health checks. */
export const ListedDomain = named(
  'DomainListItem',
  v.object(DOMAIN),
  'A domain as lists and events contain it: without its health checks.',
  EXAMPLE as never,
);
export type ListedDomain = v.InferOutput<typeof ListedDomain>;

export const FeedbackState = described(
  v.picklist(FEEDBACK_STATES),
  '`not_published`: the DMARC record does not name the feedback address. `waiting`: it does, and no report has arrived in the last 3 days; most reporters send after 24 to 48 hours. `receiving`: reports arrive. `stopped`: none for 3 days after at least 7 days of reports. `unknown`: the record could not be looked up yet.',
);

const FEEDBACK_EXAMPLE = {
  address: 'fb-q3v9k2m7x5t1w8b4@inbox.example.org',
  state: 'receiving',
  records: [
    {
      type: 'TXT',
      name: '_dmarc.example.com',
      published: true,
      current: 'v=DMARC1; p=none; rua=mailto:fb-q3v9k2m7x5t1w8b4@inbox.example.org',
      value: 'v=DMARC1; p=none; rua=mailto:fb-q3v9k2m7x5t1w8b4@inbox.example.org',
    },
  ],
  last_report_at: '2026-11-22T01:00:00.000Z',
};

const DomainFeedbackSchema = named(
  'DomainFeedback',
  v.object({
    address: described(
      v.string(),
      'The address for reports of receivers. It never changes. A suffix such as `+yahoo` before the @ is kept with the report.',
    ),
    state: FeedbackState,
    records: described(
      v.array(
        named(
          'FeedbackRecord',
          v.object({
            type: described(v.literal('TXT'), 'The type of the record. Always `TXT`.'),
            name: described(v.string(), 'The full name of the record.'),
            current: described(
              v.nullable(v.string()),
              'The value that is published now. Null if there is none, or the last lookup failed.',
            ),
            value: described(v.string(), 'The value to publish, with what is there kept.'),
            published: described(
              v.nullable(v.boolean()),
              'Whether the last lookup found the address. Null if it failed.',
            ),
          }),
          'A DNS record that sends feedback to the address of a domain.',
          FEEDBACK_EXAMPLE.records[0] as never,
        ),
      ),
      'The DNS records to publish, as of the last lookup. Empty before it.',
    ),
    last_report_at: described(
      v.nullable(Time),
      'When the last DMARC or TLS report that counts arrived by email. Uploaded and imported reports leave it as it is.',
    ),
  }),
  'What receivers report about the mail of a domain: where to, and whether it arrives.',
  FEEDBACK_EXAMPLE as never,
);

export const Domain = named(
  'Domain',
  v.object({
    ...DOMAIN,
    health: described(
      named(
        'DomainHealthDetails',
        v.object({
          ...HEALTH,
          unanswered_since: described(
            v.nullable(Time),
            'When DNS stopped answering record checks, if the health is unknown because of that; otherwise null. `checks` keeps the last known findings.',
          ),
          checks: described(
            v.array(DomainCheck),
            'The findings of the last conclusive health check.',
          ),
        }),
        'The health of a domain with its checks.',
      ),
      'The result of the last health check.',
    ),
    team_verification: described(
      DomainVerification,
      'The record of your team, which verifies the domain as well. Its value is the same for all your domains.',
    ),
    feedback: described(
      DomainFeedbackSchema,
      'What receivers report about the mail of the domain.',
    ),
  }),
  'A domain that your team has added.',
  {
    ...EXAMPLE,
    health: { ...EXAMPLE.health, unanswered_since: null, checks: [] },
  } as never,
);
export type Domain = v.InferOutput<typeof Domain>;

/** Anyone can publish huge records, so events have only part of them. */
const MAX_VALUES = 20;
const MAX_VALUE_LENGTH = 1000;

const Values = v.pipe(
  v.array(v.pipe(v.string(), v.maxLength(MAX_VALUE_LENGTH))),
  v.maxLength(MAX_VALUES),
);

/** At most 20 values of at most 1000 characters; longer ones end with an ellipsis. */
export const boundedValues = (values: string[]): string[] =>
  values
    .slice(0, MAX_VALUES)
    .map((text) =>
      text.length <= MAX_VALUE_LENGTH
        ? text.toWellFormed()
        : `${text.slice(0, MAX_VALUE_LENGTH - 1).toWellFormed()}…`,
    );

const RECORD_CHANGE_EXAMPLE = {
  dns_change_id: null,
};

const RecordChange = named(
  'RecordChange',
  v.object({
    name: described(v.string(), 'The name of the records.', '_dmarc.example.com'),
    type: described(v.string(), 'The type of the records.', 'TXT'),
    before: described(
      Values,
      'The values that the previous record check found. Empty if there were none. If a DKIM key is an alias, `CNAME` and its target. A value longer than 1000 characters ends with `…`.',
      ['v=DMARC1; p=reject'],
    ),
    after: described(Values, 'The values now. Empty if the records were removed.', [
      'v=DMARC1; p=none',
    ]),
    dns_change_id: described(
      v.nullable(v.string()),
      'The change by which this service published these values. Null if it did not.',
      exampleId('chg'),
    ),
  }),
  'Records of a domain that have changed.',
  RECORD_CHANGE_EXAMPLE,
);
export type RecordChange = v.InferOutput<typeof RecordChange>;

/** The event types of this feature. */
export const DOMAIN_EVENTS: EventDeclaration[] = [
  {
    type: 'domain.verified',
    summary: 'A domain was verified',
    description: 'The verification record of a domain was found.',
    data: ListedDomain,
    object: 'the domain',
    line: (data) => [asText(data.name)],
  },
  {
    type: 'domain.verification_failed',
    summary: 'The verification of a domain failed',
    description:
      'The verification record of a domain was not found within 72 hours, or has been missing for 3 days.',
    data: ListedDomain,
    object: 'the domain',
    line: (data) => [asText(data.name)],
  },
  {
    type: 'domain.health_changed',
    summary: 'The health of a domain changed',
    description: 'The health status of a verified domain is better or worse than before.',
    data: named(
      'DomainHealthChange',
      v.object({
        ...DOMAIN,
        previous_health: described(HealthStatus, 'The health status before the change.'),
      }),
      'A domain whose health status has changed, with the previous status.',
      { ...EXAMPLE, previous_health: 'healthy' } as never,
    ),
    object: 'the domain, with `previous_health`',
    line: (data) => [
      asText(data.name),
      labeled('now', field(data.health, 'status')),
      labeled('before', data.previous_health),
    ],
  },
  {
    type: 'domain.records_changed',
    summary: 'DNS records of a domain changed',
    description:
      'An hourly record check found that SPF, DMARC, DKIM, MX, MTA-STS, TLS-RPT, BIMI, NS or DS records of a verified domain have changed. Failed lookups send no event.',
    data: named(
      'DomainRecordsChange',
      v.object({
        ...DOMAIN,
        changes: described(v.array(RecordChange), 'What changed, by name and type of the records.'),
      }),
      'A domain whose DNS records have changed, with the values before and after.',
      { ...EXAMPLE } as never,
    ),
    object:
      'the domain, with `changes`: for each the `name`, `type`, and the values `before` and `after`',
    line: (data) => {
      const changes = Array.isArray(data.changes) ? data.changes.slice(0, 10) : [];
      return [
        asText(data.name),
        ...changes.map((change) =>
          labeled(`${asText(field(change, 'type'))}`, field(change, 'name')),
        ),
      ];
    },
  },
];

export const RecordToPublish = named(
  'RecordToPublish',
  v.object({
    ...RECORD,
    purpose: described(
      v.string(),
      'What the record is for, and when to publish it.',
      'Tells mailbox providers to reject mail that fails DMARC.',
    ),
    action: described(
      v.picklist(['add', 'replace']),
      '`add`: keep existing records. `replace`: publish it in place of the records in `replaces`.',
    ),
    replaces: described(
      v.array(v.string()),
      'The existing values to delete at this type and name. Keep all others.',
      ['v=DMARC1; p=none'],
    ),
    required: described(
      v.boolean(),
      'True if verification or a check fails without the record. False if the record is only recommended.',
    ),
  }),
  'A DNS record to publish for a domain.',
);

export const DomainHealthResponse = named(
  'DomainHealth',
  v.object({
    object: typeField('domain_health'),
    domain_id: v.string(),
    name: described(v.string(), 'The domain name.', 'example.com'),
    status: described(HealthStatus, HEALTH_TEXT),
    score: described(Score, SCORE_TEXT, 95),
    summary: described(
      v.string(),
      'The result in one or two sentences.',
      'One problem weakens example.com.',
    ),
    checks: described(v.array(DomainCheck), 'The findings of the health check.'),
    records: described(
      v.array(RecordToPublish),
      'The DNS records to publish, at most one per type and name. Records that need a value only you know, such as a key or a mailbox, are described in the checks.',
    ),
    checked_at: described(
      v.nullable(Time),
      'When the health check started. Null if there was none yet, which only test-mode keys see.',
    ),
  }),
  'The result of a health check, with the DNS records to publish.',
);
export type RecordToPublish = v.InferOutput<typeof RecordToPublish>;
export type DomainHealthResponse = v.InferOutput<typeof DomainHealthResponse>;

export const DomainListQuery = v.strictObject({
  ...PAGE_QUERY,
  status: described(v.optional(oneOf(DOMAIN_STATUSES)), 'Only domains with this status.'),
  health: described(v.optional(oneOf(HEALTH_STATUSES)), 'Only domains with this health status.'),
  q: described(
    v.optional(v.pipe(v.string(), maxCharacters(200, 'must have at most 200 characters'))),
    'Only domains whose name contains this text. Write international names in full or with A-labels.',
    'example',
  ),
  tag: described(v.optional(Tag), 'Only domains with this tag.', 'client:acme'),
  created_at: described(
    v.optional(Time),
    'Only domains that were added at this time, as those of one batch were.',
  ),
});
export type DomainListQuery = v.InferOutput<typeof DomainListQuery>;
