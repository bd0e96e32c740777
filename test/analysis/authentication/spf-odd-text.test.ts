/** Whatever text a client says in HELO and MAIL FROM: a finding of `spf`, never a crash. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spf } from '../../../src/analysis/authentication/spf.ts';
import type { Zone } from '../../../src/net/zone.ts';
import { runCheck } from '../../helpers/analysis.ts';

const MESSAGE = 'From: Ann <ann@example.com>\n\nHello\n';

const ODD = [
  'spaces in it',
  'a b@c d.example',
  '@',
  '@@@@',
  'x@',
  '<>@<>',
  'ünïcode@exämple.com',
  'x@\u0000\u0001\r\n.example',
  'x@[192.0.2.1]',
  '[IPv6:2001:db8::1]',
  '..',
  'x@example.com/../..',
  '%{i}%{',
  '{"a":1}',
  '\ud800@\udfff.com',
  `${'a'.repeat(10_000)}@example.com`,
  `x@${'a'.repeat(10_000)}`,
  `x@${'a.'.repeat(5_000)}com`,
  'ü'.repeat(10_000),
];

test('odd text in HELO and MAIL FROM is a finding, never a crash', async () => {
  const zone: Zone = { 'example.com': { TXT: ['v=spf1 exists:%{l}.%{h}.example.com -all'] } };
  for (const text of ODD) {
    const envelopes = [
      { mail_from: '', helo: text },
      { mail_from: text, helo: text },
      { mail_from: 'x@example.com', helo: text },
    ];
    for (const envelope of envelopes) {
      const found = await runCheck(spf, { message: MESSAGE, zone, envelope });
      assert.equal(found.status, 'fail', `${text.slice(0, 40)}: ${found.title}`);
      assert.ok(JSON.stringify(found).length < 5_000, text.slice(0, 40));
    }
  }
});

test('a HELO that hides another domain behind an @ is not asked about', async () => {
  const zone: Zone = { 'example.com': { TXT: ['v=spf1 +all'] } };
  const envelope = { mail_from: '', helo: 'evil@example.com' };
  const found = await runCheck(spf, { message: MESSAGE, zone, envelope });
  assert.equal(found.status, 'fail');
  assert.equal(found.evidence?.domain, null);
});
