/** docs/reverse-proxies.md: Caddy asks the service for which hosts it may get certificates. */

// @one-database: about a document.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { connect } from 'node:tls';
import { spawn } from '../../scripts/programs.ts';
import { startDomainService } from '../domains/domain-service.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { freePort } from '../helpers/daemon.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';

const DOCUMENT = readFileSync(new URL('../../docs/reverse-proxies.md', import.meta.url), 'utf8');
const EXAMPLE = /<!-- caddy files -->\n```\w+\n([\s\S]*?)```/.exec(DOCUMENT)![1]!;

test('Caddy gets certificates for hosts of files only, and passes their requests on', {
  skip: skipUnlessInstalled('caddy'),
}, async (t) => {
  const service = await startDomainService(
    t,
    { 'example.com': { MX: ['10 mx.example.com'] } },
    { DELIVERABILITY_TRUSTED_PROXIES: '127.0.0.1' },
  );
  const domain = await service.add('example.com');
  service.publish(domain);
  await service.verify(domain.id);
  await service.call('PATCH', `/v1/domains/${domain.id}/hosted_files`, {
    json: { mta_sts: { mode: 'testing' } },
  });
  const folder = temporaryFolder(t);
  const [https, http] = [await freePort(), await freePort()];
  const file = join(folder, 'Caddyfile');
  const options = `admin off\n\tskip_install_trust\n\thttp_port ${http}\n\thttps_port ${https}\n\tdefault_bind 127.0.0.1`;
  // Instead of an authority on the Internet, Caddy's own.
  const text = EXAMPLE.replace('{\n', `{\n\t${options}\n`)
    .replaceAll('127.0.0.1:8080', `127.0.0.1:${service.http.port}`)
    .replace('on_demand\n', 'issuer internal\n\t\ton_demand\n')
    .replace('mail.example.com {\n', 'mail.example.com {\n\ttls internal\n');
  writeFileSync(file, text);
  const child = spawn('caddy', ['run', '--config', file, '--adapter', 'caddyfile'], {
    env: { PATH: process.env.PATH, HOME: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (part) => {
    log += part;
  });
  t.after(async () => {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
  });
  /** The response, or the code of the error. */
  const get = (servername: string) =>
    new Promise<string>((resolve) => {
      const socket = connect({
        port: https,
        host: '127.0.0.1',
        servername,
        rejectUnauthorized: false,
      });
      let answer = '';
      socket.on('secureConnect', () =>
        socket.write(
          `GET /.well-known/mta-sts.txt HTTP/1.1\r\nHost: ${servername}\r\nConnection: close\r\n\r\n`,
        ),
      );
      socket.on('data', (chunk) => {
        answer += chunk;
      });
      socket.on('close', () => resolve(answer));
      socket.on('error', (error) => resolve(`error ${(error as NodeJS.ErrnoException).code}`));
    });
  let policy = await get('mta-sts.example.com');
  for (let attempt = 0; attempt < 40 && policy === 'error ECONNREFUSED'; attempt++) {
    await pause(250);
    policy = await get('mta-sts.example.com');
  }
  assert.match(policy, /^HTTP\/1\.1 200 OK/, `${policy}\n${log}`);
  assert.match(policy, /version: STSv1\n/);
  for (const name of ['mta-sts.example.org', 'bimi.example.com', 'example.com'])
    assert.match(await get(name), /^error ERR_SSL/, name);
});
