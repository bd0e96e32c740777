/** API schemas of domain lookups, and of adding many domains at once. */

import * as v from 'valibot';
import { Count, described, idOf, named, Text, Time, typeField } from '../http/schemas.ts';
import { Tags } from '../http/tags.ts';
import { lookupFault } from './lookup.ts';
import {
  DomainCheck,
  domainName,
  HEALTH_TEXT,
  HealthStatus,
  MAX_TEXT_LENGTH,
  SCORE_TEXT,
  Score,
  TAGS_TEXT,
} from './schema.ts';

const NOTE = described(
  Text,
  'How the text was interpreted, such as without `www.`. Null if it was used as is.',
  'Without www., which is not part of email addresses.',
);

export const LookupQuery = v.strictObject({
  name: described(
    domainName(lookupFault),
    'The domain name, or a web address or email address with it.',
    'example.com',
  ),
});

export const DomainLookup = named(
  'DomainLookup',
  v.object({
    object: typeField('domain_lookup'),
    name: described(v.string(), 'The domain name, with A-labels for international characters.'),
    status: described(HealthStatus, HEALTH_TEXT),
    score: described(Score, SCORE_TEXT, 95),
    summary: described(v.string(), 'The result in one or two sentences.'),
    checks: described(v.array(DomainCheck), 'The findings.'),
    is_complete: described(
      v.boolean(),
      'False if DNS did not answer everything within 5 seconds. What is missing is unknown. Ask again for the rest.',
    ),
    checked_at: described(Time, 'When the lookup started. The result is shared for a minute.'),
  }),
  'What public DNS says about a domain, which need not be one of your team.',
  { name: 'example.com', status: 'healthy', summary: 'example.com is healthy.', is_complete: true },
);

export const MAX_BATCH = 500;

export const NewDomains = named(
  'CreateDomains',
  v.strictObject({
    names: described(
      v.pipe(
        v.array(
          v.pipe(
            v.string('must be a string'),
            v.maxLength(MAX_TEXT_LENGTH, 'is too long for a domain name'),
          ),
          'must be a list of names',
        ),
        v.minLength(1, 'must contain at least one name'),
        v.maxLength(MAX_BATCH, `must contain at most ${MAX_BATCH} names`),
      ),
      'Domain names, web addresses or email addresses.',
      ['example.com', 'https://www.shop.example/', 'ann@mail.example'],
    ),
    tags: described(v.optional(Tags, []), `For all added domains. ${TAGS_TEXT}`, ['client:acme']),
  }),
  'Domains to add.',
  { names: ['example.com', 'https://www.shop.example/'], tags: ['client:acme'] },
);
export type NewDomains = v.InferOutput<typeof NewDomains>;

const AddedLine = named(
  'AddedDomain',
  v.object({
    object: typeField('added_domain'),
    text: described(v.string(), 'The text in the request.', 'https://www.shop.example/'),
    result: described(
      v.picklist(['added', 'exists', 'invalid']),
      '`exists`: your team had the domain already. It was not changed.',
    ),
    name: described(Text, 'The name that was read from the text. Null if it is invalid.'),
    domain_id: v.nullable(idOf('dom')),
    note: NOTE,
    error: described(Text, 'Why the text is invalid. Null if it is valid.', 'This is empty.'),
  }),
  'The result for one text.',
  { result: 'added', name: 'shop.example', note: null, error: null },
);
export type AddedLine = v.InferOutput<typeof AddedLine>;

export const AddedDomains = named(
  'AddedDomains',
  v.object({
    object: typeField('added_domains'),
    lines: described(v.array(AddedLine), 'One for each text, in the same order.'),
    created_at: described(
      Time,
      'The `created_at` of the added domains. Use it to filter the list of domains.',
    ),
  }),
  'The result of adding many domains.',
);

export const RequestedVerifications = named(
  'RequestedVerifications',
  v.object({
    object: typeField('requested_verifications'),
    domains: described(Count, 'How many domains are looked up now.', 30),
  }),
  'Lookups of verification records that are due now.',
);
