/** Microsoft SNDS from the sign-in to the alert: the command, fetches, rotated tokens, refusals, the page and the API. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { EXIT } from '../../src/commands/command.ts';
import { receivers } from '../../src/commands/receivers.ts';
import { isoTime, systemClock } from '../../src/lib/clock.ts';
import type { Receiver } from '../../src/receivers/schema.ts';
import { storeSignIn } from '../../src/sign-ins/credentials.ts';
import { configuredSignIns } from '../../src/sign-ins/sign-in.ts';
import { runCommand } from '../commands/run.ts';
import { newMember } from '../dashboard/member.ts';
import {
  type MicrosoftAuthority,
  startMicrosoftAuthority,
} from '../helpers/microsoft-authority.ts';
import { blockedRange, servedAddress } from '../helpers/snds-server.ts';
import { databaseEnvironment } from '../helpers/store.ts';
import { DAY_MS, HOUR_MS, type ReceiverScene, startReceivers } from './receiver-scene.ts';

const NAME = 'microsoft_snds';

/** A service that may use the authority, and the command beside it, which a person answers. */
async function startScene(t: TestContext) {
  const authority = await startMicrosoftAuthority(t);
  const start = systemClock.now();
  const scene = await startReceivers(t, {
    start: isoTime(start),
    snds: { token_url: authority.tokenUrl, authorization_url: authority.authorizationUrl },
  });
  scene.snds.accessTokens = authority.accessTokens;
  const env = {
    DELIVERABILITY_DATA_DIR: scene.folder,
    ...(await databaseEnvironment(scene.folder)),
    ...scene.env,
  };
  return {
    authority,
    scene,
    env,
    dayAgo: (age: number) => isoTime(start - age * DAY_MS).slice(0, 10),
  };
}

const accountOf = async ({ call }: ReceiverScene): Promise<Receiver> =>
  (await call<{ data: Receiver[] }>('GET', '/v1/receivers')).body.data[1]!;

const incidentsOf = async ({ call }: ReceiverScene) => {
  const { body } = await call<{ data: Record<string, string>[] }>('GET', '/v1/alert_incidents');
  return body.data.map(({ condition, status, subject }) => `${condition} ${subject} ${status}`);
};

const textOf = (html: string): string => html.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');

/** The browser is on another machine: what Microsoft redirects to is pasted. `before`: what is pasted first. */
async function signInByPasting(
  authority: MicrosoftAuthority,
  env: Record<string, string>,
  before: string[] = [],
) {
  let last: Promise<URL>;
  const questions: string[] = [];
  const printed = await runCommand(receivers, ['sign-in', NAME], env, {
    onOutput: (text) => {
      last = authority.signIn(text.trim());
      last.catch(() => {});
    },
    async ask(question) {
      questions.push(question);
      return before.shift() ?? ` ${await last} \n`;
    },
  });
  return { ...printed, questions };
}

