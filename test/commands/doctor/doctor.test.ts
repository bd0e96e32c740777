/** `doctor` beside a running service and without one, and what the service connects to. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { UsageError } from '../../../src/commands/command.ts';
import { doctor } from '../../../src/commands/doctor/doctor.ts';
import type { Finding } from '../../../src/commands/doctor/finding.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { createMailer } from '../../../src/net/smtp/mailer.ts';
import { inspectStore } from '../../../src/store/inspect.ts';
import { startTestService, temporaryFolder } from '../../helpers/app.ts';
import { blocklistZone } from '../../helpers/blocklists.ts';
import { startDnsServer } from '../../helpers/dns-server.ts';
import { goodMessage } from '../../helpers/good-message.ts';
import { startImapServer } from '../../helpers/imap-server.ts';
import { sendMail } from '../../helpers/send.ts';
import { databaseEnvironment, onPostgres } from '../../helpers/store.ts';
import { startMailSink } from '../../outbox/mail-sink.ts';
import { runCommand } from '../run.ts';
import { findingOf, findingsOf } from './checkup.ts';

async function environment(t: TestContext, folder: string) {
  const dns = await startDnsServer({ com: { NS: ['a.gtld-servers.net'] } });
  t.after(() => dns.close());
  return {
    DELIVERABILITY_DATA_DIR: folder,
    DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${dns.address.port}`,
    DELIVERABILITY_BLOCKLISTS: '-all',
    DELIVERABILITY_SMTP_NAME: 'mx.inbox.test',
    ...(await databaseEnvironment(folder)),
  };
}

interface Checkup {
  state: string;
  findings: Finding[];
}

async function examine(env: Record<string, string>, args: string[] = []) {
  const { code, stdout } = await runCommand(
    doctor,
    [...args, '--time=http://127.0.0.1:9/', '--json'],
    env,
  );
  const { state, findings } = JSON.parse(stdout) as Checkup;
  return {
    code,
    state,
    states: Object.fromEntries(findings.map((f) => [f.id, f.state])),
    findings,
  };
}

test('doctor works beside a running service, which goes on, and without one', async (t) => {
  const folder = temporaryFolder(t);
  const env: Record<string, string> = await environment(t, folder);
  const { states: before, code: firstCode } = await examine({
    ...env,
    DELIVERABILITY_HTTP_PORT: '9',
    DELIVERABILITY_SMTP_PORT: '9',
  });
  assert.equal(firstCode, 3, 'unknown findings, and no problem');
  assert.equal(before.service, 'warning');
  if (!onPostgres) assert.equal(before.database, 'warning', 'there is none yet');

  const service = await startTestService(t, { folder });
  const { address, id } = await service.createTest();
  await sendMail({ port: service.smtp.port, to: address, raw: goodMessage() });
  await service.getTest(id, '?wait=20');
  const ports = {
    DELIVERABILITY_HTTP_PORT: String(service.http.port),
    DELIVERABILITY_SMTP_PORT: String(service.smtp.port),
    DELIVERABILITY_SMTP_PROXY_PROTOCOL: '127.0.0.1',
    DELIVERABILITY_BASE_URL: service.url,
  };
  const { states, findings, code, state } = await examine({ ...env, ...ports });
  const evidence = JSON.stringify(findings, null, 1);
  for (const check of [
    'database',
    'secret_key',
    'dns',
    'smtp_listener',
    'webhooks',
    'spamassassin',
  ])
    assert.equal(states[check], 'ok', `${check} ${evidence}`);
  assert.deepEqual(
    [states.clock, states.public_url, states.dnssec],
    ['unknown', 'warning', 'warning'],
  );
  assert.deepEqual([code, state], [3, 'unknown']);
  for (const finding of findings) {
    assert.match(finding.evidence, /\.$/, finding.id);
    assert.equal(finding.action === null, finding.state === 'ok', finding.id);
  }
  assert.equal((await service.createTest()).status, 'waiting', 'the service still writes');
});

test('doctor fits the terminal, names each state without color, and counts them', async (t) => {
  const env = await environment(t, temporaryFolder(t));
  for (const width of [50, 80, 120]) {
    const { stdout } = await runCommand(
      doctor,
      ['--time=http://127.0.0.1:9/'],
      { ...env, DELIVERABILITY_HTTP_PORT: '9' },
      { width },
    );
    const long = stdout
      .split('\n')
      .filter(
        (line) =>
          [...line].length > width &&
          line.trim().includes(' ') &&
          !/postgres:|deliverability-/.test(line),
      );
    assert.deepEqual(long, []);
    assert.match(
      stdout.replace(/\s+/g, ' '),
      /\d+ unknown, \d+ warnings, \d+ ok\. Next: --json for scripts\. $/,
    );
    assert.match(stdout, /^\? Clock/m);
    assert.doesNotMatch(stdout, /\u001b/);
  }
  const { stdout } = await runCommand(doctor, ['--time=http://127.0.0.1:9/'], env, {
    useColor: true,
  });
  assert.match(stdout, /\u001b\[3\dm/);
});

test('doctor refuses invalid options', async () => {
  for (const args of [['--to', 'nobody'], ['--time', 'ftp://x'], ['x'], ['--all']])
    await assert.rejects(runCommand(doctor, args, {}), UsageError);
});

test('A message from a public address proves that port 25 is open', async (t) => {
  const service = await startTestService(t);
  const { address } = await service.createTest();
  // The helper sends from 192.0.2.1 with a PROXY header.
  await sendMail({ port: service.smtp.port, to: address, raw: goodMessage() });
  const store = await inspectStore(service.app.config.DATABASE_URL);
  t.after(() => store.close());
  const env = { DELIVERABILITY_SMTP_HOST: '0.0.0.0' };
  assert.match(
    await findingOf('port_25', { env, store }),
    /^ok: A message arrived from 192\.0\.2\.1 on /,
  );
  const clock = { now: () => systemClock.now() + 8 * 86_400_000 };
  assert.match(await findingOf('port_25', { env, store, clock }), /^unknown: /, 'a week later');
  assert.match(
    await findingOf('port_25', { env, store, ownAddresses: ['192.0.2.1'] }),
    /^unknown: /,
  );
});

test('Outgoing mail is tried with a sign-in, and with a message to --to', async (t) => {
  const sink = await startMailSink(t);
  const url = `smtp://127.0.0.1:${sink.port}`;
  const env = { DELIVERABILITY_MAIL_URL: url, DELIVERABILITY_MAIL_FROM: 'a@example.com' };
  const mailer = createMailer({
    url,
    from: 'a@example.com',
    dkim: null,
    name: 'mx.inbox.net',
    clock: systemClock,
  });
  t.after(() => mailer.close());
  assert.match(await findingOf('outgoing_mail', { env, mailer }), /^ok: .*Nothing was sent/);
  assert.equal(sink.taken.length, 0);
  assert.match(
    await findingOf('outgoing_mail', { env, mailer, to: 'me@example.net' }),
    /^ok: .*accepted a message to me@example\.net: 250/,
  );
  assert.deepEqual(sink.taken[0]?.to, ['me@example.net']);
  sink.refuse = { at: 'rcpt', code: 550, text: 'Relaying denied' };
  assert.match(
    await findingOf('outgoing_mail', { env, mailer, to: 'me@example.net' }),
    /^problem: .*Relaying denied.* → Check DELIVERABILITY_MAIL_URL/,
  );
  const gone = createMailer({
    url: 'smtp://127.0.0.1:9',
    from: 'a@example.com',
    dkim: null,
    name: 'x',
    clock: systemClock,
  });
  assert.match(await findingOf('outgoing_mail', { env, mailer: gone }), /^problem: .*refused/);
  assert.match(await findingOf('outgoing_mail', {}), /^warning: Not configured/);
});

test('Blocklists that fail their self-test are named, with what to do', async () => {
  const zone = blocklistZone();
  assert.match(await findingOf('blocklists', { zone }), /^ok: (\d+) of \1 pass/);
  assert.match(await findingOf('blocklists', {}), /^unknown: 0 of /);
  const env = { DELIVERABILITY_BLOCKLISTS: '-all' };
  assert.match(await findingOf('blocklists', { env }), /^warning: None is enabled/);
  const refused = { ...zone, '2.0.0.127.zen.spamhaus.org': { A: ['127.255.255.254'] } };
  const findings = await findingsOf('blocklists', { zone: refused });
  const failing = findings.filter(({ state }) => state === 'warning');
  assert.deepEqual(
    failing.map(({ id }) => id),
    ['blocklists', 'blocklist:zen.spamhaus.org'],
  );
  assert.match(failing[1]!.evidence, /public resolvers/);
  assert.match(failing[1]!.action!, /DQS.*DELIVERABILITY_BLOCKLISTS=-zen\.spamhaus\.org/);
});

test('Spam engines score a message, or are a problem', async (t) => {
  const spamd = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', () => {});
    socket.on('end', () =>
      socket.end('SPAMD/1.1 0 EX_OK\r\nContent-length: 0\r\nSpam: False ; 1.5 / 5.0\r\n\r\n'),
    );
  }).listen(0, '127.0.0.1');
  await once(spamd, 'listening');
  t.after(() => spamd.close());
  const { port } = spamd.address() as AddressInfo;
  const at = (name: string, url: string) => ({ env: { [`DELIVERABILITY_${name}_URL`]: url } });
  assert.match(
    await findingOf('spamassassin', at('SPAMD', `tcp://127.0.0.1:${port}`)),
    /^ok: .*1\.5 of 5\./,
  );
  assert.match(
    await findingOf('spamassassin', at('SPAMD', 'tcp://127.0.0.1:9')),
    /^problem: .*refused.* → Start spamd/,
  );
  assert.match(
    await findingOf('rspamd', at('RSPAMD', 'http://127.0.0.1:9')),
    /^problem: .*refused/,
  );
  assert.match(await findingOf('rspamd', {}), /^ok: Not configured/);
});

test('Seed mailboxes with a password are opened, others are only read about', async (t) => {
  const imap = await startImapServer(t, { folders: [{ name: 'INBOX', messages: [] }] });
  const seeds = (list: object[]) => ({
    env: { DELIVERABILITY_SEED_MAILBOXES: JSON.stringify(list) },
  });
  const mailbox = { provider: 'mine', address: 'seed@mail.example', imap: imap.url };
  const id = 'seed:seed@mail.example';
  assert.match(
    await findingOf(id, seeds([mailbox]), 'seeds'),
    /^ok: 127\.0\.0\.1 accepts the sign-in/,
  );
  const wrong = { ...mailbox, imap: imap.url.replace('right', 'wrong') };
  assert.match(await findingOf(id, seeds([wrong]), 'seeds'), /^problem: /);
  const connections = imap.total;
  await assertNotOpenedInUse(t, imap, seeds([{ ...mailbox, connections: 2 }]), id);
  const oauth = {
    provider: 'mine',
    address: 'seed@mail.example',
    imap: `imap://127.0.0.1:${imap.port}`,
    client_id: 'app',
    token_url: 'http://127.0.0.1:9/token',
  };
  const service = await startTestService(t, seeds([oauth]));
  const store = await inspectStore(service.app.config.DATABASE_URL);
  t.after(() => store.close());
  const before = imap.total;
  assert.match(
    await findingOf(id, { ...seeds([oauth]), store }, 'seeds'),
    /^(unknown|problem|warning): /,
  );
  assert.equal(imap.total, before, `no connection, after ${connections}`);
  const change = { last_read_at: '2026-11-23T10:00:00.000Z', error: null, error_detail: null };
  await service.app.db.updateTable('seed_mailboxes').set(change).execute();
  assert.match(
    await findingOf(id, { ...seeds([oauth]), store }, 'seeds'),
    /^ok: .*2026-11-23 10:00 UTC/,
  );
});

/** With two connections, the service may have both open while a test needs the mailbox. */
async function assertNotOpenedInUse(
  t: TestContext,
  imap: { total: number },
  world: { env: Record<string, string> },
  id: string,
): Promise<void> {
  const { app } = await startTestService(t, world);
  await app.scheduler.stop();
  const store = await inspectStore(app.config.DATABASE_URL);
  t.after(() => store.close());
  const running = { ...world, store, service: { url: 'http://127.0.0.1:9' } as never };
  const lease = (leased_until: string) =>
    app.db
      .updateTable('seed_mailboxes')
      .set({ lease: 'other', leased_until, last_read_at: '2026-11-23T10:00:00.000Z' })
      .execute();
  const before = imap.total;
  await lease(new Date(Date.now() + 60_000).toISOString());
  assert.match(await findingOf(id, running, 'seeds'), /^ok: .*2026-11-23 10:00 UTC/);
  assert.equal(imap.total, before);
  await lease(new Date(Date.now() - 1000).toISOString());
  assert.match(await findingOf(id, running, 'seeds'), /^ok: 127\.0\.0\.1 accepts the sign-in/);
  assert.equal(imap.total, before + 1);
}

