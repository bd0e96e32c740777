/** One effect for one `Idempotency-Key`: the first request acts, and later ones get its answer. */

import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { answerPurpose, sha256 } from '../lib/crypto.ts';
import { AppError, errorMessage } from '../lib/errors.ts';
import type { Db, Tx } from '../store/open.ts';
import type { IdempotencyRow } from '../store/tables.generated.ts';
import type { Actor } from './actor.ts';
import { readBodyOf } from './parse.ts';
import type { RequestContext } from './request-context.ts';
import type { AnyCall, Route } from './route.ts';

/** How long an answer is kept. */
const KEPT_MS = 24 * 3_600_000;
const KEY_MAX = 255;

/** An answer as it is kept, encrypted: it may hold a secret that is shown once. */
export interface KeptAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** A request that is to have one effect. */
interface OnceRequest {
  /** The id of the API key or of the session, or the hash of the token of a link. */
  caller: string;
  key: string;
  /** Of all that makes the request what it is. */
  hash: string;
}

type Used = Pick<OnceRequest, 'caller' | 'key'>;

/**
 * Whether an `Idempotency-Key` means something there: without credentials or the token of a link it
 * is nobody's. So sign-in takes it for nothing: an answer that begins a session is for one who has
 * just told the password, and for no one else who repeats a key.
 */
export function takesIdempotencyKey({ method, role, response, linkToken }: Route): boolean {
  return method === 'POST' && response !== undefined && (role !== 'public' || !!linkToken);
}

type AnswerStore = Pick<App, 'db' | 'clock' | 'secrets' | 'log'>;
/** Keeps the answer in the transaction of the write; where it is not called, `answerOnce` keeps it. */
type Store = (tx: Tx, answer: KeptAnswer) => Promise<void>;

/** The key of a request; null where it has none. Throws `validation_failed`. */
function idempotencyKey(headers: Headers): string | null {
  const key = headers.get('idempotency-key');
  if (key === null || (key.length >= 1 && key.length <= KEY_MAX)) return key;
  const message = `must have 1 to ${KEY_MAX} characters`;
  throw new AppError('validation_failed', `Wrong: Idempotency-Key ${message}.`, [
    { param: 'Idempotency-Key', code: 'invalid', message },
  ]);
}

/** A piece this large is hashed in about a millisecond. */
const PIECE_BYTES = 1024 * 1024;

/** Over the parts and the body; the event loop is free between pieces of a large one. */
async function requestHash(parts: unknown[], raw: Uint8Array): Promise<string> {
  const sum = createHash('sha256').update(JSON.stringify(parts));
  for (let at = 0; at < raw.byteLength; at += PIECE_BYTES) {
    if (at > 0) await nextTurn();
    sum.update(raw.subarray(at, at + PIECE_BYTES));
  }
  return sum.digest('hex');
}

/**
 * Claims the key, then runs; where the key was used, answers what was answered then. What is thrown
 * is not kept: the claim is given up, so that the request can be made again. Throws
 * `idempotency_mismatch` and `idempotency_in_progress`.
 */
async function answerOnce(
  app: AnswerStore,
  request: OnceRequest,
  run: (store: Store) => Promise<KeptAnswer>,
): Promise<{ answer: KeptAnswer; replayed: boolean }> {
  const former = await claim(app, request);
  if (former && !isSame(app, former, request.hash))
    throw new AppError(
      'idempotency_mismatch',
      'This Idempotency-Key was used for another request. Take a new key for each request.',
    );
  if (former) return { answer: replay(app, request, former), replayed: true };
  let stored = false;
  try {
    const answer = await run(async (tx, early) => {
      await store(tx, app, request, early);
      stored = true;
    });
    if (!stored) await store(app.db, app, request, answer);
    return { answer, replayed: false };
  } catch (error) {
    await releaseClaim(app, request);
    throw error;
  }
}

/**
 * What the same request was answered before; null where it was not, and then nothing is claimed. Its
 * hash is asked for only where the key was used. Throws `idempotency_in_progress`.
 */
async function answeredBefore(
  app: AnswerStore,
  used: Used,
  hash: () => Promise<string>,
): Promise<KeptAnswer | null> {
  const former = await findFormer(app.db, app, used);
  return former && isSame(app, former, await hash()) ? replay(app, used, former) : null;
}

/** The hash is kept encrypted: a password may be part of it, which could be tried at leisure. */
const HASH_PURPOSE = 'idempotency request';
const expiry = ({ clock }: Pick<App, 'clock'>): string => isoTime(clock.now() - KEPT_MS);

/** Writes the claim, committed before anything is done; the row of the request that has it already, or null. */
async function claim(app: AnswerStore, { caller, key, hash }: OnceRequest) {
  return app.db.transaction().execute(async (tx): Promise<IdempotencyRow | null> => {
    const former = await findFormer(tx, app, { caller, key });
    if (former) return former;
    const row = {
      request_hash: app.secrets.seal(hash, HASH_PURPOSE),
      created_at: isoTime(app.clock.now()),
      status: null,
      response: null,
    };
    await tx
      .insertInto('idempotency_keys')
      .values({ caller, key, ...row })
      .onConflict((conflict) => conflict.columns(['caller', 'key']).doUpdateSet(row))
      .execute();
    return null;
  });
}

