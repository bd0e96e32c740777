/** What the audit log has of a kind of object. Features declare theirs, and `team/audit.ts` writes the entries. */

import type { Db } from './open.ts';
import type { Tables } from './tables.generated.ts';

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

type TableWith<Column extends string> = {
  [Table in keyof Tables]: Column extends keyof Tables[Table] ? Table : never;
}[keyof Tables];

// In both queries, the types of one table stand for those of all.

/** For `withPage`: the objects are the rows of this table. */
export const rowsOf =
  (table: TableWith<'id'>): AuditedObject['withPage'] =>
  (db, ids) =>
    db
      .selectFrom(table as 'domains')
      .select('id')
      .where('id', 'in', ids)
      .execute();

/** As `rowsOf`, for objects that exist in both modes: a browser shows those of one. */
export const rowsInModeOf =
  (table: TableWith<'livemode'>): AuditedObject['withPage'] =>
  (db, ids, livemode) =>
    db
      .selectFrom(table as 'tests')
      .select('id')
      .where('id', 'in', ids)
      .where('livemode', '=', Number(livemode))
      .execute();
