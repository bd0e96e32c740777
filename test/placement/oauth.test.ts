/** Seed mailboxes that sign in with OAuth 2: access tokens, replaced refresh tokens, and what goes wrong with them. */

// @one-database: about mailboxes; `api` stores their results in both.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Test } from '../../src/mailtests/schema.ts';
import type { SeedPlacement } from '../../src/mailtests/schemas/placement.ts';
import { storeSignIn } from '../../src/sign-ins/credentials.ts';
import type { TestService } from '../helpers/app.ts';
import { HOSTILE_RESPONSES, type HttpExchange } from '../helpers/http-script.ts';
import { type ImapServer, startImapServer } from '../helpers/imap-server.ts';
import { startTokenServer, type TokenServer } from '../helpers/token-server.ts';
import {
  mailWith,
  type OffsetClock,
  offsetClock,
  placementIn,
  sendToTest,
  startSeeding,
  waitForPlacement,
  waitForSeed,
} from './seeding.ts';

interface Scene {
  clock: OffsetClock;
  tokens: TokenServer;
  imap: ImapServer;
  seeds: object[];
}

const NAME = 'seed@mail.example';

/** A mailbox that accepts the access tokens of a token endpoint, and another with a password. */
async function startScene(
  t: TestContext,
  settings: Parameters<typeof startTokenServer>[1] = {},
  seed: object = { refresh_token: 'first-refresh-token' },
): Promise<Scene> {
  const tokens = await startTokenServer(t, settings);
  const folders = () => [
    { name: 'INBOX', messages: [] },
    { name: 'Junk', flags: ['\\Junk'], messages: [] },
  ];
  const imap = await startImapServer(t, {
    folders: folders(),
    acceptsToken: (token, user) => user === NAME && tokens.accessTokens.has(token),
  });
  const healthy = await startImapServer(t, { folders: folders() });
  const seeds = [
    {
      provider: 'scripted',
      address: NAME,
      imap: `imap://127.0.0.1:${imap.port}`,
      client_id: 'app',
      token_url: tokens.url,
      connections: 1,
      device_url: 'https://login.example/device',
      ...seed,
    },
    { provider: 'healthy', address: 'well@other.example', imap: healthy.url },
  ];
  return { clock: offsetClock(), tokens, imap, seeds };
}

/** Creates a test whose message is in the inbox of the scripted mailbox. */
async function sendTo(service: TestService, { imap, clock }: Scene): Promise<Test> {
  const created = await service.createTest({ placement: true });
  const { messages } = imap.script.folders[0]!;
  const to = placementIn(created, 'seed').address;
  messages.push({
    uid: messages.length + 1,
    receivedAt: new Date(clock.now()),
    raw: mailWith({ To: to, 'Message-ID': `<${created.id}@example.com>` }),
  });
  return created;
}

const isFound = (now: Test): boolean => placementIn(now, 'seed').settled;

async function find(service: TestService, scene: Scene): Promise<SeedPlacement> {
  const { id } = await sendTo(service, scene);
  return placementIn(await waitForPlacement(service, id, isFound), 'seed');
}

const stored = (service: TestService) =>
  service.app.db.selectFrom('seed_credentials').selectAll().executeTakeFirstOrThrow();

test('An access token is used until shortly before it expires; a public client sends no secret', async (t) => {
  const scene = await startScene(t);
  const service = await startSeeding(t, scene);
  assert.equal((await find(service, scene)).placement, 'inbox');
  assert.equal((await find(service, scene)).placement, 'inbox');
  assert.deepEqual(
    scene.tokens.requests.map((parameters) => Object.fromEntries(parameters)),
    [{ grant_type: 'refresh_token', refresh_token: 'first-refresh-token', client_id: 'app' }],
  );
  scene.clock.advance(56 * 60_000);
  assert.equal((await find(service, scene)).placement, 'inbox');
  assert.equal(scene.tokens.requests.length, 2);
});

