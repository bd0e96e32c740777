/** Seed mailboxes that are read through Microsoft Graph: folders, pages, limits, and servers that misbehave. */

// @one-database: about requests to Graph.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { LOOK_JOB } from '../../src/mailtests/placement.ts';
import { storeSignIn } from '../../src/sign-ins/credentials.ts';
import { HOSTILE_RESPONSES, type HttpExchange, startHttpScript } from '../helpers/http-script.ts';
import { type GraphMail, mailTo, NAME, startScene } from './graph-scene.ts';
import { mailWith, placementIn, sendToTest, waitForPlacement, waitForSeed } from './seeding.ts';

test('A message in the inbox is found with Focused or Other as a detail, and what Microsoft says', async (t) => {
  const scene = await startScene(t);
  scene.graph.inbox.push(
    mailTo(scene, {
      inference: 'other',
      headers: { 'X-Microsoft-Antispam': 'BCL:6;' },
    }),
  );
  const { placement, folder, match, searched, reasons } = await scene.wait();
  assert.deepEqual(
    [placement, folder, match, searched],
    ['inbox', 'Inbox', 'address', ['Junk Email', 'Inbox']],
  );
  assert.deepEqual(
    reasons.map(({ name, value }) => [name, value]),
    [
      ['BCL', '6'],
      ['inference', 'other'],
    ],
  );
  assert.equal(reasons[1]!.text, 'Outlook shows the message under Other, not under Focused.');
  const requests = scene.graph.http.exchanges;
  assert.deepEqual([...new Set(requests.map(({ method }) => method))], ['GET']);
  assert.ok(requests.every(({ headers }) => headers.prefer === 'IdType="ImmutableId"'));
  assert.ok(requests.some(({ query }) => query.get('$select')?.includes('internetMessageHeaders')));
});

test('A message in Junk Email is spam, also if a second copy is in the inbox', async (t) => {
  const scene = await startScene(t);
  const receivedAt = new Date(scene.clock.now());
  const headers = { 'X-Forefront-Antispam-Report': 'SFV:SPM;CAT:SPM;SCL:5;' };
  scene.graph.inbox.push(mailTo(scene, { id: 'second', receivedAt }));
  scene.graph.junkemail.push(mailTo(scene, { id: 'first', receivedAt, headers }));
  const { placement, folder, reasons } = await scene.wait();
  assert.deepEqual([placement, folder], ['spam', 'Junk Email']);
  assert.deepEqual(
    reasons.map(({ name, value }) => [name, value]),
    [
      ['SFV', 'SPM'],
      ['CAT', 'SPM'],
      ['SCL', '5'],
    ],
  );
});

test('A message that is moved to the inbox between both lists is in the inbox', async (t) => {
  const scene = await startScene(t);
  const mail = mailTo(scene);
  scene.graph.inbox.push(mail);
  scene.graph.junkemail.push(mail);
  assert.equal((await scene.wait()).placement, 'inbox');
});

test('Without plus addresses, messages are matched by token, Message-ID, or sender and subject', async (t) => {
  for (const [match, fields] of [
    ['token', { html: '<a href="https://x.example/?t=TOKEN">link</a>', subject: 'Other' }],
    ['message_id', { subject: 'Other' }],
    ['probable', { headers: { 'Message-ID': '<other@example.com>' } }],
  ] as const) {
    const scene = await startScene(t, { plus: false });
    const { html, ...rest } = fields as Partial<GraphMail>;
    await sendToTest(scene.service, scene.created, mailWith());
    scene.graph.inbox.push(
      mailTo(scene, { ...rest, html: html?.replace('TOKEN', scene.created.token) ?? '<p>Hi</p>' }),
    );
    const found = await scene.wait();
    assert.deepEqual([found.placement, found.match], ['inbox', match]);
    await scene.service.stop();
  }
});

test('A message on a later page is found', async (t) => {
  const scene = await startScene(t);
  scene.graph.pageSize = 50;
  const now = scene.clock.now();
  for (let i = 0; i < 150; i++)
    scene.graph.inbox.push(
      mailTo(scene, {
        id: `m${i}`,
        receivedAt: new Date(now + 1000 - i),
        headers: { To: NAME, 'Message-ID': `<${i}@example.com>` },
      }),
    );
  scene.graph.inbox.push(mailTo(scene, { receivedAt: new Date(now - 60_000) }));
  assert.equal((await scene.wait()).placement, 'inbox');
  const reads = scene.graph.http.exchanges.filter(({ path }) => path.includes('/me/messages/'));
  assert.equal(
    new Set(reads.map(({ path }) => path)).size,
    reads.length,
    'each message is read once',
  );
});

test('A message that is too long is read without its text', async (t) => {
  const scene = await startScene(t);
  scene.graph.inbox.push(mailTo(scene, { html: 'x'.repeat(6_000_000) }));
  assert.equal((await scene.wait()).placement, 'inbox');
});

