/** The operations on the unsubscribe link of a test. */

import * as v from 'valibot';
import { route } from '../http/route.ts';
import {
  described,
  idOf,
  listOf,
  listSchema,
  named,
  oneOf,
  Time,
  typeField,
} from '../http/schemas.ts';
import { AppError } from '../lib/errors.ts';
import { describeTry, TRY_METHODS, type UnsubscribeTry } from '../report/unsubscribe-try.ts';
import { audit } from '../team/audit.ts';
import { reauthorize } from '../team/permissions.ts';
import { AUDITED_TEST } from './audited.ts';
import { testOr404 } from './queries.ts';
import { claimTry, findTries, requireUnsubscribeLink, sendTry } from './unsubscribe.ts';

const { nullable } = v;
const TEST_ID = idOf('test', 'The ID of the test.');
const Count = v.pipe(v.number('must be a number'), v.integer('must be a whole number'));

const TryResponse = named(
  'UnsubscribeResponse',
  v.object({
    http_status: described(nullable(Count), 'Null if there was no response.', 405),
    redirect: described(
      nullable(v.string()),
      'The target of a redirect, which is not followed.',
      'https://news.example.com/login',
    ),
    problem: described(nullable(v.string()), 'Why there was no response.', 'no response in time'),
    duration_ms: described(Count, 'How long it took.', 84),
    tls_version: described(nullable(v.string()), 'Null if no certificate was verified.', 'TLSv1.3'),
    certificate_expires_at: described(nullable(Time), 'Null if no certificate was verified.'),
  }),
  'The response of the unsubscribe link.',
  { redirect: null, problem: null },
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
    response: described(nullable(TryResponse), 'Null unless it is finished.'),
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
      v.optional(Count, 0),
      'The `tries` of this method so far. If another number is stored, nothing is sent, so that a repeated request has no effect.',
    ),
  }),
  'Which request to send.',
  { method: 'POST', after_tries: 0 },
);

const PATH = { path: '/v1/tests/:id/unsubscribe_tries', params: { id: TEST_ID } } as const;

const list = route({
  ...PATH,
  method: 'GET',
  operation: 'listUnsubscribeTries',
  role: 'viewer',
  summary: 'List tries of the unsubscribe link of a test',
  description:
    'Returns what happened when members tried the unsubscribe link: the last try of each method. Nothing is requested from the link.',
  response: listSchema(Try),
  async handle({ app, actor, params }) {
    const { id } = await testOr404(app, params.id!, actor.livemode);
    return listOf((await findTries(app, id)).map(present), false);
  },
});

const tryLink = route({
  ...PATH,
  method: 'POST',
  operation: 'tryUnsubscribeLink',
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
    const { method, after_tries: afterTries } = body;
    const test = await testOr404(app, params.id!, actor.livemode);
    const url = await requireUnsubscribeLink(app, test);
    const request = { testId: test.id, method, url, afterTries };
    const isClaimed = await call.transact(
      async (tx) => {
        // The test may have been deleted meanwhile.
        await testOr404({ db: tx }, test.id, actor.livemode);
        const claimed = await claimTry(tx, app, request);
        if (claimed)
          await audit(tx, call, AUDITED_TEST, 'test.unsubscribe_tried', test.id, { method });
        return claimed;
      },
      () => undefined,
    );
    if (isClaimed) await sendTry(app, request);
    await reauthorize(app.db, call, 'viewer');
    const found = (await findTries(app, test.id)).find((one) => one.method === method);
    // The test was deleted meanwhile, or nobody has tried before.
    if (!found)
      throw new AppError('conflict', 'This link has not been tried: set after_tries to 0.');
    return present(found);
  },
});

export const unsubscribeOperations = { list, tryLink };

function present(one: UnsubscribeTry): Try {
  const [verdict, detail] = describeTry(one);
  return { object: 'unsubscribe_try', ...one, verdict, detail };
}
