/** Mail sent by swaks, an independent SMTP client. */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { execFile } from '../../scripts/programs.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { assertAllPassed, signed, startWithDns } from './sender.ts';

test('A signed message sent by swaks over STARTTLS arrives unchanged and passes', {
  skip: skipUnlessInstalled('swaks'),
}, async (t) => {
  const { service } = await startWithDns(t);
  const test = await service.createTest();
  const file = join(temporaryFolder(t), 'message.eml');
  const raw = await signed();
  // swaks adds the end of the last line.
  writeFileSync(file, raw.subarray(0, -2));
  await send(service.smtp.port, test.address, file);
  const ended = await service.getTest(test.id, '?wait=50');
  assertAllPassed(ended);
  assert.equal(ended.envelope?.tls?.version, 'TLSv1.3');
  assert.equal((await service.call('GET', `/v1/tests/${test.id}/source`)).text, raw.toString());
});

/** As if from 192.0.2.1. */
async function send(port: number, to: string, file: string): Promise<void> {
  const options = {
    server: `127.0.0.1:${port}`,
    'proxy-version': '1',
    'proxy-family': 'TCP4',
    'proxy-source': '192.0.2.1',
    'proxy-source-port': '40000',
    'proxy-dest': '192.0.2.255',
    'proxy-dest-port': '25',
    helo: 'mail.example.com',
    from: 'bounce@example.com',
    to,
    data: `@${file}`,
  };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  await promisify(execFile)('swaks', [...args, '--tls']);
}
