/** Endpoints in the database: found and listed. */

import { type Page, pageOf } from '../http/schemas.ts';
import { AppError } from '../lib/errors.ts';
import type { Db, Tx } from '../store/open.ts';
import type { WebhookEndpointRow } from '../store/webhook-tables.ts';
import { endpointStatus } from './present.ts';

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
