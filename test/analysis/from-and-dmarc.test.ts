/** A From that names no one domain: one cause, one finding, and its gain is the whole of it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyze } from '../../src/analysis/analyze.ts';
import { zoneResolver } from '../../src/net/zone.ts';
import { ENVELOPE, RECEIVED_AT } from '../helpers/analysis.ts';

const ZONE = {
  'example.com': {
    A: ['192.0.2.1'],
    MX: ['10 mail.example.com'],
    TXT: ['v=spf1 ip4:192.0.2.1 -all'],
  },
  'mail.example.com': { A: ['192.0.2.1'] },
  '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; rua=mailto:d@example.com'] },
  '1.2.0.192.in-addr.arpa': { PTR: ['mail.example.com'] },
};

const analyzeFrom = (from: string) =>
  analyze(
    {
      raw: Buffer.from(
        `From: ${from}\r\nTo: b@example.net\r\nSubject: Hello\r\nDate: Sat, 21 Nov 2026 10:00:00 +0000\r\nMessage-ID: <1@example.com>\r\n\r\nText.\r\n`,
      ),
      envelope: ENVELOPE,
      receivedAt: RECEIVED_AT,
      kind: 'auto',
    },
    { resolver: zoneResolver(ZONE) },
  );

for (const from of ["O'Brien, Inc. <a@example.com>", 'a@example.com, b@other.example'])
  test(`From: ${from}`, async () => {
    const result = await analyzeFrom(from);
    const gainOf = (id: string) => result.checks.find((check) => check.id === id)!.gain;
    assert.equal(result.cap?.limit, 40);
    assert.equal(result.checks.find(({ id }) => id === 'from')?.status, 'fail');
    assert.equal(result.checks.find(({ id }) => id === 'dmarc')?.status, 'skipped');
    assert.ok(gainOf('from') > 20, String(gainOf('from')));
    assert.equal(gainOf('dkim'), 0, 'DKIM alone mends nothing');
  });
