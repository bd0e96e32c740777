/** The check `dkim_coverage`: unsigned fields, `l=` and expired signatures. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckStatus } from '../../../src/analysis/check.ts';
import { dkimCoverage } from '../../../src/analysis/checks/dkim-coverage.ts';
import { RECEIVED_AT, runCheck } from '../../helpers/analysis.ts';
import { alter, KEYS, MESSAGE, sign, zoneWith } from '../dkim/signed-mail.ts';

const zone = zoneWith(KEYS.rsa.record);
const ALL = ['From', 'To', 'Subject', 'Date', 'Message-ID'];
const NEWSLETTER = `List-Unsubscribe: <https://example.com/u>
List-Unsubscribe-Post: List-Unsubscribe=One-Click
${MESSAGE}`;
const expired = { signTime: RECEIVED_AT - 9e6, expires: RECEIVED_AT - 1000 };

const rows: {
  name: string;
  message: () => Promise<Buffer | string>;
  status: CheckStatus;
  title: RegExp;
  detail?: RegExp;
}[] = [
  {
    name: 'all important fields signed',
    message: () => sign({ headerList: ALL }),
    status: 'pass',
    title: /covers all important parts/,
  },
  {
    name: 'two fields unsigned',
    message: () => sign({ headerList: ['From', 'To', 'Date'] }),
    status: 'fail',
    title: /does not cover Subject, Message-ID\.$/,
  },
  {
    name: 'a missing field need not be signed',
    message: () => sign({ headerList: ALL }, MESSAGE.replace(/^To:.*\n/m, '')),
    status: 'pass',
    title: /covers all important parts/,
  },
  {
    name: 'the unsubscribe fields unsigned',
    message: () => sign({ headerList: [...ALL, 'List-Unsubscribe'] }, NEWSLETTER),
    status: 'warn',
    title: /does not cover List-Unsubscribe-Post\.$/,
  },
  {
    name: 'the unsubscribe fields signed',
    message: () =>
      sign({ headerList: [...ALL, 'List-Unsubscribe', 'List-Unsubscribe-Post'] }, NEWSLETTER),
    status: 'pass',
    title: /covers all important parts/,
  },
  {
    name: 'a body length limit (l=)',
    message: () => sign({ headerList: ALL, maxBodyLength: 10 }),
    status: 'warn',
    title: /only the first 10 bytes of the body \(l=\)/,
  },
  {
    name: 'an expired signature beside a valid one',
    message: async () => sign({ headerList: ALL, selector: 's1', ...expired }, await sign()),
    status: 'warn',
    title: /expired before the message arrived/,
  },
  {
    name: 'only an expired signature, reported by dkim',
    message: () => sign({ headerList: ALL, ...expired }),
    status: 'pass',
    title: /covers all important parts/,
  },
  {
    name: 'a changed body, reported by dkim',
    message: async () => alter(await sign({ headerList: ALL }), 'the body', 'a body'),
    status: 'pass',
    title: /covers all important parts/,
  },
  {
    name: 'two signatures of which one is valid',
    message: async () =>
      sign({ headerList: ALL, selector: 'gone' }, await sign({ headerList: ['From'] })),
    status: 'fail',
    title: /does not cover To, Subject/,
  },
  {
    name: 'no signature',
    message: async () => MESSAGE,
    status: 'skipped',
    title: /DKIM coverage was not checked/,
    detail: /no DKIM signature/,
  },
];

for (const { name, message, status, title, detail } of rows) {
  test(`dkim_coverage check reports ${status}: ${name}`, async () => {
    const finding = await runCheck(dkimCoverage, { message: await message(), zone });
    assert.equal(finding.status, status, finding.title);
    assert.match(finding.title, title);
    if (detail) assert.match(finding.detail, detail);
    assert.equal(finding.fix !== undefined, status === 'warn' || status === 'fail');
  });
}

test('dkim_coverage check does not ask the author of a list post to sign what the list added', async () => {
  const signed = await sign({ headerList: ALL });
  const fields =
    'List-Unsubscribe: <https://lists.example.net/u>\r\nX-Mailman-Version: 3.3\r\nList-Id: <a.lists.example.net>\r\nList-Post: <mailto:a@lists.example.net>\r\n';
  const message = Buffer.concat([Buffer.from(fields), signed]);
  const finding = await runCheck(dkimCoverage, { message, zone });
  assert.equal(finding.status, 'pass', finding.title);
});

test('dkim_coverage check uses unverified signatures offline', async () => {
  const message = await sign({ headerList: ['From'] });
  const finding = await runCheck(dkimCoverage, { message, zone, offline: true });
  assert.equal(finding.status, 'fail');
});
