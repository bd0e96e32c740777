/** The unsubscribe link of a test, tried when a member asks: each request at most once, and stored with the test. */

import * as v from 'valibot';
import { readListUnsubscribe } from '../analysis/checks/list-unsubscribe.ts';
import { evaluateOneClick, ONE_CLICK_VALUE } from '../analysis/checks/one-click.ts';
import { scanHeaders } from '../analysis/mime/headers.ts';
import type { App } from '../app.ts';
import { route } from '../http/route.ts';
import {
  Count,
  described,
  idOf,
  listOf,
  listSchema,
  named,
  oneOf,
  Text,
  Time,
  typeField,
  wholeNumber,
} from '../http/schemas.ts';
import { isoTime, monotonicClock } from '../lib/clock.ts';
import { AppError } from '../lib/errors.ts';
import type { TlsFacts } from '../net/http/web.ts';
import { TRY_METHODS } from '../report/document/unsubscribe.ts';
import { readChunks } from '../store/chunks.ts';
import { type Db, type Tx, transact } from '../store/open.ts';
import type { TestRow } from '../store/tables.generated.ts';
import { untilAvailable } from '../store/until-available.ts';
import { audit } from '../team/audit.ts';
import { reauthorize } from '../team/permissions.ts';
import { AUDITED_TEST } from './audited.ts';
import { requireAnalyzed } from './images.ts';
import { testOr404 } from './queries.ts';

const TryResponse = named(
  'UnsubscribeResponse',
  v.object({
    http_status: described(v.nullable(Count), 'Null if there was no response.', 405),
    redirect: described(
      Text,
      'The target of a redirect, which is not followed.',
      'https://news.example.com/login',
    ),
    duration_ms: described(Count, 'How long it took.', 84),
    tls_version: described(Text, 'Null if no certificate was verified.', 'TLSv1.3'),
    certificate_expires_at: described(v.nullable(Time), 'Null if no certificate was verified.'),
  }),
  'The response of the unsubscribe link.',
  { redirect: null },
);

const Try = named(
  'UnsubscribeTry',
  v.object({
    object: typeField('unsubscribe_try'),
    method: described(
      v.picklist(TRY_METHODS),
      '`POST`: the one-click request (RFC 8058). `GET`: what a browser sends.',
    ),
    status: described(
      v.picklist(['running', 'interrupted', 'finished']),
      '`interrupted`: the service stopped before the response arrived, and does not send the request again.',
    ),
    tries: described(Count, 'How often members asked for it. The rest is about the last time.'),
    requested_at: Time,
    verdict: described(
      v.picklist(['pass', 'info', 'warn', 'fail', 'unknown']),
      'Whether the link works.',
    ),
    detail: described(v.string(), 'The verdict in words.'),
    response: described(v.nullable(TryResponse), 'Null unless it is finished.'),
  }),
  'A request to the unsubscribe link of a message.',
  {
    method: 'POST',
    status: 'finished',
    tries: 1,
    verdict: 'fail',
    detail: 'The link responded with status 405. It must accept POST.',
  },
);
export type Try = v.InferOutput<typeof Try>;

const TryRequest = named(
  'TryUnsubscribeLink',
  v.strictObject({
    method: described(v.optional(oneOf(TRY_METHODS), 'POST'), 'The request to send.'),
    after_tries: described(
      v.optional(wholeNumber(0, 1_000_000), 0),
      'The `tries` of this method so far. If another number is stored, nothing is sent, so that a repeated request has no effect.',
    ),
  }),
  'Which request to send.',
  { method: 'POST', after_tries: 0 },
);

const PATH = {
  path: '/v1/tests/:id/unsubscribe_tries',
  params: { id: idOf('test', 'The ID of the test.') },
} as const;

const list = route({
  ...PATH,
  method: 'GET',
  operation: 'listUnsubscribeTries',
  limited: true,
  role: 'viewer',
  summary: 'List tries of the unsubscribe link of a test',
  description:
    'Returns what happened when members tried the unsubscribe link: the last try of each method. Nothing is requested from the link.',
  response: listSchema(Try),
  async handle({ app, actor, params }) {
    const { id } = await testOr404(app, params.id!, actor.livemode);
    return listOf(await findTries(app, id), false);
  },
});

const tryLink = route({
  ...PATH,
  method: 'POST',
  operation: 'tryUnsubscribeLink',
  limited: true,
  role: 'member',
  hasTestMode: true,
  summary: 'Try the unsubscribe link of a test',
  description:
    'Sends one request to the one-click unsubscribe link of the message, as mailbox providers do (RFC 8058), without cookies and without following redirects. It can really unsubscribe the address to which the message was sent, so the service never sends it by itself. The score does not change. To send it again, set `after_tries`.',
  body: TryRequest,
  response: Try,
  errors: ['conflict'],
  async handle(call) {
    const { app, actor, params, body } = call;
    const { method } = body;
    const test = await testOr404(app, params.id!, actor.livemode);
    const url = await requireLink(app, test);
    const isClaimed = await call.transact(
      async (tx) => {
        // The test may have been deleted meanwhile.
        await testOr404({ db: tx }, test.id, actor.livemode);
        const claimed = await claimTry(tx, app, test.id, body);
        if (claimed)
          await audit(tx, call, AUDITED_TEST, 'test.unsubscribe_tried', test.id, { method });
        return claimed;
      },
      () => undefined,
    );
    if (isClaimed) await sendTry(app, test.id, url, body);
    await reauthorize(app.db, call, 'viewer');
    const found = (await findTries(app, test.id)).find((one) => one.method === method);
    // The test was deleted meanwhile, or nobody has tried before.
    if (!found)
      throw new AppError('conflict', 'This link has not been tried: set after_tries to 0.');
    return found;
  },
});