test('SNDS from sign-in to alert: fetch, refresh, rejection, page, and access that ends soon', async (t) => {
  const { authority, scene, env, dayAgo } = await startScene(t);
  await scene.call('POST', '/v1/alerts', {
    json: { name: 'receivers', condition: 'receiver_failing', channels: ['webhook'] },
  });
  const page = async () => textOf((await (await newMember(scene, 'admin')).get('/receivers')).html);
  // Data are two days late, so the newest days are 404.
  scene.snds.days = {
    [dayAgo(3)]: [servedAddress('192.0.2.1', dayAgo(3))],
    [dayAgo(4)]: [servedAddress('192.0.2.1', dayAgo(4), { filterResult: 'RED' })],
  };
  scene.snds.ranges = [
    { ...blockedRange('192.0.2.0', '192.0.2.255'), blocked: 'False', details: '' },
  ];

  await scene.fetch(NAME);
  assert.equal((await accountOf(scene)).state, 'not_signed_in');
  assert.match(await page(), /Not signed in .* deliverability receivers sign-in microsoft_snds/);
  assert.deepEqual(await incidentsOf(scene), [], 'the account is new');

  // Sign in with a browser elsewhere.
  const foreign = 'http://localhost:1/?code=c&state=guessed';
  const signedIn = await signInByPasting(authority, env, [foreign]);
  assert.equal(signedIn.code, EXIT.success, signedIn.stderr);
  assert.match(signedIn.questions[0]!, /can’t load the last page, copy its address/);
  assert.match(signedIn.questions[1]!, /^That address is not from this sign-in\./);
  assert.match(
    signedIn.stderr,
    /Signed in to microsoft_snds\. .*\nSNDS lists 1 range of addresses for microsoft_snds\.\n$/,
  );
  const authorization = new URL(signedIn.stdout.trim());
  assert.deepEqual(
    ['scope', 'prompt', 'access_type'].map((name) => authorization.searchParams.get(name)),
    [
      'a53a6cc1-a1cd-46f7-a4aa-281cdabec33c/.default offline_access openid profile',
      'select_account',
      null,
    ],
  );

  // Fetch.
  const first = await scene.fetch(NAME);
  assert.equal(first!.problem, null, first!.problem?.message);
  assert.deepEqual(
    first!.parts.slice(0, 5).map(({ name, found }) => [name, found]),
    [
      ['blocks', '1 range'],
      [dayAgo(1), 'no data'],
      [dayAgo(2), 'no data'],
      [dayAgo(3), '1 address'],
      [dayAgo(4), '1 address'],
    ],
  );
  const { state, access_confirmed_at } = await accountOf(scene);
  assert.equal(state, 'working');
  assert.match(access_confirmed_at!, /^20\d\d-/);
  const working = await page();
  assert.match(working, /Working Last fetched .*Access confirmed /);
  assert.match(working, /192\.0\.2\.1 .*Green/);
  assert.doesNotMatch(working, /Trap hits|Sample MAIL FROM/);

  // Each refresh replaces the token.
  assert.deepEqual([...authority.refreshTokens].length, 1);
  scene.advance(2 * HOUR_MS);
  await scene.fetch(NAME);
  scene.advance(2 * HOUR_MS);
  assert.equal((await scene.fetch(NAME))!.problem, null);
  const refreshes = authority.exchanges.filter(({ body }) => /grant_type=refresh_token/.test(body));
  assert.equal(refreshes.length, 3);
  assert.equal(new Set(refreshes.map(({ body }) => body)).size, 3);
  assert.ok(refreshes.every(({ headers }) => headers.origin === undefined));

  // Microsoft refuses, in its own words.
  authority.refusal = [
    'invalid_grant',
    'AADSTS50173: The provided grant has expired due to it being revoked.',
  ];
  scene.advance(DAY_MS);
  const refused = await scene.fetch(NAME);
  const words =
    /no longer accepts the sign-in: invalid_grant\. The server says: “AADSTS50173: .*revoked\..*” The password has changed, or the sign-in was revoked\. Sign in again\. Run: deliverability receivers sign-in microsoft_snds/;
  assert.match(refused!.problem!.message, words);
  assert.match(await page(), words);
  const lapsed = await accountOf(scene);
  assert.deepEqual([lapsed.state, lapsed.problem!.code], ['not_signed_in', 'sign_in_expired']);
  assert.ok(lapsed.last_fetch_at, 'when a fetch was last accepted');
  const listed = await runCommand(receivers, ['list'], env);
  assert.match(listed.stdout, words);
  assert.match(listed.stdout, /\(last fetched on 20.* UTC\)/);
  assert.deepEqual(await incidentsOf(scene), ['receiver_failing microsoft_snds open']);

  // Sign in with a browser on this machine.
  authority.refusal = null;
  const again = await runCommand(receivers, ['sign-in', NAME], env, {
    onOutput: (text) =>
      void authority
        .signIn(text.trim())
        .then((url) => fetch(`${url}`.replace('localhost', '127.0.0.1'))),
  });
  assert.equal(again.code, EXIT.success, again.stderr);
  assert.equal((await scene.fetch(NAME))!.problem, null);
  assert.deepEqual(await incidentsOf(scene), ['receiver_failing microsoft_snds resolved']);

  // Nine months later, nobody has confirmed the access.
  scene.advance(275 * DAY_MS);
  assert.equal((await scene.fetch(NAME))!.problem, null);
  const ending = await accountOf(scene);
  assert.deepEqual([ending.state, ending.problem!.code], ['expiring', 'access_expiring']);
  assert.match(
    await page(),
    /Access ends soon .*Nobody has confirmed the access for nine months\./,
  );
  assert.deepEqual((await incidentsOf(scene)).toSorted(), [
    'receiver_failing microsoft_snds open',
    'receiver_failing microsoft_snds resolved',
  ]);
  const [, signIn] = configuredSignIns(scene.app.config, 'receiver');
  await storeSignIn(scene.app, signIn!, [...authority.refreshTokens].at(-1)!);
  await scene.fetch(NAME);
  assert.equal((await accountOf(scene)).state, 'working');
  assert.ok((await incidentsOf(scene)).every((incident) => incident.endsWith('resolved')));
  assert.deepEqual(
    (await scene.changes())
      .filter(({ receiver_id, address }) => receiver_id === NAME && address === null)
      .map(({ previous_status, status }) => [previous_status, status]),
    [
      ['not_signed_in', 'working'],
      ['working', 'not_signed_in'],
      ['not_signed_in', 'working'],
      ['working', 'expiring'],
      ['expiring', 'working'],
    ],
  );

  // No token is where somebody could read it.
  const events = JSON.stringify(await scene.app.db.selectFrom('events').selectAll().execute());
  const stored = JSON.stringify(
    await scene.app.db.selectFrom('receiver_credentials').selectAll().execute(),
  );
  const seen = [working, listed.stdout, signedIn.stderr, again.stderr, events, stored].join('\n');
  for (const secret of authority.issued) assert.ok(!seen.includes(secret), secret);
});

