/** API schemas of monitors and their runs (contract §7). */

import * as v from 'valibot';
import { isQueryable } from '../analysis/blocklists/subjects.ts';
import { CHECK_STATUSES } from '../analysis/check.ts';
import { readDomainName } from '../analysis/domain/read-domain-name.ts';
import { asText, field } from '../events/line.ts';
import { INBOX_RATE } from '../figures/placement.ts';
import type { EventDeclaration } from '../http/openapi/webhooks.ts';
import {
  characterCount,
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
import { normalizeAddress } from '../lib/addresses.ts';
import { SeedAddress } from '../mailtests/schemas/placement.ts';
import { PLACEMENT_PROBLEM_IDS } from './findings.ts';
import { FREQUENCIES } from './schedule.ts';
import { MONITOR_TYPES } from './types.ts';

// Targets of blocklist monitors: IP addresses and names, normalized for DNS queries.

const MAX_TARGETS = 50;
const MAX_TARGET_LENGTH = 300;

/** `203.0.113.0/24`, `2001:db8::/32` */
const RANGE = /^[\da-f.:]+\/\d+$/i;

/** What is wrong with a target, as a predicate that follows the field name; null if it is valid. */
function targetProblem(input: string): string | null {
  const text = input.trim();
  if (text === '')
    return 'is empty; enter a public IP address or a domain name such as example.com';
  if (RANGE.test(text)) return 'is an address range; enter individual IP addresses';
  const address = normalizeAddress(text);
  if (address === null) {
    const { fault } = readDomainName(text);
    return fault === undefined
      ? null
      : `must be an IP address or a domain name, but this value ${fault}`;
  }
  return isQueryable(address)
    ? null
    : 'is a private or reserved address; enter a public IP address';
}

const normalizeTarget = (text: string): string =>
  normalizeAddress(text.trim()) ?? readDomainName(text).name ?? text;

const Target = v.pipe(
  v.string('must be a string'),
  maxCharacters(MAX_TARGET_LENGTH, `must have at most ${MAX_TARGET_LENGTH} characters`),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed || characterCount(dataset.value, MAX_TARGET_LENGTH) > MAX_TARGET_LENGTH)
      return;
    const message = targetProblem(dataset.value);
    if (message !== null) addIssue({ message });
  }),
  v.transform(normalizeTarget),
);

/** Normalized, without duplicates. */
const Targets = v.pipe(
  v.array(Target, 'must be a list of IP addresses and domain names'),
  v.minLength(1, 'must contain at least one target'),
  v.maxLength(MAX_TARGETS, `must contain at most ${MAX_TARGETS} targets`),
  v.transform((targets) => [...new Set(targets)]),
);

const MONITOR_STATUSES = ['ok', 'alerting', 'unknown', 'paused'] as const;

const Type = oneOf(MONITOR_TYPES);
const Frequency = oneOf(FREQUENCIES);
const Enabled = v.boolean('must be true or false');
const DomainId = v.pipe(
  v.string('must be the ID of a domain'),
  v.minLength(1, 'must be the ID of a domain'),
  maxCharacters(100, 'must have at most 100 characters'),
);

const NAME_TEXT = 'The name of the monitor.';
const FREQUENCY_TEXT =
  'How often the monitor runs. For `placement`, how often at least you send a message: later, it counts as missing.';
const ENABLED_TEXT = 'Whether the monitor runs on its schedule.';
const TARGETS_TEXT = 'The IP addresses and domain names to monitor. Only for `blocklist` monitors.';
const TYPE_TEXT =
  '`domain_health` checks the DNS of a verified domain. `blocklist` looks up targets in blocklists. `placement` watches where the messages arrive that you send on a schedule to its `address` and its `seed_addresses`.';

export const NewMonitor = named(
  'CreateMonitor',
  v.strictObject({
    name: described(Name, NAME_TEXT),
    type: described(Type, TYPE_TEXT),
    domain_id: v.optional(
      described(
        v.nullable(DomainId),
        'The domain to monitor. Required for `domain_health`. A `blocklist` monitor takes either this or `targets`.',
        exampleId('dom'),
      ),
    ),
    targets: v.optional(described(v.nullable(Targets), TARGETS_TEXT)),
    frequency: described(v.optional(Frequency, 'daily'), FREQUENCY_TEXT),
    enabled: described(v.optional(Enabled, true), ENABLED_TEXT),
  }),
  'A new monitor. The type determines which of `domain_id` and `targets` it takes.',
  // The schema doesn't express which fields a type requires, so documentation needs a valid example.
  { name: 'Our domains', type: 'blocklist', targets: ['example.com'], frequency: 'hourly' },
);
export type NewMonitor = v.InferOutput<typeof NewMonitor>;

export const MonitorPatch = named(
  'UpdateMonitor',
  v.strictObject({
    name: described(v.optional(Name), NAME_TEXT),
    targets: described(v.optional(Targets), TARGETS_TEXT),
    frequency: described(v.optional(Frequency), FREQUENCY_TEXT),
    enabled: described(v.optional(Enabled), ENABLED_TEXT),
  }),
  'The changes to a monitor. Omitted fields keep their value.',
  {
    name: 'Our domains',
    targets: ['example.com', 'example.org'],
    frequency: 'daily',
    enabled: true,
  },
);
export type MonitorPatch = v.InferOutput<typeof MonitorPatch>;

