/** API schemas of name servers, plans, and changes of DNS records. */

import * as v from 'valibot';
import {
  Count,
  described,
  exampleId,
  idOf,
  maxCharacters,
  Name,
  named,
  oneOf,
  PAGE_QUERY,
  Time,
  typeField,
} from '../http/schemas.ts';
import { COPY_FORMAT_IDS, COPY_FORMATS, type CopyFormatId, copiesOf } from './copies.ts';
import type { ServerField } from './server.ts';
import { SERVER_KIND_IDS, SERVER_KINDS } from './servers/index.ts';

const Id = v.pipe(
  v.string('must be an ID'),
  v.minLength(1, 'must be an ID'),
  maxCharacters(100, 'must have at most 100 characters'),
);

// Name servers.

const KIND_TEXT = `The kind of server. ${SERVER_KIND_IDS.map((id) => `\`${id}\`: ${SERVER_KINDS[id].name}.`).join(' ')}`;
const Kind = oneOf(SERVER_KIND_IDS);
const NAME_TEXT = 'Your name for the server.';

/** The fields of all kinds, each with the sentences of the API reference. Kinds that share a name share its schema. */
const FIELDS = [
  ...Map.groupBy(
    SERVER_KIND_IDS.flatMap((id) => SERVER_KINDS[id].fields.map((field) => ({ id, field }))),
    ({ field }) => field.name,
  ).values(),
].map((kinds): [field: ServerField, text: string] => [
  kinds[0]!.field,
  [
    ...kinds.map(({ id, field }) => `For \`${id}\`: ${field.hint}`),
    ...(kinds[0]!.field.isSecret ? ['Responses never include it.'] : []),
  ].join(' '),
]);
const PUBLIC_FIELDS = FIELDS.filter(([{ isSecret }]) => !isSecret);

const exampleOf = (isShown: (field: ServerField) => boolean) =>
  Object.fromEntries(
    SERVER_KINDS.rfc2136.fields.filter(isShown).map(({ name, example }) => [name, example]),
  );

/** Which of them a server needs depends on its kind. */
const Settings = named(
  'DnsServerSettings',
  v.strictObject(
    Object.fromEntries(
      FIELDS.map(([{ name, schema, example }, text]) => [
        name,
        v.optional(described(schema, text, example)),
      ]),
    ),
  ),
  'How to reach a name server, with its credentials. Credentials are encrypted and never returned.',
  exampleOf(() => true),
);

const ShownSettings = named(
  'DnsServerPublicSettings',
  v.object(
    Object.fromEntries(
      PUBLIC_FIELDS.map(([{ name, example }, text]) => [
        name,
        v.optional(described(v.string(), text, example)),
      ]),
    ),
  ),
  'How to reach a name server, without the credentials.',
  exampleOf(({ isSecret }) => !isSecret),
);

const SETTINGS_EXAMPLE = exampleOf(({ isRequired }) => isRequired) as never;

export const NewDnsServer = named(
  'CreateDnsServer',
  v.strictObject({
    kind: described(Kind, KIND_TEXT),
    name: described(Name, NAME_TEXT),
    settings: described(Settings, 'How to reach the server, with the credentials.'),
  }),
  'A name server to add.',
  { kind: 'rfc2136', name: 'ns1', settings: SETTINGS_EXAMPLE },
);
export type NewDnsServer = v.InferOutput<typeof NewDnsServer>;

export const DnsServerPatch = named(
  'UpdateDnsServer',
  v.strictObject({
    name: described(v.optional(Name), NAME_TEXT),
    settings: described(
      v.optional(Settings),
      'The settings to change. Omitted settings keep their values, including secrets.',
    ),
  }),
  'The changes to a name server. Omitted fields keep their value.',
  { name: 'ns2' },
);
export type DnsServerPatch = v.InferOutput<typeof DnsServerPatch>;

export const DnsServer = named(
  'DnsServer',
  v.object({
    id: idOf('dns'),
    object: typeField('dns_server'),
    kind: described(v.string(), KIND_TEXT, 'rfc2136'),
    name: described(v.string(), NAME_TEXT, 'ns1'),
    settings: described(ShownSettings, 'How to reach the server.'),
    stored_secrets: described(
      v.array(v.string()),
      'The names of the settings that are stored, but not shown.',
      SERVER_KINDS.rfc2136.fields.filter(({ isSecret }) => isSecret).map(({ name }) => name),
    ),
    zones: described(
      v.array(v.string()),
      'The zones that the server listed at the last check. Empty if it does not list them.',
      ['example.com'],
    ),
    checked_at: described(
      v.nullable(Time),
      'When the credentials were last tried. Null if they never were.',
    ),
    problem: described(
      v.nullable(v.string()),
      'The problem that the last check found. Null if there was none.',
      'The server does not know the key “deliverability.” (BADKEY).',
    ),
    created_at: Time,
  }),
  'A name server where the service publishes records for you.',
);
export type DnsServer = v.InferOutput<typeof DnsServer>;