test('Disabled webhook endpoints are a warning', async (t) => {
  const service = await startTestService(t);
  const { body } = await service.call<{ id: string }>('POST', '/v1/webhooks/endpoints', {
    json: { url: 'https://hooks.example.com/x', events: ['*'] },
  });
  const store = await inspectStore(service.app.config.DATABASE_URL);
  t.after(() => store.close());
  assert.match(await findingOf('webhooks', { store }), /^ok: 1 endpoint/);
  await service.app.db
    .updateTable('webhook_endpoints')
    .set({ enabled: 0 })
    .where('id', '=', body.id)
    .execute();
  assert.match(await findingOf('webhooks', { store }), /^warning: 1 of 1/);
});

test('The database is inspected without changing it, and a newer one is a problem', async (t) => {
  const service = await startTestService(t);
  const store = await inspectStore(service.app.config.DATABASE_URL);
  t.after(() => store.close());
  await assert.rejects(store.db.deleteFrom('members').execute(), /read-?only/i);
  assert.match(await findingOf('database', { store }), /^ok: (SQLite|PostgreSQL) /);
  assert.match(
    await findingOf('database', { store: { ...store, version: 999 } }),
    /^problem: .*999/,
  );
  assert.match(
    await findingOf('database', { store: { ...store, version: 20 } }),
    /^warning: .*migrate/,
  );
  assert.match(
    await findingOf('database', { store: { ...store, version: 18 } }),
    /^problem: .*version 18; .*commit 7b09e38f once/s,
  );
  const location = onPostgres ? 'postgres://nobody@127.0.0.1:9/x' : '/dev/null/x.db';
  await assert.rejects(inspectStore(location), { name: 'Error' });
});