const EXAMPLE_MONITOR = {
  name: 'Our domains',
  type: 'blocklist',
  domain_id: null,
  targets: ['example.com'],
  address: null,
  frequency: 'hourly',
  enabled: true,
  status: 'ok',
  detail: null,
  next_run_at: '2026-11-21T11:00:00.000Z',
  created_at: '2026-11-20T09:12:00.000Z',
} as const;

export const Monitor = named(
  'Monitor',
  v.object({
    id: idOf('mon'),
    object: typeField('monitor'),
    name: described(v.string(), NAME_TEXT),
    type: described(v.picklist(MONITOR_TYPES), TYPE_TEXT),
    domain_id: described(
      v.nullable(v.string()),
      'The monitored domain. Null if the monitor has `targets`.',
    ),
    targets: described(
      v.nullable(v.array(v.string())),
      'The monitored IP addresses and domain names. Null if the monitor watches a domain.',
    ),
    address: described(
      v.nullable(v.string()),
      'For `placement` monitors, the permanent email address to send messages to. Null for others.',
      'k7q2m9x4t1w8b3z6@inbox.example.com',
    ),
    seed_addresses: described(
      v.array(SeedAddress),
      'For `placement` monitors, the seed mailboxes to which each message should be sent too.',
      [],
    ),
    frequency: described(v.picklist(FREQUENCIES), FREQUENCY_TEXT),
    enabled: described(v.boolean(), ENABLED_TEXT),
    status: described(
      v.picklist(MONITOR_STATUSES),
      'The status of the last run. `unknown`: no run was conclusive yet. `paused`: the monitor is disabled.',
    ),
    detail: described(
      v.nullable(v.string()),
      'Why the monitor cannot check some or all of its targets. For example, no enabled blocklist covers them.',
      'This monitor cannot run, because no seed mailboxes are configured.',
    ),
    last_run_at: described(v.nullable(Time), 'When the last run started.'),
    next_run_at: described(
      v.nullable(Time),
      'When the next run starts. For `placement` monitors, when the next message counts as missing. Null while the monitor is disabled.',
    ),
    created_at: Time,
  }),
  'A recurring check of a domain or of targets.',
  EXAMPLE_MONITOR as never,
);
export type Monitor = v.InferOutput<typeof Monitor>;

const Tier = v.picklist([1, 2, 3]);
const Count = v.pipe(v.number(), v.integer(), v.minValue(0));
const BlocklistFinding = named(
  'BlocklistFinding',
  v.object({
    target: described(v.string(), 'The listed IP address or domain name.'),
    list: described(v.string(), 'The DNS zone of the blocklist.'),
    list_name: described(v.string(), 'The name of the blocklist.'),
    tier: described(
      Tier,
      '1: large mailbox providers reject mail because of the listing. 2: spam filters count it. 3: for information only.',
    ),
    codes: described(
      v.array(v.string()),
      'The return codes of the blocklist, such as `127.0.0.2`.',
    ),
    meaning: described(v.nullable(v.string()), 'What the return codes mean.'),
  }),
  'A listing that a blocklist monitor has found.',
  {
    target: '192.0.2.25',
    list: 'zen.spamhaus.org',
    list_name: 'Spamhaus ZEN',
    tier: 1,
    codes: ['127.0.0.2'],
    meaning: 'Listed in the SBL',
  },
);
const DomainFinding = named(
  'DomainFinding',
  v.object({
    id: described(v.string(), 'The ID of the check.'),
    selector: described(v.nullable(v.string()), 'The DKIM selector, for checks of a DKIM key.'),
    status: described(v.picklist(CHECK_STATUSES), 'The status of the check.'),
    severity: described(
      v.nullable(v.picklist(['critical', 'warning'])),
      'How serious the finding is. Null if there is nothing to fix.',
    ),
    title: v.string(),
  }),
  'A problem that a domain health monitor has found.',
  {
    id: 'dmarc_policy',
    selector: null,
    status: 'warn',
    severity: 'warning',
    title: 'DMARC policy is p=none: failing mail is still delivered',
  },
);
const ProviderId = described(
  v.nullable(v.string()),
  'The ID of the provider. Null for a problem of the whole message.',
  'gmail',
);
const PlacementFinding = named(
  'PlacementFinding',
  v.object({
    problem: described(
      v.picklist(PLACEMENT_PROBLEM_IDS),
      `\`no_message\`: no message arrived in time. \`no_seed\`: no seed mailbox received it. \`spam\` and \`missing\`: at this provider. \`${INBOX_RATE.name}\`: lower than in earlier runs.`,
    ),
    provider: ProviderId,
    severity: described(
      v.nullable(v.picklist(['critical', 'warning'])),
      'How serious the finding is.',
    ),
    title: described(
      v.string(),
      'The finding in a sentence, with the numbers of seed mailboxes.',
      'Gmail sent the message to spam in 2 of 2 seed mailboxes.',
    ),
  }),
  'A problem that a placement monitor has found.',
);
const Findings = v.array(v.union([BlocklistFinding, DomainFinding, PlacementFinding]));
const UnknownParts = v.array(
  v.union([
    named(
      'UnknownListing',
      v.object({
        target: described(
          v.nullable(v.string()),
          'The target. Null if the blocklist did not respond for any.',
          '192.0.2.25',
        ),
        list: described(v.string(), 'The DNS zone of the blocklist.', 'zen.spamhaus.org'),
      }),
      'A blocklist that could not be queried.',
    ),
    named(
      'UnknownCheck',
      v.object({
        id: described(v.string(), 'The ID of the check.', 'dmarc_policy'),
        selector: described(v.nullable(v.string()), 'The DKIM selector, for checks of a DKIM key.'),
      }),
      'A check that could not be completed.',
    ),
    named(
      'UnknownProvider',
      v.object({
        provider: described(
          v.nullable(v.string()),
          'The ID of the provider. Null if no seed mailbox has a result.',
          'gmail',
        ),
      }),
      'A provider none of whose seed mailboxes has a result.',
    ),
  ]),
);

