/** Creates, updates, and deletes endpoints and rotates their secrets, with audit entries. */

import type { App } from '../app.ts';
import type { Actor } from '../http/actor.ts';
import { fetchPage, type Page } from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import { AppError } from '../lib/errors.ts';
import { audited, rowsInModeOf } from '../store/audited.ts';
import { afterCommit, type Db, lockIn, type Tx } from '../store/open.ts';
import { requireBelowLimit } from '../store/queries.ts';
import type { WebhookEndpointRow } from '../store/tables.generated.ts';
import { type Author, audit } from '../team/audit.ts';
import { holdPending } from './endpoint-health.ts';
import { requireAllowedUrl } from './endpoint-url.ts';
import { EXPIRE_DELIVERIES_JOB } from './expire.ts';
import { ENDPOINT_ROW, type EndpointPatch, endpointStatus, type NewEndpoint } from './schema.ts';
import { newSigningSecret, sealSigningSecret } from './signatures.ts';

/** In each mode, because every event is matched against every endpoint of its mode. */
const MAX_ENDPOINTS = 100;

export const AUDITED_ENDPOINT = audited({
  type: 'webhook_endpoint',
  name: 'Webhook endpoint',
  actions: [
    'webhook_endpoint.created',
    'webhook_endpoint.changed',
    'webhook_endpoint.tested',
    'webhook_endpoint.secret_rotated',
    'webhook_endpoint.recovered',
    'webhook_endpoint.deleted',
  ],
  page: (id) => `/webhooks/${id}`,
  withPage: rowsInModeOf('webhook_endpoints'),
});

/** The author of a change, with the complete App. */
type EndpointAuthor = Author & { app: App };

/** The mode of the caller, who sees only the endpoints of this mode. */
type Mode = Pick<Actor, 'livemode'>;

/** An endpoint with its plaintext secret, for the one response that shows it. */
export interface EndpointAndSecret {
  row: WebhookEndpointRow;
  secret: string;
}

