/** Monitors and their runs as the API takes and answers them (contract §7). */

import * as v from 'valibot';
import { CHECK_STATUSES } from '../analysis/check.ts';
import { Name, PAGE, Time } from '../http/schemas.ts';
import { FREQUENCIES } from './schedule.ts';
import { Targets } from './targets.ts';

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
  // Of a placement monitor: where to send the mail.
  address: v.nullable(v.string()),
  frequency: v.picklist(FREQUENCIES),
  enabled: v.boolean(),
  status: v.picklist(['ok', 'alerting', 'unknown', 'paused']),
  // Why it is not known how things stand, where that is not a matter of waiting.
  detail: v.nullable(v.string()),
  last_run_at: v.nullable(Time),
  next_run_at: v.nullable(Time),
  created_at: Time,
});
export type Monitor = v.InferOutput<typeof Monitor>;

const Tier = v.picklist([1, 2, 3]);
const BlocklistFinding = v.object({
  target: v.string(),
  list: v.string(),
  list_name: v.string(),
  tier: Tier,
  codes: v.array(v.string()),
  meaning: v.nullable(v.string()),
});
const DomainFinding = v.object({
  id: v.string(),
  selector: v.nullable(v.string()),
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
  status: v.picklist(['ok', 'alerting', 'unknown']),
  findings: Findings,
  changes: v.object({ appeared: Findings, gone: Findings, unknown: UnknownParts }),
});
export type MonitorRun = v.InferOutput<typeof MonitorRun>;

export const MonitorListQuery = v.strictObject(PAGE);
export const RunListQuery = v.strictObject(PAGE);
