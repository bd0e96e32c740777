/** Which objects of the audit log still have a page. */

import type { Db } from '../../store/open.ts';
import type { AuditEntry } from '../../team/schema.ts';

export type AuditedObject = Pick<AuditEntry, 'object_type' | 'object_id'>;

type Find = (db: Db, ids: string[], livemode: boolean) => Promise<{ id: string }[]>;

const inTable =
  (
    table:
      | 'domains'
      | 'monitors'
      | 'alerts'
      | 'report_schedules'
      | 'members'
      | 'dns_servers'
      | 'dns_changes',
  ): Find =>
  (db, ids) =>
    db.selectFrom(table).select('id').where('id', 'in', ids).execute();

const inModeOf =
  (table: 'tests' | 'inboxes' | 'webhook_endpoints'): Find =>
  (db, ids, livemode) =>
    db
      .selectFrom(table)
      .select('id')
      .where('id', 'in', ids)
      .where('livemode', '=', Number(livemode))
      .execute();

/** A browser shows the objects of one mode at a time. */
const FINDERS: Record<string, Find> = {
  test: inModeOf('tests'),
  inbox: inModeOf('inboxes'),
  domain: inTable('domains'),
  monitor: inTable('monitors'),
  dns_server: inTable('dns_servers'),
  dns_change: inTable('dns_changes'),
  alert: inTable('alerts'),
  report_schedule: inTable('report_schedules'),
  team_member: inTable('members'),
  webhook_endpoint: inModeOf('webhook_endpoints'),
  webhook_delivery: (db, ids, livemode) =>
    db
      .selectFrom('webhook_deliveries')
      .innerJoin('webhook_endpoints', 'webhook_endpoints.id', 'endpoint_id')
      .select('webhook_deliveries.id')
      .where('webhook_deliveries.id', 'in', ids)
      .where('livemode', '=', Number(livemode))
      .execute(),
};

/** Objects that are only in a list, whose page exists in any case. */
const LISTED = ['shared_report', 'team_invitation', 'api_key', 'receiver'];

/** Returns the IDs of those objects that the reader can open, with one query for each type. */
export async function findOpenable(
  db: Db,
  objects: AuditedObject[],
  livemode: boolean,
): Promise<Set<string>> {
  const found = new Set<string>();
  for (const [type, ofType] of Map.groupBy(objects, ({ object_type }) => object_type)) {
    const ids = [...new Set(ofType.map(({ object_id }) => object_id))];
    const rows = LISTED.includes(type)
      ? ids.map((id) => ({ id }))
      : Object.hasOwn(FINDERS, type)
        ? await FINDERS[type]!(db, ids, livemode)
        : [];
    for (const { id } of rows) found.add(id);
  }
  return found;
}
