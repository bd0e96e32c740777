/** No DNS server, web server or engine responds: the analysis still ends in time, with unknown results. */

// @alone: measures the duration of an analysis.

import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { analyze } from '../../src/analysis/analyze.ts';
import { NO_SETUP } from '../../src/analysis/context.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createDnsResolver } from '../../src/net/dns/network-resolver.ts';
import { createWebClient } from '../../src/net/http/client.ts';
import { cleanWorld, messageOf } from '../analysis/planted/world.ts';
import { RECEIVED_AT } from '../helpers/analysis.ts';

/** Categories of checks that need no network. */
const OFFLINE_CATEGORIES = new Set(['compliance', 'content']);
const LINKS = 60;

test('Analysis with unresponsive DNS, engines and 60 links ends within 15 seconds', async (t) => {
  const dnsPort = await silentUdp(t);
  const { port, dialed } = await silentTcp(t);
  const resolver = createDnsResolver({
    servers: [{ host: '127.0.0.1', port: dnsPort }],
    clock: systemClock,
  });
  t.after(() => resolver.close());
  const web = createWebClient({ resolver, dial: () => connect(port, '127.0.0.1') });
  const world = cleanWorld();
  world.html = world.html.replace('</body>', `${links()}</body>`);
  const raw = await messageOf(world);
  const started = systemClock.now();
  const result = await analyze(
    { raw, envelope: world.envelope, receivedAt: RECEIVED_AT, kind: 'auto' },
    {
      resolver,
      web,
      setup: {
        ...NO_SETUP,
        blocklists: world.setup.blocklists!,
        spamd: `tcp://127.0.0.1:${port}`,
        rspamd: `http://127.0.0.1:${port}`,
        checkLinks: true,
      },
      onFault: (id, error) => assert.fail(`${id}: ${error}`),
    },
  );
  const elapsed = systemClock.now() - started;
  t.diagnostic(`${elapsed} ms, ${dialed()} connections`);
  assert.ok(elapsed < 15_000, `${elapsed} ms`);
  assert.ok(dialed() > 0, 'links were requested');
  assert.equal(result.score, null);
  assert.equal(result.temporary, true);
  assert.ok(result.coverage < 0.8, String(result.coverage));
  assert.match(result.summary, /no score: fewer than two of SPF, DKIM and DMARC could be checked/);
  const of = (id: string) => result.checks.find((check) => check.id === id)!;
  for (const id of ['spf', 'dkim', 'dmarc', 'ptr', 'mx', 'ip_blocklists', 'domain_blocklists'])
    assert.equal(of(id).status, 'error', `${id}: ${of(id).title}`);
  for (const id of ['link_status', 'spamassassin', 'rspamd'])
    assert.equal(of(id).status, 'error', `${id}: ${of(id).title}`);
  // Checks with several sequential queries reach the deadline.
  const cutOff = result.checks.filter(({ title }) => title.endsWith('check timed out.'));
  assert.ok(cutOff.length > 0);
  for (const { id, status } of cutOff) assert.equal(status, 'error', id);
  // Only checks that need no response have a verdict.
  const decided = result.checks.filter(
    ({ status, category }) =>
      ['pass', 'warn', 'fail'].includes(status) && !OFFLINE_CATEGORIES.has(category),
  );
  assert.deepEqual(
    decided.map(({ id }) => id),
    // These depend only on the message and the SMTP session.
    ['dkim_coverage', 'tls'],
  );
});

/** Half with host names, half with public-looking IP addresses; all connections go to the silent server. */
function links(): string {
  return Array.from({ length: LINKS }, (_, i) => {
    const host = i % 2 ? `203.0.114.${i}` : `l${i}.example.com`;
    return `<p><a href="https://${host}/page">Page ${i} of our newsletter</a></p>\n`;
  }).join('');
}

async function silentUdp(t: TestContext): Promise<number> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.after(() => socket.close());
  return socket.address().port;
}

async function silentTcp(t: TestContext): Promise<{ port: number; dialed(): number }> {
  const sockets = new Set<Socket>();
  let count = 0;
  const server = createServer((socket) => {
    count += 1;
    sockets.add(socket);
    socket.on('error', () => {});
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, dialed: () => count };
}
