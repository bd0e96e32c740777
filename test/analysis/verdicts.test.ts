/** Whole messages with their verdict: cap, headline, readiness, and the gain of the first fix. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { analyze } from '../../src/analysis/analyze.ts';
import type { Envelope, MessageKind } from '../../src/analysis/check.ts';
import type { AnalysisResult } from '../../src/analysis/result.ts';
import { checksToFix, unknownResults } from '../../src/analysis/summary.ts';
import { type Zone, zoneResolver } from '../../src/net/dns/zone.ts';
import { RECEIVED_AT } from '../helpers/analysis.ts';
import { makeKey, signMessage } from '../helpers/signer.ts';

const KEY = makeKey();
const CLIENT = '203.0.114.7';

/** A server of example.com, which may send for it. */
const SERVER = {
  'example.com': {
    A: [CLIENT],
    MX: ['10 mail.example.com'],
    TXT: [`v=spf1 ip4:${CLIENT} -all`],
  },
  'mail.example.com': { A: [CLIENT] },
  '7.114.0.203.in-addr.arpa': { PTR: ['mail.example.com'] },
  'plain.example': { MX: ['10 mail.example.com'] },
};

const ENVELOPE: Envelope = {
  mail_from: 'bounce@example.com',
  client_ip: CLIENT,
  helo: 'mail.example.com',
  tls: { used: true, version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384' },
};

const FAILING_SPF: Zone = { 'example.com': { ...SERVER['example.com'], TXT: ['v=spf1 -all'] } };

interface Scene {
  /** null: no From field. */
  from: string | null;
  zone?: Zone;
  /** The domain that signs. */
  signs?: string;
  kind?: MessageKind;
}

async function analyzeScene({ from, zone = {}, signs, kind = 'transactional' }: Scene) {
  const field = from === null ? '' : `From: ${from}\n`;
  const text = `${field}To: bob@example.net\nSubject: Your question\nDate: Sat, 21 Nov 2026 09:59:58 +0000\nMessage-ID: <1@example.com>\n\nHello Bob, this is the answer.\n`;
  const raw = signs
    ? await signMessage(text, { domain: signs, selector: 's1', key: KEY })
    : Buffer.from(text.replaceAll('\n', '\r\n'));
  const keys = signs ? { [`s1._domainkey.${signs}`]: { TXT: [KEY.record] } } : {};
  return analyze(
    { raw, envelope: ENVELOPE, receivedAt: RECEIVED_AT, kind },
    { resolver: zoneResolver({ ...SERVER, ...zone, ...keys }) },
  );
}

const at = ({ checks }: AnalysisResult, id: string) => checks.find((check) => check.id === id)!;

const notReady = ({ providers }: AnalysisResult): string =>
  providers
    .filter(({ status }) => status === 'not_ready')
    .map(({ name }) => name)
    .join(', ');

const UNALIGNED = 'Mailbox providers may send this message to spam: no DKIM, and SPF is unaligned.';

const CASES: [name: string, scene: Scene, limit: number, headline: string, notReady: string][] = [
  [
    'SPF passes for another domain, without DMARC: providers require alignment only of bulk mail',
    { from: 'ann@plain.example' },
    60,
    UNALIGNED,
    '',
  ],
  [
    'the same as marketing mail: three providers require alignment',
    { from: 'ann@plain.example', kind: 'marketing' },
    40,
    'Gmail and 2 others are likely to reject this message: no DKIM, and SPF is unaligned.',
    'Gmail, Yahoo, Microsoft, Apple',
  ],
  [
    'p=none instead of no record',
    { from: 'ann@plain.example', zone: { '_dmarc.plain.example': { TXT: ['v=DMARC1; p=none'] } } },
    60,
    UNALIGNED,
    '',
  ],
  [
    'p=reject',
    {
      from: 'ann@plain.example',
      zone: { '_dmarc.plain.example': { TXT: ['v=DMARC1; p=reject'] } },
    },
    40,
    'Gmail and 3 others are likely to reject this message: no DKIM, and SPF is unaligned.',
    'Gmail, Yahoo, Microsoft, Apple',
  ],
  [
    'neither SPF nor DKIM passes',
    { from: 'ann@plain.example', zone: FAILING_SPF },
    25,
    'Gmail, Yahoo and Apple are likely to reject this message: neither SPF nor DKIM passes.',
    'Gmail, Yahoo, Apple',
  ],
  [
    'a From domain without MX, A and DMARC: headline and cap name the lower cap',
    { from: 'ann@nothing.example', zone: { 'nothing.example': { TXT: ['x'] } } },
    60,
    UNALIGNED,
    '',
  ],
  [
    'a From domain that does not exist',
    { from: 'ann@nothing.example' },
    25,
    'Many mail servers are likely to reject this message: its From domain does not exist.',
    'Gmail, Yahoo, Microsoft, Apple',
  ],
  [
    'no From field: DMARC was not checked, so it has not failed',
    { from: null },
    40,
    'Gmail, Yahoo and Microsoft are likely to reject this message: it has no From field.',
    'Gmail, Yahoo, Microsoft',
  ],
  [
    'two From domains',
    { from: 'ann@example.com, bob@plain.example' },
    40,
    'Gmail and 2 others are likely to reject this message: its From field has 2 addresses.',
    'Gmail, Yahoo, Microsoft',
  ],
  [
    'an address without a domain name',
    { from: '"bob@bank.example" <ann@[203.0.114.7]>' },
    40,
    'Gmail, Yahoo and Microsoft are likely to reject this message: its From field is invalid.',
    'Gmail, Yahoo, Microsoft',
  ],
];

describe('Verdict', () => {
  for (const [name, scene, limit, headline, unready] of CASES)
    it(name, async () => {
      const result = await analyzeScene(scene);
      assert.equal(result.cap?.limit, limit, result.cap?.reason);
      assert.ok(result.score! <= limit);
      assert.equal(result.summary, headline);
      assert.equal(notReady(result), unready);
    });

  it('lists no check as unknown that a missing From field prevents', async () => {
    for (const kind of ['transactional', 'marketing'] as const) {
      const result = await analyzeScene({ from: null, kind });
      assert.equal(unknownResults(result), 'Not checked: IP blocklists.');
      assert.equal(checksToFix(result.checks)[0]!.title, 'Your message has no From field.');
    }
  });
});

// The gain of a signature where the From domain has no DMARC record.

const SIGNED: [name: string, zone: Zone][] = [
  ['SPF passes for another domain', {}],
  ['SPF fails', FAILING_SPF],
];

for (const [name, zone] of SIGNED)
  it(`Gain of an aligned signature without a DMARC record: ${name}`, async () => {
    const from = 'ann@plain.example';
    const before = await analyzeScene({ from, zone });
    const after = await analyzeScene({ from, zone, signs: 'plain.example' });
    const { gain } = at(before, 'dkim');
    assert.ok(gain > 20, String(gain));
    assert.ok(Math.abs(before.score! + gain - after.uncapped!) <= 1, `${gain}, ${after.uncapped}`);
    assert.equal(checksToFix(before.checks)[0]!.title, 'Your message has no DKIM signature.');
  });
