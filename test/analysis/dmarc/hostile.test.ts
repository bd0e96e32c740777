/** Hostile records at the names of policies: the work on them is bounded. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cpuTime } from '../../helpers/cpu-time.ts';
import { checkDomain } from '../domain/domains.ts';

const LENGTH = 30_000;
const many = (text: string): string => text.repeat(LENGTH / text.length);

const ROWS: [name: string, at: string, record: string][] = [
  ['commas in rua', '_dmarc', `v=DMARC1; p=reject; rua=${many(',')}mailto:a@example.com`],
  ['semicolons', '_dmarc', `v=DMARC1${many(';')}x`],
  ['spaces between separators', '_dmarc', `v=DMARC1; p=none${many(' ,')}x`],
  ['a zone-file line of spaces', '_dmarc', `TXT${many(' ')}v=DMARC1; p=none`],
  ['spaces after the version', '_dmarc', `v=DMARC1, TXT${many(' ')}x`],
  ['at signs', '_dmarc', `v=DMARC1; p=none; rua=mailto:${many('@')}=`],
  ['addresses after semicolons', '_dmarc', `v=DMARC1, rua=${many('a@b.example;')}`],
  ['at signs for TLS reports', '_smtp._tls', `v=TLSRPTv1; ${many('@')}=`],
  ['commas for TLS reports', '_smtp._tls', `v=TLSRPTv1; rua=${many(',')}mailto:a@example.com`],
];

describe('A hostile record', () => {
  for (const [name, at, record] of ROWS)
    it(`takes little time: ${name}`, async () => {
      const before = cpuTime();
      await checkDomain({
        'example.com': { TXT: ['v=spf1 -all'], MX: ['10 mx.example.com'] },
        'mx.example.com': { A: ['192.0.2.1'] },
        [`${at}.example.com`]: { TXT: [record] },
      });
      // Quadratic work takes seconds.
      assert.ok(cpuTime() - before < 1500, `${cpuTime() - before} ms`);
    });
});
