/**
 * `call.transact`, the only way for a route to change data. It reauthorizes the caller inside the
 * transaction for the role of the route.
 */

import type { App } from '../app.ts';
import { type Tx, transact } from '../store/open.ts';
import type { Actor, CurrentActor, Reauthorize } from './actor.ts';
import type { StoreResponse } from './idempotency.ts';
import { type AnyCall, type Route, writes } from './route.ts';

/** The transactions of one request. */
export interface RequestTransaction {
  transact: AnyCall['transact'];
  /** Set before the handler runs. */
  storeResponse: StoreResponse | null;
  /** Throws if the route must call `transact` and hasn't. */
  requireCompleted(): void;
}

/** Errors thrown here indicate a bug in the declaration or the handler of the route. */
export function createRequestTransaction(
  route: Route,
  { app, reauthorize }: { app: App; reauthorize: Reauthorize },
  actor: Actor | null,
): RequestTransaction {
  const { role, operation, changesCaller } = route;
  let completed = false;
  const run = async (
    work: (tx: Tx, ...caller: CurrentActor[]) => Promise<unknown>,
    responseOf: (result: unknown) => unknown = (result) => result,
  ) => {
    if (!writes(route)) throw new Error(`${operation} does not declare that it writes`);
    const result = await transact(app.db, async (tx) => {
      const caller =
        role === 'public'
          ? []
          : [await reauthorize(tx, { app, actor: actor! }, role, { changesCaller })];
      const result = await work(tx, ...caller);
      const response = transaction.storeResponse && responseOf(result);
      if (transaction.storeResponse && response !== undefined)
        await transaction.storeResponse(tx, response);
      return result;
    });
    completed = true;
    return result;
  };
  const transaction: RequestTransaction = {
    transact: run as AnyCall['transact'],
    storeResponse: null,
    requireCompleted() {
      if (role !== 'public' && writes(route) && !completed)
        throw new Error(`${operation} returned without calling transact()`);
    },
  };
  return transaction;
}
