/** Creates, changes and deletes rules, each with its audit entry; incidents that a change ends are closed with it. */

import type { App } from '../app.ts';
import { requireDomain } from '../domains/queries.ts';
import { isoTime } from '../lib/clock.ts';
import { refuseOwnAddresses } from '../outbox/queue.ts';
import type { Tx } from '../store/open.ts';
import { requireBelowLimit } from '../store/queries.ts';
import type { AlertRow, DomainRow } from '../store/tables.generated.ts';
import { type Author, audit } from '../team/audit.ts';
import { requireOpen } from '../webhooks/endpoint-url.ts';
import { ownSlackUrl, sealSlackUrl } from './channels.ts';
import { conditionOf } from './conditions/index.ts';
import { closeIncidents } from './incidents.ts';
import type { AlertPatch, NewAlert } from './schema.ts';

/** Each result is held against each of them. */
const MAX_ALERTS = 100;

type Changer = Author & { app: App };

/** Throws `conflict` where there are too many, and `validation_failed` for an unknown domain. */
export async function createAlert(tx: Tx, author: Changer, asked: NewAlert): Promise<AlertRow> {
  await requireBelowLimit(tx.selectFrom('alerts'), { max: MAX_ALERTS, things: 'alert rules' });
  const { app } = author;
  const id = app.newId('alt');
  const { slack_webhook_url: url = null, recipients = null, domain_id = null } = asked;
  requireOpenSlack(app, url);
  refuseOwnAddresses(app.config, recipients ?? []);
  await requireDomain(tx, domain_id);
  const row: AlertRow = {
    id,
    name: asked.name,
    condition: asked.condition,
    threshold: thresholdToStore(asked.condition, asked.threshold ?? null),
    channels: JSON.stringify(asked.channels),
    enabled: asked.enabled ? 1 : 0,
    domain_id,
    recipients: recipients === null ? null : JSON.stringify(recipients),
    slack_webhook_url: url === null ? null : sealSlackUrl(app.secrets, id, url),
    last_triggered_at: null,
    created_at: isoTime(app.clock.now()),
  };
  await tx.insertInto('alerts').values(row).execute();
  await note(tx, author, 'created', id, auditDetails(app, row));
  return row;
}

/** Throws `validation_failed` for an address that is known not to be public. */
function requireOpenSlack({ config }: Pick<App, 'config'>, url: string | null | undefined): void {
  if (url) requireOpen(url, config.WEBHOOK_ALLOW_NETWORKS, 'slack_webhook_url');
}

/** A condition without a threshold ignores it, and it is kept as it was given. */
const thresholdToStore = (condition: AlertRow['condition'], given: number | null): number | null =>
  given ?? conditionOf({ condition }).threshold?.default ?? null;

/** Changes what is given and is not so already; gives the row as it is then. */
export async function changeAlert(
  tx: Tx,
  author: Changer,
  present: AlertRow,
  patch: AlertPatch,
): Promise<AlertRow> {
  const { app } = author;
  requireOpenSlack(app, patch.slack_webhook_url);
  refuseOwnAddresses(app.config, patch.recipients ?? []);
  if (patch.domain_id !== undefined && patch.domain_id !== present.domain_id)
    await requireDomain(tx, patch.domain_id);
  const row = changed(app, present, patch);
  const [before, after] = [auditDetails(app, present), auditDetails(app, row)];
  const details = differences(before, after);
  const sameSlack = present.slack_webhook_url === row.slack_webhook_url;
  if (Object.keys(details).length === 0 && sameSlack) return present;
  // The audit log says only that the address is another.
  if (!sameSlack && !('slack_host' in details)) details.slack_webhook_url = 'changed';
  const { id, ...columns } = row;
  await tx.updateTable('alerts').set(columns).where('id', '=', id).execute();
  await note(tx, author, 'changed', id, details);
  if (row.enabled === 0) await closeIncidents(tx, app, row, 'alert_disabled');
  else if (hasOtherCondition(present, row)) await closeIncidents(tx, app, row, 'alert_changed');
  return row;
}

function changed(
  { secrets }: Pick<App, 'secrets'>,
  present: AlertRow,
  patch: AlertPatch,
): AlertRow {
  const { id } = present;
  const { slack_webhook_url: url } = patch;
  const own = ownSlackUrl({ secrets }, present);
  const condition = patch.condition ?? present.condition;
  const threshold = patch.threshold === undefined ? present.threshold : patch.threshold;
  const { recipients = undefined, domain_id = present.domain_id } = patch;
  return {
    ...present,
    name: patch.name ?? present.name,
    condition,
    threshold: thresholdToStore(condition, threshold),
    channels: patch.channels ? JSON.stringify(patch.channels) : present.channels,
    enabled: patch.enabled === undefined ? present.enabled : patch.enabled ? 1 : 0,
    domain_id,
    ...(recipients === undefined
      ? {}
      : { recipients: recipients === null ? null : JSON.stringify(recipients) }),
    // Each sealing differs: what is the same stays as it is.
    ...(url === undefined || (url !== null && url === own)
      ? {}
      : { slack_webhook_url: url === null ? null : sealSlackUrl(secrets, id, url) }),
  };
}

/** Whether what was found under the rule says nothing about the rule as it is now. */
function hasOtherCondition(before: AlertRow, after: AlertRow): boolean {
  return (
    before.condition !== after.condition ||
    before.domain_id !== after.domain_id ||
    (conditionOf(after).threshold !== null && before.threshold !== after.threshold)
  );
}

/** To be called in `transact`. */
export async function deleteAlert(tx: Tx, author: Changer, present: AlertRow): Promise<void> {
  const { id } = present;
  // Before it is gone: the event has it as it was.
  await closeIncidents(tx, author.app, present, 'alert_deleted');
  await tx.deleteFrom('alerts').where('id', '=', id).execute();
  await note(tx, author, 'deleted', id, { name: present.name });
}

/** The rules that look at a domain go with it, each noted as deleted by whom deletes it. */
export async function deleteAlertsOf(
  tx: Tx,
  { id }: Pick<DomainRow, 'id'>,
  author: Changer,
): Promise<void> {
  const rules = await tx
    .selectFrom('alerts')
    .selectAll()
    .where('domain_id', '=', id)
    .orderBy('id')
    .execute();
  for (const rule of rules) await deleteAlert(tx, author, rule);
}

/** What the audit log may contain of a rule. */
function auditDetails(app: Pick<App, 'secrets'>, row: AlertRow): Record<string, unknown> {
  const url = ownSlackUrl(app, row);
  return {
    name: row.name,
    condition: row.condition,
    threshold: row.threshold,
    channels: JSON.parse(row.channels),
    enabled: row.enabled === 1,
    domain_id: row.domain_id,
    recipients: row.recipients === null ? null : JSON.parse(row.recipients),
    slack_host: url === null ? null : new URL(url).host,
  };
}

function differences(before: Record<string, unknown>, after: Record<string, unknown>) {
  const found: Record<string, unknown> = {};
  for (const [name, to] of Object.entries(after))
    if (JSON.stringify(before[name]) !== JSON.stringify(to))
      found[name] = { from: before[name], to };
  return found;
}

export async function note(
  tx: Tx,
  author: Author,
  what: string,
  id: string,
  details: Record<string, unknown> = {},
): Promise<void> {
  await audit(tx, author, { action: `alert.${what}`, object: { type: 'alert', id }, details });
}
