/** Names of time zones. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalTimeZone, isTimeZone } from '../../src/lib/time-zones.ts';

/** Aliases that the runtime accepts but does not list. */
const ALIASES = [
  'America/Argentina/ComodRivadavia America/Indiana/Knox America/Knox_IN America/Port_of_Spain',
  'Africa/Asmara Asia/Kathmandu Asia/Kolkata Asia/Ho_Chi_Minh Atlantic/Faroe Australia/ACT Australia/LHI',
  'Australia/NSW Brazil/DeNoronha Chile/EasterIsland Cuba EST EST5EDT Egypt Etc/GMT Etc/GMT+5 Etc/GMT-14',
  'Etc/Greenwich Etc/UCT Etc/UTC Etc/Zulu Europe/Isle_of_Man Europe/Kyiv GB GB-Eire GMT GMT+0 GMT0 Iran',
  'Japan MST7MDT Mexico/BajaNorte NZ NZ-CHAT PRC ROK SystemV/EST5EDT UCT US/East-Indiana US/Eastern UTC',
  'Universal W-SU Zulu',
].flatMap((line) => line.split(' '));

test('Time zone names are accepted in any case and normalized', () => {
  const names = new Set([...Intl.supportedValuesOf('timeZone'), ...ALIASES]);
  assert.ok(names.size > 400);
  for (const name of names)
    for (const written of [name, name.toLowerCase(), name.toUpperCase()]) {
      assert.ok(isTimeZone(written), written);
      assert.equal(canonicalTimeZone(written), name);
    }
});
