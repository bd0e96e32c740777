/** Creates, changes, and deletes rules with their audit entries. A change can close the open incidents. */

import type { App } from '../app.ts';
import { requireDomain } from '../domains/queries.ts';
import { isoTime } from '../lib/clock.ts';
import { invalidParams } from '../lib/errors.ts';
import { rejectTestAddresses } from '../outbox/queue.ts';
import { audited, rowsOf } from '../store/audited.ts';
import { lockIn, type Tx } from '../store/open.ts';
import { requireBelowLimit } from '../store/queries.ts';
import type { AlertRow, DomainRow } from '../store/tables.generated.ts';
import { type Author, audit } from '../team/audit.ts';
import { requireAllowedUrl } from '../webhooks/endpoint-url.ts';
import { ALERT_ROW } from './alert-row.ts';
import type { ChannelField } from './channels/channel.ts';
import {
  CHANNEL_IDS,
  CHANNELS,
  type ChannelId,
  channelsOf,
  isKnownChannel,
  settingFields,
} from './channels/index.ts';
import { changeSettings, settingOf } from './channels/settings.ts';
import { queueClosings, trackingChannels } from './closings.ts';
import { conditionOf } from './conditions/index.ts';
import { closeIncidents } from './incidents.ts';
import { rescheduleReminders } from './reminders.ts';
import type { AlertPatch, NewAlert } from './schema.ts';

export const AUDITED_ALERT = audited({
  type: 'alert',
  name: 'Alert rule',
  actions: ['alert.created', 'alert.changed', 'alert.tested', 'alert.deleted'],
  page: (id) => `/alerts/${id}`,
  withPage: rowsOf('alerts'),
});

/** Limited because every rule is evaluated on every result. */
const MAX_ALERTS = 100;

type AuthorContext = Author & { app: App };

/** Throws `conflict` if there are too many rules, and `validation_failed` for an unknown domain. */
export async function createAlert(
  tx: Tx,
  author: AuthorContext,
  input: NewAlert,
): Promise<AlertRow> {
  await requireFewAlerts(tx);
  const { app } = author;
  const id = app.newId('alt');
  const { recipients = null, domain_id = null, tags = null } = input;
  requireAllowedUrls(app, input);
  rejectTestAddresses(app.config, recipients ?? []);
  await requireDomain(tx, domain_id);
  requireFittingDomain(input.condition, { domain_id, tags });
  requireFittingThreshold(input.condition, input.threshold ?? null);
  const row: AlertRow = {
    id,
    name: input.name,
    condition: input.condition,
    threshold: thresholdToStore(input.condition, input.threshold ?? null),
    ...ALERT_ROW.encode({ channels: input.channels, enabled: input.enabled, recipients, tags }),
    domain_id,
    slack_webhook_url: changeSettings(app, { id, slack_webhook_url: null }, settingFields(), input),
    last_triggered_at: null,
    reminder_hours: input.reminder_hours ?? null,
    created_at: isoTime(app.clock.now()),
  };
  checkSettings(app, row, input);
  await storeNew(tx, author, row, auditDetails(app, row));
  return row;
}

/** Creates a rule that needs no setting of a channel. */
export async function insertAlert(
  tx: Tx,
  author: Author,
  input: Omit<AlertRow, 'id' | 'slack_webhook_url' | 'last_triggered_at' | 'created_at'>,
): Promise<AlertRow> {
  await requireFewAlerts(tx);
  const { clock, newId } = author.app;
  const unset = { slack_webhook_url: null, last_triggered_at: null };
  const row = { id: newId('alt'), ...input, ...unset, created_at: isoTime(clock.now()) };
  await storeNew(tx, author, row, auditDetails(NO_SECRETS, row));
  return row;
}

/** Such a rule stores nothing encrypted, so nothing is opened. */
const NO_SECRETS = {} as Pick<App, 'secrets'>;

const requireFewAlerts = (tx: Tx): Promise<void> =>
  requireBelowLimit(tx, tx.selectFrom('alerts'), { max: MAX_ALERTS, noun: 'alert rules' });

async function storeNew(
  tx: Tx,
  author: Author,
  row: AlertRow,
  details: Record<string, unknown>,
): Promise<void> {
  await tx.insertInto('alerts').values(row).execute();
  await audit(tx, author, AUDITED_ALERT, 'alert.created', row.id, details);
}

/** Throws `validation_failed` for a URL whose host is known not to be public. */
function requireAllowedUrls({ config }: Pick<App, 'config'>, input: Record<string, unknown>): void {
  for (const { name, kind } of settingFields()) {
    const url = input[name];
    if (kind === 'url' && typeof url === 'string')
      requireAllowedUrl(url, config.WEBHOOK_ALLOW_NETWORKS, name);
  }
}

