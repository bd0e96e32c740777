/** The CSV of Microsoft SNDS: cells, times, and lines that cannot be read. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isoTime } from '../../../src/lib/clock.ts';
import { parsePacificTime } from '../../../src/net/snds/pacific-time.ts';
import { parseData, parseStatus } from '../../../src/net/snds/rows.ts';
import { cpuTime } from '../../helpers/cpu-time.ts';
import { mutate } from '../../helpers/mutate.ts';
import { seededRandom } from '../../helpers/random.ts';

const CELLS = [
  '192.0.2.1',
  '11/20/2026 12:00 AM',
  '11/20/2026 11:00 PM',
  '12',
  '11',
  '10',
  'GREEN',
  '< 0.1%',
  '',
  '',
  '0',
  'mail.example.com',
  'news@example.com',
  '',
];
const line = (cells: Record<number, string> = {}) =>
  `${CELLS.map((cell, i) => cells[i] ?? cell).join(',')}\r\n`;
const rowOf = (cells: Record<number, string>) => parseData(line(cells)).rows[0];

const TIMES: [string, string | null, string][] = [
  ['12/31/2026 7:00 PM', '2027-01-01T03:00:00.000Z', 'the next year in UTC'],
  ['7/1/2026 12:00 AM', '2026-07-01T07:00:00.000Z', 'midnight in summer'],
  ['7/1/2026 12:30 PM', '2026-07-01T19:30:00.000Z', 'noon in summer'],
  ['03/08/2026 1:59 AM', '2026-03-08T09:59:00.000Z', 'the last minute of winter'],
  ['03/08/2026 2:30 AM', '2026-03-08T10:30:00.000Z', 'an hour that is skipped'],
  ['03/08/2026 3:00 AM', '2026-03-08T10:00:00.000Z', 'the first minute of summer'],
  ['11/01/2026 12:59 AM', '2026-11-01T07:59:00.000Z', 'the hour before the repeated one'],
  ['11/01/2026 1:30 AM', '2026-11-01T08:30:00.000Z', 'an hour that repeats: the first one'],
  ['11/01/2026 2:00 AM', '2026-11-01T10:00:00.000Z', 'the hour after the repeated one'],
  ['2/29/2028 1:02:03 am', '2028-02-29T09:02:03.000Z', 'a leap day, with seconds'],
  ['2/29/2027 1:00 AM', null, 'no leap day'],
  ['31/12/2026 7:00 PM', null, 'European order'],
  ['12/31/2026 13:00 PM', null, 'hour 13'],
  ['12/31/2026 0:00 AM', null, 'hour 0'],
  ['12/31/2026 1:60 AM', null, 'minute 60'],
  ['12/31/2026', null, 'a day'],
  ['2026-12-31T19:00:00', '2027-01-01T03:00:00.000Z', 'ISO without an offset'],
  ['2026-07-04 00:30', '2026-07-04T07:30:00.000Z', 'ISO in summer, just after midnight'],
  ['2026-12-31T12:00:30.5', '2026-12-31T20:00:30.000Z', 'ISO at noon, with seconds'],
  ['2026-12-31T19:00:00Z', '2026-12-31T19:00:00.000Z', 'ISO in UTC'],
  ['2026-12-31T19:00:00-05:00', '2027-01-01T00:00:00.000Z', 'ISO with an offset'],
  ['2026-02-31T19:00:00', null, 'ISO, a day that does not exist'],
  ['2026-12-31T24:00:00', null, 'ISO, hour 24'],
  ['', null, 'nothing'],
];
for (const [text, iso, what] of TIMES)
  test(`The time "${text}" is ${iso ?? 'invalid'}: ${what}`, () => {
    const ms = parsePacificTime(text);
    assert.equal(ms === null ? null : isoTime(ms), iso);
  });

test('Each hour of a year has its time in UTC', () => {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: 'America/Los_Angeles',
    dateStyle: 'short',
    timeStyle: 'short',
  });
  const seen = new Set<string>();
  for (let ms = Date.UTC(2026, 0, 1); ms < Date.UTC(2027, 0, 1); ms += 3_600_000) {
    const [day, clock] = format.format(ms).split(', ') as [string, string];
    const text = `${day.replace(/\/26$/, '/2026').replace(/\/25$/, '/2025')} ${clock}`;
    // The second of two hours cannot be told from the first.
    if (!seen.has(text)) assert.equal(parsePacificTime(text), ms, text);
    seen.add(text);
  }
  assert.equal(seen.size, 365 * 24 - 1);
});

test('Complaint rates keep whether the real one is below', () => {
  const rateOf = (text: string) => {
    const { complaintRate, isBelowRate } = rowOf({ 7: text })!;
    return [complaintRate, isBelowRate];
  };
  assert.deepEqual(rateOf('< 0.1%'), [0.001, true]);
  assert.deepEqual(rateOf('<0.1 %'), [0.001, true]);
  assert.deepEqual(rateOf('0.3%'), [0.003, false]);
  assert.deepEqual(rateOf('0%'), [0, false]);
  assert.deepEqual(rateOf('100%'), [1, false]);
  for (const text of ['', '101%', '0.3', 'n/a', '-1%', '< %'])
    assert.deepEqual(rateOf(text), [null, false]);
});

test('What is empty or unknown is null, not zero or green', () => {
  const row = rowOf({ 6: 'PURPLE', 7: '', 10: '', 11: '', 12: ' ', 13: '' })!;
  const { filterResult, complaintRate, comments } = row;
  assert.deepEqual([filterResult, complaintRate, comments], [null, null, null]);
  assert.equal(rowOf({ 6: 'red' })?.filterResult, 'RED');
});

test('Addresses are normalized, IPv6 too', () => {
  assert.equal(rowOf({ 0: '2001:0DB8::0001' })?.address, '2001:db8::1');
  assert.equal(rowOf({ 0: '::ffff:192.0.2.1' })?.address, '192.0.2.1');
  const { rows } = parseStatus('2001:DB8::1,2001:db8:0::9,no,\n192.0.2.1,192.0.2.1,YES,A, b\n');
  assert.deepEqual(rows, [
    { firstAddress: '2001:db8::1', lastAddress: '2001:db8::9', blocked: false, details: '' },
    { firstAddress: '192.0.2.1', lastAddress: '192.0.2.1', blocked: true, details: 'A, b' },
  ]);
});

test('Texts have no control characters and a limited length', () => {
  assert.equal(rowOf({ 13: 'a\u0007b\u202e' })?.comments, 'a b');
  assert.equal(rowOf({ 13: 'x'.repeat(2000) })?.comments?.length, 500);
});

const UNREADABLE: [string, string][] = [
  ['an invalid address', line({ 0: '192.0.2.256' })],
  ['an invalid time', line({ 1: 'yesterday' })],
  ['an end before its start', line({ 2: '11/19/2026 11:00 PM' })],
  ['an invalid count', line({ 3: '-1' })],
  ['no count', line({ 5: '' })],
  ['missing columns', '192.0.2.1,11/20/2026 12:00 AM\r\n'],
  ['an open quote', line({ 11: '"mail' })],
  ['a quote within a cell', line({ 11: 'mail"x' })],
  ['a cell without an end', `${line({ 13: 'x'.repeat(40_000) })}`],
];
for (const [what, bad] of UNREADABLE)
  test(`A line with ${what} is skipped and counted; those around it are read`, () => {
    for (const end of ['\r\n', '\n']) {
      const text = `${line({ 0: '192.0.2.8' })}${bad}\r\n${line({ 0: '192.0.2.9', 13: '"a, b"' })}`;
      const { rows, skipped } = parseData(text.replaceAll('\r\n', end));
      assert.deepEqual(rows.map(({ address, comments }) => [address, comments]).sort(), [
        ['192.0.2.8', null],
        ['192.0.2.9', 'a, b'],
      ]);
      assert.equal(skipped, 1);
    }
  });

test('Many invalid lines take little CPU time, and are all counted', () => {
  const before = cpuTime();
  const { rows, skipped } = parseData(`${'a,"b"c\r\n'.repeat(200_000)}${line()}`);
  const spent = cpuTime() - before;
  assert.deepEqual([rows.length, skipped], [1, 200_000]);
  // Without a limit, it is more than 10 seconds.
  assert.ok(spent < 3000, `${Math.round(spent)} ms`);
});

test('A quoted cell may contain a line break', () => {
  const { rows, skipped } = parseData(`${line({ 13: '"one\r\ntwo"' })}${line()}`);
  assert.deepEqual([rows.length, skipped, rows[0]!.comments], [2, 0, 'one two']);
});

test('An empty text, also with a byte order mark, has no rows', () => {
  for (const text of ['', '\r\n', '\ufeff', '\ufeff\r\n\r\n'])
    assert.deepEqual(parseData(text), { rows: [], skipped: 0 });
  assert.equal(parseData(`\ufeff${line()}`).rows.length, 1);
});

test('A range whose state is neither Yes nor No is skipped, and not taken for free', () => {
  const text = '192.0.2.1,192.0.2.1,Maybe,\n192.0.2.1,192.0.2.1,,\n192.0.2.1,192.0.2.9,No,\n';
  const { rows, skipped } = parseStatus(text);
  assert.deepEqual([rows.length, skipped], [1, 2]);
});

const FUZZ_INPUTS = [
  [line(), line({ 0: '2001:db8::1', 13: '"a, ""b"""' }), line()],
  [line({ 7: '0.3%', 10: '' }), '192.0.2.1,192.0.2.9,Yes,Blocked\r\n'],
].map((lines) => Buffer.from(lines.join('')));
const FUZZ_TOKENS = ['"', '""', ',', '\r\n', '<', '%', '-', 'GREEN', '192.0.2.1', '12:00 AM', '99'];

test('Whatever the text, rows are valid, and there are no more rows than lines', () => {
  let found = 0;
  const property = fc.property(fc.nat(), (seed) => {
    const text = mutate(FUZZ_INPUTS, FUZZ_TOKENS, 4096, seededRandom(seed)).toString();
    const { rows, skipped } = parseData(text);
    found += rows.length;
    for (const row of rows) {
      assert.ok(row.startedAt <= row.endedAt);
      assert.ok(row.complaintRate === null || (row.complaintRate >= 0 && row.complaintRate <= 1));
      assert.ok(row.complaintRate !== null || !row.isBelowRate);
      for (const count of [row.rcptCommands, row.dataCommands, row.recipients])
        assert.ok(Number.isSafeInteger(count) && count >= 0);
    }
    assert.ok(rows.length + skipped <= text.split(/\r\n|\r|\n/).length);
    parseStatus(text);
  });
  fc.assert(property, { numRuns: 500 });
  assert.ok(found > 200, `Only ${found} rows were valid.`);
});

test('JSON has the same rows by the names of their fields, by their order, or in an envelope', () => {
  const named = {
    ipAddress: '192.0.2.1',
    activityPeriod: '2026-11-20T10:00:00',
    'RCPT commands': 10,
    data_commands: '9',
    messageRecipients: 9,
    filterResult: 'Red',
    complaintRate: '< 0.1%',
    JmrP1Sender: '',
    comments: null,
    somethingNew: { a: 1 },
  };
  const listed = line().trim().split(',');
  for (const json of [[named, listed], { value: [named, listed] }, { data: [named, listed] }]) {
    const { rows, skipped } = parseData(`\ufeff${JSON.stringify(json)}`);
    assert.deepEqual([rows.length, skipped], [2, 0]);
    const [row] = rows;
    assert.deepEqual(
      [row!.address, row!.startedAt, row!.endedAt, row!.rcptCommands, row!.dataCommands],
      ['192.0.2.1', '2026-11-20T18:00:00.000Z', '2026-11-20T18:00:00.000Z', 10, 9],
    );
    assert.deepEqual([row!.filterResult, row!.complaintRate], ['RED', 0.001]);
  }
  const status = [{ beginningIpAddress: '192.0.2.1', endingIpAddress: '192.0.2.9', blocked: true }];
  assert.deepEqual(parseStatus(JSON.stringify(status)).rows, [
    { firstAddress: '192.0.2.1', lastAddress: '192.0.2.9', blocked: true, details: '' },
  ]);
  for (const json of ['{}', '[1,null,[],{}]', '{"value":{}}', '[', '{"a":'])
    assert.deepEqual(parseData(json).rows, []);
  assert.deepEqual(parseData('[]'), { rows: [], skipped: 0 });
});

test('The state of a range is Yes, No, True or False', () => {
  const text = ['Yes', 'True', 'true', 'No', 'False'].map(
    (word) => `192.0.2.1,192.0.2.1,${word},x`,
  );
  assert.deepEqual(
    parseStatus(text.join('\r\n')).rows.map(({ blocked }) => blocked),
    [true, true, true, false, false],
  );
});
