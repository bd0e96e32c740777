/** `healthcheck`: whether the service on this machine responds. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { healthcheck } from '../../src/commands/healthcheck.ts';
import { makeCertificate } from '../../src/lib/certificates.ts';
import { startTestService, temporaryFolder } from '../helpers/app.ts';
import { runCommand } from './run.ts';

async function listen(t: TestContext, server: ReturnType<typeof createServer>): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

const statuses =
  (healthz: number, readyz: number): RequestListener =>
  ({ url }, response) => {
    response.statusCode = { '/healthz': healthz, '/readyz': readyz }[url ?? ''] ?? 404;
    response.end();
  };

test('healthcheck succeeds while the service responds', async (t) => {
  const service = await startTestService(t);
  const env = { DELIVERABILITY_HTTP_PORT: String(service.http.port) };
  for (const args of [[], ['--ready']])
    assert.deepEqual(await runCommand(healthcheck, args, env), { code: 0, stdout: '', stderr: '' });
});

test('healthcheck fails with the reason if the service is not well', async (t) => {
  const port = await listen(t, createServer(statuses(200, 503)));
  const env = { DELIVERABILITY_HTTP_PORT: String(port), DELIVERABILITY_HTTP_HOST: '0.0.0.0' };
  assert.equal((await runCommand(healthcheck, [], env)).code, 0);
  const { code, stderr } = await runCommand(healthcheck, ['--ready'], env);
  assert.deepEqual([code, stderr], [1, `http://127.0.0.1:${port}/readyz responded with 503.\n`]);

  const closed = createServer();
  const free = await listen(t, closed);
  closed.close();
  const refused = await runCommand(healthcheck, [], { DELIVERABILITY_HTTP_PORT: String(free) });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /did not respond: .*ECONNREFUSED/);
});

test('healthcheck accepts the certificate of the public host', async (t) => {
  const pair = await makeCertificate('mail-tests.example', Date.now());
  const port = await listen(t, createHttpsServer(pair, statuses(200, 200)));
  const folder = temporaryFolder(t);
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  writeFileSync(certFile, pair.cert);
  writeFileSync(keyFile, pair.key);
  const env = {
    DELIVERABILITY_HTTP_PORT: String(port),
    DELIVERABILITY_HTTP_TLS_CERT_FILE: certFile,
    DELIVERABILITY_HTTP_TLS_KEY_FILE: keyFile,
  };
  assert.equal((await runCommand(healthcheck, [], env)).code, 0);
});
