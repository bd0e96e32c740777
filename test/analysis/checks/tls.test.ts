/** `tls`, by version. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckStatus, Envelope } from '../../../src/analysis/check.ts';
import { tls } from '../../../src/analysis/checks/tls.ts';
import { runCheck } from '../../helpers/analysis.ts';

const over = (version: string | null): Envelope['tls'] => ({ used: true, version, cipher: null });

const ROWS: [string, Envelope['tls'], CheckStatus][] = [
  ['TLS 1.3', over('TLSv1.3'), 'pass'],
  ['TLS 1.2', over('TLSv1.2'), 'pass'],
  ['TLS 1.2, written differently', over('tls1.2'), 'pass'],
  ['TLS 1.1', over('TLSv1.1'), 'warn'],
  ['TLS 1.0', over('TLSv1'), 'warn'],
  ['SSL 3', over('SSLv3'), 'fail'],
  ['TLS offered but not used', { used: false, version: null, cipher: null }, 'fail'],
  ['an unknown version', over(null), 'error'],
  ['an invalid version', over('QUIC'), 'error'],
  ['no TLS information', null, 'skipped'],
];
for (const [what, session, status] of ROWS)
  test(`tls check reports ${status}: ${what}`, async () => {
    const finding = await runCheck(tls, {
      message: 'From: a@example.com\n\nx\n',
      envelope: { tls: session },
    });
    assert.equal(finding.status, status);
    assert.equal(finding.fix !== undefined, status === 'warn' || status === 'fail');
  });
