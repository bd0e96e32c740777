/** What the audit log has of a kind of object. Features declare theirs, and `team/audit.ts` writes the entries. */

import type { Db } from './open.ts';

export interface AuditedObject<Action extends string = string> {
  /** The `object_type` of its entries. */
  type: string;
  /** Starts a sentence: `Alert rule`. */
  name: string;
  /** Every action that is written, in the order of the filter. */
  actions: readonly Action[];
  /** What the page calls an action, where the words of the action would be unclear. */
  texts?: Partial<Record<Action, string>>;
  /** The page of the object, or of the list with it. */
  page?(id: string): string;
  /** Which of the objects have a page of their own in this mode. Default: the page is a list, which always exists. */
  withPage?(db: Db, ids: string[], livemode: boolean): Promise<{ id: string }[]>;
}

/** Declares a kind of object. The actions determine what `audit` accepts. */
export const audited = <const Action extends string>(
  object: AuditedObject<Action>,
): AuditedObject<Action> => object;

type TableWithModes = 'tests' | 'inboxes' | 'webhook_endpoints';
type TableWithoutModes =
  | 'domains'
  | 'monitors'
  | 'alerts'
  | 'report_schedules'
  | 'members'
  | 'dns_servers'
  | 'dns_changes';

/** For `withPage`: the objects are the rows of this table. */
export const rowsOf =
  (table: TableWithoutModes): AuditedObject['withPage'] =>
  (db, ids) =>
    db.selectFrom(table).select('id').where('id', 'in', ids).execute();

/** As `rowsOf`, for objects that exist in both modes: a browser shows those of one. */
export const rowsInModeOf =
  (table: TableWithModes): AuditedObject['withPage'] =>
  (db, ids, livemode) =>
    db
      .selectFrom(table)
      .select('id')
      .where('id', 'in', ids)
      .where('livemode', '=', Number(livemode))
      .execute();
