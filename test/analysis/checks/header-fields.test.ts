/** The checks `message_id`, `recipients`, `subject` and `header_duplicates`. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Check, CheckStatus } from '../../../src/analysis/check.ts';
import { date } from '../../../src/analysis/checks/date.ts';
import { encoding } from '../../../src/analysis/checks/encoding.ts';
import { from } from '../../../src/analysis/checks/from.ts';
import { headerDuplicates } from '../../../src/analysis/checks/header-duplicates.ts';
import { lineLength } from '../../../src/analysis/checks/line-length.ts';
import { messageId } from '../../../src/analysis/checks/message-id.ts';
import { recipients } from '../../../src/analysis/checks/recipients.ts';
import { subject } from '../../../src/analysis/checks/subject.ts';
import { runCheck } from '../../helpers/analysis.ts';
import { GOOD_FIELDS, goodMessage } from '../../helpers/good-message.ts';

type Changes = Record<string, string | string[] | null>;

const addresses = (count: number) =>
  Array.from({ length: count }, (_, i) => `r${i}@example.net`).join(', ');

const long = 'word '.repeat(150).trim();

const cases: [Check, string, Changes, CheckStatus, RegExp?][] = [
  [messageId, 'one', {}, 'pass'],
  [messageId, 'folded field', { 'Message-ID': '\n <1@example.com>' }, 'pass'],
  [messageId, 'none', { 'Message-ID': null }, 'fail', /has no Message-ID/],
  [
    messageId,
    'duplicate fields',
    { 'Message-ID': ['<1@a.example>', '<2@a.example>'] },
    'fail',
    /2 Message-ID fields/,
  ],
  [
    messageId,
    'identical duplicate fields',
    { 'Message-ID': ['<1@a.example>', '<1@a.example>'] },
    'fail',
  ],
  [messageId, 'empty', { 'Message-ID': '' }, 'fail', /is invalid/],
  [messageId, 'without brackets', { 'Message-ID': '1@example.com' }, 'fail', /is invalid/],
  [messageId, 'without @', { 'Message-ID': '<1.example.com>' }, 'fail', /is invalid/],
  [messageId, 'with a space', { 'Message-ID': '<1 2@example.com>' }, 'fail', /is invalid/],
  [
    messageId,
    'two IDs in one field',
    { 'Message-ID': '<1@a.example> <2@a.example>' },
    'fail',
    /is invalid/,
  ],
  [messageId, 'at localhost', { 'Message-ID': '<1@localhost>' }, 'warn', /ends in @localhost/],
  [
    messageId,
    'at localhost.localdomain',
    { 'Message-ID': '<1@localhost.localdomain>' },
    'warn',
    /does not know its host name/,
  ],
  [
    messageId,
    'at a name of a private network',
    { 'Message-ID': '<1@EX01.corp.local>' },
    'info',
    /no mailbox provider rejects them/,
  ],
  [messageId, 'of SendGrid', { 'Message-ID': '<Xy_1@geopod-ismtpd-3>' }, 'info', /is valid/],
  [messageId, 'of an address literal', { 'Message-ID': '<1@[192.0.2.1]>' }, 'pass'],
  [recipients, 'one', {}, 'pass'],
  [recipients, 'in Cc alone', { To: null, Cc: 'a@example.net' }, 'pass'],
  [recipients, 'in a group', { To: 'Us: a@example.net, b@example.net;' }, 'pass'],
  [recipients, 'none', { To: null }, 'warn', /no recipient/],
  [recipients, 'undisclosed', { To: 'undisclosed-recipients:;' }, 'warn', /no recipient/],
  [recipients, '50 of them', { To: addresses(50) }, 'pass'],
  [
    recipients,
    '51 recipients',
    { To: addresses(50), Cc: 'c@example.net' },
    'warn',
    /lists 51 recipients/,
  ],
  [recipients, 'commas in names', { To: '"a, b, c" <a@example.net>' }, 'pass'],
  [subject, 'one', {}, 'pass'],
  [subject, 'none', { Subject: null }, 'fail', /no Subject field/],
  [subject, 'empty', { Subject: ' ' }, 'fail', /is empty/],
  [subject, 'empty once decoded', { Subject: '=?utf-8?Q?_?=' }, 'fail', /is empty/],
  [subject, '998 octets', { Subject: 'x'.repeat(998) }, 'pass'],
  [subject, '999 octets', { Subject: 'x'.repeat(999) }, 'fail', /999 bytes/],
  [subject, 'long and folded', { Subject: `${long}\n ${long}` }, 'fail', /too long/],
  [headerDuplicates, 'no repeated field', {}, 'pass'],
  [headerDuplicates, 'two Received fields', { Received: ['a', 'b'] }, 'pass'],
  [
    headerDuplicates,
    'two To fields',
    { To: ['a@example.net', 'b@example.net'] },
    'fail',
    /more than one To field/,
  ],
  [
    headerDuplicates,
    'two fields in different case',
    { To: null, TO: 'a@example.net', to: 'b@example.net' },
    'fail',
  ],
  [
    headerDuplicates,
    'two Content-Type fields',
    { 'Content-Type': ['text/plain', 'text/html'] },
    'fail',
    /Content-Type/,
  ],
  [
    headerDuplicates,
    'two different duplicate fields',
    { Subject: ['a', 'b'], Cc: ['c@d.example', 'c@d.example', 'c@d.example'] },
    'fail',
    /Subject, Cc/,
  ],
];

for (const [check, name, changes, status, says] of cases)
  test(`${check.id} check reports ${status}: ${name}`, async () => {
    const finding = await runCheck(check, { message: goodMessage(changes) });
    assert.equal(finding.status, status, finding.title);
    if (says) assert.match(finding.title + finding.detail, says);
    if (status === 'warn' || status === 'fail') assert.ok(finding.fix?.text);
  });

test('subject check follows from line_length for a long unfolded subject only', async () => {
  const single = await runCheck(subject, { message: goodMessage({ Subject: 'x'.repeat(1200) }) });
  assert.deepEqual(single.dependsOn, ['line_length']);
  const folded = await runCheck(subject, {
    message: goodMessage({ Subject: `${long}\n ${long}` }),
  });
  assert.equal(folded.dependsOn, undefined);
});

for (const check of [messageId, recipients, subject, date])
  test(`${check.id} check reports error when the header exceeds the limit`, async () => {
    const message = `${'X: y\n'.repeat(250_000)}\nbody`;
    assert.equal((await runCheck(check, { message })).status, 'error');
  });

describe('Header checks report one finding per cause', () => {
  const all = [from, date, messageId, recipients, subject, headerDuplicates, lineLength, encoding];
  const findersOf = async (message: string) => {
    const found = await Promise.all(all.map((check) => runCheck(check, { message })));
    return all.filter((_, i) => found[i]?.status !== 'pass').map(({ id }) => id);
  };

  test('no check reports a good message', async () => {
    assert.deepEqual(await findersOf(goodMessage()), []);
  });

  const owners = {
    From: 'from',
    'Message-ID': 'message_id',
    Date: 'header_duplicates',
    Subject: 'header_duplicates',
    To: 'header_duplicates',
  };
  for (const [name, owner] of Object.entries(owners))
    test(`duplicate ${name} is found by ${owner} only`, async () => {
      const value = GOOD_FIELDS[name]!;
      assert.deepEqual(await findersOf(goodMessage({ [name]: [value, value] })), [owner]);
    });
});

// The check `date`; every message is received at 2026-11-21T10:00:00Z.

const dateCases: [string | null, CheckStatus, RegExp?][] = [
  ['Sat, 21 Nov 2026 10:00:00 +0000', 'pass'],
  ['21 Nov 2026 10:00 +0000', 'pass'],
  ['Sat, 21 Nov 2026 10:00:00 GMT', 'pass'],
  ['Sat, 21 Nov 2026 10:00:00 +0000 (UTC)', 'pass'],
  ['Sat, 21 Nov 2026 12:00:00 +0200 (a (nested) comment)', 'pass'],
  ['Fri, 20 Nov 2026 10:00:00 +0000', 'pass'],
  ['Fri, 20 Nov 2026 09:59:59 +0000', 'fail', /1 d 1 s behind/],
  ['Sun, 22 Nov 2026 10:00:00 +0000', 'pass'],
  ['Sun, 22 Nov 2026 12:00:00 +0000', 'fail', /1 d 2 h ahead of/],
  ['Sun, 22 Nov 2026 12:00:00 +0300', 'pass'],
  ['Thu, 01 Jan 1970 00:00:00 +0000', 'fail', /behind/],
  ['Fri, 21 Nov 2026 10:00:00 +0000', 'warn', /day of the week/],
  ['Sat, 21 Nov 26 10:00:00 +0000', 'warn', /fewer than four digits/],
  ['Sat, 21 Nov 2026 05:00:00 EST', 'warn', /\(EST\)/],
  ['Sat, 31 Nov 2026 10:00:00 +0000', 'fail', /not a valid date/],
  ['Sat, 21 Nov 2026 25:00:00 +0000', 'fail', /not a valid date/],
  ['Sat, 21 Nov 2026 10:00:00', 'fail', /not a valid date/],
  ['2026-11-21T10:00:00Z', 'fail', /not a valid date/],
  ['', 'fail', /not a valid date/],
  [null, 'fail', /has no Date field/],
];

for (const [value, status, says] of dateCases)
  test(`date check reports ${status}: ${value}`, async () => {
    const finding = await runCheck(date, { message: goodMessage({ Date: value }) });
    const said = `${finding.title} ${finding.detail}`;
    assert.equal(finding.status, status, said);
    if (says) assert.match(said, says);
    if (status === 'warn' || status === 'fail') assert.ok(finding.fix?.text);
  });

test('date check shows the correct format with the time of receipt', async () => {
  const finding = await runCheck(date, { message: goodMessage({ Date: 'today' }) });
  assert.match(finding.fix?.text ?? '', /"Date: Sat, 21 Nov 2026 10:00:00 \+0000"/);
});