export const unsubscribeOperations = { list, tryLink };

/** The address for one-click unsubscribe in the message of a test. Throws `conflict` if it can't be tried. */
async function requireLink(app: App, test: TestRow): Promise<string> {
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

type Request = v.InferOutput<typeof TryRequest>;

/** Longer than a request takes. An unfinished try that is older was interrupted. */
const MAX_RUNNING_MS = 60_000;

/** Records the try before it is sent. Returns false if it was sent before, or is being sent. */
async function claimTry(
  tx: Tx,
  { clock }: Pick<App, 'clock'>,
  test_id: string,
  { method, after_tries }: Request,
): Promise<boolean> {
  const now = clock.now();
  const row = { tries: after_tries + 1, requested_at: isoTime(now), result: null };
  const insert = tx
    .insertInto('unsubscribe_tries')
    .values({ test_id, method, ...row })
    .onConflict((conflict) => conflict.doNothing());
  const update = tx
    .updateTable('unsubscribe_tries')
    .set(row)
    .where('test_id', '=', test_id)
    .where('method', '=', method)
    .where('tries', '=', after_tries)
    .where((eb) =>
      eb.or([
        eb('result', 'is not', null),
        eb('requested_at', '<=', isoTime(now - MAX_RUNNING_MS)),
      ]),
    );
  const claimed = after_tries === 0 ? insert.returning('tries') : update.returning('tries');
  return (await claimed.execute()).length > 0;
}

/** Sends a claimed try and stores its result. Does not end when the client disconnects. */
async function sendTry(
  app: App,
  testId: string,
  url: string,
  { method, after_tries }: Request,
): Promise<void> {
  const result = JSON.stringify(await request(app, method, url));
  await untilAvailable(() =>
    transact(app.db, (tx) =>
      tx
        .updateTable('unsubscribe_tries')
        .set({ result })
        .where('test_id', '=', testId)
        .where('method', '=', method)
        .where('tries', '=', after_tries + 1)
        .execute(),
    ),
  );
}

type Result = Pick<Try, 'verdict' | 'detail' | 'response'>;

/** The one-click request first. */
export async function findTries(
  { db, clock }: Pick<App, 'clock'> & { db: Db | Tx },
  testId: string,
): Promise<Try[]> {
  const query = db.selectFrom('unsubscribe_tries').selectAll().where('test_id', '=', testId);
  const rows = await query.orderBy('method', 'desc').execute();
  const oldest = isoTime(clock.now() - MAX_RUNNING_MS);
  return rows.map(({ result, test_id: _, ...row }) => {
    const isRunning = row.requested_at > oldest;
    const detail = isRunning
      ? 'The request is being sent.'
      : 'The service stopped before the response arrived. The request may have been sent, and is not repeated.';
    const finished: Result | null = result && JSON.parse(result);
    return {
      object: 'unsubscribe_try',
      ...row,
      status: finished ? 'finished' : isRunning ? 'running' : 'interrupted',
      ...(finished ?? { verdict: 'unknown', detail, response: null }),
    };
  });
}

const TIMEOUT_MS = 15_000;
const MAX_REDIRECT_LENGTH = 500;

/**
 * The request that receivers send (RFC 8058 §3.2), with the content type that Gmail uses: without cookies or credentials.
 * Redirects are not followed.
 */
async function request({ web }: App, method: Try['method'], url: string): Promise<Result> {
  const isPost = method === 'POST';
  let tls: TlsFacts = { tls_version: null, certificate_expires_at: null };
  const startedAt = monotonicClock.now();
  const result = await web({
    method,
    url,
    timeoutMs: TIMEOUT_MS,
    headers: {
      'User-Agent': 'deliverability/1 (+unsubscribe test)',
      ...(isPost && { 'Content-Type': 'application/x-www-form-urlencoded' }),
    },
    body: isPost ? ONE_CLICK_VALUE : undefined,
    isBodyOptional: true,
    onSecured(facts) {
      tls = facts;
    },
  });
  const facts = { duration_ms: Math.round(monotonicClock.now() - startedAt), ...tls };
  const trouble = isPost ? 'fail' : 'warn';
  if (result.status === 'failed')
    return {
      // Other resolvers may find the name.
      verdict: result.reason === 'dns' ? 'unknown' : trouble,
      detail: `The request failed: ${result.detail}.`,
      response: { http_status: null, redirect: null, ...facts },
    };
  const { code, headers } = result;
  const target = headers.location === undefined ? null : URL.parse(headers.location, url);
  const redirect = target?.href.slice(0, MAX_REDIRECT_LENGTH) ?? null;
  const verdict = code >= 400 ? trouble : !isPost ? 'info' : code < 300 ? 'pass' : 'fail';
  const detail = [
    `The link responded with status ${code}`,
    code >= 300 && code < 400 ? `, a redirect to ${redirect ?? 'no address'}` : '',
    '.',
    isPost ? (POST_NOTES[code] ?? POST_NOTES[`${code}`[0]!] ?? '') : '',
  ].join('');
  return { verdict, detail, response: { http_status: code, redirect, ...facts } };
}

/** By status, and by its first digit. */
const POST_NOTES: Record<string, string> = {
  2: ' Check that the address gets no more of this mail.',
  3: ' Senders must not redirect this request (RFC 8058 §3.1).',
  405: ' It must accept POST.',
};
