/** The message of the benchmarks (11 kB, two signatures) and its DNS zone. */

import type { AnalysisInput } from '../../src/analysis/check.ts';
import type { Zone } from '../../src/net/dns/zone.ts';
import { makeKey, signMessage } from '../../test/helpers/signer.ts';

const PARAGRAPH =
  'A paragraph of some text that goes on for a while, so that there is something to hash.';

const UNSIGNED = [
  'From: Someone <someone@example.com>',
  'To: other@example.net',
  'Subject: The message of the benchmark',
  'Date: Sat, 21 Nov 2026 10:00:00 +0000',
  'Message-ID: <1@example.com>',
  'MIME-Version: 1.0',
  'Content-Type: multipart/alternative; boundary=b',
  '',
  '--b',
  'Content-Type: text/plain; charset=utf-8',
  '',
  ...Array.from({ length: 40 }, () => PARAGRAPH),
  '--b',
  'Content-Type: text/html; charset=utf-8',
  '',
  ...Array.from({ length: 60 }, () => `<p>${PARAGRAPH}</p>`),
  '--b--',
  '',
].join('\r\n');

export interface BenchMail {
  input: AnalysisInput;
  zone: Zone;
}

export async function benchMail(): Promise<BenchMail> {
  const [own, provider] = [makeKey('rsa2048'), makeKey('rsa2048')];
  const once = await signMessage(UNSIGNED, { domain: 'example.com', selector: 's1', key: own });
  const raw = await signMessage(once, {
    domain: 'provider.example',
    selector: 's2',
    key: provider,
  });
  const zone: Zone = {
    'example.com': {
      A: ['192.0.2.1'],
      MX: ['10 mail.example.com'],
      TXT: ['v=spf1 ip4:192.0.2.1 -all'],
    },
    'mail.example.com': { A: ['192.0.2.1'] },
    '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; rua=mailto:d@example.com'] },
    '1.2.0.192.in-addr.arpa': { PTR: ['mail.example.com'] },
    's1._domainkey.example.com': { TXT: [own.record] },
    's2._domainkey.provider.example': { TXT: [provider.record] },
  };
  const input: AnalysisInput = {
    raw,
    envelope: {
      mail_from: 'someone@example.com',
      client_ip: '192.0.2.1',
      helo: 'mail.example.com',
      tls: { used: true, version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384' },
    },
    receivedAt: Date.UTC(2026, 10, 21, 10, 0, 5),
    kind: 'auto',
  };
  return { input, zone };
}
