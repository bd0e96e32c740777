/**
 * Recommended rules: what they are, how often each would have alerted lately, and their creation. The first owner gets them;
 * later, nobody gets them unasked, so that a deleted one stays deleted.
 */

import type { App } from '../app.ts';
import { SPAM_RATE } from '../figures/gmail.ts';
import { isoTime } from '../lib/clock.ts';
import { DAY_MS } from '../lib/durations.ts';
import { type Db, lockName, type Tx } from '../store/open.ts';
import { subscribe } from '../store/subscribers.ts';
import type { AlertRow } from '../store/tables.generated.ts';
import type { Author } from '../team/audit.ts';
import { firstOwnerMade } from '../team/owner.ts';
import { insertAlert } from './change-alert.ts';
import { keptSince, type PastReading, type Times } from './conditions/history.ts';
import { CONDITIONS, type ConditionId } from './conditions/index.ts';
import type { RecommendedAlert } from './schema.ts';

/** Most urgent first: the condition, and the name that the rule gets. */
const RULES: [condition: ConditionId, name: string][] = [
  ['domain_unreachable', 'Domain can’t be looked up'],
  ['domain_health', 'Domain health'],
  ['record_changed', 'DNS record changed'],
  ['sending_address_blocked', 'Sending address blocked'],
  ['blocklist_hit', 'Blocklists'],
  ['auth_fail', 'Test authentication'],
  ['source_failing', 'Own mail fails DMARC'],
  ['new_source', 'New mail source'],
  [SPAM_RATE.name, 'Gmail spam rate'],
  ['complaint_rate', 'Complaints'],
  ['feedback_stopped', 'Reports stopped'],
  ['seed_failing', 'Seed mailboxes'],
  ['receiver_failing', 'Receivers'],
  ['tls_failing', 'TLS for incoming mail'],
  ['feedback_storage', 'Feedback storage'],
];

export const RECOMMENDED_CONDITIONS = RULES.map(([condition]) => condition);

const RECOMMENDED = RULES.flatMap(([condition, name]) =>
  CONDITIONS.filter(({ id }) => id === condition).map((declared) => ({ ...declared, name })),
);

/** Rules of the same condition for all domains, by condition: the oldest of each. */
async function existingRules(db: Db | Tx): Promise<Map<ConditionId, AlertRow>> {
  const conditions = RECOMMENDED.map(({ id }) => id);
  const rows = await db
    .selectFrom('alerts')
    .selectAll()
    .where('condition', 'in', conditions)
    .where('domain_id', 'is', null)
    .where('tags', 'is', null)
    .orderBy('id', 'desc')
    .execute();
  return new Map(rows.map((row) => [row.condition, row]));
}

/** By email to the owner and the admins at the time of each alert. Returns the new rules. */
export async function createMissing(tx: Tx, author: Author): Promise<AlertRow[]> {
  // Two at the same time would find the same rules missing.
  await lockName(tx, 'recommended alert rules');
  const existing = await existingRules(tx);
  const missing = RECOMMENDED.filter(({ id }) => !existing.has(id));
  const created: AlertRow[] = [];
  for (const { id: condition, name, threshold } of missing)
    created.push(
      await insertAlert(tx, author, {
        name,
        condition,
        threshold: threshold?.default ?? null,
        channels: '["email"]',
        enabled: 1,
        domain_id: null,
        tags: null,
        recipients: null,
        reminder_hours: null,
      }),
    );
  return created;
}

/** Subscribed by the service, and by the command that makes an owner. */
export const rulesForFirstOwner = subscribe(firstOwnerMade, async (tx, author) => {
  await createMissing(tx, author);
});

/** Whether a recommended rule is missing. */
export async function isAnyMissing(db: Db): Promise<boolean> {
  return (await existingRules(db)).size < RECOMMENDED.length;
}

const DAYS = 30;

/** The most urgent first. */
export async function listRecommended({
  db,
  clock,
  config,
}: Pick<App, 'db' | 'clock' | 'config'>): Promise<RecommendedAlert[]> {
  const now = clock.now();
  const reading = { db, clock, config, since: isoTime(now - DAYS * DAY_MS) };
  const existing = await existingRules(db);
  const listed: RecommendedAlert[] = [];
  for (const { id: condition, name, threshold, history } of RECOMMENDED) {
    const rule = existing.get(condition);
    const found =
      (await history?.timesSince(reading)) ?? (rule ? await timesOfRule(reading, rule) : null);
    const days = found && Math.round((now - Date.parse(found.since)) / DAY_MS);
    listed.push({
      object: 'recommended_alert',
      condition,
      name,
      threshold: threshold?.default ?? null,
      alert_id: rule?.id ?? null,
      ...(found && days
        ? { times: found.times, days, missing: null }
        : { times: null, days: null, missing: history?.missing ?? NO_RULE }),
    });
  }
  return listed;
}

const NO_RULE = 'no rule with this condition has run for a day';

/** How often an existing rule alerted, if there is no other data. */
async function timesOfRule(reading: PastReading, rule: AlertRow): Promise<Times | null> {
  if (rule.enabled === 0) return null;
  const kept = keptSince(reading);
  const since = rule.created_at > kept ? rule.created_at : kept;
  const { count } = await reading.db
    .selectFrom('alert_incidents')
    .select(({ fn }) => fn.countAll<number | string>().as('count'))
    .where('alert_id', '=', rule.id)
    .where('condition', '=', rule.condition)
    .where('opened_at', '>=', since)
    .executeTakeFirstOrThrow();
  return { times: Number(count), since };
}

/** "3 times in 30 days", "never in 30 days", or why that is not known. */
export function timesInWords({ times, days, missing }: RecommendedAlert): string {
  if (times === null) return `not known: ${missing}`;
  const period = days === 1 ? 'in the last day' : `in the last ${days} days`;
  const count = ['never', 'once'][times] ?? `${new Intl.NumberFormat('en-GB').format(times)} times`;
  return `${count} ${period}`;
}
