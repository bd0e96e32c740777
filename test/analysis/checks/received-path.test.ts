/** `received_path`: hops, delays, clock skew and malformed fields. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Finding } from '../../../src/analysis/check.ts';
import { receivedPath } from '../../../src/analysis/checks/received-path.ts';
import { runCheck } from '../../helpers/analysis.ts';

const run = (headers: string) =>
  runCheck(receivedPath, { message: `${headers}From: a@example.com\n\nx\n` });

const hopsOf = (finding: Finding) => (finding.evidence?.hops ?? []) as { time: string | null }[];

const hop = (by: string, time: string) =>
  `Received: from app.example.com (app [10.0.0.1] (may be forged; really))\n\tby ${by} (Postfix)\n with ESMTPS id 4; ${time}\n`;

test('received_path check lists hops in order from the sender, with delays', async () => {
  const finding = await run(
    hop('mx.example.com', 'Sat, 21 Nov 2026 10:59:50 +0100 (CET)') +
      hop('relay.example.com', 'Sat, 21 Nov 2026 09:49:48 GMT'),
  );
  assert.equal(finding.status, 'info');
  assert.equal(finding.title, 'The message passed through 2 servers in 10 min 12 s.');
  assert.match(finding.detail, /longest delay was 10 min 2 s, before mx\.example\.com received it/);
  assert.deepEqual(finding.evidence, {
    hops: [
      {
        from: 'app.example.com',
        by: 'relay.example.com',
        protocol: 'ESMTPS',
        time: '2026-11-21T09:49:48.000Z',
        delay_seconds: null,
      },
      {
        from: 'app.example.com',
        by: 'mx.example.com',
        protocol: 'ESMTPS',
        time: '2026-11-21T09:59:50.000Z',
        delay_seconds: 602,
      },
    ],
    last_delay_seconds: 10,
    clock_skew_seconds: 0,
  });
});

test('received_path check reports a wrong clock', async () => {
  const finding = await run(hop('mx.example.com', 'Sat, 21 Nov 2026 10:02:00 +0000'));
  assert.equal(finding.evidence?.clock_skew_seconds, 120);
  assert.match(finding.detail, /clock of a server is off by about 2 m/);
  assert.equal(finding.title, 'The message passed through 1 server.');
});

test('received_path check handles messages without Received fields', async () => {
  assert.match((await run('')).title, /directly from its sender/);
});

test('received_path check shows unreadable fields as hops without time', async () => {
  const finding = await run(
    `Received: ; ;\nReceived: ${'('.repeat(500)}from x by y\nReceived: from a by b; yesterday\n`,
  );
  assert.equal(finding.title, 'The message passed through 3 servers.');
  assert.ok(hopsOf(finding).every((found) => found.time === null));
});

test('received_path check limits many long fields', async () => {
  const finding = await run(`Received: from ${'a (b '.repeat(900)}\n`.repeat(200));
  assert.equal(hopsOf(finding).length, 50);
  assert.ok(JSON.stringify(finding).length < 50_000);
});

test('received_path check says unknown if the server in front reported no client', async () => {
  const run = (method: 'xclient' | null) =>
    runCheck(receivedPath, {
      message: 'From: a@example.com\n\nx\n',
      envelope: { reported_by: { client_ip: '10.0.0.5', name: null, method } },
    });
  assert.match((await run(null)).title, /delivery path of the message is unknown/);
  assert.match((await run('xclient')).title, /arrived directly from its sender/);
});
