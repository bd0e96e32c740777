/** The audit log. Entries are written in the same transaction as the change. */

import type { App } from '../app.ts';
import type { Actor, Caller } from '../http/actor.ts';
import { fetchPage, type Page } from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import type { AuditedObject } from '../store/audited.ts';
import type { Db, Tx } from '../store/open.ts';
import type { AuditFilters } from './schema.ts';

/** The author of a change. A null actor is the service itself or a command on the server. */
export interface Author {
  app: Pick<App, 'clock' | 'newId'>;
  actor: Pick<Actor, 'memberId' | 'email' | 'keyId' | 'sessionId'> | null;
  caller: Pick<Caller, 'ip'>;
}

/** `details` say what changed, without secrets. */
export async function audit<Action extends string>(
  tx: Tx,
  { app, actor, caller }: Author,
  object: AuditedObject<Action>,
  action: NoInfer<Action>,
  id: string,
  details: Record<string, unknown> = {},
): Promise<void> {
  await tx
    .insertInto('audit_log')
    .values({
      id: app.newId('aud'),
      created_at: isoTime(app.clock.now()),
      member_id: actor?.memberId ?? null,
      member_email: actor?.email ?? null,
      key_id: actor?.keyId ?? null,
      session_id: actor?.sessionId ?? null,
      ip: caller.ip,
      action,
      object_type: object.type,
      object_id: id,
      details: JSON.stringify(details),
    })
    .execute();
}

/** One page of the matching entries, newest first. */
export async function listAudit(db: Db, filters: AuditFilters, page: Page) {
  const { action, object_id, member_id, created_after, created_before } = filters;
  const all = db.selectFrom('audit_log').selectAll();
  let query = all;
  if (action) query = query.where('action', '=', action);
  if (object_id) query = query.where('object_id', '=', object_id);
  if (member_id) query = query.where('member_id', '=', member_id);
  if (created_after) query = query.where('created_at', '>=', created_after);
  if (created_before) query = query.where('created_at', '<', created_before);
  return fetchPage(query, page, all);
}