test('A confidential client sends its secret, and the scope if there is one', async (t) => {
  const scene = await startScene(
    t,
    {},
    { refresh_token: 'first-refresh-token', client_secret: 's3cret', scope: 'mail.read' },
  );
  const service = await startSeeding(t, scene);
  await find(service, scene);
  const [request] = scene.tokens.requests;
  assert.deepEqual([request!.get('client_secret'), request!.get('scope')], ['s3cret', 'mail.read']);
});

test('An access token that the mail server rejects early is replaced at once', async (t) => {
  const scene = await startScene(t);
  const service = await startSeeding(t, scene);
  await find(service, scene);
  scene.tokens.accessTokens.clear();
  // The age at which the connection is opened again.
  scene.clock.advance(26 * 60_000);
  assert.equal((await find(service, scene)).placement, 'inbox');
  assert.equal(scene.tokens.requests.length, 2);
});

test('A replaced refresh token is stored encrypted, and used after a restart until the configuration changes', async (t) => {
  const scene = await startScene(t, { rotates: true });
  const service = await startSeeding(t, scene);
  await find(service, scene);
  const row = await stored(service);
  assert.ok(!JSON.stringify(row).includes('refresh-1'));
  assert.ok(!JSON.stringify(row).includes('first-refresh-token'));
  await service.stop();
  const restarted = await startSeeding(t, { ...scene, folder: service.folder });
  assert.equal((await find(restarted, scene)).placement, 'inbox');
  await restarted.stop();
  scene.tokens.refreshTokens.add('second-configured');
  const [seed, ...others] = scene.seeds;
  const changed = [{ ...seed, refresh_token: 'second-configured' }, ...others];
  const third = await startSeeding(t, { ...scene, seeds: changed, folder: service.folder });
  assert.equal((await find(third, scene)).placement, 'inbox');
  assert.deepEqual(
    scene.tokens.requests.map((parameters) => parameters.get('refresh_token')),
    ['first-refresh-token', 'refresh-1', 'second-configured'],
  );
});

/** Loses the first answer, after the server has replaced the refresh token. */
function losingFirst(tokens: () => TokenServer, keepsFormer: boolean) {
  let isFirst = true;
  return ({ response }: HttpExchange): boolean => {
    if (!isFirst) return false;
    isFirst = false;
    tokens().issue('first-refresh-token');
    if (keepsFormer) tokens().refreshTokens.add('first-refresh-token');
    response.destroy();
    return true;
  };
}

test('A lost answer is requested again, as providers accept a former refresh token for some time', async (t) => {
  const scene: Scene = await startScene(t, {
    rotates: true,
    on: losingFirst(() => scene.tokens, true),
  });
  const service = await startSeeding(t, scene);
  const { id } = await sendTo(service, scene);
  const done = await waitForPlacement(service, id, (now) => {
    scene.clock.advance(1000);
    return isFound(now);
  });
  assert.equal(placementIn(done, 'seed').placement, 'inbox');
});

test('A sign-in that has expired is unknown, says what to do, and is not retried every minute', async (t) => {
  const scene: Scene = await startScene(t, {
    rotates: true,
    // The answer with the new token is lost, and the former token has ended.
    on: losingFirst(() => scene.tokens, false),
  });
  const service = await startSeeding(t, scene);
  const created = await sendTo(service, scene);
  await sendToTest(service, created);
  await service.getTest(created.id, '?wait=20');
  const row = await waitForSeed(service, NAME, ({ error }) => {
    scene.clock.advance(1000);
    return error === 'sign_in_expired';
  });
  assert.match(
    row.error_detail!,
    /^127\.0\.0\.1:\d+ no longer accepts the sign-in: invalid_grant\. The server says: “AADSTS70008: .*” The sign-in was not used for too long\. Sign in again\. Run: deliverability seed sign-in seed@mail\.example$/,
  );
  const { failures } = row;
  // Some minutes.
  await waitForSeed(service, NAME, (now) => {
    scene.clock.advance(5000);
    return now.failures >= failures + 2;
  });
  assert.equal(scene.tokens.requests.length, 2);
  scene.clock.advance(61 * 60_000);
  const done = await service.getTest(created.id, '?wait=20&for=placement');
  const { placement, problem, detail } = placementIn(done, 'seed');
  assert.deepEqual([placement, problem], ['unknown', 'sign_in_expired']);
  assert.match(detail!, /deliverability seed sign-in seed@mail\.example/);
  assert.ok(scene.tokens.requests.length <= 3, 'once an hour');
});

