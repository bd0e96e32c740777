/** `Idempotency-Key`: the first request takes effect, and later ones get the same response. */

import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { responsePurpose, sha256 } from '../lib/crypto.ts';
import { DAY_MS } from '../lib/durations.ts';
import { AppError, errorMessage, invalidParams } from '../lib/errors.ts';
import { timeIn } from '../store/database-clock.ts';
import { DatabaseUnavailableError } from '../store/errors.ts';
import { isLeaseOf, newLease } from '../store/leases.ts';
import { type Db, engineOf, type Tx, transact } from '../store/open.ts';
import type { IdempotencyRow } from '../store/tables.generated.ts';
import { untilAvailable } from '../store/until-available.ts';
import type { Actor } from './actor.ts';
import { readRouteBody } from './parse.ts';
import type { RequestContext } from './request-context.ts';
import { bodyText, type StoredResponse } from './response.ts';
import type { AnyCall, Route } from './route.ts';

/** How long a response is stored. */
const RETENTION_MS = DAY_MS;
/** Longer than a request can take. After it, a claim without a response was left by a process that has ended. */
const CLAIM_LEASE_MS = 5 * 60_000;
const MAX_KEY_LENGTH = 255;

/** A request that must take effect only once. */
interface IdempotentRequest {
  /** The ID of the API key or session, or the hash of a link token. */
  caller: string;
  key: string;
  /** The hash of everything that identifies the request. */
  hash: string;
}

type CallerKey = Pick<IdempotentRequest, 'caller' | 'key'>;

/**
 * Whether a route supports `Idempotency-Key`. A key belongs to credentials or to a link token. Sign-in
 * has neither, and its response starts a session, which must not be replayed without the password.
 */
export function supportsIdempotencyKey({ method, role, response, linkToken }: Route): boolean {
  return method === 'POST' && response !== undefined && (role !== 'public' || !!linkToken);
}

type StoreContext = Pick<App, 'db' | 'clock' | 'newId' | 'node' | 'secrets' | 'log'>;
/** Stores the response in the transaction of the change. Otherwise `runOnce` stores it afterwards. */
type Store = (tx: Tx, response: StoredResponse) => Promise<void>;

/** The key of a request, or null. Throws `validation_failed`. */
function idempotencyKey(headers: Headers): string | null {
  const key = headers.get('idempotency-key');
  if (key === null || (key.length >= 1 && key.length <= MAX_KEY_LENGTH)) return key;
  const message = `must have 1 to ${MAX_KEY_LENGTH} characters`;
  throw invalidParams([{ param: 'Idempotency-Key', code: 'invalid', message }]);
}

/** Hashing a chunk takes about a millisecond. */
const CHUNK_BYTES = 1024 * 1024;

/** Yields to the event loop between chunks of a large body. */
async function requestHash(parts: unknown[], raw: Uint8Array): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(parts));
  for (let offset = 0; offset < raw.byteLength; offset += CHUNK_BYTES) {
    if (offset > 0) await nextTurn();
    hash.update(raw.subarray(offset, offset + CHUNK_BYTES));
  }
  return hash.digest('hex');
}

/**
 * Claims the key and runs the request, or returns the stored response of a used key. If `run` fails,
 * the claim is released and the request can be retried. Throws `idempotency_mismatch` and
 * `idempotency_in_progress`.
 */
async function runOnce(
  app: StoreContext,
  request: IdempotentRequest,
  run: (store: Store) => Promise<StoredResponse>,
): Promise<{ response: StoredResponse; replayed: boolean }> {
  const lease = newLease(app);
  const previous = await claim(app, request, lease).catch(async (error) => {
    // The claim may have been committed.
    await releaseClaim(app, { ...request, lease }, error);
    throw error;
  });
  if (previous && !isSame(app, previous, request.hash))
    throw new AppError(
      'idempotency_mismatch',
      'This Idempotency-Key was used for a different request. Use a new key for each request.',
    );
  if (previous) return { response: replay(app, request, previous), replayed: true };
  let isStored = false;
  try {
    const response = await run(async (tx, earlyResponse) => {
      await store(tx, app, { ...request, lease }, earlyResponse);
      isStored = true;
    });
    if (!isStored) await store(app.db, app, { ...request, lease }, response);
    return { response, replayed: false };
  } catch (error) {
    await releaseClaim(app, { ...request, lease }, error);
    throw error;
  }
}

/**
 * The stored response of the same request, or null. Claims nothing, and computes the hash only for a
 * used key. Throws `idempotency_in_progress`.
 */
async function findResponse(
  app: StoreContext,
  usedKey: CallerKey,
  hash: () => Promise<string>,
): Promise<StoredResponse | null> {
  const previous = await findPrevious(app.db, app, usedKey);
  return previous && isSame(app, previous, await hash()) ? replay(app, usedKey, previous) : null;
}

