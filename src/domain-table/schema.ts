/** API schemas of the table of domains, and of changes to the tags of many. */

import * as v from 'valibot';
import { DOMAIN_STATES } from '../domains/states.ts';
import {
  Count,
  described,
  exampleId,
  idOf,
  maxCharacters,
  named,
  noDuplicates,
  oneOf,
  PAGE_QUERY,
  queryInteger,
  Text,
  Time,
  typeField,
} from '../http/schemas.ts';
import { Tag, Tags } from '../http/tags.ts';
import { STATES } from '../picture/vocabulary.ts';
import { SORTS } from './columns.ts';

const MAX_ROWS = 1000;

const Share = v.nullable(v.number());

const Policy = named(
  'DomainPolicy',
  v.object({
    p: described(
      v.nullable(v.picklist(['none', 'quarantine', 'reject'])),
      'The policy that applies to the domain, its own or that of its organizational domain. Null if none is published.',
      'reject',
    ),
    sp: described(Text, 'The policy for its subdomains, if the record has another one.', null),
    pct: described(
      v.nullable(v.number()),
      'The percentage of failing mail to which some receivers apply it. Null without a policy.',
      100,
    ),
  }),
  'The DMARC policy of a domain, as last looked up.',
  { p: 'reject', sp: null, pct: 100 },
);

const NO_REPORTS = 'Null without reports.';
const PassRates = named(
  'DomainPassRates',
  v.object({
    messages: described(
      Count,
      'The number of messages in DMARC reports of the last 30 days.',
      1840,
    ),
    spf: described(
      Share,
      `The share that passed SPF with alignment, from 0 to 1. ${NO_REPORTS}`,
      0.97,
    ),
    dkim: described(Share, `The share that passed DKIM with alignment. ${NO_REPORTS}`, 0.99),
    dmarc: described(Share, `The share that passed DMARC. ${NO_REPORTS}`, 0.99),
  }),
  'What receivers report about the mail of a domain.',
);

const SpamRate = named(
  'DomainSpamRate',
  v.object({
    rate: described(v.number(), 'From 0 to 1.', 0.0008),
    day: described(v.string(), 'The day in Google’s time.', '2026-11-21'),
  }),
  'The latest spam rate that Google published.',
);

const Placement = named(
  'DomainPlacement',
  v.object({
    samples: described(Count, 'Messages of tests in seed mailboxes in the last 30 days.', 24),
    inbox_rate: described(
      Share,
      'The share that arrived in an inbox, from 0 to 1. Null with too few samples.',
      0.92,
    ),
  }),
  'Where the messages of tests landed.',
);

const Change = named(
  'DomainChange',
  v.object({
    at: described(Time, 'When the record check found it.'),
    records: described(v.string(), 'Which records changed.', 'DMARC, SPF'),
  }),
  'The last change of the DNS records of a domain.',
);

const Step = named(
  'DomainStep',
  v.object({
    text: described(v.string(), 'What to do first.', 'Change the DMARC policy to p=quarantine.'),
    path: described(
      v.string(),
      'The page about it, from the root of the web application.',
      `/domains/${exampleId('dom')}#health`,
    ),
  }),
  'The next step for a domain.',
);

