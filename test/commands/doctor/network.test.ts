/** `doctor`: DNS, the inbox domain, the mail port, the clock, and certificates. */

// @one-database: about the network.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { examine } from '../../../src/commands/doctor/doctor.ts';
import { makeCertificate } from '../../../src/lib/certificates.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { temporaryFolder } from '../../helpers/app.ts';
import { makeTestAuthority } from '../../helpers/authority.ts';
import { checkupOf, findingOf, findingsOf, IO } from './checkup.ts';

const INBOX = { DELIVERABILITY_INBOX_DOMAIN: 'inbox.net' };
const PUBLIC: Zone = {
  com: { NS: ['a.gtld-servers.net'], DS: ['1 13 2 00'] },
  'inbox.net': { MX: ['10 mx.inbox.net'] },
  'mx.inbox.net': { A: ['192.0.2.25'] },
  '25.2.0.192.in-addr.arpa': { PTR: ['mx.inbox.net'] },
};

test('The resolver must answer, and what it answers must be possible', async () => {
  assert.match(await findingOf('dns', { zone: PUBLIC }), /^ok: .* answered in \d+ ms\.$/);
  assert.match(
    await findingOf('dns', { zone: { com: {} } }),
    /^problem: .* says that com has no name servers/,
  );
  assert.match(
    await findingOf('dns', { zone: { com: { fails: 'timeout' } } }),
    /^problem: .*: no response in time\. → Set DELIVERABILITY_DNS_SERVERS/,
  );
});

test('DNSSEC is fine only if wrong signatures are rejected too', async () => {
  const rejected: Zone = { ...PUBLIC, 'dnssec-failed.org': { fails: 'servfail' } };
  const accepted: Zone = { ...PUBLIC, 'dnssec-failed.org': { A: ['192.0.2.1'] } };
  const silent: Zone = { ...PUBLIC, 'dnssec-failed.org': { fails: 'timeout' } };
  const rows: [Zone, boolean, RegExp][] = [
    [rejected, true, /^ok: /],
    [PUBLIC, false, /^warning: .*doesn’t validate/],
    [accepted, true, /^problem: .*wrong signatures/],
    [silent, true, /^unknown: .*no response in time/],
    [{ com: { fails: 'refused' } }, true, /^unknown: /],
  ];
  for (const [zone, authenticated, expected] of rows)
    assert.match(await findingOf('dnssec', { zone, authenticated }), expected);
});

test('The inbox domain needs an MX record that leads to a public address', async () => {
  const state = async (changes: Zone, id = 'inbox_mx') => {
    const findings = await findingsOf('inbox_mx', { env: INBOX, zone: { ...PUBLIC, ...changes } });
    const found = findings.find((finding) => finding.id === id);
    return found ? `${found.state}: ${found.evidence} → ${found.action}` : null;
  };
  assert.match((await state({}))!, /^ok: MX 10 mx\.inbox\.net/);
  assert.match((await state({}, 'inbox_address'))!, /^ok: .*192\.0\.2\.25/);
  assert.match((await state({}, 'inbox_ptr'))!, /^ok: 192\.0\.2\.25 is mx\.inbox\.net/);
  const rows: [Zone, RegExp][] = [
    [
      { 'inbox.net': {} },
      /^problem: .*no MX record.* → Publish: inbox\.net\. MX 10 mx\.inbox\.net\.$/,
    ],
    [{ 'inbox.net': { A: ['192.0.2.25'] } }, /^warning: .*only an address/],
    [{ 'inbox.net': { MX: ['0 .'] } }, /^problem: .*null MX/],
    [{ 'inbox.net': { MX: ['10 192.0.2.25'] } }, /^problem: .*names the address/],
    [{ 'mx.inbox.net': { CNAME: ['other.net'] } }, /^problem: .*is an alias/],
    [
      { 'inbox.net': { MX: ['10 other.net'] } },
      /^warning: .*greets as mx\.inbox\.net\. → Set DELIVERABILITY_SMTP_NAME/,
    ],
    [{ 'inbox.net': { fails: 'servfail' } }, /^unknown: .*SERVFAIL/],
  ];
  for (const [changes, expected] of rows) assert.match((await state(changes))!, expected);
  assert.match((await state({ 'mx.inbox.net': {} }, 'inbox_address'))!, /^problem: .*no A or AAAA/);
  assert.match(
    (await state({ 'mx.inbox.net': { A: ['10.0.0.1'] } }, 'inbox_address'))!,
    /^problem: .*can’t be reached/,
  );
  assert.match(
    (await state({ 'mx.inbox.net': { fails: 'timeout' } }, 'inbox_address'))!,
    /^unknown: /,
  );
  const ptr = '25.2.0.192.in-addr.arpa';
  assert.match((await state({ [ptr]: {} }, 'inbox_ptr'))!, /^warning: .*no reverse name/);
  assert.match(
    (await state({ [ptr]: { PTR: ['other.net'] } }, 'inbox_ptr'))!,
    /^warning: .*another address/,
  );
  assert.match((await state({ [ptr]: { fails: 'timeout' } }, 'inbox_ptr'))!, /^unknown: /);
});