/** Throws `conflict` if there are too many, and `validation_failed` for a URL whose host is known not to be public. */
export async function createEndpoint(
  tx: Tx,
  author: EndpointAuthor & { actor: Mode },
  { url, events, description = null, enabled }: NewEndpoint,
): Promise<EndpointAndSecret> {
  requireAllowedUrl(url, author.app.config.WEBHOOK_ALLOW_NETWORKS);
  const { livemode } = author.actor;
  await requireBelowLimit(tx, endpointsInMode(tx, livemode), {
    max: MAX_ENDPOINTS,
    noun: 'webhook endpoints',
  });
  const { app } = author;
  const id = app.newId('whe');
  const secret = newSigningSecret();
  const row: WebhookEndpointRow = {
    id,
    url,
    ...ENDPOINT_ROW.encode({ events, enabled, livemode }),
    description,
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
  await audit(tx, author, AUDITED_ENDPOINT, 'webhook_endpoint.created', id, details);
  return { row, secret };
}

/** Applies a patch, if it changes anything, and returns the resulting row. */
export async function changeEndpoint(
  tx: Tx,
  author: EndpointAuthor,
  current: WebhookEndpointRow,
  patch: EndpointPatch,
): Promise<WebhookEndpointRow> {
  if (patch.url !== undefined)
    requireAllowedUrl(patch.url, author.app.config.WEBHOOK_ALLOW_NETWORKS);
  const change = changeOf(current, patch);
  if (Object.keys(change).length === 0) return current;
  const { id } = current;
  const row = { ...current, ...change };
  await tx.updateTable('webhook_endpoints').set(change).where('id', '=', id).execute();
  if (change.enabled === 0) await holdPending(tx, id);
  await audit(
    tx,
    author,
    AUDITED_ENDPOINT,
    'webhook_endpoint.changed',
    id,
    detailsOf(current, row),
  );
  return row;
}

function changeOf(current: WebhookEndpointRow, patch: EndpointPatch): Partial<WebhookEndpointRow> {
  const enabling = patch.enabled === true ? { auto_disabled_at: null } : {};
  const { columns: change } = ENDPOINT_ROW.changes(current, { ...patch, ...enabling });
  // Earlier failures say nothing about an endpoint that was just enabled or moved to another URL.
  const resetsFailures =
    change.enabled === 1 || change.auto_disabled_at === null || change.url !== undefined;
  return resetsFailures && current.failing_since !== null
    ? { ...change, failing_since: null }
    : change;
}

/** The changes for the audit log, with the origin of the URL only: its path may contain a secret. */
function detailsOf(before: WebhookEndpointRow, after: WebhookEndpointRow): Record<string, object> {
  const { events, description } = ENDPOINT_ROW.decode(after);
  const { details } = ENDPOINT_ROW.changes(before, { events, description });
  if (before.url !== after.url)
    details.receiver = { from: receiverOf(before.url), to: receiverOf(after.url) };
  const [from, to] = [endpointStatus(before), endpointStatus(after)];
  if (from !== to) details.status = { from, to };
  return details;
}

const receiverOf = (url: string): string => new URL(url).origin;

/** Marks an endpoint as deleted; a job removes its deliveries later. Call in `transact`. */
export async function deleteEndpoint(
  tx: Tx,
  author: EndpointAuthor,
  { id, url }: WebhookEndpointRow,
): Promise<void> {
  const { clock, scheduler } = author.app;
  await tx
    .updateTable('webhook_endpoints')
    .set({ deleted_at: isoTime(clock.now()) })
    .where('id', '=', id)
    .execute();
  await audit(tx, author, AUDITED_ENDPOINT, 'webhook_endpoint.deleted', id, {
    receiver: receiverOf(url),
  });
  afterCommit(tx, () => scheduler.wake(EXPIRE_DELIVERIES_JOB));
}

/** Creates a new secret. The current one also signs for `overlap` seconds; older ones stop signing. */
export async function rotateSecret(
  tx: Tx,
  author: EndpointAuthor,
  current: WebhookEndpointRow,
  overlap: number,
): Promise<EndpointAndSecret> {
  const { clock, secrets } = author.app;
  const { id } = current;
  const secret = newSigningSecret();
  const change = {
    secret: sealSigningSecret(secrets, id, secret),
    former_secret: overlap === 0 ? null : current.secret,
    former_secret_until: overlap === 0 ? null : isoTime(clock.now() + overlap * 1000),
  };
  await tx.updateTable('webhook_endpoints').set(change).where('id', '=', id).execute();
  await audit(tx, author, AUDITED_ENDPOINT, 'webhook_endpoint.secret_rotated', id, { overlap });
  return { row: { ...current, ...change }, secret };
}

// Queries.

/** Without those that users have deleted. */
const endpointsInMode = (db: Db | Tx, livemode: boolean) =>
  db
    .selectFrom('webhook_endpoints')
    .where('livemode', '=', livemode ? 1 : 0)
    .where('deleted_at', 'is', null);

/** Throws `not_found`, also for an endpoint of the other mode. */
export async function endpointOr404(
  db: Db | Tx,
  id: string,
  { livemode }: Mode,
): Promise<WebhookEndpointRow> {
  const query = endpointsInMode(db, livemode).selectAll().where('id', '=', id);
  const row = await lockIn(db, query).executeTakeFirst();
  if (!row) throw new AppError('not_found', 'No such webhook endpoint.');
  return row;
}

/** One page of the endpoints in this mode, newest first. */
export async function listEndpoints(db: Db, { livemode }: Mode, page: Page) {
  return fetchPage(endpointsInMode(db, livemode).selectAll(), page);
}

/** Throws `conflict` if the endpoint is disabled. */
export function requireActive(row: WebhookEndpointRow): void {
  if (endpointStatus(row) === 'active') return;
  const state =
    row.enabled === 0 ? 'is disabled' : 'was disabled because every delivery attempt failed';
  throw new AppError('conflict', `This endpoint ${state}. Enable it, then try again.`);
}
