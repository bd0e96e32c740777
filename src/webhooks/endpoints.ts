/** Changes of endpoints: made, changed, deleted, and given new secrets, each noted in the audit log. */

import type { App } from '../app.ts';
import { type Page, pageOf } from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import { AppError } from '../lib/errors.ts';
import { afterCommit, type Db, type Tx } from '../store/open.ts';
import { requireBelowLimit } from '../store/queries.ts';
import type { WebhookEndpointRow } from '../store/tables.generated.ts';
import { type Author, audit } from '../team/audit.ts';
import { holdPending } from './endpoint-health.ts';
import { EXPIRE_DELIVERIES_JOB } from './expire.ts';
import { type EndpointPatch, endpointStatus, type NewEndpoint } from './schema.ts';
import { newSigningSecret, sealSigningSecret } from './signatures.ts';

/** Each event is looked at for each of them. */
const MAX_ENDPOINTS = 100;

/** Who changes endpoints, with the App that this takes. */
type Changer = Author & { app: App };

/** An endpoint with a secret in clear, for the one answer that shows it. */
export interface SecretEndpoint {
  row: WebhookEndpointRow;
  secret: string;
}

/** Throws `conflict` where there are too many. */
export async function createEndpoint(
  tx: Tx,
  author: Changer,
  { url, events, description = null, enabled }: NewEndpoint,
): Promise<SecretEndpoint> {
  await requireBelowLimit(tx.selectFrom('webhook_endpoints').where('deleted_at', 'is', null), {
    max: MAX_ENDPOINTS,
    things: 'webhook endpoints',
  });
  const { app } = author;
  const id = app.newId('whe');
  const secret = newSigningSecret();
  const row: WebhookEndpointRow = {
    id,
    url,
    events: JSON.stringify(events),
    description,
    enabled: enabled ? 1 : 0,
    secret: sealSigningSecret(app.secrets, id, secret),
    former_secret: null,
    former_secret_until: null,
    created_at: isoTime(app.clock.now()),
    failing_since: null,
    auto_disabled_at: null,
    deleted_at: null,
  };
  await tx.insertInto('webhook_endpoints').values(row).execute();
  const details = { receiver: receiverOf(url), events, description, enabled };
  await auditEndpoint(tx, author, 'created', id, details);
  return { row, secret };
}

/** Changes what is given and is not so already; gives the row as it is then. */
export async function changeEndpoint(
  tx: Tx,
  author: Changer,
  present: WebhookEndpointRow,
  patch: EndpointPatch,
): Promise<WebhookEndpointRow> {
  const change = changeOf(present, patch);
  if (Object.keys(change).length === 0) return present;
  const { id } = present;
  const row = { ...present, ...change };
  await tx.updateTable('webhook_endpoints').set(change).where('id', '=', id).execute();
  if (change.enabled === 0) await holdPending(tx, id);
  await auditEndpoint(tx, author, 'changed', id, detailsOf(present, row));
  return row;
}

function changeOf(
  present: WebhookEndpointRow,
  { url, events, description, enabled }: EndpointPatch,
): Partial<WebhookEndpointRow> {
  const wanted: Partial<WebhookEndpointRow> = {
    ...(url === undefined ? {} : { url }),
    ...(events === undefined ? {} : { events: JSON.stringify(events) }),
    ...(description === undefined ? {} : { description }),
    ...(enabled === undefined ? {} : { enabled: enabled ? 1 : 0 }),
    ...(enabled === true ? { auto_disabled_at: null } : {}),
  };
  const change = Object.fromEntries(
    Object.entries(wanted).filter(
      ([column, value]) => present[column as keyof WebhookEndpointRow] !== value,
    ),
  ) as Partial<WebhookEndpointRow>;
  // What failed before it was switched on, or where it was before, says nothing of it now.
  const begins =
    change.enabled === 1 || change.auto_disabled_at === null || change.url !== undefined;
  return begins && present.failing_since !== null ? { ...change, failing_since: null } : change;
}

/** From what to what; of the address no more than whose it is, for its path may hold a password. */
function detailsOf(before: WebhookEndpointRow, after: WebhookEndpointRow): Record<string, object> {
  const details: Record<string, object> = {};
  if (before.url !== after.url)
    details.receiver = { from: receiverOf(before.url), to: receiverOf(after.url) };
  if (before.events !== after.events)
    details.events = { from: JSON.parse(before.events), to: JSON.parse(after.events) };
  if (before.description !== after.description)
    details.description = { from: before.description, to: after.description };
  const [from, to] = [endpointStatus(before), endpointStatus(after)];
  if (from !== to) details.status = { from, to };
  return details;
}

const receiverOf = (url: string): string => new URL(url).origin;

/** Gone for everybody at once; what it leaves is removed afterwards. To be called in `transact`. */
export async function deleteEndpoint(
  tx: Tx,
  author: Changer,
  { id, url }: WebhookEndpointRow,
): Promise<void> {
  const { clock, scheduler } = author.app;
  await tx
    .updateTable('webhook_endpoints')
    .set({ deleted_at: isoTime(clock.now()) })
    .where('id', '=', id)
    .execute();
  await auditEndpoint(tx, author, 'deleted', id, { receiver: receiverOf(url) });
  afterCommit(tx, () => scheduler.wake(EXPIRE_DELIVERIES_JOB));
}

/** A new secret; the present one signs beside it for `overlap` seconds, one before that no more. */
export async function rotateSecret(
  tx: Tx,
  author: Changer,
  present: WebhookEndpointRow,
  overlap: number,
): Promise<SecretEndpoint> {
  const { clock, secrets } = author.app;
  const { id } = present;
  const secret = newSigningSecret();
  const change = {
    secret: sealSigningSecret(secrets, id, secret),
    former_secret: overlap === 0 ? null : present.secret,
    former_secret_until: overlap === 0 ? null : isoTime(clock.now() + overlap * 1000),
  };
  await tx.updateTable('webhook_endpoints').set(change).where('id', '=', id).execute();
  await auditEndpoint(tx, author, 'secret_rotated', id, { overlap });
  return { row: { ...present, ...change }, secret };
}

async function auditEndpoint(
  tx: Tx,
  author: Author,
  what: string,
  id: string,
  details: Record<string, unknown>,
): Promise<void> {
  const object = { type: 'webhook_endpoint', id };
  await audit(tx, author, { action: `webhook_endpoint.${what}`, object, details });
}

// Endpoints in the database: found and listed.

const undeleted = (db: Db | Tx) =>
  db.selectFrom('webhook_endpoints').selectAll().where('deleted_at', 'is', null);

/** Throws `not_found`. */
export async function endpointOr404(db: Db | Tx, id: string): Promise<WebhookEndpointRow> {
  const row = await undeleted(db).where('id', '=', id).executeTakeFirst();
  if (!row) throw new AppError('not_found', 'There is no webhook endpoint with this id.');
  return row;
}

/** One page, newest first. */
export async function listEndpoints(db: Db, page: Page) {
  return pageOf(undeleted(db), page);
}

/** Throws `conflict` for one to which nothing is sent. */
export function requireActive(row: WebhookEndpointRow): void {
  if (endpointStatus(row) === 'active') return;
  const why = row.enabled === 0 ? 'is switched off' : 'was switched off because it only failed';
  throw new AppError(
    'conflict',
    `The endpoint ${why}: switch it on first (PATCH /v1/webhooks/endpoints/${row.id} with {"enabled": true}).`,
  );
}
