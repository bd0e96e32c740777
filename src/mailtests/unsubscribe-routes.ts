/** The operations on the unsubscribe link of a test. */

import * as v from 'valibot';
import type { CheckResult } from '../analysis/result.ts';
import type { App } from '../app.ts';
import { route } from '../http/route.ts';
import { described, idOf, named, oneOf, Time, typeField } from '../http/schemas.ts';
import { AppError } from '../lib/errors.ts';
import { describeTry, TRY_METHODS, type UnsubscribeTry } from '../report/unsubscribe-try.ts';
import type { TestRow } from '../store/tables.generated.ts';
import { audit } from '../team/audit.ts';
import { reauthorize } from '../team/permissions.ts';
import { AUDITED_TEST } from './audited.ts';
import { testOr404 } from './queries.ts';
import { claimTry, findTries, findUnsubscribeLink, sendTry, waitForTry } from './unsubscribe.ts';

const { nullable } = v;
const TEST_ID = idOf('test', 'The ID of the test.');
const Count = v.pipe(v.number('must be a number'), v.integer('must be a whole number'));

const Try = named(
  'UnsubscribeTry',
  v.object({
    object: typeField('unsubscribe_try'),
    method: described(
      v.picklist(TRY_METHODS),
      '`POST` is the one-click request (RFC 8058). `GET` is what a browser sends.',
    ),
    url: described(v.string(), 'The address that was requested.'),
    status: described(
      v.picklist(['running', 'interrupted', 'finished']),
      '`interrupted`: the service stopped before the response arrived. It does not send the request again.',
    ),
    tries: described(Count, 'How often members asked for it. The rest is about the last time.'),
    requested_at: described(Time, 'When it was requested.'),
    verdict: described(
      v.picklist(['pass', 'info', 'warn', 'fail', 'unknown']),
      'Whether the link works as receivers need it.',
    ),
    detail: described(v.string(), 'The verdict in words.'),
    http_status: described(nullable(Count), 'The status of the response. Null without one.'),
    redirect: described(nullable(v.string()), 'The target of a redirect, which is not followed.'),
    duration_ms: described(nullable(Count), 'How long it took, in milliseconds.'),
    tls_version: described(nullable(v.string()), 'The version of TLS. Null without a connection.'),
    certificate_expires_at: described(
      nullable(Time),
      'When the certificate expires. Null if none was verified.',
    ),
  }),
  'A request to the unsubscribe link of a message, and its response.',
  {
    method: 'POST',
    url: 'https://news.example.com/unsubscribe/q3v9',
    status: 'finished',
    tries: 1,
    requested_at: '2026-11-21T10:05:00.000Z',
    verdict: 'fail',
    detail: 'The link rejected the request with status 405. It must accept POST.',
    http_status: 405,
    redirect: null,
    duration_ms: 84,
    tls_version: 'TLSv1.3',
    certificate_expires_at: '2027-02-03T08:00:00.000Z',
  },
);

const UnsubscribeLink = named(
  'UnsubscribeLink',
  v.object({
    object: typeField('unsubscribe_link'),
    test_id: v.string(),
    url: described(
      nullable(v.string()),
      'The https address in List-Unsubscribe. Null if it cannot be tried.',
    ),
    problem: described(nullable(v.string()), 'Why it cannot be tried. Null if it can.'),
    signed: described(
      nullable(v.boolean()),
      'Whether a valid DKIM signature covers both fields (RFC 8058 §4). Null if that was not checked.',
    ),
    tries: described(v.array(Try), 'At most one for each method.'),
  }),
  'The one-click unsubscribe link of a message, and what happened when members tried it.',
  {
    url: 'https://news.example.com/unsubscribe/q3v9',
    problem: null,
    signed: true,
    tries: [],
  },
);
export type UnsubscribeLink = v.InferOutput<typeof UnsubscribeLink>;

