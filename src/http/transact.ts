/**
 * `call.transact`: the one way in which a route changes something. It authorises the caller again inside the
 * transaction, with the role that the route declares.
 */

import type { App } from '../app.ts';
import { type Tx, transact } from '../store/open.ts';
import type { Actor, CurrentActor, Reauthorize } from './actor.ts';
import type { KeepAnswer } from './idempotency.ts';
import { type AnyCall, type Route, writes } from './route.ts';

/** The transactions of one request. */
export interface RequestTransaction {
  transact: AnyCall['transact'];
  /** Set before the handler runs. */
  keep: KeepAnswer | null;
  /** Throws where the route was to change something, and has not done so by `transact`. */
  requireDone(): void;
}

/** What this throws by itself is a bug in the declaration or the handler of the route. */
export function transactionOf(
  route: Route,
  { app, reauthorize }: { app: App; reauthorize: Reauthorize },
  actor: Actor | null,
): RequestTransaction {
  const { role, operation } = route;
  let done = false;
  const run = async (
    work: (tx: Tx, ...caller: CurrentActor[]) => Promise<unknown>,
    answerOf: (result: unknown) => unknown = (result) => result,
  ) => {
    if (!writes(route)) throw new Error(`${operation} does not declare that it writes`);
    const result = await transact(app.db, async (tx) => {
      const caller = role === 'public' ? [] : [await reauthorize(tx, { app, actor: actor! }, role)];
      const result = await work(tx, ...caller);
      const answer = transaction.keep && answerOf(result);
      if (transaction.keep && answer !== undefined) await transaction.keep(tx, answer);
      return result;
    });
    done = true;
    return result;
  };
  const transaction: RequestTransaction = {
    transact: run as AnyCall['transact'],
    keep: null,
    requireDone() {
      if (role !== 'public' && writes(route) && !done)
        throw new Error(`${operation} has answered without having called transact()`);
    },
  };
  return transaction;
}
