/** Names of time zones get their capitals whichever way they are written, and stay the names that they are. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTimeZone, localDate, spelledZone } from '../../src/reports/time-zones.ts';

/** Other names of zones, which the runtime takes and does not list. */
const LINKS = [
  'America/Argentina/ComodRivadavia America/Indiana/Knox America/Knox_IN America/Port_of_Spain',
  'Africa/Asmara Asia/Kathmandu Asia/Kolkata Asia/Ho_Chi_Minh Atlantic/Faroe Australia/ACT Australia/LHI',
  'Australia/NSW Brazil/DeNoronha Chile/EasterIsland Cuba EST EST5EDT Egypt Etc/GMT Etc/GMT+5 Etc/GMT-14',
  'Etc/Greenwich Etc/UCT Etc/UTC Etc/Zulu Europe/Isle_of_Man Europe/Kyiv GB GB-Eire GMT GMT+0 GMT0 Iran',
  'Japan MST7MDT Mexico/BajaNorte NZ NZ-CHAT PRC ROK SystemV/EST5EDT UCT US/East-Indiana US/Eastern UTC',
  'Universal W-SU Zulu',
].flatMap((line) => line.split(' '));

test('every zone is known in small letters and in capitals', () => {
  const names = new Set([...Intl.supportedValuesOf('timeZone'), ...LINKS]);
  assert.ok(names.size > 400);
  for (const name of names)
    for (const written of [name, name.toLowerCase(), name.toUpperCase()]) {
      assert.ok(isTimeZone(written), written);
      assert.equal(spelledZone(written), name);
    }
});

test('the day is that of the zone', () => {
  const time = Date.UTC(2026, 0, 1, 4, 30);
  for (const [zone, date] of [
    ['UTC', '2026-01-01'],
    ['America/New_York', '2025-12-31'],
    ['America/Halifax', '2026-01-01'],
    ['Pacific/Kiritimati', '2026-01-01'],
  ] as const)
    assert.equal(localDate(time, zone), date);
});
