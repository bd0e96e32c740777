/** The declaration of an operation: types, validation, role, response, and documentation. */

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

/** The work of a transaction. Routes with a role get the actor as of the transaction. */
type Work<R, T> = (
  tx: Tx,
  ...caller: R extends 'public' ? [] : [caller: CurrentActor]
) => Promise<T>;

/** The transaction of a route with a JSON response. */
interface TransactJson<R, A> {
  /** The work returns the response. */
  (work: Work<R, A>): Promise<A>;
  /** `responseOf` turns the result of the work into the response; undefined if it isn't known yet. */
  <T>(work: Work<R, T>, responseOf: (result: T) => A | undefined): Promise<T>;
}

/** The transaction of a route that creates its Response itself. */
export type Transact<R = 'public'> = <T>(work: Work<R, T>) => Promise<T>;

/** The parameter of a handler: a request that is authorized, parsed, and validated. */
export interface Call<R, Q, B, S = undefined> {
  app: App;
  actor: R extends 'public' ? null : Actor;
  /** Decoded path parameters. */
  params: Record<string, string>;
  query: Q extends Schema ? v.InferOutput<Q> : Record<string, never>;
  body: B extends Schema ? v.InferOutput<B> : undefined;
  /** The bytes of a body that isn't JSON; empty otherwise. */
  raw: Uint8Array;
  headers: Headers;
  /** The client's IP address and user agent. */
  caller: Caller;
  requestId: string;
  /**
   * Counts this request by its IP address under a limit that several routes of a feature share.
   * Throws `rate_limited`.
   */
  consume(limit: RateLimit): Promise<void>;
  /**
   * The only way to change data. Opens a transaction in which `afterCommit` works, reauthorizes the
   * caller for the role of the route, and does the work. The response for an `Idempotency-Key` is
   * stored in the same transaction, so set its header fields before. Rejects as `Reauthorize` and
   * the work do.
   */
  transact: S extends Schema ? TransactJson<R, v.InferInput<S>> : Transact<R>;
  /**
   * Calls another operation in this process, with its authorization, validation, rate limit, and transaction,
   * as the same caller. Resolves with the JSON of its response, or with its Response. Rejects with the AppError that
   * a client would get.
   */
  invoke<T extends Route>(route: T, invocation?: Invocation<T>): Promise<ResultOf<T>>;
  /**
   * Throws `precondition_failed` if the request has an `If-Match` other than the ETag of the current
   * object, in the form that GET returns. Call it inside the transaction of the change.
   */
  ifMatch(current: unknown): void;
  /** true for HEAD: the client doesn't get the body. */
  headOnly: boolean;
  /** Sets a header field of a successful response. Only `set-cookie` can be set more than once. */
  setHeader(name: string, value: string): void;
  /** Aborts when the client disconnects. */
  signal: AbortSignal;
}

export interface RouteSpec<R, Q, B, S> {
  method: Method;
  /** With `:name` for parameters. */
  path: string;
  /** Path parameters to omit from the log, such as the token of a link. */
  secretParams?: string[];
  /** For the documentation: the schemas of the path parameters. Handlers get them as strings. */
  params?: Record<string, Schema>;
  /** The lowest role that may call it. `public` requires no credentials. */
  role: R;
  /**
   * Whether the route changes data and may call `transact`. Defaults to true for routes with a role
   * and a method other than GET; such a route fails if its handler succeeds without `transact`. Set it
   * on a GET or public route that writes. Public routes have no caller to reauthorize.
   */
  writes?: boolean;
  /** The route changes data only by `call.invoke`, and has no transaction of its own. */
  invokes?: true;
  /**
   * The transaction may change or delete the row of the caller, their key or their session. It locks them
   * from the start: two requests that first share a row could not both change it.
   */
  changesCaller?: true;
  /**
   * The route changes only objects that have a mode, and only those in the mode of the key; or it changes
   * nothing for a test-mode key. Test-mode keys may not call any other route that changes something: see
   * `requiresLiveMode`.
   */
  hasTestMode?: true;
  /**
   * Callers who are limited to tags may call it: it reads and changes nothing but what `call.app` and `transact` show them.
   * Without it, they get `forbidden`.
   */
  limited?: true;
  /** For the documentation: the route concerns the current session, so API keys can't use it. */
  sessionOnly?: true;
  /**
   * Accepts cross-origin requests, as web mail clients send them. Only for a public route that is
   * authorized by the token in its path and sets no cookie.
   */
  allowCrossOrigin?: true;
  /**
   * Scripts of any site may call it (CORS): it is public, and reads and sets no cookie. Implies
   * `allowCrossOrigin`.
   */
  anyOrigin?: true;
  /** Accepts the access tokens of connected assistants, and says in a 401 where to get one (RFC 9728 §5.1). */
  acceptsAssistants?: true;
  /** A public page that shows members more: `actor` is set if the request has the cookie of a valid session. */
  identifiesMembers?: true;
  /** For URLs that people share: ignores unknown query parameters and shows errors as pages. */
  isPublicLink?: true;
  /** The title of the operation in the documentation: "Create a test". */
  summary: string;
  /** Further sentences for the documentation. */
  description?: string;
  /** The name of the operation, such as `createTest`. */
  operation: string;
  /**
   * The part of the response that users can edit. Its hash is the ETag, so that changes by the service
   * don't make `If-Match` fail. Set it at least on the GET route. Include the ID.
   */
  etag?(response: S extends Schema ? v.InferOutput<S> : never): unknown;
  /**
   * A stricter limit per IP address, in addition to the general limit. The name of another operation
   * shares the limit of that operation.
   */
  limit?: Rate | string;
  /** Also served on the preview surface. */
  preview?: boolean;
  query?: Q;
  /** A JSON body. */
  body?: B;
  /** What the response to another content type suggests beside `Send application/json`. */
  otherBody?: string;
  /**
   * On a public route: the secret token of a link in the body. It identifies the owner of an
   * `Idempotency-Key`. Other public routes ignore the key.
   */
  linkToken?(body: B extends Schema ? v.InferOutput<B> : never): string;
  /** The content type and size limit of a body that isn't JSON. `also`: other content types that mean the same. */
  consumes?: { type: string; also?: string[]; maxBytes(app: App): number };
  /** Defaults to 200. */
  status?: 200 | 201 | 202;
  /** The path of the new object, if there is a GET route for it that the caller may use. */
  location?(response: S extends Schema ? v.InferOutput<S> : never): string;
  /** For a status that depends on the response. */
  statusOf?(response: S extends Schema ? v.InferOutput<S> : never): 200 | 503;
  /** The schema of the JSON response. Undeclared fields are removed. */
  response?: S;
  /** The content types of a response that the handler creates itself. */
  produces?: string[];
  /** For the documentation: header fields that the handler sets on a successful response. */
  responseHeaders?: ('Content-Disposition' | 'Set-Cookie')[];
  /** For the documentation: the schema of `application/json` in `produces`. */
  json?: Schema;
  /** Error codes beyond those that every route can return. */
  errors?: ErrorCode[];
  handle(
    call: Call<R, Q, B, S>,
  ): S extends Schema ? v.InferInput<S> | Promise<v.InferInput<S>> : Response | Promise<Response>;
}