/** The request that used the key within the time that answers are kept. */
async function findFormer(db: Db | Tx, app: AnswerStore, { caller, key }: Used) {
  const former = await db
    .selectFrom('idempotency_keys')
    .selectAll()
    .where('caller', '=', caller)
    .where('key', '=', key)
    .where('created_at', '>', expiry(app))
    .executeTakeFirst();
  return former ?? null;
}

function isSame({ secrets }: AnswerStore, { request_hash }: IdempotencyRow, hash: string): boolean {
  const former = secrets.open(request_hash, HASH_PURPOSE);
  if (former === null) throw unreadable();
  return former === hash;
}

function replay({ secrets }: AnswerStore, used: Used, former: IdempotencyRow): KeptAnswer {
  if (former.status === null || former.response === null)
    throw new AppError(
      'idempotency_in_progress',
      'The request with this Idempotency-Key is still running. Ask again soon.',
      [],
      { 'retry-after': '1' },
    );
  const opened = secrets.open(former.response, answerPurpose(used));
  if (opened === null) throw unreadable();
  return { status: former.status, ...JSON.parse(opened) };
}

const unreadable = () =>
  new AppError(
    'conflict',
    'This Idempotency-Key was used, but its answer can no longer be read: SECRET_KEY has changed.',
  );

/** All but a cookie: its session may have ended when the answer is given again. */
async function store(
  db: Db | Tx,
  { secrets }: AnswerStore,
  request: OnceRequest,
  { status, headers, body }: KeptAnswer,
): Promise<void> {
  const response = secrets.seal(JSON.stringify({ headers, body }), answerPurpose(request));
  await db
    .updateTable('idempotency_keys')
    .set({ status, response })
    .where('caller', '=', request.caller)
    .where('key', '=', request.key)
    .execute();
}

/** Only a claim without an answer: what was stored with the write stands with it. */
async function releaseClaim({ db, log }: AnswerStore, { caller, key }: OnceRequest): Promise<void> {
  try {
    await db
      .deleteFrom('idempotency_keys')
      .where('caller', '=', caller)
      .where('key', '=', key)
      .where('status', 'is', null)
      .execute();
  } catch (error) {
    log.error('an idempotency key stays claimed', { error: errorMessage(error) });
  }
}

/** At the start: what an earlier process has claimed will never be answered. */
export async function dropClaims(db: Db): Promise<void> {
  await db.deleteFrom('idempotency_keys').where('status', 'is', null).execute();
}

const BATCH = 1000;

/** Deletes answers older than a day, in batches, so that a large backlog never stops the process. */
export async function expireAnswers(app: Pick<App, 'db' | 'clock'>): Promise<void> {
  for (;;) {
    const { numDeletedRows } = await app.db
      .deleteFrom('idempotency_keys')
      .where(({ eb, refTuple, selectFrom }) =>
        eb(
          refTuple('caller', 'key'),
          'in',
          selectFrom('idempotency_keys')
            .select(['caller', 'key'])
            .where('created_at', '<=', expiry(app))
            .limit(BATCH)
            .$asTuple('caller', 'key'),
        ),
      )
      .executeTakeFirstOrThrow();
    if (numDeletedRows < BATCH) return;
  }
}

// How routes use an `Idempotency-Key`: whose it is, what makes two requests the same, who gets the answer again.

/** Keeps an answer in the transaction of the change that it tells of. */
export type KeepAnswer = (tx: Tx, answer: unknown) => Promise<void>;

/**
 * What `handle` answers, or what it answered when the same `Idempotency-Key` came before. It is given
 * how its answer is kept; null where there is no key to keep it for.
 */
export async function answerOf(
  route: Route,
  context: RequestContext,
  call: AnyCall,
  present: (value: unknown) => KeptAnswer,
  handle: (keep: KeepAnswer | null) => Promise<unknown>,
): Promise<KeptAnswer> {
  const key = takesIdempotencyKey(route) ? idempotencyKey(call.headers) : null;
  if (key === null) return present(await handle(null));
  const hash = await hashRequest(route, context, call);
  const once = { caller: idempotencyCaller(route, call), key, hash };
  const { answer, replayed } = await answerOnce(call.app, once, async (store) => {
    let kept: KeptAnswer | undefined;
    const late = await handle(async (tx, early) => {
      kept = present(early);
      await store(tx, kept);
    });
    return kept ?? present(late);
  });
  return replayed ? markReplayed(context, answer) : answer;
}

/**
 * For one whose role is too low now: what the same request was answered when it was not, as that
 * answer may have been lost. Throws the refusal for whatever else is asked, and leaves no trace of it.
 */
export async function answerAgain(
  app: App,
  route: Route,
  context: RequestContext,
  { actor, refusal }: { actor: Actor; refusal: AppError },
): Promise<KeptAnswer> {
  const key = context.request.headers.get('idempotency-key');
  if (key === null || !takesIdempotencyKey(route)) throw refusal;
  const used = { caller: credentialId(actor), key };
  const answer = await answeredBefore(app, used, async () => {
    const body = readBodyOf(app, route, context.request).catch(() => {
      throw refusal;
    });
    return hashRequest(route, context, { actor, ...(await body) });
  });
  if (!answer) throw refusal;
  return markReplayed(context, answer);
}

function markReplayed({ fields }: RequestContext, answer: KeptAnswer): KeptAnswer {
  fields['idempotent-replayed'] = 'true';
  return answer;
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
  return requestHash([operation, pathname, search, livemode, body ?? null], raw);
}
