/** Monitors and their runs as the API takes and answers them (contract §7). */

import * as v from 'valibot';
import { isAskable } from '../analysis/blocklists/subjects.ts';
import { CHECK_STATUSES } from '../analysis/check.ts';
import { readDomainName } from '../analysis/domain/read-domain-name.ts';
import { described, Name, PAGE, Time } from '../http/schemas.ts';
import { normalizeAddress } from '../lib/addresses.ts';
import { FREQUENCIES } from './schedule.ts';

// What a blocklist monitor looks at: addresses and names, as people write them and as lists are asked.

const MOST_TARGETS = 50;
const LONGEST = 300;

/** `203.0.113.0/24`, `2001:db8::/32` */
const RANGE = /^[\da-f.:]+\/\d+$/i;

/** Half a sentence that follows the name of the field; null where nothing is wrong. */
function faultOf(written: string): string | null {
  const text = written.trim();
  if (text === '') return 'is empty; give a public IP address, or a name such as example.com';
  if (RANGE.test(text)) return 'is a range of addresses; give the single addresses';
  const address = normalizeAddress(text);
  if (address === null) {
    const { fault } = readDomainName(text);
    if (fault === undefined) return null;
    // "is …; give …, or an IP address", "is no …, nor an IP address"
    return `${fault}, ${fault.includes(';') ? 'or' : 'nor'} an IP address`;
  }
  return isAskable(address)
    ? null
    : 'is a private or special address, about which no list is asked; give a public one';
}

const normalTarget = (text: string): string =>
  normalizeAddress(text.trim()) ?? readDomainName(text).name ?? text;

const Target = v.pipe(
  v.string('must be text'),
  v.maxLength(LONGEST, `must have at most ${LONGEST} characters`),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed || dataset.value.length > LONGEST) return;
    const message = faultOf(dataset.value);
    if (message !== null) addIssue({ message });
  }),
  v.transform(normalTarget),
);

/** Normalised, each once. */
const Targets = v.pipe(
  v.array(Target, 'must be a list of IP addresses and names'),
  v.minLength(1, 'must name a target at least'),
  v.maxLength(MOST_TARGETS, `must name at most ${MOST_TARGETS} targets`),
  v.transform((targets) => [...new Set(targets)]),
);

const TYPES = ['domain_health', 'blocklist', 'placement'] as const;

const Type = v.picklist(TYPES, `must be one of ${TYPES.join(', ')}`);
const Frequency = v.picklist(FREQUENCIES, `must be one of ${FREQUENCIES.join(', ')}`);
const Enabled = v.boolean('must be true or false');
const DomainId = v.pipe(
  v.string('must be the id of a domain'),
  v.minLength(1, 'must be the id of a domain'),
  v.maxLength(100, 'must have at most 100 characters'),
);

export const NewMonitor = v.pipe(
  v.strictObject({
    name: Name,
    type: Type,
    domain_id: v.optional(v.nullable(DomainId)),
    targets: v.optional(v.nullable(Targets)),
    frequency: v.optional(Frequency, 'daily'),
    enabled: v.optional(Enabled, true),
  }),
  // What goes with a type cannot be told from the fields alone.
  v.metadata({
    examples: [
      { name: 'Our names', type: 'blocklist', targets: ['example.com'], frequency: 'hourly' },
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
    'Of a placement monitor: where to send the mail. Null as long as nobody would take it: until seed mailboxes are connected.',
  ),
  frequency: v.picklist(FREQUENCIES),
  enabled: v.boolean(),
  status: v.picklist(['ok', 'alerting', 'unknown', 'paused']),
  detail: described(
    v.nullable(v.string()),
    'Why it is not known how things stand, or not of all targets, where that is not a matter of waiting: what no blocklist is asked about is named here.',
  ),
  last_run_at: described(v.nullable(Time), 'When the last run began.'),
  next_run_at: described(v.nullable(Time), 'Null while it is switched off or cannot be run.'),
  created_at: Time,
});
export type Monitor = v.InferOutput<typeof Monitor>;

const Tier = v.picklist([1, 2, 3]);
const BlocklistFinding = v.object({
  target: described(v.string(), 'An address or a name; of a domain, its name.'),
  list: described(v.string(), 'The zone of the list.'),
  list_name: v.string(),
  tier: described(
    Tier,
    '1: the large receivers block on it. 2: spam filters count it. 3: told, and never counted.',
  ),
  codes: v.array(v.string()),
  meaning: v.nullable(v.string()),
});
const DomainFinding = v.object({
  id: v.string(),
  selector: described(v.nullable(v.string()), 'Of the check of a DKIM key.'),
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
    'alerting: something that counts was found, or stands from before. unknown: too little could be found out to say that nothing is wrong.',
  ),
  targets: described(
    v.array(v.object({ target: v.string(), known: v.boolean() })),
    'What was to be looked for on blocklists, and whether enough of them answered: what is not known is neither listed nor clean.',
  ),
  findings: described(
    Findings,
    'All that stands: what this run found, and what was found before where this run could not look at it.',
  ),
  changes: v.object({
    appeared: described(
      Findings,
      'New since the last run; in the first run all that was found. An event monitor.alert tells of a run in which something that counts is new or graver: also of the first, which is held against nothing.',
    ),
    gone: described(Findings, 'Stood after the last run, and does no more.'),
    unknown: described(
      UnknownParts,
      'What could not be looked at: of it, the former findings stand. A target of null: nothing of this list.',
    ),
  }),
});
export type MonitorRun = v.InferOutput<typeof MonitorRun>;

export const MonitorListQuery = v.strictObject(PAGE);
export const RunListQuery = v.strictObject(PAGE);