test('Receivers need the authorization record to send reports about other domains', async () => {
  const state = async (answer: Zone[string]) => {
    const zone = { ...PUBLIC, 'example.com._report._dmarc.inbox.net': answer };
    const findings = await findingsOf('inbox_mx', { env: INBOX, zone });
    const found = findings.find(({ id }) => id === 'feedback_authorization')!;
    return `${found.state}: ${found.evidence} → ${found.action}`;
  };
  assert.match(await state({ TXT: ['v=DMARC1'] }), /^ok: /);
  assert.match(await state({ TXT: ['v=DMARC1;'] }), /^ok: /);
  assert.match(
    await state({ TXT: ['v=spf1 -all'] }),
    /^warning: .* → To get reports in the service, publish: \*\._report\._dmarc\.inbox\.net\. TXT "v=DMARC1"\.$/,
  );
  assert.match(await state({}), /^warning: /);
  assert.match(await state({ fails: 'servfail' }), /^unknown: .*SERVFAIL/);
});

test('A name that is not public is a warning, and nothing below it is claimed', async () => {
  const findings = await findingsOf('inbox_mx', {
    env: { DELIVERABILITY_INBOX_DOMAIN: 'localhost' },
  });
  assert.deepEqual(
    findings.map(({ id, state }) => [id, state]),
    [['inbox_mx', 'warning']],
  );
});