test('An access token that Graph rejects is replaced at once', async (t) => {
  const scene = await startScene(t);
  await waitForSeed(scene.service, NAME, ({ last_read_at }) => last_read_at !== null);
  scene.tokens.accessTokens.clear();
  scene.graph.inbox.push(mailTo(scene));
  assert.equal((await scene.wait()).placement, 'inbox');
  assert.equal(scene.tokens.requests.length, 2);
});

/** Lets the server misbehave, and expects the reason; then it works again. */
async function assertProblem(
  t: TestContext,
  problem: string,
  respond: (exchange: HttpExchange) => void,
): Promise<void> {
  const scene = await startScene(t);
  scene.graph.on = (exchange) => {
    respond(exchange);
    return true;
  };
  await waitForSeed(scene.service, NAME, ({ error }) => {
    scene.clock.advance(200);
    return error === problem;
  });
  delete scene.graph.on;
  scene.graph.inbox.push(mailTo(scene));
  await scene.wait((seed) => {
    scene.clock.advance(5000);
    return seed.placement === 'inbox';
  });
}

for (const [what, respond] of HOSTILE_RESPONSES)
  test(`A Graph server that sends ${what} makes the mailbox unreadable until it works`, async (t) => {
    await assertProblem(t, 'bad_response', respond);
  });

test('A link to the next page on another server is not followed', async (t) => {
  const foreign = await startHttpScript(t, ({ json }) => json(200, { value: [] }));
  await assertProblem(t, 'bad_response', ({ json }) =>
    json(200, { value: [], '@odata.nextLink': `${foreign.url}/v1.0/me/messages` }),
  );
  assert.deepEqual(foreign.exchanges, []);
});

test('Endless pages end', async (t) => {
  const scene = await startScene(t);
  scene.graph.on = ({ json, path }) => {
    json(200, { value: [], '@odata.nextLink': `${scene.graph.http.url}${path}?again` });
    return true;
  };
  await sendToTest(scene.service, scene.created);
  await scene.service.getTest(scene.created.id, '?wait=20');
  scene.clock.advance(61 * 60_000);
  const { placement, problem } = await scene.wait();
  assert.deepEqual([placement, problem], ['unknown', 'too_many_messages']);
});

