/** The check `one_click_signed`, and that unsigned fields are one finding with `dkim_coverage`. */

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
  says: RegExp;
}[] = [
  {
    name: 'both signed',
    message: () => sign({ headerList: [...ALL, ...BOTH] }, NEWSLETTER),
    status: 'pass',
    says: /signed by example\.com/,
  },
  {
    name: 'neither signed',
    message: () => sign({ headerList: ALL }, NEWSLETTER),
    status: 'fail',
    says: /covers List-Unsubscribe and List-Unsubscribe-Post\./,
  },
  {
    name: 'one signed',
    message: () => sign({ headerList: [...ALL, 'List-Unsubscribe'] }, NEWSLETTER),
    status: 'fail',
    says: /covers List-Unsubscribe-Post\./,
  },
  {
    name: 'one of two fields signed',
    message: async () =>
      `List-Unsubscribe: <https://evil.example/>\r\n${await sign({ headerList: [...ALL, ...BOTH] }, NEWSLETTER)}`,
    status: 'fail',
    says: /covers List-Unsubscribe\./,
  },
  {
    name: 'both under one of two own signatures',
    message: async () =>
      sign({ headerList: ['From'] }, await sign({ headerList: [...ALL, ...BOTH] }, NEWSLETTER)),
    status: 'pass',
    says: /signed by example\.com/,
  },
  {
    name: 'both under a signature that is not valid',
    message: async () =>
      alter(await sign({ headerList: [...ALL, ...BOTH] }, NEWSLETTER), 'the body', 'a body'),
    status: 'fail',
    says: /No valid signature/,
  },
  {
    name: 'both under a signature of somebody else',
    message: () => foreign(),
    status: 'fail',
    says: /No valid signature of your own/,
  },
  {
    name: 'both by somebody else, one by the sender',
    message: async () =>
      foreign({}, await sign({ headerList: [...ALL, 'List-Unsubscribe'] }, NEWSLETTER)),
    status: 'fail',
    says: /covers List-Unsubscribe-Post\./,
  },
  {
    name: 'no signature',
    message: async () => NEWSLETTER,
    status: 'fail',
    says: /No valid signature/,
  },
  {
    name: 'a key that the DNS does not tell',
    message: () => sign({ headerList: [...ALL, ...BOTH] }, NEWSLETTER),
    zone: { 's1._domainkey.example.com': { fails: 'timeout' } },
    status: 'error',
    says: /No signature could be verified/,
  },
  {
    name: 'a DMARC record that the DNS does not tell',
    message: () => foreign(),
    zone: { ...zone, '_dmarc.example.com': { fails: 'timeout' } },
    status: 'error',
    says: /belongs to the From domain is not known/,
  },
  {
    name: 'offline',
    message: () => sign({ headerList: [...ALL, ...BOTH] }, NEWSLETTER),
    offline: true,
    status: 'skipped',
    says: /offline/,
  },
  {
    name: 'one of the fields',
    message: () => sign({ headerList: ALL }, withoutPost),
    status: 'skipped',
    says: /see one_click/,
  },
  {
    name: 'no From',
    message: async () => NEWSLETTER.replace(/^From:.*\n/m, ''),
    status: 'skipped',
    says: /no From domain/,
  },
  {
    name: 'transactional mail',
    message: () => sign({ headerList: ALL }, NEWSLETTER),
    kind: 'transactional',
    status: 'skipped',
    says: /is transactional mail: you said so/,
  },
];

for (const { name, message, status, says, ...scene } of rows)
  test(`one_click_signed: ${name} → ${status}`, async () => {
    const finding = await runCheck(oneClickSigned, { zone, ...scene, message: await message() });
    assert.equal(finding.status, status, finding.title);
    assert.match(`${finding.title} ${finding.detail}`, says);
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

/** Each check's id with its status, or with what it follows from. */
async function found(raw: Buffer | string, kind: MessageKind = 'auto') {
  const result = await analyze(
    { raw: Buffer.from(raw), envelope: ENVELOPE, receivedAt: RECEIVED_AT, kind },
    { resolver: zoneResolver(zone), checks: CHECKS },
  );
  const told = result.checks.map(({ id, status, detail }) => [
    id,
    detail.startsWith('follows') ? detail : status,
  ]);
  return Object.fromEntries(told) as Record<string, string>;
}

const causes: [string, () => Promise<Buffer | string>, string, string][] = [
  [
    'unsigned unsubscribe fields alone: one_click_signed tells',
    () => sign({ headerList: ALL }, NEWSLETTER),
    'follows from one_click_signed',
    'fail',
  ],
  [
    'a list of fields that is too short on the whole: dkim_coverage tells',
    () => sign({ headerList: ['From', 'Date'] }, NEWSLETTER),
    'fail',
    'follows from dkim_coverage',
  ],
  [
    'other fields alone: dkim_coverage tells, and one_click_signed passes',
    () => sign({ headerList: ['From', 'Date', ...BOTH] }, NEWSLETTER),
    'fail',
    'pass',
  ],
  [
    'a broken signature: dkim tells',
    async () => alter(await sign({ headerList: [...ALL, ...BOTH] }, NEWSLETTER), 'the b', 'a b'),
    'pass',
    'follows from dkim',
  ],
  [
    'a signature of somebody else: dkim_alignment tells',
    () => foreign(),
    'pass',
    'follows from dkim_alignment',
  ],
  [
    'one field is missing, the other not signed: one_click tells',
    () => sign({ headerList: ALL }, withoutPost),
    'follows from one_click',
    'follows from one_click',
  ],
];

for (const [name, message, coverage, signed] of causes)
  test(`one cause is one finding: ${name}`, async () => {
    const results = await found(await message(), 'marketing');
    assert.deepEqual([results.dkim_coverage, results.one_click_signed], [coverage, signed]);
  });

test('in transactional mail dkim_coverage still tells of unsigned unsubscribe fields', async () => {
  const results = await found(await sign({ headerList: ALL }, NEWSLETTER), 'transactional');
  assert.deepEqual([results.dkim_coverage, results.one_click_signed], ['warn', 'skipped']);
});