/** A declared route with erased types, for the router and the documentation. */
export type Route = Omit<
  RouteSpec<Role | 'public', Entries, Schema, Schema>,
  'etag' | 'handle' | 'linkToken' | 'location' | 'statusOf'
> & {
  handle(call: Call<Role, Entries, Schema, Schema>): unknown;
  etag?(response: unknown): unknown;
  linkToken?(body: unknown): string;
  location?(response: unknown): string;
  statusOf?(response: unknown): 200 | 503;
};

/** Whether a route changes data. */
export function writes({
  writes,
  invokes,
  role,
  method,
}: Pick<Route, 'writes' | 'invokes' | 'role' | 'method'>): boolean {
  if (invokes) return false;
  return writes ?? (role !== 'public' && method !== 'GET');
}

/**
 * Test-mode keys read everything, and change what has a test mode, as their role allows. Everything else,
 * such as the team, domains, monitors, alerts, and schedules, they can't change.
 */
export function requiresLiveMode(
  route: Pick<Route, 'role' | 'method' | 'writes' | 'invokes' | 'hasTestMode'>,
): boolean {
  return route.role !== 'public' && writes(route) && !route.hasTestMode;
}

/** The parameter of any handler. On public routes, `actor` is null despite its type, or that of a session. */
export type AnyCall = Parameters<Route['handle']>[0];

/** Exists only in types. */
declare const types: unique symbol;

type InputOf<T> = T extends Schema ? v.InferInput<T> : undefined;

/** A route that remembers the types of its query, body, and response, for `call.invoke`. */
export interface DeclaredRoute<Q, B, S> extends Route {
  readonly [types]?: {
    query: InputOf<Q>;
    body: InputOf<B>;
    result: S extends Schema ? v.InferOutput<S> : Response;
  };
}

interface RouteTypes {
  query: unknown;
  body: unknown;
  result: unknown;
}
type TypesOf<T extends Route> = T extends { readonly [types]?: infer U extends RouteTypes }
  ? U
  : RouteTypes;
export type ResultOf<T extends Route> = TypesOf<T>['result'];

/** What a route gets when another route invokes it. Query values are strings, as in a URL. */
export interface Invocation<T extends Route> {
  params?: Record<string, string>;
  query?: Partial<Record<keyof TypesOf<T>['query'], string | undefined>>;
  body?: TypesOf<T>['body'];
  /** The bytes of a body that isn't JSON. */
  raw?: Uint8Array;
  headers?: Record<string, string>;
}

/** Declares an operation. The schemas determine the types of the handler. */
export function route<
  const R extends Role | 'public',
  Q extends Schema | undefined = undefined,
  B extends Schema | undefined = undefined,
  S extends Schema | undefined = undefined,
>(spec: RouteSpec<R, Q, B, S>): DeclaredRoute<Q, B, S> {
  return spec as unknown as DeclaredRoute<Q, B, S>;
}