export const DnsServerListQuery = v.strictObject(PAGE_QUERY);

// Plans.

const RecordSet = named(
  'DnsRecordSet',
  v.object({
    values: described(
      v.array(v.string()),
      'The values of the records. Empty if there are none. Texts are decoded: one string each, without quotes.',
      ['v=DMARC1; p=none'],
    ),
    ttl: described(v.number(), 'How long resolvers cache the records, in seconds.', 3600),
  }),
  'All records with the same name and type.',
);

export const EXAMPLE_TOKEN = '5f2b0c7d9e1a4836b7c2d5e8f1a4b7c0';
const RECORD_NAME = described(v.string(), 'The full name of the records.', '_dmarc.example.com');
const RECORD_TYPE = described(v.string(), 'The type of the records.', 'TXT');
const EXAMPLE_VALUE = 'v=DMARC1; p=quarantine';

const Copies = named(
  'DnsRecordCopies',
  v.object(
    Object.fromEntries(
      COPY_FORMAT_IDS.map((id) => [id, described(v.string(), COPY_FORMATS[id].description)]),
    ) as unknown as Record<CopyFormatId, v.StringSchema<undefined>>,
  ),
  'The records after the change, to copy into the tool that manages your DNS.',
  copiesOf(
    { name: '_dmarc.example.com', type: 'TXT', ttl: 3600, values: [EXAMPLE_VALUE] },
    'example.com',
  ),
);

const PlannedChange = named(
  'DnsPlannedChange',
  v.object({
    name: RECORD_NAME,
    type: RECORD_TYPE,
    action: described(
      v.picklist(['add', 'replace', 'none']),
      '`add`: only adds values. `replace`: replaces one or more values. `none`: changes nothing, because the records are already published or there is a `problem`.',
      'replace',
    ),
    before: described(RecordSet, 'The current records.'),
    after: described(RecordSet, 'The records after the change, including those that stay.'),
    proposed: described(
      v.array(v.string()),
      'The values that the checks propose, also if there is a `problem`.',
      ['v=DMARC1; p=quarantine'],
    ),
    purpose: described(
      v.string(),
      'What the records are for.',
      'DMARC policy: Change the DMARC policy to p=quarantine.',
    ),
    checks: described(v.array(v.string()), 'The IDs of the checks that propose it.', [
      'dmarc_policy',
    ]),
    problem: described(
      v.nullable(v.string()),
      'Why this change cannot be applied. Null if it can.',
      'There is a CNAME record at this name, which allows no other records.',
    ),
    caution: described(
      v.nullable(v.string()),
      'What to know before you apply it. Null if there is nothing.',
      'It replaces the record at this name.',
    ),
    needs_choice: described(
      v.boolean(),
      'Whether it is applied only if `records` names it, because only you can confirm its `caution`.',
      false,
    ),
    copies: described(
      v.nullable(Copies),
      'Text to copy if you publish the records yourself. Null if nothing changes.',
    ),
  }),
  'One change of a plan.',
);
export type PlannedChangeBody = v.InferOutput<typeof PlannedChange>;

const CheckIds = v.pipe(
  v.array(Id, 'must be a list of check IDs'),
  v.maxLength(100, 'must contain at most 100 checks'),
);

const SOURCE = {
  test_id: described(
    v.optional(v.nullable(Id)),
    'Takes the records from the findings of this test. If null, it takes them from the last health check of the domain.',
    exampleId('test'),
  ),
  checks: described(
    v.optional(CheckIds),
    'Only the records that these checks propose. By default, those of all checks.',
    ['dmarc_policy'],
  ),
};

export const NewPlan = named(
  'CreateDnsPlan',
  v.strictObject({
    server_id: described(
      v.optional(v.nullable(Id)),
      'Compares with the records at this name server, for admins only. If null, it compares with what resolvers return.',
      exampleId('dns'),
    ),
    ...SOURCE,
  }),
  'What to plan.',
  { checks: ['dmarc_policy'] },
);
export type NewPlan = v.InferOutput<typeof NewPlan>;

