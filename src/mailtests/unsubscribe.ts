/** The unsubscribe link of a test, tried when a member asks: each request at most once, and stored with the test. */

import { readListUnsubscribe } from '../analysis/checks/list-unsubscribe.ts';
import { evaluateOneClick, ONE_CLICK_VALUE } from '../analysis/checks/one-click.ts';
import { scanHeaders } from '../analysis/mime/headers.ts';
import type { App } from '../app.ts';
import { isoTime, monotonicClock } from '../lib/clock.ts';
import { AppError } from '../lib/errors.ts';
import type { TlsFacts } from '../net/http/web.ts';
import type { TryResponse, UnsubscribeTry } from '../report/unsubscribe-try.ts';
import { readChunks } from '../store/chunks.ts';
import { type Db, type Tx, transact } from '../store/open.ts';
import type { TestRow } from '../store/tables.generated.ts';
import { untilAvailable } from '../store/until-available.ts';
import { requireAnalyzed } from './images.ts';

/** The address for one-click unsubscribe in the message of a test. Throws `conflict` if it can't be tried. */
export async function requireUnsubscribeLink(app: App, test: TestRow): Promise<string> {
  const message = await requireAnalyzed(app, test);
  const { value: start } = await readChunks(app.db, message).next();
  const header = scanHeaders(start ?? new Uint8Array());
  const field = readListUnsubscribe(header);
  const { status, title } = evaluateOneClick(header, field, '');
  if (status !== 'pass') throw new AppError('conflict', title);
  if (field.values.length > 1)
    throw new AppError('conflict', 'Your message has more than one List-Unsubscribe field.');
  return field.https[0]!;
}

/** Longer than a request takes. An unfinished try that is older was interrupted. */
const MAX_RUNNING_MS = 60_000;

export async function findTries(
  { db, clock }: Pick<App, 'clock'> & { db: Db | Tx },
  testId: string,
): Promise<UnsubscribeTry[]> {
  const query = db.selectFrom('unsubscribe_tries').selectAll().where('test_id', '=', testId);
  // The one-click request first.
  const rows = await query.orderBy('method', 'desc').execute();
  const oldest = isoTime(clock.now() - MAX_RUNNING_MS);
  return rows.map(({ result, test_id: _, ...row }) => ({
    ...row,
    status: result !== null ? 'finished' : row.requested_at > oldest ? 'running' : 'interrupted',
    response: result && JSON.parse(result),
  }));
}

interface Try extends Pick<UnsubscribeTry, 'method'> {
  testId: string;
  url: string;
  /** How often it was sent before. A repeated request, from a client or another person, doesn't match and sends nothing. */
  afterTries: number;
}

/** Records the try before it is sent. Returns false if it was sent before, or is being sent. */
export async function claimTry(
  tx: Tx,
  { clock }: Pick<App, 'clock'>,
  { testId: test_id, method, afterTries }: Try,
): Promise<boolean> {
  const now = clock.now();
  const row = { tries: afterTries + 1, requested_at: isoTime(now), result: null };
  const insert = tx.insertInto('unsubscribe_tries').values({ test_id, method, ...row });
  const update = tx
    .updateTable('unsubscribe_tries')
    .set(row)
    .where('test_id', '=', test_id)
    .where('method', '=', method)
    .where('tries', '=', afterTries)
    .where((eb) =>
      eb.or([
        eb('result', 'is not', null),
        eb('requested_at', '<=', isoTime(now - MAX_RUNNING_MS)),
      ]),
    );
  const rows = await (afterTries === 0
    ? insert
        .onConflict((conflict) => conflict.doNothing())
        .returning('tries')
        .execute()
    : update.returning('tries').execute());
  return rows.length > 0;
}

const TIMEOUT_MS = 15_000;
const MAX_REDIRECT_LENGTH = 500;

/** Sends a claimed try and stores its result. Does not end when the client disconnects. */
export async function sendTry(app: App, { testId, method, url, afterTries }: Try): Promise<void> {
  const result = JSON.stringify(await request(app, method, url));
  await untilAvailable(() =>
    transact(app.db, (tx) =>
      tx
        .updateTable('unsubscribe_tries')
        .set({ result })
        .where('test_id', '=', testId)
        .where('method', '=', method)
        .where('tries', '=', afterTries + 1)
        .execute(),
    ),
  );
}

/**
 * The request that receivers send (RFC 8058 §3.2), with the content type that Gmail uses: without cookies or credentials.
 * Redirects are not followed.
 */
async function request({ web }: App, method: Try['method'], url: string): Promise<TryResponse> {
  let tls: TlsFacts = { tls_version: null, certificate_expires_at: null };
  const startedAt = monotonicClock.now();
  const result = await web({
    method,
    url,
    timeoutMs: TIMEOUT_MS,
    headers: {
      'User-Agent': 'deliverability/1 (+unsubscribe test)',
      ...(method === 'POST' && { 'Content-Type': 'application/x-www-form-urlencoded' }),
    },
    body: method === 'POST' ? ONE_CLICK_VALUE : undefined,
    isBodyOptional: true,
    onSecured(facts) {
      tls = facts;
    },
  });
  const duration_ms = Math.round(monotonicClock.now() - startedAt);
  if (result.status === 'failed')
    return { http_status: null, redirect: null, problem: result.detail, duration_ms, ...tls };
  const { location } = result.headers;
  const target = location === undefined ? null : URL.parse(location, url);
  const redirect = target?.href.slice(0, MAX_REDIRECT_LENGTH) ?? null;
  return { http_status: result.code, redirect, problem: null, duration_ms, ...tls };
}
