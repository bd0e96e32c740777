/** The declaration of one operation: types, validation, role, answer and documentation in one. */

import type * as v from 'valibot';
import type { App } from '../app.ts';
import type { Rate } from '../config/readers.ts';
import type { ErrorCode } from '../lib/errors.ts';
import type { Tx } from '../store/open.ts';
import type { Actor, Caller, CurrentActor, Role } from './actor.ts';
import type { RateLimit } from './rate-limit.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';
export type Schema = v.GenericSchema<unknown, unknown>;
type Entries = v.StrictObjectSchema<v.ObjectEntries, undefined>;

/** What is done in a transaction. `caller`, where the route has a role: the actor as they are inside it. */
type Work<R, T> = (
  tx: Tx,
  ...caller: R extends 'public' ? [] : [caller: CurrentActor]
) => Promise<T>;

/** The transaction of a route whose answer is JSON. */
interface TransactAnswer<R, A> {
  /** What the work returns is the answer of the request. */
  (work: Work<R, A>): Promise<A>;
  /** `answerOf` turns what the work returns into the answer; undefined where there is no answer yet. */
  <T>(work: Work<R, T>, answerOf: (result: T) => A | undefined): Promise<T>;
}

/** The transaction of a route that makes its Response itself. */
export type Transact<R = 'public'> = <T>(work: Work<R, T>) => Promise<T>;

/** What a handler is given: everything parsed, validated and allowed. */
export interface Call<R, Q, B, S = undefined> {
  app: App;
  actor: R extends 'public' ? null : Actor;
  /** The decoded parts of the path. */
  params: Record<string, string>;
  query: Q extends Schema ? v.InferOutput<Q> : Record<string, never>;
  body: B extends Schema ? v.InferOutput<B> : undefined;
  /** The bytes of a body that is not JSON; empty otherwise. */
  raw: Uint8Array;
  headers: Headers;
  /** From where the request comes. */
  caller: Caller;
  requestId: string;
  /**
   * Counts this request, by the address of its client, under a limit that belongs to a feature and
   * not to one route; the answer tells it. Throws `rate_limited`.
   */
  consume(limit: RateLimit): void;
  /**
   * The one way to change something. Opens a transaction in which `afterCommit` works, authorises the
   * caller again for the role of the route, and does the work. An answer that is kept for an
   * `Idempotency-Key` is stored in the same transaction, so that it is committed or rolled back with the
   * change; set header fields of the answer before. Rejects as `Reauthorize` and the work do.
   */
  transact: S extends Schema ? TransactAnswer<R, v.InferInput<S>> : Transact<R>;
  /**
   * Throws `precondition_failed` where the request has an `If-Match` that is not the ETag of the
   * object, presented as the GET of the same path answers it. To be called inside the transaction of
   * the change, once the object is found.
   */
  ifMatch(present: unknown): void;
  /** Only the header fields are asked for (HEAD): nobody gets to see the answer. */
  headOnly: boolean;
  /** A header of the answer; the last of a name counts, but each `set-cookie`. Errors go without. */
  setHeader(name: string, value: string): void;
  /** Aborts when the client goes away. */
  signal: AbortSignal;
}

export interface RouteSpec<R, Q, B, S> {
  method: Method;
  /** `:name` for a part that varies. */
  path: string;
  /** Parts of the path that no log may have, such as the token of a link. */
  secretParams?: string[];
  /** The least role that may; `public` asks for no credentials. */
  role: R;
  /**
   * Whether the route changes something; only one that does can call `transact`. The default is true for
   * a role and any method but GET, and a handler of such a route that succeeds without `transact` is
   * answered with an internal error. A GET or a public route that writes declares it; in a public one
   * `transact` has no caller to authorise again.
   */
  writes?: boolean;
  /** Changes what is live alone, as all but tests is: a test-mode key may not, whatever its role. */
  live?: true;
  /** Concerns the session that asks, so that a key can do nothing with it: documented so. */
  sessionOnly?: true;
  /**
   * On a public route that changes something by the token in its path alone, and sets no cookie: a page
   * of another site may send it, as mail programs that run in a browser do.
   */
  fromAnywhere?: true;
  /**
   * It is found by an address that people pass on: what others add to its query is nothing to it, and a
   * browser gets an error as a page.
   */
  byLink?: true;
  /** One line for the documentation, and a name for the operation (`createTest`). */
  summary: string;
  operation: string;
  /** The answer is an object that can be changed: it carries an ETag. Declared on its GET at least. */
  etag?: boolean;
  /**
   * A stricter limit than that of every operation: for each address, whoever asks. The name of an
   * operation stands for its limit, under which both count together.
   */
  limit?: Rate | string;
  /** Served in the preview surface too. */
  preview?: boolean;
  query?: Q;
  /** A JSON body. */
  body?: B;
  /**
   * On a public route: the token of the link in the body, known to nobody but whom the link was sent
   * to. An `Idempotency-Key` is theirs; other public routes take none.
   */
  linkToken?(body: B extends Schema ? v.InferOutput<B> : never): string;
  /** A body that is not JSON: its type, and the most bytes taken. */
  consumes?: { type: string; maxBytes(app: App): number };
  /** 200 unless said. A 201 carries `location`. */
  status?: 200 | 201 | 202;
  location?(answer: S extends Schema ? v.InferOutput<S> : never): string;
  /** Where the status follows from the answer. */
  statusOf?(answer: S extends Schema ? v.InferOutput<S> : never): 200 | 503;
  /** The JSON that is answered; a field that it does not declare does not leave. */
  response?: S;
  /** The types of an answer that is not JSON alone; the handler then makes the Response. */
  produces?: string[];
  /** What the JSON among them is, for the documentation. */
  json?: Schema;
  /** The error codes of its own; those of every route are understood. */
  errors?: ErrorCode[];
  handle(
    call: Call<R, Q, B, S>,
  ): S extends Schema ? v.InferInput<S> | Promise<v.InferInput<S>> : Response | Promise<Response>;
}

/** A declared route, its types erased: what the router and the documentation work on. */
export type Route = Omit<
  RouteSpec<Role | 'public', Entries, Schema, Schema>,
  'handle' | 'linkToken' | 'location' | 'statusOf'
> & {
  handle(call: Call<Role, Entries, Schema, Schema>): unknown;
  linkToken?(body: unknown): string;
  location?(answer: unknown): string;
  statusOf?(answer: unknown): 200 | 503;
};

/** Whether a route changes something. */
export function writes({
  writes,
  role,
  method,
}: Pick<Route, 'writes' | 'role' | 'method'>): boolean {
  return writes ?? (role !== 'public' && method !== 'GET');
}

/** What the handler of any route is given; on a public one `actor` is null all the same. */
export type AnyCall = Parameters<Route['handle']>[0];

/** Declares an operation; the types of the handler follow from the schemas. */
export function route<
  const R extends Role | 'public',
  Q extends Schema | undefined = undefined,
  B extends Schema | undefined = undefined,
  S extends Schema | undefined = undefined,
>(spec: RouteSpec<R, Q, B, S>): Route {
  return spec as unknown as Route;
}