/** Throws `validation_failed` for settings that do not fit together. */
function checkSettings(app: App, row: AlertRow, input: Record<string, unknown>): void {
  for (const { fields, check } of Object.values(CHANNELS)) {
    const problem = fields.some(({ name }) => input[name] !== undefined) ? check?.(app, row) : null;
    if (problem) throw invalidParams([{ ...problem, code: 'invalid' }]);
  }
}

/** Otherwise, whoever changes the address of a server could have a stored secret sent to a server of their own. */
function requireSecretsForServer(
  app: Pick<App, 'secrets'>,
  current: AlertRow,
  patch: Record<string, unknown>,
): void {
  for (const field of settingFields()) {
    const server = settingFields().find(({ name }) => name === field.sentTo);
    if (!server || patch[server.name] === undefined || patch[field.name] !== undefined) continue;
    const before = settingOf(app, current, server) ?? null;
    if (patch[server.name] === before || settingOf(app, current, field) === undefined) continue;
    const message = `must be entered again because you are changing the ${server.label}`;
    throw invalidParams([{ param: field.name, code: 'invalid', message }]);
  }
}

/** A rule that is limited to a domain would never be evaluated on results that belong to none. */
function requireFittingDomain(
  condition: AlertRow['condition'],
  { domain_id, tags }: { domain_id: string | null; tags: unknown },
): void {
  const param = domain_id === null ? 'tags' : 'domain_id';
  const isOfNoDomain = conditionOf({ condition }).isOfNoDomain && (domain_id ?? tags) !== null;
  if (!isOfNoDomain && (domain_id === null || tags === null)) return;
  const message = isOfNoDomain
    ? `is not allowed for ${condition}, which does not depend on a domain`
    : 'must be null for a rule with tags';
  throw invalidParams([{ param, code: 'invalid', message }]);
}

/** Conditions have different ranges; the schema allows what fits any of them. */
function requireFittingThreshold(condition: AlertRow['condition'], threshold: number | null): void {
  const range = conditionOf({ condition }).threshold;
  if (range === null || threshold === null) return;
  if (threshold >= range.min && threshold <= range.max) return;
  const message = `must be ${range.min} to ${range.max} for ${condition}`;
  throw invalidParams([{ param: 'threshold', code: 'invalid', message }]);
}

/** A condition without a threshold stores the given value and ignores it. */
const thresholdToStore = (
  condition: AlertRow['condition'],
  threshold: number | null,
): number | null => threshold ?? conditionOf({ condition }).threshold?.default ?? null;

/** Applies a patch, if it changes anything, and returns the resulting row. */
export async function changeAlert(
  tx: Tx,
  author: AuthorContext,
  current: AlertRow,
  patch: AlertPatch,
): Promise<AlertRow> {
  const { app } = author;
  requireAllowedUrls(app, patch);
  requireSecretsForServer(app, current, patch);
  rejectTestAddresses(app.config, patch.recipients ?? []);
  if (patch.domain_id !== undefined && patch.domain_id !== current.domain_id)
    await requireDomain(tx, patch.domain_id);
  const row = applyPatch(app, current, patch);
  checkSettings(app, row, patch);
  requireFittingDomain(row.condition, row);
  requireFittingThreshold(row.condition, row.threshold);
  const [before, after] = [auditDetails(app, current), auditDetails(app, row)];
  const details = differences(before, after);
  // Of a secret, the audit log says only that it changed, unless the host of a URL tells more.
  for (const field of settingFields())
    if (!(auditName(field) in details) && settingDiffers(app, current, row, field))
      details[field.name] = 'changed';
  if (Object.keys(details).length === 0) return current;
  const { id, ...columns } = row;
  await tx.updateTable('alerts').set(columns).where('id', '=', id).execute();
  await audit(tx, author, AUDITED_ALERT, 'alert.changed', id, details);
  const moved = movedChannels(app, current, row);
  await forgetReferences(tx, row, moved);
  const isClosed = row.enabled === 0 || criteriaDiffer(current, row);
  const ended = trackingChannels(current).filter(
    (channel) => isClosed || moved.includes(channel) || !channelsOf(row).includes(channel),
  );
  await queueClosings(tx, app, current, ended);
  if (row.enabled === 0) await closeIncidents(tx, app, row, 'alert_disabled');
  else if (isClosed) await closeIncidents(tx, app, row, 'alert_changed');
  else if (row.reminder_hours !== current.reminder_hours) await rescheduleReminders(tx, app, row);
  return row;
}