test('Signing in again is enough: the running service uses the new sign-in', async (t) => {
  const scene = await startScene(t, {}, { refresh_token: 'expired' });
  const service = await startSeeding(t, scene);
  const { id } = await sendTo(service, scene);
  await waitForSeed(service, NAME, ({ error }) => error === 'sign_in_expired');
  const seed = service.app.config.SEED_MAILBOXES.find(({ name }) => name === NAME)!;
  await storeSignIn(
    service.app,
    { kind: 'seed', name: NAME, oauth: seed.oauth! },
    'first-refresh-token',
  );
  const done = await waitForPlacement(service, id, (now) => {
    scene.clock.advance(1000);
    return isFound(now);
  });
  assert.equal(placementIn(done, 'seed').placement, 'inbox');
  assert.equal((await waitForSeed(service, NAME, ({ error }) => error === null)).failures, 0);
});

test('A sign-in during a refresh wins over the answer of that refresh', async (t) => {
  let service: TestService;
  const signedIn = Promise.withResolvers<void>();
  const scene: Scene = await startScene(t, {
    rotates: true,
    on({ json, body }) {
      if (!body.includes('first-refresh-token')) return false;
      const seed = service.app.config.SEED_MAILBOXES.find(({ name }) => name === NAME)!;
      scene.tokens.refreshTokens.add('of-the-command');
      void storeSignIn(
        service.app,
        { kind: 'seed', name: NAME, oauth: seed.oauth! },
        'of-the-command',
      ).then(() => {
        json(200, scene.tokens.issue('first-refresh-token'));
        signedIn.resolve();
      });
      return true;
    },
  });
  service = await startSeeding(t, scene);
  await find(service, scene);
  await signedIn.promise;
  scene.clock.advance(61 * 60_000);
  await find(service, scene);
  assert.deepEqual(
    scene.tokens.requests.map((parameters) => parameters.get('refresh_token')).slice(0, 2),
    ['first-refresh-token', 'of-the-command'],
  );
});

test('A mailbox to which nobody has signed in says so, without a request', async (t) => {
  const scene = await startScene(t, {}, {});
  const service = await startSeeding(t, scene);
  await sendTo(service, scene);
  const { error_detail } = await waitForSeed(
    service,
    NAME,
    ({ error }) => error === 'sign_in_required',
  );
  assert.equal(
    error_detail,
    'Nobody has signed in to this mailbox yet. Run: deliverability seed sign-in seed@mail.example',
  );
  assert.equal(scene.tokens.requests.length, 0);
});

/** Waits until the mailbox was found unreadable, and expects the reason; the other mailbox works. */
async function assertProblem(service: TestService, scene: Scene, problem: string): Promise<string> {
  const created = await sendTo(service, scene);
  const { error, error_detail } = await waitForSeed(service, NAME, (row) => row.error !== null);
  assert.equal(error, problem);
  const other = await waitForSeed(
    service,
    'well@other.example',
    ({ last_read_at }) => last_read_at !== null,
  );
  assert.equal(other.error, null);
  assert.equal((await service.getTest(created.id)).placement_status, 'waiting');
  for (const secret of ['first-refresh-token', 'access-'])
    assert.ok(!JSON.stringify(service.logged).includes(secret));
  return error_detail!;
}

