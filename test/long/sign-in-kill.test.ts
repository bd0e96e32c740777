/**
 * The bundled program, killed between the answer of a token endpoint and storing the refresh token in it. Most providers
 * accept the former token for some time. Where one does not, the sign-in is lost, and the service says what to do.
 */

// @waits: for the next sign-in after each kill.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { AlertIncident } from '../../src/alerts/schema.ts';
import type { Test } from '../../src/mailtests/schema.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { startDnsServer } from '../helpers/dns-server.ts';
import { startImapServer } from '../helpers/imap-server.ts';
import { sendMail } from '../helpers/send.ts';
import { type ServeProcess, startServe } from '../helpers/serve-process.ts';
import { SAME_NODE } from '../helpers/store.ts';
import { startTokenServer } from '../helpers/token-server.ts';
import { mailWith } from '../placement/seeding.ts';

const NAME = 'seed@mail.example';

/** Kills the service at each of the next token requests: before its answer, or so many milliseconds after it. */
type Kill = 'before' | number;

async function start(t: TestContext, { kills, reuses }: { kills: Kill[]; reuses: boolean }) {
  const killed: Promise<unknown>[] = [];
  let serve: ServeProcess;
  const kill = () => {
    serve.signal('SIGKILL');
    killed.push(serve.ended);
  };
  const tokens = await startTokenServer(t, {
    rotates: true,
    on({ body, response, json }) {
      const moment = kills.shift();
      const former = new URLSearchParams(body).get('refresh_token')!;
      if (moment === undefined || !tokens.refreshTokens.has(former)) return false;
      const answer = tokens.issue(former);
      if (reuses) tokens.refreshTokens.add(former);
      if (moment === 'before') {
        kill();
        response.destroy();
      } else {
        response.on('finish', () => setTimeout(kill, moment));
        json(200, answer);
      }
      return true;
    },
  });
  const imap = await startImapServer(t, {
    folders: [
      { name: 'INBOX', messages: [] },
      { name: 'Junk', flags: ['\\Junk'], messages: [] },
    ],
    acceptsToken: (token) => tokens.accessTokens.has(token),
  });
  const seed = {
    provider: 'one',
    address: NAME,
    imap: `imap://127.0.0.1:${imap.port}`,
    client_id: 'app',
    token_url: tokens.url,
    refresh_token: 'first-refresh-token',
    device_url: 'https://login.example/device',
  };
  const dns = await startDnsServer();
  t.after(() => dns.close());
  const folder = temporaryFolder(t);
  const env = {
    ...SAME_NODE,
    DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${dns.address.port}`,
    DELIVERABILITY_BLOCKLISTS: '-all',
    DELIVERABILITY_SEED_MAILBOXES: JSON.stringify([seed]),
    DELIVERABILITY_PLACEMENT_TIMEOUT: '1m',
    DELIVERABILITY_PLACEMENT_RECHECK: '0',
  };
  const startAgain = async () => {
    serve = await startServe(t, { folder, env });
    return serve;
  };
  const count = kills.length;
  const untilKilled = async (round: number) => {
    while (killed.length < round) await new Promise((resolve) => setTimeout(resolve, 10));
    await killed[round - 1];
  };
  const first = await startAgain();
  const body = JSON.stringify({ placement: true });
  const created = await first.call<Test>('POST', '/v1/tests', { body, status: 201 });
  imap.script.folders[0]!.messages.push({
    uid: 1,
    raw: mailWith({ To: created.seed_addresses[0]!.address }),
  });
  return { tokens, created, first, startAgain, untilKilled, count };
}

test('A service that is killed around the answer goes on with the former token or the new one', async (t) => {
  const kills: Kill[] = ['before', 5, 500];
  const { tokens, created, startAgain, untilKilled, count } = await start(t, {
    kills,
    reuses: true,
  });
  let serve: ServeProcess | undefined;
  for (let round = 1; round <= count; round++) {
    await untilKilled(round);
    serve = await startAgain();
  }
  for (const end = Date.now() + 20_000; ; ) {
    const { placement } = await serve!.call<Test>('GET', `/v1/tests/${created.id}`);
    if (placement[0]!.placement === 'inbox') break;
    assert.ok(Date.now() < end, JSON.stringify(placement));
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const sent = tokens.requests.map((parameters) => parameters.get('refresh_token'));
  t.diagnostic(`refresh tokens sent: ${sent.join(', ')}`);
  assert.equal(sent[1], 'first-refresh-token', 'the answer before was lost');
});

test('A provider that ends the former token at once makes the mailbox unknown, with an alert and the command', async (t) => {
  const { tokens, created, startAgain, untilKilled } = await start(t, {
    kills: ['before'],
    reuses: false,
  });
  await untilKilled(1);
  const serve = await startAgain();
  const rule = { name: 'Seeds', condition: 'seed_failing', channels: ['webhook'] };
  await serve.call('POST', '/v1/alerts', { body: JSON.stringify(rule), status: 201 });
  await sendMail({
    port: serve.smtpPort,
    to: created.address,
    raw: mailWith({ To: created.address }),
  });
  const incidents = async () =>
    (await serve.call<{ data: AlertIncident[] }>('GET', '/v1/alert_incidents')).data;
  for (const end = Date.now() + 60_000; (await incidents()).length === 0; ) {
    assert.ok(Date.now() < end, 'no incident');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const [incident] = await incidents();
  assert.deepEqual([incident!.subject, incident!.status], [NAME, 'open']);
  assert.match(JSON.stringify(incident), /Run: deliverability seed sign-in seed@mail\.example/);
  assert.deepEqual(
    tokens.requests.map((parameters) => parameters.get('refresh_token')),
    ['first-refresh-token', 'first-refresh-token'],
  );
  const pending = await serve.call<Test>('GET', `/v1/tests/${created.id}`);
  assert.equal(pending.placement[0]!.placement, 'pending');
});
