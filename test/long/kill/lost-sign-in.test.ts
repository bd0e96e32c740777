/**
 * A provider that ends the former refresh token at once: if the service is killed before the answer, the sign-in is lost,
 * and the service says what to do. The other loads have a provider that accepts the former one for some time.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AlertIncident } from '../../../src/alerts/schema.ts';
import type { Test } from '../../../src/mailtests/schema.ts';
import { temporaryFolder } from '../../helpers/app.ts';
import { startDnsServer } from '../../helpers/dns-server.ts';
import { startImapServer } from '../../helpers/imap-server.ts';
import { sendMail } from '../../helpers/send.ts';
import { startServe } from '../../helpers/serve-process.ts';
import { SAME_NODE } from '../../helpers/store.ts';
import { startTokenServer } from '../../helpers/token-server.ts';
import { mailWith } from '../../placement/seeding.ts';
import { until } from './load.ts';
import { mailboxFolders } from './placement.ts';

const NAME = 'seed@mail.example';

test('A provider that ends the former token at once makes the mailbox unknown, with an alert and the command', async (t) => {
  const { promise: requested, resolve } = Promise.withResolvers<void>();
  const tokens = await startTokenServer(t, {
    rotates: true,
    on() {
      if (tokens.requests.length > 1) return false;
      tokens.issue('first-refresh-token');
      resolve();
      return true;
    },
  });
  const imap = await startImapServer(t, {
    folders: mailboxFolders(),
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
  };
  const first = await startServe(t, { folder, env });
  const body = JSON.stringify({ placement: true });
  const created = await first.call<Test>('POST', '/v1/tests', { body, status: 201 });
  await requested;
  first.signal('SIGKILL');
  await first.ended;
  const serve = await startServe(t, { folder, env });
  const rule = { name: 'Seeds', condition: 'seed_failing', channels: ['webhook'] };
  await serve.call('POST', '/v1/alerts', { body: JSON.stringify(rule), status: 201 });
  await sendMail({
    port: serve.smtpPort,
    to: created.address,
    raw: mailWith({ To: created.address }),
  });
  const incidents = async () =>
    (await serve.call<{ data: AlertIncident[] }>('GET', '/v1/alert_incidents')).data;
  await until(async () => (await incidents()).length > 0);
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