export const TableRow = named(
  'DomainTableRow',
  v.object({
    id: idOf('dom'),
    object: typeField('domain_table_row'),
    name: described(
      v.string(),
      'The domain name, with A-labels for international characters.',
      'example.com',
    ),
    state: described(
      v.picklist(DOMAIN_STATES),
      'The health of a verified domain; `pending` or `failed` for another.',
      'warning',
    ),
    checked_at: described(
      v.nullable(Time),
      'When the last conclusive health check started. Null: never.',
    ),
    check_detail: described(
      Text,
      'What the last lookup or health check could not find or determine. Null if there was no problem.',
      null,
    ),
    tags: described(v.array(v.string()), 'The tags, in alphabetical order.', ['client:acme']),
    group: described(
      Text,
      'The group of the domain, if the table is grouped. Null: none.',
      'client:acme',
    ),
    policy: described(v.nullable(Policy), 'Null if it is not known.'),
    pass_rates: described(PassRates, 'From DMARC reports of the last 30 days.'),
    spam_rate: described(
      v.nullable(SpamRate),
      'Null if Google published none in the last 30 days.',
    ),
    placement: described(
      v.nullable(Placement),
      'Null without tests in seed mailboxes in the last 30 days.',
    ),
    last_change: described(v.nullable(Change), 'Null if no change is known.'),
    headline: described(
      Text,
      'The headline of the domain. Null if it was not read yet.',
      'DMARC policy is p=none: failing mail is still delivered',
    ),
    headline_state: described(
      v.picklist(STATES),
      'How bad that is. `unknown` is neither good nor bad.',
      'warn',
    ),
    since: described(
      Text,
      'When that started: a time or a day. Null if it is not known.',
      '2026-11-19',
    ),
    next_step: described(
      v.nullable(Step),
      'Null if there is nothing to fix, or nothing is known yet.',
    ),
    read_at: described(
      v.nullable(Time),
      'When these figures were read, usually within the last hour. Null if they were not read yet.',
    ),
  }),
  'A domain with its figures.',
);
export type TableRow = v.InferOutput<typeof TableRow>;

const FILTERS = {
  q: described(
    v.optional(v.pipe(v.string(), maxCharacters(200, 'must have at most 200 characters'))),
    'Only domains whose name contains this text.',
    'example',
  ),
  state: described(v.optional(oneOf(DOMAIN_STATES)), 'Only domains in this state.', 'critical'),
  tag: described(v.optional(Tag), 'Only domains with this tag.', 'client:acme'),
  next_step: described(
    v.optional(oneOf(['yes', 'no'] as const)),
    '`yes`: only domains with a next step. `no`: only those without.',
    'yes',
  ),
  sort: described(
    v.optional(oneOf(SORTS), 'next_step'),
    'The column to sort by. What is not known comes last. Default: `next_step`, what costs most first.',
    'dmarc',
  ),
  order: described(
    v.optional(oneOf(['asc', 'desc'] as const)),
    'The order. By default the one that has the worst or the latest first.',
    'asc',
  ),
  group: described(
    v.optional(v.pipe(Tag, v.regex(/^[^:]+$/, 'must not contain a colon'))),
    'Groups the rows: `state`, or the first part of tags, such as `client`. A domain with several such tags is in the group of the first.',
    'client',
  ),
};

export const TableQuery = v.strictObject({
  ...PAGE_QUERY,
  limit: described(
    v.optional(queryInteger(1, MAX_ROWS), '100'),
    'The maximum number of rows to return.',
  ),
  ...FILTERS,
});
export type TableQuery = v.InferOutput<typeof TableQuery>;

export const TableExportQuery = v.strictObject(FILTERS);

export const TagChange = named(
  'TagDomains',
  v.strictObject({
    ids: described(
      v.pipe(
        v.array(idOf('dom'), 'must be an array of IDs'),
        v.minLength(1, 'must name at least one domain'),
        v.maxLength(MAX_ROWS, `must name at most ${MAX_ROWS} domains`),
        noDuplicates('is a duplicate'),
      ),
      'The domains.',
      [exampleId('dom')],
    ),
    add: described(v.optional(Tags, []), 'Tags to add to all of them.', ['client:acme']),
    remove: described(v.optional(Tags, []), 'Tags to remove from all of them.', []),
  }),
  'Changes to the tags of several domains.',
  { ids: [exampleId('dom')], add: ['client:acme'], remove: [] },
);
export type TagChange = v.InferOutput<typeof TagChange>;

export const TagChangeResult = named(
  'DomainTagsChanged',
  v.object({
    object: typeField('domain_tags_change'),
    changed: described(Count, 'How many of the domains changed.', 1),
  }),
  'The result of a change of tags.',
);