for (const [what, respond] of HOSTILE_RESPONSES)
  test(`A token endpoint that sends ${what} is a bad response`, async (t) => {
    const scene = await startScene(t, {
      on(exchange) {
        respond(exchange);
        return true;
      },
    });
    await assertProblem(await startSeeding(t, scene), scene, 'bad_response');
    assert.equal(scene.imap.total, 0);
  });

test('A token endpoint that fails is retried later and later', async (t) => {
  let isDown = true;
  const scene = await startScene(t, {
    on({ json }) {
      if (isDown) json(503, {});
      return isDown;
    },
  });
  const service = await startSeeding(t, scene);
  const detail = await assertProblem(service, scene, 'unreachable');
  assert.match(detail, /is unavailable \(HTTP 503\)\.$/);
  const started = service.app.clock.now();
  await waitForSeed(service, NAME, ({ failures }) => {
    scene.clock.advance(1000);
    return failures >= 3;
  });
  assert.ok(service.app.clock.now() - started >= 20_000, 'after 5 and 15 seconds');
  isDown = false;
  await waitForSeed(service, NAME, ({ error }) => {
    scene.clock.advance(5000);
    return error === null;
  });
});

test('A token endpoint that limits requests is asked again when it says', async (t) => {
  let requests = 0;
  const scene = await startScene(t, {
    on({ json }) {
      requests += 1;
      if (requests === 1) json(429, {}, { 'retry-after': '120' });
      return requests === 1;
    },
  });
  const service = await startSeeding(t, scene);
  await assertProblem(service, scene, 'throttled');
  const { next_look_at } = await waitForSeed(service, NAME, () => true);
  assert.ok(Date.parse(next_look_at!) - service.app.clock.now() > 110_000);
  scene.clock.advance(121_000);
  await waitForSeed(service, NAME, ({ error }) => error === null);
  assert.equal(requests, 2);
});

test('An app that the provider rejects is named as the cause', async (t) => {
  const scene = await startScene(t, {
    on({ json }) {
      json(401, { error: 'invalid_client', error_description: 'The client secret has expired.' });
      return true;
    },
  });
  const detail = await assertProblem(await startSeeding(t, scene), scene, 'sign_in_failed');
  assert.match(
    detail,
    /rejects the app: invalid_client\. The server says: “The client secret has expired\.” Check "client_id"/,
  );
});

test('A sign-in of another account is rejected by the mail server, and the reason says so', async (t) => {
  const scene = await startScene(t);
  scene.imap.script.acceptsToken = () => false;
  const service = await startSeeding(t, scene);
  const detail = await assertProblem(service, scene, 'sign_in_failed');
  assert.match(detail, /rejects the OAuth 2 sign-in as seed@mail\.example\. Check that this is/);
  assert.equal(scene.tokens.requests.length, 2, 'a new token was tried once');
});

test('After a sign-in that a mail server has rejected, a new one is used at once', async (t) => {
  const scene = await startScene(t);
  const { acceptsToken } = scene.imap.script;
  scene.imap.script.acceptsToken = () => false;
  const service = await startSeeding(t, scene);
  const { id } = await sendTo(service, scene);
  await waitForSeed(service, 'seed@mail.example', ({ error }) => error === 'sign_in_failed');
  scene.imap.script.acceptsToken = acceptsToken!;
  scene.tokens.refreshTokens.add('right');
  const { name, oauth } = service.app.config.SEED_MAILBOXES[0]!;
  await storeSignIn(service.app, { kind: 'seed', name, oauth: oauth! }, 'right');
  // Without any time that passes.
  await waitForPlacement(service, id, isFound);
});

test('A mail server without OAuth 2 is named as the cause', async (t) => {
  const scene = await startScene(t);
  delete scene.imap.script.acceptsToken;
  const service = await startSeeding(t, scene);
  const detail = await assertProblem(service, scene, 'sign_in_failed');
  assert.match(detail, /doesn’t support OAuth 2/);
});
