/** The operations that most kinds of objects have: create, list, get, update and delete. */

import type * as v from 'valibot';
import type { App } from '../app.ts';
import type { ErrorCode } from '../lib/errors.ts';
import type { IdPrefix } from '../lib/ids.ts';
import type { Db, Tx } from '../store/open.ts';
import type { Actor, CurrentActor, Role } from './actor.ts';
import { type AnyCall, type DeclaredRoute, route, type Schema } from './route.ts';
import { deletedOf, idOf, listOf, listSchema } from './schemas.ts';

/** What is common to the operations on one kind of object. */
interface Resource<Row extends { id: string }, S extends Schema> {
  /** The `object` field: `alert`. */
  type: string;
  prefix: IdPrefix;
  /** The path of the list: `/v1/alerts`. */
  path: string;
  /** The end of the names of operations: `Alert` for `createAlert` and `listAlerts`. */
  name: string;
  /** In sentences: `alert rule`. */
  noun: string;
  /** The lowest roles that may read and change the objects. */
  roles: { read: Role; change: Role };
  /** The changes are allowed for test-mode keys: see `RouteSpec`. */
  hasTestMode?: true;
  response: S;
  /** What users can edit, for the ETag. Without it, there is no `If-Match`. */
  etag?(shown: v.InferOutput<S>): unknown;
  /** In a transaction, it locks the row. Throws `not_found`, also for an object that the actor may not see. */
  find(db: Db | Tx, id: string, actor: Actor): Promise<Row>;
  present(rows: Row[], context: Context): v.InferInput<S>[] | Promise<v.InferInput<S>[]>;
}

/** Where rows are presented. */
interface Context {
  app: App;
  actor: Actor;
  /** The transaction of a change. */
  db: Db | Tx;
}

/** What changes get of the request. */
type Author = Omit<AnyCall, 'transact' | 'query' | 'body'>;

/** The fields of `RouteSpec` that differ from those of the other operations on the object. */
interface Exceptions {
  description: string;
  /** Default: "Create a monitor", and so on. */
  summary?: string;
  operation?: string;
  role?: Role;
  changesCaller?: true;
  limited?: true;
  errors?: ErrorCode[];
}

type Rows<Row> = Promise<{ rows: Row[]; hasMore: boolean }>;

/** Declares the operations on a kind of object, each with what only that operation has. */
export function resource<Row extends { id: string }, S extends Schema>(
  declaration: Resource<Row, S>,
) {
  const { type, prefix, path, name, noun, roles, hasTestMode, response, etag } = declaration;
  const onObject = { path: `${path}/:id`, params: { id: idOf(prefix, `The ID of the ${noun}.`) } };
  const aNoun = `${/^[aeio]/i.test(noun) ? 'an' : 'a'} ${noun}`;
  const reads = { role: roles.read };
  const changes = { role: roles.change, hasTestMode };

  const presentOne = async (row: Row, context: Context) =>
    (await declaration.present([row], context))[0]!;

  /** The row that the request may change. Throws `precondition_failed`. */
  async function findToChange(tx: Tx, call: Author): Promise<Row> {
    const { app, actor } = call;
    const row = await declaration.find(tx, call.params.id!, actor);
    if (etag) call.ifMatch(await presentOne(row, { app, actor, db: tx }));
    return row;
  }

  /** In a transaction, with the row after the work as the response. */
  const changeRow = (call: AnyCall, work: (tx: Tx, caller: CurrentActor) => Promise<Row>) =>
    call.transact(async (tx, caller) => {
      const { app, actor } = call;
      return presentOne(await work(tx, caller), { app, actor, db: tx });
    });

  return {
    params: onObject.params,

    /** `work` checks the limits, stores the object, and writes the audit entry. */
    create: <B extends Schema>({
      work,
      ...rest
    }: Exceptions & {
      body: B;
      work(tx: Tx, call: Author, body: v.InferOutput<B>): Promise<Row>;
    }) =>
      declare<undefined, B, S>({
        ...changes,
        method: 'POST',
        path,
        operation: `create${name}`,
        summary: `Create ${aNoun}`,
        status: 201,
        etag,
        location: ({ id }: { id: string }) => `${path}/${id}`,
        response,
        ...rest,
        handle: (call) => changeRow(call, (tx) => work(tx, call, call.body as v.InferOutput<B>)),
      }),

    list: <Q extends Schema>({
      rows,
      ...rest
    }: Exceptions & {
      query: Q;
      rows(db: Db, query: v.InferOutput<Q>, call: AnyCall): Rows<Row>;
    }) =>
      declare<Q, undefined, ReturnType<typeof listSchema<S>>>({
        ...reads,
        method: 'GET',
        path,
        operation: `list${name}s`,
        summary: `List ${noun}s`,
        response: listSchema(response),
        ...rest,
        handle: async (call) => {
          const { app, actor, query } = call;
          const page = await rows(app.db, query as v.InferOutput<Q>, call);
          const data = await declaration.present(page.rows, { app, actor, db: app.db });
          return listOf(data, page.hasMore);
        },
      }),

    get: (rest: Exceptions) =>
      declare<undefined, undefined, S>({
        ...reads,
        ...onObject,
        method: 'GET',
        operation: `get${name}`,
        summary: `Get ${aNoun}`,
        etag,
        response,
        ...rest,
        handle: async ({ app, actor, params }) =>
          presentOne(await declaration.find(app.db, params.id!, actor), { app, actor, db: app.db }),
      }),

    update: <B extends Schema>({
      work,
      ...rest
    }: Exceptions & {
      body: B;
      work(tx: Tx, call: Author, current: Row, body: v.InferOutput<B>): Promise<Row>;
    }) =>
      declare<undefined, B, S>({
        ...changes,
        ...onObject,
        method: 'PATCH',
        operation: `update${name}`,
        summary: `Update ${aNoun}`,
        etag,
        response,
        ...rest,
        handle: (call) =>
          changeRow(call, async (tx) =>
            work(tx, call, await findToChange(tx, call), call.body as v.InferOutput<B>),
          ),
      }),

    remove: ({
      work,
      ...rest
    }: Exceptions & {
      work(tx: Tx, call: Author, current: Row, caller: CurrentActor): Promise<void>;
    }) =>
      declare<undefined, undefined, ReturnType<typeof deletedOf>>({
        ...changes,
        ...onObject,
        method: 'DELETE',
        operation: `delete${name}`,
        summary: `Delete ${aNoun}`,
        response: deletedOf(type, prefix),
        ...rest,
        handle: (call) =>
          call.transact(async (tx, caller) => {
            const row = await findToChange(tx, call);
            await work(tx, call, row, caller);
            return { id: row.id, object: type, deleted: true };
          }),
      }),
  };
}

/** `route` without the types of the handler, which depend on schemas that aren't known here. */
const declare = <Q, B, S>(
  spec: Omit<Parameters<typeof route>[0], 'handle' | 'etag' | 'location'> & {
    etag?: unknown;
    location?: unknown;
    handle(call: AnyCall): unknown;
  },
): DeclaredRoute<Q, B, S> => route(spec as never) as DeclaredRoute<Q, B, S>;