/** The hash is stored encrypted, because it may cover a password that could be guessed offline. */
const HASH_PURPOSE = 'idempotency request';
const retentionCutoff = ({ clock }: Pick<App, 'clock'>): string =>
  isoTime(clock.now() - RETENTION_MS);

/** Commits a claim before the request runs. Returns the row of an earlier claim, or null. */
async function claim(
  app: StoreContext,
  { caller, key, hash }: IdempotentRequest,
  lease: string,
): Promise<IdempotencyRow | null> {
  return transact(app.db, async (tx): Promise<IdempotencyRow | null> => {
    const row = {
      request_hash: app.secrets.seal(hash, HASH_PURPOSE),
      created_at: timeIn(app.clock),
      status: null,
      response: lease,
    };
    for (;;) {
      const previous = await findPrevious(tx, app, { caller, key });
      if (previous) return previous;
      const { numInsertedOrUpdatedRows } = await tx
        .insertInto('idempotency_keys')
        .values({ caller, key, ...row })
        .onConflict((conflict) =>
          conflict
            .columns(['caller', 'key'])
            .doUpdateSet(row)
            .where((eb) => eb.not(isInUse(app))),
        )
        .executeTakeFirstOrThrow();
      // Otherwise, a concurrent request has claimed the key since it was looked up. It may also have
      // failed and released the key since then.
      if (numInsertedOrUpdatedRows) return null;
    }
  });
}

/** The request that used the key within the retention time, or null. */
async function findPrevious(db: Db | Tx, app: StoreContext, { caller, key }: CallerKey) {
  const previous = await db
    .selectFrom('idempotency_keys')
    .selectAll()
    .where('caller', '=', caller)
    .where('key', '=', key)
    .where(isInUse(app))
    .executeTakeFirst();
  return previous ?? null;
}

/** Whether a key has a response, or its first request can still be running. */
const isInUse = (app: Pick<App, 'clock'>) =>
  sql<boolean>`(idempotency_keys.created_at > ${retentionCutoff(app)} and
    (idempotency_keys.status is not null or idempotency_keys.created_at > ${timeIn(app.clock, -CLAIM_LEASE_MS)}))`;

function isSame(
  { secrets }: StoreContext,
  { request_hash }: IdempotencyRow,
  hash: string,
): boolean {
  const previous = secrets.open(request_hash, HASH_PURPOSE);
  if (previous === null) throw decryptionError();
  return previous === hash;
}

function replay(
  { secrets }: StoreContext,
  usedKey: CallerKey,
  previous: IdempotencyRow,
): StoredResponse {
  if (previous.status === null || previous.response === null) throw inProgressError();
  const decrypted = secrets.open(previous.response, responsePurpose(usedKey));
  if (decrypted === null) throw decryptionError();
  return { status: previous.status, ...JSON.parse(decrypted) };
}

const inProgressError = () =>
  new AppError(
    'idempotency_in_progress',
    'The first request with this Idempotency-Key is still running. Try again in a second.',
    [],
    { 'retry-after': '1' },
  );

const decryptionError = () =>
  new AppError(
    'conflict',
    "The response for this Idempotency-Key can't be decrypted because the server's secret key has changed. Use a new Idempotency-Key.",
  );

/**
 * The response is encrypted, because it may contain a secret that is shown once.
 * Cookies aren't stored: their session may have ended when the response is replayed. Throws if another request has
 * claimed the key since, which rolls back the change.
 */
async function store(
  db: Db | Tx,
  { secrets }: StoreContext,
  request: IdempotentRequest & { lease: string },
  { status, headers, body }: StoredResponse,
): Promise<void> {
  const response = secrets.seal(
    JSON.stringify({ headers, body: bodyText(body) }),
    responsePurpose(request),
  );
  const { numUpdatedRows } = await db
    .updateTable('idempotency_keys')
    .set({ status, response })
    .where('caller', '=', request.caller)
    .where('key', '=', request.key)
    .where('status', 'is', null)
    .where('response', '=', request.lease)
    .executeTakeFirstOrThrow();
  if (numUpdatedRows === 0n) throw inProgressError();
}

/**
 * After `error`, deletes a claim, but only if it has no response: one stored in the transaction of its change is kept.
 * If the database is unavailable, the client gets its error now, and the claim is deleted later.
 */
