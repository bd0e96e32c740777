/** `one_click_signed`, which shares the finding on unsigned fields with `dkim_coverage`. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyze } from '../../../src/analysis/analyze.ts';
import type { CheckStatus, MessageKind } from '../../../src/analysis/check.ts';
import { dkim } from '../../../src/analysis/checks/dkim.ts';
import { dkimAlignment } from '../../../src/analysis/checks/dkim-alignment.ts';
import { dkimCoverage } from '../../../src/analysis/checks/dkim-coverage.ts';
import { listUnsubscribeCheck } from '../../../src/analysis/checks/list-unsubscribe.ts';
import { oneClick } from '../../../src/analysis/checks/one-click.ts';
import { oneClickSigned } from '../../../src/analysis/checks/one-click-signed.ts';
import { type Zone, zoneResolver } from '../../../src/net/dns/zone.ts';
import { ENVELOPE, RECEIVED_AT, runCheck } from '../../helpers/analysis.ts';
import { alter, KEYS, MESSAGE, sign } from '../dkim/signed-mail.ts';
import { fakeCheck } from '../fake-checks.ts';

const ALL = ['From', 'To', 'Subject', 'Date', 'Message-ID'];
const BOTH = ['List-Unsubscribe', 'List-Unsubscribe-Post'];
const NEWSLETTER = `List-Unsubscribe: <https://example.com/u>
List-Unsubscribe-Post: List-Unsubscribe=One-Click
${MESSAGE}`;
const withoutPost = NEWSLETTER.replace(/^List-Unsubscribe-Post.*\n/m, '');

const zone: Zone = {
  's1._domainkey.example.com': { TXT: [KEYS.rsa.record] },
  's1._domainkey.other.example': { TXT: [KEYS.rsa.record] },
};
const foreign = (options = {}, message: string | Buffer = NEWSLETTER) =>
  sign({ domain: 'other.example', headerList: [...ALL, ...BOTH], ...options }, message);

const rows: {
  name: string;
  message: () => Promise<Buffer | string>;
  zone?: Zone;
  offline?: boolean;
  kind?: MessageKind;
  status: CheckStatus;
  expected: RegExp;
}[] = [
  {
    name: 'both fields signed',
    message: () => sign({ headerList: [...ALL, ...BOTH] }, NEWSLETTER),
    status: 'pass',
    expected: /signed by example\.com/,
  },
  {
    name: 'neither field signed',
    message: () => sign({ headerList: ALL }, NEWSLETTER),
    status: 'fail',
    expected: /covers List-Unsubscribe and List-Unsubscribe-Post\./,
  },
  {
    name: 'one of the two fields signed',
    message: () => sign({ headerList: [...ALL, 'List-Unsubscribe'] }, NEWSLETTER),
    status: 'fail',
    expected: /covers List-Unsubscribe-Post\./,
  },
  {
    name: 'one of two fields signed',
    message: async () =>
      `List-Unsubscribe: <https://evil.example/>\r\n${await sign({ headerList: [...ALL, ...BOTH] }, NEWSLETTER)}`,
    status: 'fail',
    expected: /covers List-Unsubscribe\./,
  },
  {
    name: 'both fields under one of two own signatures',
    message: async () =>
      sign({ headerList: ['From'] }, await sign({ headerList: [...ALL, ...BOTH] }, NEWSLETTER)),
    status: 'pass',
    expected: /signed by example\.com/,
  },
  {
    name: 'both fields under an invalid signature',
    message: async () =>
      alter(await sign({ headerList: [...ALL, ...BOTH] }, NEWSLETTER), 'the body', 'a body'),
    status: 'fail',
    expected: /No valid signature/,
  },
  {
    name: 'both fields under another domain’s signature',
    message: () => foreign(),
    status: 'fail',
    expected: /No valid signature from your domain/,
  },
  {
    name: 'both fields by another domain, one by the sender',
    message: async () =>
      foreign({}, await sign({ headerList: [...ALL, 'List-Unsubscribe'] }, NEWSLETTER)),
    status: 'fail',
    expected: /covers List-Unsubscribe-Post\./,
  },
  {
    name: 'no signature',
    message: async () => NEWSLETTER,
    status: 'fail',
    expected: /No valid signature/,
  },
  {
    name: 'a key lookup that fails',
    message: () => sign({ headerList: [...ALL, ...BOTH] }, NEWSLETTER),
    zone: { 's1._domainkey.example.com': { fails: 'timeout' } },
    status: 'error',
    expected: /Could not verify any signature/,
  },
  {
    name: 'a DMARC lookup that fails',
    message: () => foreign(),
    zone: { ...zone, '_dmarc.example.com': { fails: 'timeout' } },
    status: 'error',
    expected: /whether the signature is aligned/,
  },
  {
    name: 'offline',
    message: () => sign({ headerList: [...ALL, ...BOTH] }, NEWSLETTER),
    offline: true,
    status: 'skipped',
    expected: /offline/i,
  },
  {
    name: 'only one of the fields present',
    message: () => sign({ headerList: ALL }, withoutPost),
    status: 'skipped',
    expected: /See the finding "One-click unsubscribe"/,
  },
  {
    name: 'no From field',
    message: async () => NEWSLETTER.replace(/^From:.*\n/m, ''),
    status: 'skipped',
    expected: /From field has no domain/,
  },
  {
    name: 'transactional mail',
    message: () => sign({ headerList: ALL }, NEWSLETTER),
    kind: 'transactional',
    status: 'skipped',
    expected: /is transactional mail\. You chose this kind/,
  },
];

for (const { name, message, status, expected, ...scene } of rows)
  test(`one_click_signed check reports ${status}: ${name}`, async () => {
    const finding = await runCheck(oneClickSigned, { zone, ...scene, message: await message() });
    assert.equal(finding.status, status, finding.title);
    assert.match(`${finding.title} ${finding.detail}`, expected);
    assert.equal(finding.fix !== undefined, status === 'fail');
  });

const CHECKS = [
  fakeCheck('spf', 'pass'),
  dkim,
  dkimAlignment,
  dkimCoverage,
  fakeCheck('dmarc', 'pass'),
  listUnsubscribeCheck,
  oneClick,
  oneClickSigned,
];

/** The status of each check by id, or the sentence that names the failed check it depends on. */
async function found(raw: Buffer | string, kind: MessageKind = 'auto') {
  const result = await analyze(
    { raw: Buffer.from(raw), envelope: ENVELOPE, receivedAt: RECEIVED_AT, kind },
    { resolver: zoneResolver(zone), checks: CHECKS },
  );
  const details = result.checks.map(({ id, status, detail }) => [
    id,
    /^Not checked: .* failed\.$/.test(detail) ? detail : status,
  ]);
  return Object.fromEntries(details) as Record<string, string>;
}

