/** The unsubscribe link of a test, tried when a member asks: each request at most once, and stored with the test. */

import { readListUnsubscribe } from '../analysis/checks/list-unsubscribe.ts';
import { ONE_CLICK_VALUE } from '../analysis/checks/one-click.ts';
import { scanHeaders } from '../analysis/mime/headers.ts';
import type { App } from '../app.ts';
import { isoTime, monotonicClock } from '../lib/clock.ts';
import { waitUntil } from '../lib/concurrency.ts';
import type { TlsFacts, WebClient } from '../net/http/web.ts';
import type { TryMethod, TryResult, UnsubscribeTry } from '../report/unsubscribe-try.ts';
import { readChunks } from '../store/chunks.ts';
import { type Db, type Tx, transact } from '../store/open.ts';
import type { TestRow } from '../store/tables.generated.ts';
import { untilAvailable } from '../store/until-available.ts';
import { findMessageOf } from './messages.ts';

// Which link can be tried.

/** The address for one-click unsubscribe in the message of a test, or why there is none, as a sentence. */
export async function findUnsubscribeLink(
  { db, config }: Pick<App, 'db' | 'config'>,
  { id, checks }: Pick<TestRow, 'id' | 'checks'>,
): Promise<{ url: string } | { problem: string }> {
  const problem = (text: string) => ({ problem: text });
  if (!config.CHECK_LINKS)
    return problem(
      'This server makes no requests to addresses in messages: DELIVERABILITY_CHECK_LINKS is false.',
    );
  const message = checks === null ? undefined : await findMessageOf(db, id);
  if (!message) return problem('This test has no analyzed message.');
  const { value: start } = await readChunks(db, message).next();
  const field = readListUnsubscribe(scanHeaders(start ?? new Uint8Array()));
  const { values, https, http, unfilled, post } = field;
  // RFC 8058 §3.1: one https address, beside others that are neither http nor https, and one List-Unsubscribe-Post field.
  if (values.length !== 1)
    return problem(
      `The message has ${values.length === 0 ? 'no' : 'more than one'} List-Unsubscribe field.`,
    );
  if (unfilled.length > 0) return problem('The List-Unsubscribe field has an unfilled merge tag.');
  if (https.length === 0)
    return problem(
      'The List-Unsubscribe field has no https address. One-click unsubscribe needs one; email and http addresses do not work.',
    );
  if (https.length + http.length > 1)
    return problem(
      'The List-Unsubscribe field has more than one web address. One-click unsubscribe needs exactly one, which uses https.',
    );
  if (post.length !== 1 || post[0] !== ONE_CLICK_VALUE)
    return problem(
      `The message needs exactly one List-Unsubscribe-Post field, with the value "${ONE_CLICK_VALUE}".`,
    );
  return { url: https[0]! };
}

// The tries.

/** Longer than a request takes. An unfinished try that is older was interrupted. */
const MAX_RUNNING_MS = 60_000;

export async function findTries(
  { db, clock }: Pick<App, 'clock'> & { db: Db | Tx },
  testId: string,
): Promise<UnsubscribeTry[]> {
  const rows = await db
    .selectFrom('unsubscribe_tries')
    .selectAll()
    .where('test_id', '=', testId)
    // The one-click request first.
    .orderBy('method', 'desc')
    .execute();
  const oldest = isoTime(clock.now() - MAX_RUNNING_MS);
  return rows.map(({ method, url, tries, requested_at, finished_at, result }) => ({
    method,
    url,
    tries,
    requestedAt: requested_at,
    state: finished_at !== null ? 'finished' : requested_at > oldest ? 'running' : 'interrupted',
    result: result === null ? null : JSON.parse(result),
  }));
}

interface Request {
  testId: string;
  method: TryMethod;
  url: string;
  /** How often it was sent before. A repeated request, from a client or another person, doesn't match and sends nothing. */
  afterTries: number;
}

/** Records the request before it is sent. Returns false if it was sent before, or is being sent. */
export async function claimTry(
  tx: Tx,
  { clock }: Pick<App, 'clock'>,
  { testId, method, url, afterTries }: Request,
): Promise<boolean> {
  const row = { url, tries: afterTries + 1, requested_at: isoTime(clock.now()) };
  const reset = { finished_at: null, result: null };
  if (afterTries === 0) {
    const inserted = await tx
      .insertInto('unsubscribe_tries')
      .values({ test_id: testId, method, ...row, ...reset })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    return inserted.numInsertedOrUpdatedRows === 1n;
  }
  const { numUpdatedRows } = await tx
    .updateTable('unsubscribe_tries')
    .set({ ...row, ...reset })
    .where('test_id', '=', testId)
    .where('method', '=', method)
    .where('tries', '=', afterTries)
    .where((eb) =>
      eb.or([
        eb('finished_at', 'is not', null),
        eb('requested_at', '<=', isoTime(clock.now() - MAX_RUNNING_MS)),
      ]),
    )
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

const signalOf = (testId: string): string => `${testId}/unsubscribe`;

/** Sends a claimed request and stores the result. Does not end when the client disconnects. */
export async function sendTry(app: App, { testId, method, url, afterTries }: Request) {
  const result = await request(app.web, method, url);
  const finished = { finished_at: isoTime(app.clock.now()), result: JSON.stringify(result) };
  await untilAvailable(() =>
    transact(app.db, (tx) =>
      tx
        .updateTable('unsubscribe_tries')
        .set(finished)
        .where('test_id', '=', testId)
        .where('method', '=', method)
        .where('tries', '=', afterTries + 1)
        .execute(),
    ),
  );
  app.signals.raise(signalOf(testId));
}

/** Waits for a request that this or another node is sending. */
export const waitForTry = (app: App, { testId, method }: Request, abort: AbortSignal) =>
  waitUntil(
    app,
    { name: signalOf(testId), ms: TIMEOUT_MS, abort },
    () => findTries(app, testId),
    (tries) => tries.every((one) => one.method !== method || one.state !== 'running'),
  );

const TIMEOUT_MS = 15_000;
const MAX_REDIRECT_LENGTH = 500;

/**
 * The request that receivers send (RFC 8058 §3.2), with the content type that Gmail uses: no cookies, no credentials, and
 * redirects are not followed. GET is what a browser sends.
 */
async function request(web: WebClient, method: TryMethod, url: string): Promise<TryResult> {
  let tls: TlsFacts | null = null;
  const startedAt = monotonicClock.now();
  const response = await web({
    method,
    url,
    timeoutMs: TIMEOUT_MS,
    headers: {
      'User-Agent': 'deliverability/1 (+unsubscribe test)',
      ...(method === 'POST' && { 'Content-Type': 'application/x-www-form-urlencoded' }),
    },
    ...(method === 'POST' && { body: ONE_CLICK_VALUE }),
    isBodyOptional: true,
    onSecured(facts) {
      tls = facts;
    },
  });
  const ms = Math.round(monotonicClock.now() - startedAt);
  if (response.status === 'failed')
    return { status: null, redirect: null, problem: response.detail, ms, tls };
  const { code, headers } = response;
  const target = headers.location && URL.parse(headers.location, url)?.href;
  return {
    status: code,
    redirect: target?.slice(0, MAX_REDIRECT_LENGTH) ?? null,
    problem: null,
    ms,
    tls,
  };
}