test('Graph is asked again when it says, after it limits requests', async (t) => {
  const scene = await startScene(t);
  scene.graph.on = ({ json }) => {
    json(429, { error: { code: 'TooManyRequests' } }, { 'retry-after': '300' });
    return true;
  };
  const row = await waitForSeed(scene.service, NAME, ({ error }) => {
    scene.clock.advance(200);
    return error === 'throttled';
  });
  assert.ok(Date.parse(row.next_look_at!) - scene.clock.now() > 290_000);
  const before = scene.graph.http.exchanges.length;
  while (scene.graph.http.exchanges.length === before) {
    scene.clock.advance(10_000);
    scene.service.app.scheduler.wakeHere(LOOK_JOB);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.ok(scene.clock.now() >= Date.parse(row.next_look_at!));
});

for (const [what, respond] of [
  ['an error of its own', ({ json }) => json(500, { error: { code: 'ErrorInternalServerError' } })],
  ['a refusal', ({ json }) => json(400, { error: { code: 'ErrorMimeContentInvalid' } })],
  ['invalid JSON', ({ response }) => response.end('{')],
] as [string, (exchange: HttpExchange) => void][])
  test(`A message for which Graph only has ${what} does not hide the others, and is not taken for missing`, async (t) => {
    const scene = await startScene(t);
    const { graph, service, clock } = scene;
    graph.on = (exchange) => {
      if (!exchange.path.endsWith('/broken')) return false;
      respond(exchange);
      return true;
    };
    const to = { To: NAME, 'Message-ID': '<broken@example.com>' };
    graph.inbox.push(mailTo(scene, { id: 'broken', headers: to }), mailTo(scene));
    assert.equal((await scene.wait()).placement, 'inbox');
    const other = await service.createTest({ placement: true });
    // Still there, after that test began.
    graph.inbox[0]!.receivedAt = new Date(clock.now());
    await sendToTest(service, other, mailWith({ 'Message-ID': '<other@example.com>' }));
    await service.getTest(other.id, '?wait=20');
    clock.advance(61 * 60_000);
    const done = await waitForPlacement(
      service,
      other.id,
      (now) => placementIn(now, 'seed').settled,
    );
    const { placement, problem } = placementIn(done, 'seed');
    assert.deepEqual([placement, problem], ['unknown', 'unreadable_message']);
    const row = await waitForSeed(service, NAME, () => true);
    assert.equal(row.error, null);
  });

test('Several messages in Junk Email that Graph does not send hide none in the inbox', async (t) => {
  const scene = await startScene(t);
  const { graph, service } = scene;
  graph.on = ({ path, json }) => {
    if (!/\/broken\d$/.test(path)) return false;
    json(500, { error: { code: 'ErrorInternalServerError' } });
    return true;
  };
  // What was read before counts: Graph works.
  graph.inbox.push(
    mailTo(scene, { id: 'other', headers: { To: NAME, 'Message-ID': '<o@a.example>' } }),
  );
  await waitForSeed(service, NAME, ({ last_read_at }) => last_read_at !== null);
  graph.inbox.push(mailTo(scene));
  for (let i = 0; i < 6; i++)
    graph.junkemail.push(mailTo(scene, { id: `broken${i}`, headers: { To: NAME } }));
  assert.equal((await scene.wait()).placement, 'inbox');
  // A look without anything new asks for some of them again.
  await service.createTest({ placement: true });
  const before = graph.http.exchanges.length;
  while (!graph.http.exchanges.slice(before).some(({ path }) => path.includes('/broken'))) {
    scene.clock.advance(1000);
    service.app.scheduler.wakeHere(LOOK_JOB);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { error, failures } = await waitForSeed(service, NAME, () => true);
  assert.deepEqual([error, failures], [null, 0]);
});

test('A Graph server that sends no message at all makes the mailbox unreadable', async (t) => {
  const scene = await startScene(t);
  scene.graph.on = ({ path, json }) => {
    if (!path.includes('/me/messages/')) return false;
    json(500, { error: { code: 'ErrorInternalServerError' } });
    return true;
  };
  for (let i = 0; i < 5; i++)
    scene.graph.inbox.push(mailTo(scene, { id: `m${i}`, headers: { To: NAME } }));
  const row = await waitForSeed(scene.service, NAME, ({ error }) => {
    scene.clock.advance(200);
    return error !== null;
  });
  assert.equal(row.error, 'unreachable');
  const reads = scene.graph.http.exchanges.filter(({ path }) => path.includes('/me/messages/'));
  assert.ok(reads.length <= 6, `${reads.length} requests`);
});

test('Missing permissions say which one to give', async (t) => {
  const scene = await startScene(t);
  scene.graph.on = ({ json }) => {
    json(403, { error: { code: 'ErrorAccessDenied', message: 'Access is denied.' } });
    return true;
  };
  const { error_detail } = await waitForSeed(scene.service, NAME, ({ error }) => {
    scene.clock.advance(200);
    return error === 'refused';
  });
  assert.match(error_detail!, /delegated permission Mail\.Read.*“ErrorAccessDenied”$/);
});

test('A service that stops does not wait for a silent Graph server', async (t) => {
  const scene = await startScene(t);
  await waitForSeed(scene.service, NAME, ({ last_read_at }) => last_read_at !== null);
  const asked = Promise.withResolvers<void>();
  scene.graph.on = () => {
    asked.resolve();
    return true;
  };
  scene.clock.advance(11_000);
  await asked.promise;
  const startedAt = Date.now();
  await scene.service.stop();
  assert.ok(Date.now() - startedAt < 5000);
});

// Whose mailbox it is.

for (const [what, account] of [
  ['its address', { mail: 'SEED@outlook.example', userPrincipalName: 'other@tenant.example' }],
  ['its user name', { mail: null, userPrincipalName: 'live.com#seed@outlook.example' }],
  [
    'one of its other addresses',
    {
      mail: 'other@outlook.example',
      proxyAddresses: ['SMTP:other@outlook.example', 'smtp:seed@outlook.example'],
    },
  ],
  ['nothing, because the permission is missing', null],
  ['no address', { mail: null, userPrincipalName: null }],
] as const)
  test(`A mailbox is read if Graph tells ${what}`, async (t) => {
    const scene = await startScene(t);
    scene.graph.account = account;
    scene.graph.inbox.push(mailTo(scene));
    assert.equal((await scene.wait()).placement, 'inbox');
  });

test('A sign-in of another account is named, reads no message, and is right after signing in again', async (t) => {
  const scene = await startScene(t, { seed: { device_url: 'https://login.example/device' } });
  const { graph, service, tokens } = scene;
  graph.account = { mail: 'other@outlook.example', userPrincipalName: 'other@outlook.example' };
  graph.inbox.push(mailTo(scene));
  const { error, error_detail } = await waitForSeed(service, NAME, (row) => row.error !== null);
  assert.equal(error, 'wrong_account');
  assert.equal(
    error_detail,
    'The sign-in belongs to other@outlook.example, not to seed@outlook.example. If that account has both addresses, set "user" to other@outlook.example. Otherwise, sign in again. Run: deliverability seed sign-in seed@outlook.example',
  );
  await waitForSeed(service, NAME, ({ failures }) => {
    scene.clock.advance(5000);
    return failures >= 4;
  });
  const requests = graph.http.exchanges.map(({ path }) => path);
  assert.deepEqual(requests, ['/v1.0/me'], 'asked once for each access token');
  graph.account = { mail: NAME };
  tokens.refreshTokens.add('right');
  const { oauth } = service.app.config.SEED_MAILBOXES[0]!;
  await storeSignIn(service.app, { kind: 'seed', name: NAME, oauth: oauth! }, 'right');
  assert.equal((await scene.wait()).placement, 'inbox');
});

test('A mailbox whose address is an alias is read with the user name of its account', async (t) => {
  const scene = await startScene(t, { seed: { user: 'Main@outlook.example' } });
  scene.graph.account = { userPrincipalName: 'main@outlook.example' };
  scene.graph.inbox.push(mailTo(scene));
  assert.equal((await scene.wait()).placement, 'inbox');
});
