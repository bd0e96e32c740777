/** `deliverability seed`: signing in beside a running service, and the list of seed mailboxes. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { EXIT, type Io, UsageError } from '../../src/commands/command.ts';
import { seed } from '../../src/commands/seed.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { type HttpExchange, startHttpScript } from '../helpers/http-script.ts';
import { startImapServer } from '../helpers/imap-server.ts';
import { databaseEnvironment } from '../helpers/store.ts';
import {
  mailWith,
  offsetClock,
  placementIn,
  startSeeding,
  waitForPlacement,
  waitForSeed,
} from '../placement/seeding.ts';
import { runCommand } from './run.ts';

const NAME = 'seed@mail.example';

const run = (args: string[], env: Io['env'], options: Parameters<typeof runCommand>[3] = {}) =>
  runCommand(seed, args, env, options);

/** A provider whose device flow and redirect give a token, and a mailbox that accepts it. */
async function startProvider(
  t: TestContext,
  { answer, accepts = true }: { answer?(exchange: HttpExchange): boolean; accepts?: boolean } = {},
) {
  const http = await startHttpScript(t, (exchange) => {
    const { path, json } = exchange;
    if (answer?.(exchange)) return;
    if (path === '/device')
      return json(200, {
        device_code: 'd',
        user_code: 'ABCD',
        expires_in: 60,
        interval: 1,
        verification_uri: 'https://provider.example/device',
      });
    json(200, { token_type: 'bearer', access_token: 'at', refresh_token: 'rt', expires_in: 3600 });
  });
  const imap = await startImapServer(t, {
    folders: [
      { name: 'INBOX', messages: [] },
      { name: 'Junk', flags: ['\\Junk'], messages: [] },
    ],
    acceptsToken: (token) => accepts && token === 'at',
  });
  const mailbox = {
    provider: 'mine',
    address: NAME,
    imap: `imap://127.0.0.1:${imap.port}`,
    client_id: 'app',
    token_url: `${http.url}/token`,
    connections: 1,
  };
  return { http, imap, mailbox };
}

async function environment(t: TestContext, seeds: object[], folder = temporaryFolder(t)) {
  return {
    DELIVERABILITY_DATA_DIR: folder,
    ...(await databaseEnvironment(folder)),
    DELIVERABILITY_SEED_MAILBOXES: JSON.stringify(seeds),
  };
}

test('A sign-in on another device lets the running service read the mailbox', async (t) => {
  const { http, imap, mailbox } = await startProvider(t);
  const seeds = [{ ...mailbox, device_url: `${http.url}/device` }];
  const clock = offsetClock();
  const service = await startSeeding(t, { seeds, clock });
  const env = await environment(t, seeds, service.folder);
  assert.deepEqual(await run(['list'], env), {
    code: EXIT.success,
    stdout: `${NAME} (mine, IMAP, OAuth 2): not signed in. Run: deliverability seed sign-in ${NAME}\n`,
    stderr: '',
  });
  const created = await service.createTest({ placement: true });
  const to = placementIn(created, 'seed').address;
  imap.script.folders[0]!.messages.push({ uid: 1, raw: mailWith({ To: to }) });
  await waitForSeed(service, NAME, ({ error }) => error === 'sign_in_required');
  const failing = await run(['list', '--json'], env);
  assert.equal(failing.code, EXIT.negative);
  assert.equal(JSON.parse(failing.stdout)[0].error, 'sign_in_required');
  const { code, stdout, stderr } = await run(['sign-in', 'SEED@mail.example'], env);
  assert.equal(code, EXIT.success, stderr);
  assert.equal(stdout, 'https://provider.example/device\n');
  assert.equal(
    stderr,
    `Open this address in a browser on any device, enter the code ABCD, and sign in as ${NAME}. The code expires in 1 min.\nSigned in to ${NAME}. The service uses this sign-in from now on.\n`,
  );
  const done = await waitForPlacement(service, created.id, (now) => {
    clock.advance(1000);
    return placementIn(now, 'seed').settled;
  });
  assert.equal(placementIn(done, 'seed').placement, 'inbox');
  await waitForSeed(service, NAME, ({ last_read_at }) => last_read_at !== null);
  assert.match((await run(['list'], env)).stdout, /: last read 20\d\d-/);
  const { refresh_token } = await service.app.db
    .selectFrom('seed_credentials')
    .select('refresh_token')
    .executeTakeFirstOrThrow();
  assert.notEqual(refresh_token, 'rt');
});

