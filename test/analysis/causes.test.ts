/** Problems with one cause: the cause comes first, and the others say so. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyze } from '../../src/analysis/analyze.ts';
import type { CheckResult } from '../../src/analysis/result.ts';
import { checksToFix } from '../../src/analysis/summary.ts';
import { type Zone, zoneResolver } from '../../src/net/dns/zone.ts';
import { reportText } from '../../src/report/text.ts';
import { RECEIVED_AT } from '../helpers/analysis.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { makeKey, signMessage } from '../helpers/signer.ts';

const KEY = makeKey();
const SHOP = goodMessage({ From: 'Linen <news@linen-shop.net>' });
const CLIENT = '203.0.114.21';
const ZONE: Zone = {
  'linen-shop.net': { MX: ['10 mx.linen-shop.net'], TXT: ['v=spf1 -all'] },
  'mx.linen-shop.net': { A: ['203.0.114.1'] },
  '_dmarc.linen-shop.net': { TXT: ['v=DMARC1; p=reject'] },
  's1._domainkey.esp.example': { TXT: [KEY.record] },
};

async function problemsIn(raw: string | Buffer, zone: Zone = {}): Promise<CheckResult[]> {
  const { checks } = await analyze(
    {
      raw: typeof raw === 'string' ? Buffer.from(raw.replaceAll('\n', '\r\n')) : raw,
      envelope: {
        mail_from: 'b@linen-shop.net',
        client_ip: CLIENT,
        helo: 'unknown-host.linen-shop.net',
        tls: { used: true, version: 'TLSv1.3', cipher: null },
      },
      receivedAt: RECEIVED_AT,
      kind: 'transactional',
    },
    { resolver: zoneResolver({ ...ZONE, ...zone }) },
  );
  return checksToFix(checks);
}

const CASES: [string, () => Promise<CheckResult[]>, [effect: string, cause: string][]][] = [
  ['an unsigned message', () => problemsIn(SHOP), [['dmarc', 'dkim']]],
  [
    'a signature of another domain',
    async () => {
      const signed = { domain: 'esp.example', selector: 's1', key: KEY };
      return problemsIn(await signMessage(SHOP, signed));
    },
    [['dmarc', 'dkim_alignment']],
  ],
  ['an address without a name', () => problemsIn(SHOP), [['helo', 'ptr']]],
];

for (const [what, find, pairs] of CASES)
  test(`A cause comes before what goes with it, at once: ${what}`, async () => {
    const problems = await find();
    for (const [effect, cause] of pairs) {
      const found = problems.find(({ id }) => id === effect)!;
      assert.equal(found.goes_with, cause);
      const label = problems.find(({ id }) => id === cause)!.label;
      assert.ok(found.fix!.text.startsWith(`Goes with “${label}”`), found.fix!.text);
    }
    for (const [index, { goes_with: cause, id }] of problems.entries()) {
      if (cause == null) continue;
      const before = problems.slice(0, index);
      const at = before.findIndex((check) => check.id === cause);
      assert.ok(at >= 0, `${id} comes before its cause ${cause}`);
      assert.ok(
        before.slice(at + 1).every((check) => check.goes_with === cause),
        `${id} does not follow ${cause}`,
      );
    }
  });

test('Problems of their own go with nothing', async () => {
  const problems = await problemsIn(goodMessage({ Subject: null }));
  assert.equal(problems.find(({ id }) => id === 'subject')!.goes_with, null);
  assert.equal(problems.find(({ id }) => id === 'ptr')!.goes_with, null);
});

test('A cause that only warns is shown before the failures that go with it', async () => {
  const message = goodMessage({
    From: 'Paula Hill <paula.hill@gmail.com>',
    'Reply-To': 'paula.hill@gmail.com',
    Subject: '[Willow] New enquiry',
    'X-Mailer': 'WPForms/1.9',
  });
  const raw = Buffer.from(message.replaceAll('\n', '\r\n'));
  const mail_from = 'wordpress@willow.example';
  const result = await analyze(
    {
      raw,
      envelope: { mail_from, client_ip: CLIENT, helo: 'web.willow.example', tls: null },
      receivedAt: RECEIVED_AT,
      kind: 'transactional',
    },
    {
      resolver: zoneResolver({
        'willow.example': { TXT: [`v=spf1 ip4:${CLIENT} -all`] },
        '_dmarc.gmail.com': { TXT: ['v=DMARC1; p=none'] },
        'gmail.com': { MX: ['5 mx.gmail.com'] },
        'mx.gmail.com': { A: ['203.0.114.2'] },
      }),
    },
  );
  const cause = result.checks.find(({ id }) => id === 'from')!;
  const effects = result.checks.filter(({ goes_with }) => goes_with === 'from');
  assert.equal(cause.status, 'warn');
  assert.ok(effects.some(({ status }) => status === 'fail'));
  const text = reportText(result, { width: 500, color: false });
  for (const { title } of effects) assert.ok(text.indexOf(cause.title) < text.indexOf(title), text);
});