async function listenWith(t: TestContext, greeting: string | null): Promise<number> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {});
    if (greeting !== null) socket.write(`${greeting}\r\n`);
    t.after(() => socket.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

test('Port 25 from outside is never fine without a message from outside', async (t) => {
  // An address of this machine that the guard for private addresses does not see here.
  const zone: Zone = { ...PUBLIC, 'mx.inbox.net': { A: ['127.0.0.1'] } };
  const env = { ...INBOX, DELIVERABILITY_SMTP_HOST: '0.0.0.0', DELIVERABILITY_SMTP_PORT: '25' };
  const world = { env, zone };
  const own = await listenWith(t, '220 mx.inbox.net ESMTP');
  assert.match(
    await findingOf('port_25', { ...world, mailPort: own }),
    /^unknown: From this machine, 127\.0\.0\.1 answers\. Whether other networks/,
  );
  const other = await listenWith(t, '220 another.net ESMTP');
  assert.match(
    await findingOf('port_25', { ...world, mailPort: other }),
    /^warning: .*greets as another server/,
  );
  assert.match(
    await findingOf('port_25', { ...world, ownAddresses: ['127.0.0.1'] }),
    /^problem: 127\.0\.0\.1: the server refused/,
  );
  assert.match(
    await findingOf('port_25', world),
    /^unknown: .*doesn’t answer from this machine.* nc -vz mx\.inbox\.net 25$/,
  );
  assert.match(
    await findingOf('port_25', { ...world, env: INBOX }),
    /^warning: .*only programs on this machine/,
  );
  assert.match(
    await findingOf('port_25', { ...world, zone: { 'inbox.net': { fails: 'timeout' } } }),
    /^unknown: .*not known/,
  );
});

test('The SMTP listener must be this service', async (t) => {
  const stateAt = async (port: number, running = false) =>
    findingOf('smtp_listener', {
      env: { DELIVERABILITY_SMTP_PORT: String(port) },
      service: running ? { url: '', version: '1', dependencies: [] } : null,
    });
  assert.match(await stateAt(await listenWith(t, '220 mx.inbox.net ESMTP')), /^ok: /);
  assert.match(
    await stateAt(await listenWith(t, '220 postfix.net ESMTP')),
    /^problem: .*not this service/,
  );
  assert.match(await stateAt(await listenWith(t, '554 no'), true), /^problem: .*replied 554 no/);
  assert.match(await stateAt(9), /^unknown: .*not running/);
});

test('The clock is compared with a Date header, and unknown without one', async (t) => {
  const now = Date.parse('2026-11-27T12:00:00Z');
  let date: string | null = null;
  let fields: Record<string, string> = {};
  const server = createServer((_, response) => {
    response.sendDate = false;
    if (date !== null) response.setHeader('date', date);
    for (const [name, value] of Object.entries(fields)) response.setHeader(name, value);
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const timeUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const state = () => findingOf('clock', { timeUrl, clock: { ...systemClock, now: () => now } });
  const at = (offset: number) => new Date(now + offset).toUTCString();
  date = at(0);
  assert.match(await state(), /^ok: /);
  date = at(-30_000);
  assert.match(await state(), /^warning: .* 30 s ahead\. → Synchronize/);
  date = at(3_600_000);
  assert.match(await state(), /^problem: .* 3601 s behind\./);
  date = 'yesterday';
  assert.match(await state(), /^unknown: .*sends no time/);
  [date, fields] = [at(-30_000), { age: '30' }];
  assert.match(await state(), /^unknown: .*cache/);
  assert.match(
    await findingOf('clock', { timeUrl: 'http://127.0.0.1:40009/' }),
    /^unknown: .*refused/,
  );
});

test('Certificates are verified by name, chain and time', async (t) => {
  const folder = temporaryFolder(t);
  const authority = await makeTestAuthority();
  const right = await authority.issue(['mx.inbox.net']);
  const wrong = await authority.issue(['other.net']);
  const own = await makeCertificate('mx.inbox.net', Date.now());
  let files = 0;
  const state = async ({ cert, key }: { cert: string; key: string }, days = 0, kind = 'SMTP') => {
    const [certFile, keyFile] = [join(folder, `${++files}.crt`), join(folder, `${files}.key`)];
    writeFileSync(certFile, cert);
    writeFileSync(keyFile, key);
    return findingOf(kind === 'SMTP' ? 'smtp_certificate' : 'https_certificate', {
      env: {
        [`DELIVERABILITY_${kind}_TLS_CERT_FILE`]: certFile,
        [`DELIVERABILITY_${kind}_TLS_KEY_FILE`]: keyFile,
        DELIVERABILITY_BASE_URL: 'https://mx.inbox.net',
      },
      clock: { now: () => Date.now() + days * 86_400_000 },
      ca: [authority.ca],
    });
  };
  // The authority of tests issues for ten days, so a week ago it was not close to its end.
  assert.match(await state(right, -6), /^ok: For mx\.inbox\.net, until .*, 1 in the chain\.$/);
  assert.match(await state(right), /^warning: .*It expires in (8|9|10) days/);
  assert.match(await state(right, 11), /^problem: .*has expired/);
  assert.match(await state(wrong, -6), /^warning: .*reject it: it is for a different name/);
  assert.match(await state(wrong, -6, 'HTTP'), /^problem: .*different name/);
  assert.match(await state(own), /^warning: .*it is self-signed/);
  assert.match(await state({ cert: right.cert, key: own.key }), /^problem: Invalid configuration/);
  assert.match(await findingOf('smtp_certificate', {}), /^ok: Not configured/);
});

test('The public URL must lead to this service', async (t) => {
  let body = '{"object": "health"}';
  const server = createServer((_, response) => response.end(body)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const zone: Zone = { 'app.inbox.net': { A: ['127.0.0.1'] }, 'gone.inbox.net': {} };
  const state = (base: string, running = true) =>
    findingOf('public_url', {
      env: { DELIVERABILITY_BASE_URL: base },
      zone,
      service: running ? { url: '', version: '1', dependencies: [] } : null,
    });
  assert.match(await state(`http://app.inbox.net:${port}`), /^warning: .*without TLS/);
  assert.match(await state(`http://127.0.0.1:${port}`), /^warning: .*is this machine/);
  assert.match(await state(`https://app.inbox.net:${port}`), /^problem: .*TLS/);
  assert.match(await state('https://gone.inbox.net'), /^problem: .*does not resolve/);
  assert.match(await state('https://gone.inbox.net', false), /^unknown: .*not running/);
  body = '<h1>nginx</h1>';
  assert.match(
    await state(`http://app.inbox.net:${port}`),
    /^problem: .*status 200, and not as this service does/,
  );
});

test('The key file must be private', async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'secret.key');
  const env = { DELIVERABILITY_DATA_DIR: folder };
  assert.match(await findingOf('secret_key', { env }), /^warning: There is no key/);
  writeFileSync(file, 'x'.repeat(40));
  chmodSync(file, 0o644);
  assert.match(await findingOf('secret_key', { env }), /^unknown: /);
});

test('A check that hangs ends, and one that fails says why', async () => {
  const base = { id: 'x', title: 'X', timeoutMs: 20 };
  const [late] = await examine(checkupOf(), IO, [{ ...base, run: () => new Promise(() => {}) }]);
  assert.deepEqual([late!.state, late!.evidence], ['unknown', 'No result within 0.02 s.']);
  const [failed] = await examine(checkupOf(), IO, [
    { ...base, run: () => Promise.reject(new Error('broken')) },
  ]);
  assert.deepEqual([failed!.state, failed!.evidence], ['unknown', 'The check failed: broken.']);
});