const RUN = {
  id: idOf('run'),
  object: typeField('monitor_run'),
  monitor_id: v.string(),
  started_at: Time,
  finished_at: Time,
  status: described(
    v.picklist(['ok', 'alerting', 'unknown']),
    '`alerting`: a relevant problem was found, or persists from an earlier run. `unknown`: too few checks completed to rule out a problem.',
  ),
  targets: described(
    v.array(
      named(
        'RunTarget',
        v.object({
          target: described(
            v.string(),
            'The IP address or domain name, or the address of a placement monitor.',
            'example.com',
          ),
          known: described(
            v.boolean(),
            'Whether enough blocklists or seed mailboxes responded for a result.',
          ),
        }),
        'A target that a run has checked.',
      ),
    ),
    'The checked targets. `known` is false if too few blocklists or seed mailboxes responded for a result.',
  ),
  findings: described(
    Findings,
    'All current findings: those of this run, and earlier ones that this run could not check again.',
  ),
  changes: described(
    named(
      'RunChanges',
      v.object({
        appeared: described(
          Findings,
          'Findings that are new since the previous run. In the first run, all findings. A new or more severe finding sends a `monitor.alert` event, unless it is for information only.',
        ),
        gone: described(Findings, 'Findings of the previous run that no longer apply.'),
        unknown: described(
          UnknownParts,
          'What this run could not check. Earlier findings about it remain. A null `target` means that the blocklist did not respond for any target.',
        ),
      }),
      'The differences between two runs.',
    ),
    'What has changed since the previous run.',
  ),
  placement: described(
    v.nullable(
      named(
        'RunPlacement',
        v.object({
          test_id: described(
            v.nullable(v.string()),
            'The test of the message. Null if none arrived in time.',
          ),
          samples: described(Count, 'Number of seed mailboxes with a result.', 8),
          inbox: described(Count, 'Of these, those with the message in the inbox or its tabs.', 7),
        }),
        'Where the message of a run arrived.',
      ),
    ),
    'The message of a run of a `placement` monitor. Null for other monitors.',
  ),
};

const EXAMPLE_RUN = {
  finished_at: '2026-11-21T10:00:02.000Z',
  status: 'ok',
  targets: [{ target: 'example.com', known: true }],
  findings: [],
  changes: { appeared: [], gone: [], unknown: [] },
  placement: null,
} as const;

export const MonitorRun = named(
  'MonitorRun',
  v.object(RUN),
  'One run of a monitor with its findings.',
  EXAMPLE_RUN as never,
);
export type MonitorRun = v.InferOutput<typeof MonitorRun>;

const EXAMPLE_ALERT = { ...EXAMPLE_RUN, status: 'alerting' };

/** The event types of this feature. */
export const MONITOR_EVENTS: EventDeclaration[] = [
  {
    type: 'monitor.alert',
    summary: 'A monitor found a problem',
    description:
      'A run of a monitor has a new or more severe finding. No further event follows while nothing changes.',
    data: named(
      'MonitorAlert',
      v.object({ ...RUN, monitor: described(Monitor, 'The monitor of the run.') }),
      'The run of a monitor that found a problem, with the monitor.',
      EXAMPLE_ALERT as never,
    ),
    object: 'the run, with its monitor',
    line: (data) => [
      asText(field(data.monitor, 'name')),
      asText(field(data.monitor, 'type')),
      asText(data.status),
    ],
  },
];

export const MonitorListQuery = v.strictObject({
  ...PAGE_QUERY,
  status: described(v.optional(oneOf(MONITOR_STATUSES)), 'Only monitors with this status.'),
  domain_id: described(v.optional(v.string()), 'Only monitors of this domain.', exampleId('dom')),
});
export type MonitorListQuery = v.InferOutput<typeof MonitorListQuery>;
export const RunListQuery = v.strictObject(PAGE_QUERY);