async function releaseClaim(
  { db, log }: StoreContext,
  { caller, key, lease }: CallerKey & { lease: string },
  error: unknown,
): Promise<void> {
  const release = async () => {
    await db
      .deleteFrom('idempotency_keys')
      .where('caller', '=', caller)
      .where('key', '=', key)
      .where('status', 'is', null)
      .where('response', '=', lease)
      .execute();
  };
  const releaseLater = () =>
    untilAvailable(release).catch((reason) =>
      log.error('could not release idempotency key', { error: errorMessage(reason) }),
    );
  if (error instanceof DatabaseUnavailableError) void releaseLater();
  else await release().catch(() => void releaseLater());
}

/** Deletes the unfinished claims of an earlier process, on PostgreSQL of a node with this name. Call it at start. */
export async function releaseClaims(db: Db, node: string): Promise<void> {
  await db
    .deleteFrom('idempotency_keys')
    .where('status', 'is', null)
    .$if(engineOf(db) === 'postgres', (query) => query.where(isLeaseOf(node, 'response')))
    .execute();
}

const BATCH_SIZE = 1000;

/** Deletes responses older than a day, in batches, so that a large backlog doesn't block the process. */
export async function deleteExpiredResponses(app: Pick<App, 'db' | 'clock'>): Promise<void> {
  for (;;) {
    const { numDeletedRows } = await app.db
      .deleteFrom('idempotency_keys')
      .where(({ eb, refTuple, selectFrom }) =>
        eb(
          refTuple('caller', 'key'),
          'in',
          selectFrom('idempotency_keys')
            .select(['caller', 'key'])
            .where('created_at', '<=', retentionCutoff(app))
            .limit(BATCH_SIZE)
            .$asTuple('caller', 'key'),
        ),
      )
      .executeTakeFirstOrThrow();
    if (numDeletedRows < BATCH_SIZE) return;
  }
}

// `Idempotency-Key` in routes: who owns a key, which requests count as the same, and who gets a replay.

/** Stores a response in the transaction of its change. */
export type StoreResponse = (tx: Tx, response: unknown) => Promise<void>;

/**
 * Returns the response of `handle`, or the stored response for the same `Idempotency-Key`. `storeResponse` is
 * null for requests without a key.
 */
export async function respondIdempotently(
  route: Route,
  context: RequestContext,
  call: AnyCall,
  present: (value: unknown) => StoredResponse,
  handle: (storeResponse: StoreResponse | null) => Promise<unknown>,
): Promise<StoredResponse> {
  const key = supportsIdempotencyKey(route) ? idempotencyKey(call.headers) : null;
  if (key === null) return present(await handle(null));
  const hash = await hashRequest(route, context, call);
  const request = { caller: idempotencyCaller(route, call), key, hash };
  const { response, replayed } = await runOnce(call.app, request, async (store) => {
    let stored: StoredResponse | undefined;
    const result = await handle(async (tx, earlyResponse) => {
      stored = present(earlyResponse);
      await store(tx, stored);
    });
    return stored ?? present(result);
  });
  return replayed ? markReplayed(context, response) : response;
}

/**
 * For a caller whose role is too low now: returns the stored response if the same request succeeded
 * earlier, because the client may not have received it. Otherwise throws the refusal.
 */
export async function replayAfterDemotion(
  app: App,
  route: Route,
  context: RequestContext,
  { actor, refusal }: { actor: Actor; refusal: AppError },
): Promise<StoredResponse> {
  const key = context.request.headers.get('idempotency-key');
  if (key === null || !supportsIdempotencyKey(route)) throw refusal;
  const usedKey = { caller: credentialId(actor), key };
  const response = await findResponse(app, usedKey, async () => {
    const body = readRouteBody(app, route, context).catch(() => {
      throw refusal;
    });
    return hashRequest(route, context, { actor, ...(await body) });
  });
  if (!response) throw refusal;
  return markReplayed(context, response);
}

function markReplayed(
  { responseHeaders }: RequestContext,
  response: StoredResponse,
): StoredResponse {
  responseHeaders['idempotent-replayed'] = 'true';
  return response;
}

interface IdentifiedRequest {
  /** Null on a public route. */
  actor: Actor | null;
  body: unknown;
  raw: Uint8Array;
}

function idempotencyCaller({ linkToken }: Route, { actor, body }: IdentifiedRequest): string {
  return linkToken ? `link:${sha256(linkToken(body))}` : credentialId(actor!);
}

const credentialId = ({ keyId, sessionId }: Actor): string => (keyId ?? sessionId)!;

function hashRequest(
  { operation }: Route,
  { pathname, search }: RequestContext,
  { actor, body, raw }: IdentifiedRequest,
): Promise<string> {
  const livemode = actor?.livemode ?? null;
  // After a change of the limit, it is another request: its response may show what the caller no longer sees.
  const limit = actor?.tags ? [actor.tags] : [];
  return requestHash([operation, pathname, search, livemode, body ?? null, ...limit], raw);
}