test("Microsoft's errors in the browser and for the code are quoted", async (t) => {
  const { authority, scene, env } = await startScene(t);
  authority.refusal = [
    'invalid_grant',
    'AADSTS65001: The user or administrator has not consented to use the application.',
  ];
  const consent = await signInByPasting(authority, env);
  assert.match(
    consent.stderr,
    /Not signed in to microsoft_snds: .*“AADSTS65001: .*” Nobody has consented to the permissions\. Sign in again, and accept them\./,
  );
  authority.refusal = null;
  const declined = await runCommand(receivers, ['sign-in', NAME], env, {
    onOutput(text) {
      const { searchParams } = new URL(text.trim());
      const query = new URLSearchParams({
        error: 'interaction_required',
        error_description:
          'AADSTS50076: Due to a configuration change, you must use a second factor.',
        state: searchParams.get('state')!,
      });
      const { port } = new URL(searchParams.get('redirect_uri')!);
      void fetch(`http://127.0.0.1:${port}/?${query}`, { headers: { host: `localhost:${port}` } });
    },
  });
  assert.match(
    declined.stderr,
    /rejected the sign-in: interaction_required\. The server says: “AADSTS50076: .*” Microsoft asks for a second factor\. Sign in again\./,
  );
  const wrong = await runCommand(
    receivers,
    ['sign-in', NAME],
    {
      ...env,
      DELIVERABILITY_RECEIVERS: JSON.stringify([
        {
          ...JSON.parse(scene.env.DELIVERABILITY_RECEIVERS!)[1],
          scope: 'openid',
        },
      ]),
    },
    {
      ask: async () => null,
      onOutput: (text) =>
        void authority
          .signIn(text.trim())
          .then((url) => fetch(`${url}`.replace('localhost', '127.0.0.1'))),
    },
  );
  assert.match(wrong.stderr, /rejected the sign-in: invalid_scope\. The server says: “AADSTS70011/);
});

test('Two nodes that fetch in turn hand on the refresh token, of which each works once', async (t) => {
  const { authority, scene, env } = await startScene(t);
  const [, signIn] = configuredSignIns(scene.app.config, 'receiver');
  authority.refreshTokens.add('first');
  await storeSignIn(scene.app, signIn!, 'first');
  for (let round = 0; round < 2; round++) {
    // The first still has an access token, but the other node has replaced its refresh token.
    assert.equal((await scene.fetch(NAME))!.problem, null);
    const other = await runCommand(receivers, ['fetch', NAME], env);
    assert.equal(other.code, EXIT.success, other.stderr);
  }
  const [mine, other] = await Promise.all([
    scene.fetch(NAME),
    runCommand(receivers, ['fetch', NAME], env),
  ]);
  assert.ok(mine === null || mine.problem === null, mine?.problem?.message);
  assert.doesNotMatch(other.stderr, /AADSTS/);
  const sent = authority.exchanges.map(({ body }) =>
    new URLSearchParams(body).get('refresh_token'),
  );
  assert.equal(new Set(sent).size, sent.length, 'no token is sent twice');
  assert.ok(sent.length >= 5);
  assert.equal((await accountOf(scene)).state, 'working');
});

test('An access token that SNDS rejects is replaced, and then the account says how to sign in', async (t) => {
  const { authority, scene } = await startScene(t);
  const [, signIn] = configuredSignIns(scene.app.config, 'receiver');
  authority.refreshTokens.add('first');
  await storeSignIn(scene.app, signIn!, 'first');
  await scene.fetch(NAME);
  authority.accessTokens.clear();
  assert.equal((await scene.fetch(NAME))!.problem, null);
  scene.snds.accessTokens = new Set();
  assert.match(
    (await scene.fetch(NAME))!.problem!.message,
    /^Microsoft SNDS does not accept the sign-in\. Sign in again\. Run: deliverability receivers sign-in microsoft_snds$/,
  );
});

test('A week of 404 counts as ended access only if the list of blocks is rejected, too', async (t) => {
  const { authority, scene } = await startScene(t);
  const [, signIn] = configuredSignIns(scene.app.config, 'receiver');
  authority.refreshTokens.add('first');
  await storeSignIn(scene.app, signIn!, 'first');
  assert.equal((await scene.fetch(NAME))!.problem, null, 'nothing to say is no problem');
  scene.advance(DAY_MS);
  scene.snds.isExpired = true;
  const { parts, problem } = (await scene.fetch(NAME))!;
  assert.equal(parts.filter(({ found }) => found === 'no data').length, 7);
  assert.match(
    problem!.message,
    /^Microsoft SNDS has no data for any day of the last week, and rejects the request for the list of blocks, too\. The access of this account may have ended\. Microsoft ends access .*ten months\. Confirm it at https:\/\/substrate\.office\.com\//,
  );
  scene.advance(DAY_MS);
  scene.snds.isExpired = false;
  assert.equal((await scene.fetch(NAME))!.problem, null);
});