const TryRequest = named(
  'TryUnsubscribeLink',
  v.strictObject({
    method: described(
      v.optional(oneOf(TRY_METHODS), 'POST'),
      '`POST` is the one-click request. `GET` shows what a browser gets.',
    ),
    after_tries: described(
      v.optional(v.pipe(Count, v.minValue(0, 'must be at least 0')), 0),
      'The `tries` of this method so far. If another number is stored, nothing is sent, so that a repeated request has no effect.',
    ),
  }),
  'Which request to send.',
  { method: 'POST', after_tries: 0 },
);

const get = route({
  method: 'GET',
  path: '/v1/tests/:id/unsubscribe_link',
  params: { id: TEST_ID },
  operation: 'getUnsubscribeLink',
  role: 'viewer',
  summary: 'Get the unsubscribe link of a test',
  description:
    'Returns the one-click unsubscribe link of the message, and the stored results of tries. Requests nothing.',
  response: UnsubscribeLink,
  async handle({ app, actor, params }) {
    return present(app, await testOr404(app, params.id!, actor.livemode));
  },
});

const tryLink = route({
  method: 'POST',
  path: '/v1/tests/:id/unsubscribe_link/try',
  params: { id: TEST_ID },
  operation: 'tryUnsubscribeLink',
  role: 'member',
  hasTestMode: true,
  summary: 'Try the unsubscribe link of a test',
  description:
    'Sends one request to the one-click unsubscribe link of the message, as mailbox providers do (RFC 8058), without cookies and without following redirects. It can really unsubscribe the address to which the message was sent. The service never sends it by itself. The result is stored with the test, and does not change the score. To send it again, set `after_tries`.',
  body: TryRequest,
  response: UnsubscribeLink,
  errors: ['conflict'],
  async handle(call) {
    const { app, actor, params, body, signal } = call;
    const test = await testOr404(app, params.id!, actor.livemode);
    const link = await findUnsubscribeLink(app, test);
    if ('problem' in link) throw new AppError('conflict', link.problem);
    const request = {
      testId: test.id,
      method: body.method,
      url: link.url,
      afterTries: body.after_tries,
    };
    const isClaimed = await call.transact(
      async (tx) => {
        // The test may have been deleted meanwhile.
        await testOr404({ db: tx }, test.id, actor.livemode);
        const claimed = await claimTry(tx, app, request);
        if (claimed)
          await audit(tx, call, AUDITED_TEST, 'test.unsubscribe_tried', test.id, {
            method: body.method,
          });
        return claimed;
      },
      () => undefined,
    );
    if (isClaimed) await sendTry(app, request);
    else await waitForTry(app, request, signal);
    await reauthorize(app.db, call, 'viewer');
    return present(app, test);
  },
});

export const unsubscribeOperations = { get, tryLink };

async function present(app: App, test: TestRow): Promise<UnsubscribeLink> {
  const link = await findUnsubscribeLink(app, test);
  const checks: CheckResult[] = test.checks === null ? [] : JSON.parse(test.checks);
  const status = checks.find(({ id }) => id === 'one_click_signed')?.status;
  return {
    object: 'unsubscribe_link',
    test_id: test.id,
    url: 'url' in link ? link.url : null,
    problem: 'problem' in link ? link.problem : null,
    signed: status === 'pass' ? true : status === 'fail' ? false : null,
    tries: (await findTries(app, test.id)).map(presentTry),
  };
}

function presentTry(one: UnsubscribeTry): UnsubscribeLink['tries'][number] {
  const { method, url, state, tries, requestedAt, result } = one;
  const [verdict, detail] = describeTry(one);
  return {
    object: 'unsubscribe_try',
    method,
    url,
    status: state,
    tries,
    requested_at: requestedAt,
    verdict,
    detail,
    http_status: result?.status ?? null,
    redirect: result?.redirect ?? null,
    duration_ms: result?.ms ?? null,
    tls_version: result?.tls?.version ?? null,
    certificate_expires_at: result?.tls?.expires ?? null,
  };
}
