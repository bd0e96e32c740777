/** The check `date`; every message is received at 2026-11-21T10:00:00Z. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckStatus } from '../../../src/analysis/check.ts';
import { date } from '../../../src/analysis/compliance/date.ts';
import { runCheck } from '../../helpers/analysis.ts';
import { goodMessage } from '../../helpers/good-message.ts';

const cases: [string | null, CheckStatus, RegExp?][] = [
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

for (const [value, status, says] of cases)
  test(`date: ${value} → ${status}`, async () => {
    const finding = await runCheck(date, { message: goodMessage({ Date: value }) });
    const said = `${finding.title} ${finding.detail}`;
    assert.equal(finding.status, status, said);
    if (says) assert.match(said, says);
    if (status === 'warn' || status === 'fail') assert.ok(finding.fix?.text);
  });

test('date: the fix shows the form with the time of receipt', async () => {
  const finding = await runCheck(date, { message: goodMessage({ Date: 'today' }) });
  assert.match(finding.fix?.text ?? '', /"Date: Sat, 21 Nov 2026 10:00:00 \+0000"/);
});
