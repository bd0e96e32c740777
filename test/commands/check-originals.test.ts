/** `check` uses what an original says about its receipt, and prints where each value comes from. */

// @one-database: `check` opens no database.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check } from '../../src/commands/check/check.ts';
import type { Test } from '../../src/mailtests/schema.ts';
import { startDnsServer } from '../helpers/dns-server.ts';
import { loadOriginal, originalsZone } from '../helpers/originals.ts';
import { runCommand } from './run.ts';

/** The receiver, and the servers that wrote Received and Return-Path. */
const RECEIVERS: [original: string, receiver: string, server: string][] = [
  ['gmail', 'Gmail', 'mx.google.com'],
  ['outlook-com', 'Outlook.com / Microsoft 365', 'DU2PEPF00028CFF.mail.protection.outlook.com'],
  ['yahoo', 'Yahoo', 'atlas-production.v2-mail-prod1-gq1.omega.yahoo.com'],
  ['fastmail', 'Fastmail', 'phl-mx-02.messagingengine.com'],
  ['gmx', 'GMX', 'mx.gmx.net'],
  ['postfix-dovecot', 'mx1.reader.example', 'mx1.reader.example'],
];

test('check uses the values of an original without options, and prints their origins', async (t) => {
  const dns = await startDnsServer(originalsZone());
  t.after(() => dns.close());
  const options = [`--dns=127.0.0.1:${dns.address.port}`, '--no-links'];
  const env = { DELIVERABILITY_BLOCKLISTS: '-all' };
  for (const [original, receiver, server] of RECEIVERS) {
    const args = [loadOriginal(original).path, ...options];
    const { stdout } = await runCommand(check, args, env);
    const text = stdout.replace(/\s+/g, ' ');
    assert.match(text, new RegExp(`${receiver} received it from 203\\.0\\.114\\.9`), text);
    for (const line of [
      `203.0.114.9 (Received, ${server})`,
      `mail.lantern-books.example (Received, ${server})`,
      `bounce@lantern-books.example (Return-Path, ${server})`,
    ])
      assert.ok(text.includes(line), `${original}: ${line}\n${text}`);
    const json = JSON.parse((await runCommand(check, [...args, '--json'], env)).stdout) as Test;
    const { client_ip, file } = json.envelope!;
    assert.equal(client_ip, '203.0.114.9');
    assert.deepEqual(file!.origins.client_ip, { source: 'file', field: 'Received', by: server });
    assert.deepEqual(json.auth_results, { spf: 'pass', dkim: 'pass', dmarc: 'pass' }, original);
  }
});

test('check prefers the values of options, and says what a file does not say', async (t) => {
  const dns = await startDnsServer(originalsZone());
  t.after(() => dns.close());
  const options = [`--dns=127.0.0.1:${dns.address.port}`, '--no-links'];
  const env = { DELIVERABILITY_BLOCKLISTS: '-all' };
  const run = async (original: string, more: string[]) =>
    (
      await runCommand(check, [loadOriginal(original).path, ...options, ...more], env, {
        width: 200,
      })
    ).stdout;
  const given = await run('gmail', ['--ip=203.0.114.77', '--helo=other.lantern-books.example']);
  assert.match(given, /203\.0\.114\.77 \(given\)/);
  assert.match(given, /other\.lantern-books\.example \(given\)/);
  assert.match(given, /SPF fail/);
  for (const original of ['from-a-build', 'sent-copy'])
    assert.match(await run(original, []), /not known: this is a file/);
});
