/** The audit log in the database, read. */

import { type Page, pageOf } from '../http/schemas.ts';
import type { Db } from '../store/open.ts';
import type { AuditFilters } from './schema.ts';

/** One page of the entries that match, newest first. */
export async function listAudit(db: Db, filters: AuditFilters, page: Page) {
  const { action, object_id, member_id, created_after, created_before } = filters;
  let query = db.selectFrom('audit_log').selectAll();
  if (action) query = query.where('action', '=', action);
  if (object_id) query = query.where('object_id', '=', object_id);
  if (member_id) query = query.where('member_id', '=', member_id);
  if (created_after) query = query.where('created_at', '>=', created_after);
  if (created_before) query = query.where('created_at', '<', created_before);
  return pageOf(query, page);
}
