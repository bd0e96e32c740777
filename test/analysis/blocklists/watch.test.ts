/** The self-tests of blocklists: schedule, results and log. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseBlocklists } from '../../../src/analysis/blocklists/choose.ts';
import { createBlocklistWatch, NOT_TESTED } from '../../../src/analysis/blocklists/watch.ts';
import { type Log, silentLog } from '../../../src/lib/log.ts';
import type { Resolver } from '../../../src/net/dns/resolver.ts';
import { type Zone, zoneResolver } from '../../../src/net/dns/zone.ts';
import { blocklistZone } from '../../helpers/blocklists.ts';
import { testClock } from '../../helpers/clock.ts';

const KEY = 'abcdefghij0123456789abcdef';
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

function startWatch(zone: Zone, key: string | null = null) {
  const clock = testClock();
  const logged: string[] = [];
  const asked: string[] = [];
  const world = { zone };
  const resolver: Resolver = (name, type) => {
    asked.push(name);
    return zoneResolver(world.zone)(name, type);
  };
  const record =
    (level: string) =>
    (message: string, fields: object = {}) => {
      logged.push(`${level} ${message} ${JSON.stringify(fields)}`);
    };
  const log: Log = { ...silentLog, warn: record('warn'), info: record('info') };
  const watch = createBlocklistWatch({ lists: chooseBlocklists([], key), resolver, clock, log });
  const faults = () =>
    Object.fromEntries(
      watch.snapshot().flatMap(({ list, fault }) => (fault === null ? [] : [[list.zone, fault]])),
    );
  return { watch, clock, logged, asked, world, faults };
}

test('Blocklist watch considers every list untested before its first round', () => {
  const { watch } = startWatch(blocklistZone());
  assert.ok(watch.snapshot().length > 0);
  assert.ok(watch.snapshot().every(({ fault }) => fault === NOT_TESTED));
});

test('Blocklist watch: inUse waits for the first round and tests each list once', async () => {
  const { watch, asked, logged } = startWatch(blocklistZone());
  const [lists] = await Promise.all([watch.inUse(), watch.inUse(), watch.retest()]);
  assert.ok(lists.every(({ fault }) => fault === null));
  assert.equal(asked.length, 2 * lists.length);
  await watch.inUse();
  assert.equal(asked.length, 2 * lists.length);
  assert.deepEqual(logged, [], 'working lists are not logged');
});

const FAULTS: [string, string, (zone: Zone) => void, RegExp][] = [
  [
    'a zone that no longer exists',
    'bl.spamcop.net',
    (zone) => delete zone['2.0.0.127.bl.spamcop.net'],
    /does not contain its own test entry/,
  ],
  [
    'SERVFAIL',
    'bl.spamcop.net',
    (zone) => fails(zone, '2.0.0.127.bl.spamcop.net', 'servfail'),
    /SERVFAIL/,
  ],
  [
    'a timeout',
    'psbl.surriel.com',
    (zone) => fails(zone, '1.0.0.127.psbl.surriel.com', 'timeout'),
    /in time/,
  ],
  [
    'a list that lists everything',
    'bl.spamcop.net',
    (zone) => answers(zone, '1.0.0.127.bl.spamcop.net', '127.0.0.2'),
    /must never be listed \(127\.0\.0\.2\)/,
  ],
  [
    'a list that trusts everything',
    'list.dnswl.org',
    (zone) => answers(zone, '1.0.0.127.list.dnswl.org', '127.0.10.3'),
    /must never be listed/,
  ],
  [
    'an informational code for everything',
    'multi.surbl.org',
    (zone) => answers(zone, 'example.com.multi.surbl.org', '127.0.0.32'),
    /must never be listed/,
  ],
  [
    'a web server',
    'bl.mailspike.net',
    (zone) => answers(zone, '2.0.0.127.bl.mailspike.net', '198.51.100.80'),
    /may have shut down/,
  ],
  [
    'a refusal',
    'zen.spamhaus.org',
    (zone) => answers(zone, '2.0.0.127.zen.spamhaus.org', '127.255.255.254'),
    /public resolver/,
  ],
  [
    'a refusal at the unlisted test point',
    'dbl.spamhaus.org',
    (zone) => answers(zone, 'example.com.dbl.spamhaus.org', '127.255.255.255'),
    /too many/,
  ],
  [
    'a refusal',
    'multi.uribl.com',
    (zone) => answers(zone, 'test.uribl.com.multi.uribl.com', '127.0.0.1'),
    /refuses/,
  ],
];

function fails(zone: Zone, name: string, reason: 'servfail' | 'timeout') {
  zone[name] = { fails: reason };
}
function answers(zone: Zone, name: string, code: string) {
  zone[name] = { A: [code] };
}

for (const [what, where, spoil, text] of FAULTS)
  test(`Blocklist watch: ${what} excludes only ${where}`, async () => {
    const zone = blocklistZone();
    spoil(zone);
    const { watch, faults, logged } = startWatch(zone);
    const lists = await watch.inUse();
    assert.deepEqual(Object.keys(faults()), [where]);
    assert.match(faults()[where]!, text);
    assert.match(faults()[where]!, /^(?:The|Not) .*\.$/);
    assert.equal(lists.find(({ list }) => list.zone === where)?.fault, faults()[where]);
    assert.equal(logged.length, 1);
    assert.match(logged[0]!, new RegExp(`^warn blocklist failed its test .*${where}`));
  });

test('Blocklist watch retests working lists daily', async () => {
  const { watch, clock, asked } = startWatch(blocklistZone());
  await watch.inUse();
  const round = asked.length;
  clock.advance(DAY_MS - 1);
  await watch.retest();
  assert.equal(asked.length, round);
  clock.advance(1);
  await watch.retest();
  assert.equal(asked.length, 2 * round);
});

test('Blocklist watch retests failing lists every ten minutes and logs recovery once', async () => {
  const dead = blocklistZone();
  delete dead['2.0.0.127.psbl.surriel.com'];
  const { watch, clock, asked, logged, world, faults } = startWatch(dead);
  await watch.inUse();
  asked.length = 0;
  clock.advance(10 * MINUTE_MS - 1);
  await watch.retest();
  assert.deepEqual(asked, []);
  clock.advance(1);
  await watch.retest();
  assert.deepEqual(asked, ['2.0.0.127.psbl.surriel.com', '1.0.0.127.psbl.surriel.com']);
  assert.equal(logged.length, 1, 'the same fault is logged only once');
  world.zone = blocklistZone();
  clock.advance(10 * MINUTE_MS);
  await watch.retest();
  assert.deepEqual(faults(), {});
  assert.match(logged[1]!, /^info blocklist works again .*psbl\.surriel\.com/);
  asked.length = 0;
  clock.advance(10 * MINUTE_MS);
  await watch.retest();
  assert.deepEqual(asked, [], 'daily again');
});

test('Blocklist watch excludes a list that stops working at its next test', async () => {
  const { watch, clock, world, faults, logged } = startWatch(blocklistZone());
  await watch.inUse();
  world.zone = {};
  clock.advance(DAY_MS);
  await watch.retest();
  assert.equal(Object.keys(faults()).length, watch.snapshot().length);
  assert.equal(logged.length, 1, 'one line for all');
});

test('Blocklist watch runs one round at a time; known lists stay available', async () => {
  const waiting: (() => void)[] = [];
  const clock = testClock();
  let open = 0;
  const resolver: Resolver = async (name, type) => {
    open += 1;
    if (waiting.length < 1000) await new Promise<void>((resolve) => waiting.push(resolve));
    return zoneResolver(blocklistZone())(name, type);
  };
  const lists = chooseBlocklists([], null);
  const watch = createBlocklistWatch({ lists, resolver, clock, log: silentLog });
  const first = watch.retest();
  assert.equal(watch.retest(), first);
  assert.equal(open, 2 * lists.length, 'all in parallel');
  for (const go of waiting.splice(0)) go();
  await first;
  clock.advance(DAY_MS);
  const second = watch.retest();
  assert.ok(
    (await watch.inUse()).every(({ fault }) => fault === null),
    'inUse does not wait for the second round',
  );
  for (const go of waiting.splice(0)) go();
  await second;
});

test('Blocklist watch ignores results of a closed resolver', async () => {
  const { watch, clock, world, faults, logged } = startWatch(blocklistZone());
  await watch.inUse();
  world.zone = Object.fromEntries(
    Object.keys(blocklistZone()).map((name) => [name, { fails: 'disabled' }]),
  );
  clock.advance(DAY_MS);
  await watch.retest();
  assert.deepEqual([faults(), logged], [{}, []]);
});

test('Blocklist watch without lists resolves at once', async () => {
  const resolver: Resolver = () => assert.fail('a query was made');
  const clock = testClock();
  const watch = createBlocklistWatch({ lists: [], resolver, clock, log: silentLog });
  await watch.retest();
  assert.deepEqual(await watch.inUse(), []);
});

test('Blocklist watch never reveals the DQS key in log or faults', async () => {
  const { watch, logged, asked, faults } = startWatch(blocklistZone(), KEY);
  await watch.inUse();
  assert.ok(asked.some((name) => name.includes(KEY)));
  assert.ok(logged.some((line) => line.includes('zen.spamhaus.org')));
  assert.ok(!JSON.stringify([logged, faults()]).includes(KEY));
});

test('Without DNS, one line says that no blocklist can be asked, and each that works again is named', async () => {
  const { watch, clock, logged, world, faults } = startWatch({});
  const zone = blocklistZone();
  await watch.retest();
  const lists = watch.snapshot().length;
  assert.equal(Object.keys(faults()).length, lists);
  assert.equal(logged.length, 1);
  assert.match(
    logged[0]!,
    /^warn no blocklist can be asked: check the DNS servers of this machine/,
  );
  clock.advance(11 * MINUTE_MS);
  await watch.retest();
  assert.equal(logged.length, 1, 'the same faults are not logged again');
  world.zone = zone;
  clock.advance(11 * MINUTE_MS);
  await watch.retest();
  assert.equal(logged.length, 1 + lists);
  assert.ok(logged.slice(1).every((line) => line.startsWith('info blocklist works again')));
});
