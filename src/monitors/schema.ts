/** API schemas of monitors and their runs (contract §7). */

import * as v from 'valibot';
import { isQueryable } from '../analysis/blocklists/subjects.ts';
import { CHECK_STATUSES } from '../analysis/check.ts';
import { readDomainName } from '../analysis/domain/read-domain-name.ts';
import { described, Name, PAGE_QUERY, Time } from '../http/schemas.ts';
import { normalizeAddress } from '../lib/addresses.ts';
import { FREQUENCIES } from './schedule.ts';

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
  v.maxLength(MAX_TARGET_LENGTH, `must have at most ${MAX_TARGET_LENGTH} characters`),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed || dataset.value.length > MAX_TARGET_LENGTH) return;
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

const TYPES = ['domain_health', 'blocklist', 'placement'] as const;

const Type = v.picklist(TYPES, `must be one of ${TYPES.join(', ')}`);
const Frequency = v.picklist(FREQUENCIES, `must be one of ${FREQUENCIES.join(', ')}`);
const Enabled = v.boolean('must be true or false');
const DomainId = v.pipe(
  v.string('must be the ID of a domain'),
  v.minLength(1, 'must be the ID of a domain'),
  v.maxLength(100, 'must have at most 100 characters'),
);

export const NewMonitor = v.pipe(
  v.strictObject({
    name: Name,
    type: Type,
    domain_id: v.optional(
      described(
        v.nullable(DomainId),
        'The domain to monitor. Required for `domain_health`. A `blocklist` monitor takes either this or `targets`.',
      ),
    ),
    targets: v.optional(
      described(
        v.nullable(Targets),
        'The IP addresses and domain names to monitor. Only for `blocklist` monitors.',
      ),
    ),
    frequency: v.optional(Frequency, 'daily'),
    enabled: v.optional(Enabled, true),
  }),
  // The schema doesn't express which fields a type requires, so documentation needs a valid example.
  v.metadata({
    examples: [
      { name: 'Our domains', type: 'blocklist', targets: ['example.com'], frequency: 'hourly' },
    ],
  }),
);
export type NewMonitor = v.InferOutput<typeof NewMonitor>;

export const MonitorPatch = v.strictObject({
  name: v.optional(Name),
  targets: v.optional(Targets),
  frequency: v.optional(Frequency),
  enabled: v.optional(Enabled),
});
export type MonitorPatch = v.InferOutput<typeof MonitorPatch>;

export const Monitor = v.object({
  id: v.string(),
  object: v.literal('monitor'),
  name: v.string(),
  type: v.picklist(TYPES),
  domain_id: v.nullable(v.string()),
  targets: v.nullable(v.array(v.string())),
  address: described(
    v.nullable(v.string()),
    'For placement monitors, the email address to send test messages to. Null while no seed mailboxes are configured.',
  ),
  frequency: v.picklist(FREQUENCIES),
  enabled: v.boolean(),
  status: v.picklist(['ok', 'alerting', 'unknown', 'paused']),
  detail: described(
    v.nullable(v.string()),
    'Why the monitor cannot check some or all of its targets. For example, no enabled blocklist covers them.',
  ),
  last_run_at: described(v.nullable(Time), 'When the last run started.'),
  next_run_at: described(
    v.nullable(Time),
    'When the next run starts. Null while the monitor is disabled or cannot run.',
  ),
  created_at: Time,
});
export type Monitor = v.InferOutput<typeof Monitor>;

const Tier = v.picklist([1, 2, 3]);
const BlocklistFinding = v.object({
  target: described(v.string(), 'The listed IP address or domain name.'),
  list: described(v.string(), 'The DNS zone of the blocklist.'),
  list_name: v.string(),
  tier: described(
    Tier,
    '1: large mailbox providers reject mail because of the listing. 2: spam filters count it. 3: for information only.',
  ),
  codes: described(v.array(v.string()), 'The return codes of the blocklist, such as `127.0.0.2`.'),
  meaning: described(v.nullable(v.string()), 'What the return codes mean.'),
});
const DomainFinding = v.object({
  id: v.string(),
  selector: described(v.nullable(v.string()), 'The DKIM selector, for checks of a DKIM key.'),
  status: v.picklist(CHECK_STATUSES),
  severity: v.nullable(v.picklist(['critical', 'warning'])),
  title: v.string(),
});
const Findings = v.array(v.union([BlocklistFinding, DomainFinding]));
const UnknownParts = v.array(
  v.union([
    v.object({ target: v.nullable(v.string()), list: v.string() }),
    v.object({ id: v.string(), selector: v.nullable(v.string()) }),
  ]),
);

export const MonitorRun = v.object({
  id: v.string(),
  object: v.literal('monitor_run'),
  monitor_id: v.string(),
  started_at: Time,
  finished_at: Time,
  status: described(
    v.picklist(['ok', 'alerting', 'unknown']),
    '`alerting`: a relevant problem was found, or persists from an earlier run. `unknown`: too few checks completed to rule out a problem.',
  ),
  targets: described(
    v.array(v.object({ target: v.string(), known: v.boolean() })),
    'The checked targets. `known` is false if too few blocklists responded to determine whether the target is listed.',
  ),
  findings: described(
    Findings,
    'All current findings: those of this run, and earlier ones that this run could not check again.',
  ),
  changes: v.object({
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
});
export type MonitorRun = v.InferOutput<typeof MonitorRun>;

export const MonitorListQuery = v.strictObject(PAGE_QUERY);
export const RunListQuery = v.strictObject(PAGE_QUERY);