test('A sign-in with a browser on this machine works without a service, before its first start', async (t) => {
  const { http, mailbox } = await startProvider(t);
  const seeds = [{ ...mailbox, authorization_url: `${http.url}/auth` }];
  const env = await environment(t, seeds);
  const { code, stderr } = await run(['sign-in', NAME], env, {
    onOutput(text) {
      const { searchParams } = new URL(text.trim());
      const query = new URLSearchParams({ state: searchParams.get('state')!, code: 'c' });
      void fetch(`${searchParams.get('redirect_uri')}?${query}`);
    },
  });
  assert.equal(code, EXIT.success, stderr);
  assert.match(stderr, /Open this address in a browser on this machine, and sign in as seed@/);
  assert.match(stderr, /ssh -L \d+:127\.0\.0\.1:\d+ SERVER/);
  assert.match((await run(['list'], env)).stdout, /: not read yet\n/);
});

test('A sign-in to another account, one without a refresh token, and a declined one are not stored', async (t) => {
  for (const [options, message] of [
    [
      { accepts: false },
      /Not signed in to seed@mail\.example: 127\.0\.0\.1 rejects the OAuth 2 sign-in as seed@mail\.example\. Check that this is the account/,
    ],
    [
      {
        answer: ({ path, json }: HttpExchange) => {
          if (path === '/token') json(200, { token_type: 'bearer', access_token: 'at' });
          return path === '/token';
        },
      },
      /The provider sent no refresh token/,
    ],
    [
      {
        answer: ({ path, json }: HttpExchange) => {
          if (path === '/token') json(400, { error: 'access_denied' });
          return path === '/token';
        },
      },
      /The sign-in was declined in the browser\./,
    ],
  ] as const) {
    const { http, mailbox } = await startProvider(t, options);
    const env = await environment(t, [{ ...mailbox, device_url: `${http.url}/device` }]);
    const { code, stderr } = await run(['sign-in', NAME], env);
    assert.equal(code, EXIT.negative);
    assert.match(stderr, message);
    assert.match((await run(['list'], env)).stdout, /: not signed in\./);
  }
});

test('A sign-in of another Microsoft account is not stored, and asks for the permission to tell', async (t) => {
  const { http, mailbox } = await startProvider(t, {
    answer({ path, json }) {
      if (path === '/graph/me') json(200, { mail: 'other@mail.example' });
      else if (path.startsWith('/graph/')) json(200, { value: [] });
      return path.startsWith('/graph/');
    },
  });
  const { imap: _, connections: __, ...account } = mailbox;
  const graph = { ...account, api: 'graph', graph_url: `${http.url}/graph` };
  const env = await environment(t, [{ ...graph, device_url: `${http.url}/device` }]);
  const { code, stderr } = await run(['sign-in', NAME], env);
  assert.equal(code, EXIT.negative);
  assert.match(stderr, /The sign-in belongs to other@mail\.example, not to seed@mail\.example\./);
  const device = http.exchanges.find(({ path }) => path === '/device')!;
  assert.match(new URLSearchParams(device.body).get('scope')!, /User\.Read .*Mail\.Read/);
  assert.match((await run(['list'], env)).stdout, /: not signed in\./);
});

test('A sign-in can be canceled', async (t) => {
  const { http, mailbox } = await startProvider(t);
  const env = await environment(t, [{ ...mailbox, device_url: `${http.url}/device` }]);
  const stop = Promise.withResolvers<void>();
  const { code, stderr } = await run(['sign-in', NAME], env, {
    onOutput: () => stop.resolve(),
    interrupted: stop.promise,
  });
  assert.equal(code, EXIT.negative);
  assert.match(stderr, /Not signed in to seed@mail\.example: Canceled\.\n$/);
});

test('Wrong arguments say what is possible', async (t) => {
  const { http, mailbox } = await startProvider(t);
  const env = await environment(t, [
    mailbox,
    { name: 'gmx', provider: 'gmx', address: 'a@gmx.net', password: 'p' },
    { ...mailbox, name: 'other', device_url: `${http.url}/device` },
  ]);
  for (const [args, message] of [
    [[], /^Missing argument: list or sign-in$/],
    [['sing-in'], /^Unknown action "sing-in": use list or sign-in NAME$/],
    [['sign-in'], /^Missing argument: NAME$/],
    [['sign-in', 'othre'], /^No seed mailbox has the name "othre"\. Did you mean other\?$/],
    [['sign-in', 'gmx'], /^gmx signs in with a password: set "client_id" instead/],
    [['sign-in', NAME], /^seed@mail\.example has no address to sign in at: set "device_url"/],
  ] as const)
    await assert.rejects(run([...args], env), (error: unknown) => {
      assert.ok(error instanceof UsageError);
      assert.match(error.message, message);
      return true;
    });
});