const causes: [string, () => Promise<Buffer | string>, string, string][] = [
  [
    'only unsubscribe fields unsigned, reported by one_click_signed',
    () => sign({ headerList: ALL }, NEWSLETTER),
    'Not checked: One-click unsubscribe signature failed.',
    'fail',
  ],
  [
    'most fields unsigned, reported by dkim_coverage',
    () => sign({ headerList: ['From', 'Date'] }, NEWSLETTER),
    'fail',
    'Not checked: DKIM coverage failed.',
  ],
  [
    'only other fields unsigned, reported by dkim_coverage',
    () => sign({ headerList: ['From', 'Date', ...BOTH] }, NEWSLETTER),
    'fail',
    'pass',
  ],
  [
    'a broken signature, reported by dkim',
    async () => alter(await sign({ headerList: [...ALL, ...BOTH] }, NEWSLETTER), 'the b', 'a b'),
    'pass',
    'Not checked: DKIM signature failed.',
  ],
  [
    'another domain’s signature, reported by dkim_alignment',
    () => foreign(),
    'pass',
    'Not checked: DKIM alignment failed.',
  ],
  [
    'one field missing and the other unsigned, reported by one_click',
    () => sign({ headerList: ALL }, withoutPost),
    'Not checked: One-click unsubscribe failed.',
    'Not checked: One-click unsubscribe failed.',
  ],
];

for (const [name, message, coverage, signed] of causes)
  test(`Unsigned unsubscribe fields are one finding: ${name}`, async () => {
    const results = await found(await message(), 'marketing');
    assert.deepEqual([results.dkim_coverage, results.one_click_signed], [coverage, signed]);
  });

test('dkim_coverage check reports unsigned unsubscribe fields in transactional mail', async () => {
  const results = await found(await sign({ headerList: ALL }, NEWSLETTER), 'transactional');
  assert.deepEqual([results.dkim_coverage, results.one_click_signed], ['warn', 'skipped']);
});