export const DnsPlan = named(
  'DnsPlan',
  v.object({
    object: typeField('dns_plan'),
    domain_id: v.string(),
    server_id: described(
      v.nullable(v.string()),
      'The ID of the name server that the plan is for. If null, the plan can’t be applied.',
    ),
    token: described(
      v.string(),
      'Identifies this plan. Send it when you apply the plan. If the records or the findings have changed since, nothing is changed.',
      EXAMPLE_TOKEN,
    ),
    changes: described(v.array(PlannedChange), 'One change for each name and type.'),
  }),
  'The changes that fix the findings about a domain. Nothing is changed until you apply them.',
);
export type DnsPlan = v.InferOutput<typeof DnsPlan>;

export const VerificationPlan = named(
  'VerificationPlan',
  v.object({
    object: typeField('verification_plan'),
    server_id: idOf('dns', 'The ID of the name server.'),
    token: DnsPlan.entries.token,
    changes: described(
      v.array(PlannedChange),
      'The verification records of domains in zones of the server.',
    ),
    more: described(
      Count,
      'How many further domains the server may have. Plan again once these are published.',
      0,
    ),
  }),
  'The verification records that a name server can publish. Nothing is changed until you apply the plan.',
);

export type VerificationPlan = v.InferOutput<typeof VerificationPlan>;

const RecordKey = named(
  'DnsRecordKey',
  v.strictObject({
    name: described(
      v.pipe(Id, maxCharacters(300, 'is too long')),
      'The full name.',
      '_dmarc.example.com',
    ),
    type: described(Id, 'The type.', 'TXT'),
  }),
  'Names one change of a plan.',
);

const PlanToken = described(
  v.pipe(v.string('must be a string'), maxCharacters(200, 'must have at most 200 characters')),
  'The token of the plan.',
  EXAMPLE_TOKEN,
);

export const ApplyVerifications = named(
  'ApplyVerificationPlan',
  v.strictObject({ token: PlanToken }),
  'The plan to apply.',
  {},
);

export const ApplyPlan = named(
  'ApplyDnsPlan',
  v.strictObject({
    server_id: described(Id, 'The name server that the plan is for.', exampleId('dns')),
    token: PlanToken,
    ...SOURCE,
    records: described(
      v.optional(
        v.pipe(
          v.array(RecordKey, 'must be a list'),
          v.minLength(1, 'must contain at least one name and type'),
          v.maxLength(100, 'must contain at most 100'),
        ),
      ),
      'Only these changes of the plan. By default, all that can be applied, except those with `needs_choice`.',
    ),
  }),
  'The plan to apply. `test_id` and `checks` must be those of the plan.',
  {},
);
export type ApplyPlan = v.InferOutput<typeof ApplyPlan>;

// Changes.

export const CHANGE_STATUSES = ['applying', 'applied', 'failed', 'unknown', 'undone'] as const;
const STATUS_TEXT =
  '`applying`: the server has not responded, or the outcome is not known yet; see `error`. `failed`: nothing was changed; see `error`. `unknown`: the server did not confirm the change, and the records do not show its outcome; see `error`. `undone`: a later change reversed it.';

export const DnsChange = named(
  'DnsChange',
  v.object({
    id: idOf('chg'),
    object: typeField('dns_change'),
    server_id: idOf('dns', 'The ID of the name server, which may have been removed since.'),
    domain_id: described(
      v.nullable(v.string()),
      'The ID of the domain. Null if the change is about none.',
    ),
    zone: described(v.string(), 'The zone that has the records.', 'example.com'),
    name: RECORD_NAME,
    type: RECORD_TYPE,
    before: described(RecordSet, 'The records before the change.'),
    after: described(RecordSet, 'The records after the change.'),
    reason: described(
      v.string(),
      'What the change is for.',
      'DMARC policy: Change the DMARC policy to p=quarantine.',
    ),
    status: described(v.picklist(CHANGE_STATUSES), STATUS_TEXT, 'applied'),
    error: described(
      v.nullable(v.string()),
      'Why the change failed, or why its outcome is not known. Otherwise null.',
      'The records have changed since the plan was made.',
    ),
    undoes: described(
      v.nullable(v.string()),
      'The ID of the change that this one undoes. Null for others.',
      exampleId('chg'),
    ),
    cached_until: described(
      v.nullable(Time),
      'Until when resolvers may still return the old records. Null if there were none, or nothing was changed.',
    ),
    created_at: Time,
    finished_at: described(
      v.nullable(Time),
      'When the change ended. Null while it is being applied.',
    ),
  }),
  'A change of DNS records at a name server.',
);
export type DnsChange = v.InferOutput<typeof DnsChange>;

export const DnsChangeListQuery = v.strictObject({
  ...PAGE_QUERY,
  domain_id: described(v.optional(Id), 'Only changes for this domain.', exampleId('dom')),
  server_id: described(v.optional(Id), 'Only changes at this name server.', exampleId('dns')),
});
export type DnsChangeListQuery = v.InferOutput<typeof DnsChangeListQuery>;
