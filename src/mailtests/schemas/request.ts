/** API schemas of new tests and their changes. */

import * as v from 'valibot';
import {
  described,
  exampleId,
  maxCharacters,
  Name,
  named,
  separatedList,
  wholeNumber,
} from '../../http/schemas.ts';
import { MAX_TAGS, Tag, Tags } from '../../http/tags.ts';
import { KINDS } from './kind.ts';

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
      described(wholeNumber(60, 86_400), 'Seconds until the test address expires.'),
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