/** Those that post elsewhere after the change. */
const movedChannels = (app: Pick<App, 'secrets'>, before: AlertRow, after: AlertRow): ChannelId[] =>
  CHANNEL_IDS.filter((id) =>
    CHANNELS[id].fields.some(
      (field) => field.kind !== 'addresses' && settingDiffers(app, before, after, field),
    ),
  );

/** In another chat, what the old one calls a message could be the name of any other. */
async function forgetReferences(tx: Tx, { id }: AlertRow, channels: ChannelId[]): Promise<void> {
  if (channels.length === 0) return;
  await tx
    .updateTable('alert_notifications')
    .set({ reference: null })
    .where('alert_id', '=', id)
    .where('channel', 'in', channels)
    .where('reference', 'is not', null)
    .execute();
}

function applyPatch(
  { secrets }: Pick<App, 'secrets'>,
  current: AlertRow,
  patch: AlertPatch,
): AlertRow {
  const condition = patch.condition ?? current.condition;
  // The threshold of another condition has another meaning.
  const kept = condition === current.condition ? current.threshold : null;
  const threshold = patch.threshold === undefined ? kept : patch.threshold;
  const { domain_id = current.domain_id } = patch;
  const unknownChannels = channelsOf(current).filter((id) => !isKnownChannel(id));
  const channels = patch.channels && [...patch.channels, ...unknownChannels];
  return {
    ...current,
    name: patch.name ?? current.name,
    condition,
    threshold: thresholdToStore(condition, threshold),
    ...ALERT_ROW.encode({
      channels,
      enabled: patch.enabled,
      recipients: patch.recipients,
      tags: patch.tags,
    }),
    domain_id,
    reminder_hours:
      patch.reminder_hours === undefined ? current.reminder_hours : patch.reminder_hours,
    slack_webhook_url: changeSettings({ secrets }, current, settingFields(), patch),
  };
}

/** Whether open incidents no longer apply because the rule now checks something else. */
function criteriaDiffer(before: AlertRow, after: AlertRow): boolean {
  return (
    before.condition !== after.condition ||
    before.domain_id !== after.domain_id ||
    before.tags !== after.tags ||
    (conditionOf(after).threshold !== null && before.threshold !== after.threshold)
  );
}

/** Call in `transact`. */
export async function deleteAlert(tx: Tx, author: AuthorContext, current: AlertRow): Promise<void> {
  const { id } = current;
  // Before the deletion, because the event includes the rule.
  await queueClosings(tx, author.app, current, trackingChannels(current));
  await closeIncidents(tx, author.app, current, 'alert_deleted');
  await tx.deleteFrom('alerts').where('id', '=', id).execute();
  await audit(tx, author, AUDITED_ALERT, 'alert.deleted', id, { name: current.name });
}

/** Deletes the rules of a deleted domain, each with its audit entry. */
export async function deleteAlertsOfDomain(
  tx: Tx,
  { id }: Pick<DomainRow, 'id'>,
  author: AuthorContext,
): Promise<void> {
  const query = tx.selectFrom('alerts').selectAll().where('domain_id', '=', id).orderBy('id');
  const rules = await lockIn(tx, query).execute();
  for (const rule of rules) await deleteAlert(tx, author, rule);
}

/** The fields of a rule without secrets, for the audit log. */
function auditDetails(app: Pick<App, 'secrets'>, row: AlertRow): Record<string, unknown> {
  const settings = settingFields().flatMap((field) => {
    const value = settingOf(app, row, field) ?? null;
    if (!field.isSecret) return [[field.name, value]];
    if (field.kind !== 'url') return [];
    return [[auditName(field), value === null ? null : new URL(value).host]];
  });
  const { channels, enabled, recipients, tags } = ALERT_ROW.decode(row);
  return {
    name: row.name,
    condition: row.condition,
    threshold: row.threshold,
    channels,
    enabled,
    domain_id: row.domain_id,
    tags,
    recipients,
    reminder_hours: row.reminder_hours,
    ...Object.fromEntries(settings),
  };
}

/** Such as `slack_host`. */
const auditName = ({ name, kind, isSecret }: ChannelField): string =>
  isSecret && kind === 'url' ? name.replace(/(?:_webhook)?_url$/, '_host') : name;

const settingDiffers = (
  app: Pick<App, 'secrets'>,
  before: AlertRow,
  after: AlertRow,
  field: ChannelField,
): boolean => settingOf(app, before, field) !== settingOf(app, after, field);

function differences(before: Record<string, unknown>, after: Record<string, unknown>) {
  const changes: Record<string, unknown> = {};
  for (const [name, to] of Object.entries(after))
    if (JSON.stringify(before[name]) !== JSON.stringify(to))
      changes[name] = { from: before[name], to };
  return changes;
}
