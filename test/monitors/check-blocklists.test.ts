/** A target that is already listed, and lists that don't answer: which are queried again, and which would only delay the others. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listIn } from '../helpers/blocklists.ts';
import { ADDRESS, HOUR_MS, serveLists, startMonitoring } from './monitoring.ts';

const ZEN = 'zen.spamhaus.org';
const NAMES = Array.from({ length: 4 }, (_, i) => `n${i}.example.com`);
const ADDRESSES = Array.from({ length: 10 }, (_, i) => `203.0.114.${i + 20}`);
const questionOf = (address: string): string => `${address.split('.').reverse().join('.')}.${ZEN}`;

/** The queries to the list, and the addresses for which it is unknown; `null` means all. */
async function runWith(t: Parameters<typeof startMonitoring>[0], silent: string[]) {
  const dns = await serveLists(t);
  for (const address of silent) dns.zone[questionOf(address)] = { fails: 'timeout' };
  const { create, runDue, runs } = await startMonitoring(t, { dns, dnsTimeoutMs: 300 });
  // The first address is alone in the batch after the names.
  const { id } = await create({ targets: [...NAMES, ...ADDRESSES] });
  await runDue();
  const [run] = await runs(id);
  assert.deepEqual(
    run!.targets.map(({ target }) => target),
    [...NAMES, ...ADDRESSES],
  );
  return {
    queried: ADDRESSES.filter((one) => dns.queries.has(`${questionOf(one)}/A`)),
    unknown: run!.changes.unknown.map(({ target }) => target),
  };
}

test('Blocklist monitor: one lost reply does not stop queries for other addresses', async (t) => {
  const { queried, unknown } = await runWith(t, [ADDRESSES[0]!]);
  assert.deepEqual(queried, ADDRESSES);
  assert.deepEqual(unknown, [ADDRESSES[0]]);
});

test('Blocklist monitor stops querying a list after five consecutive timeouts', async (t) => {
  const { queried, unknown } = await runWith(t, ADDRESSES.slice(0, 5));
  assert.deepEqual(queried, ADDRESSES.slice(0, 5));
  assert.deepEqual(unknown, [null]);
});

test('Blocklist monitor of a listed target alerts on its first run, and once', async (t) => {
  const listed = listIn(ZEN, ADDRESS.split('.').reverse().join('.'), '127.0.0.2');
  const dns = await serveLists(t, listed);
  const { service, clock, create, runDue, runs, alerts } = await startMonitoring(t, {
    dns,
    dnsTimeoutMs: 300,
  });
  const rule = { name: 'Listed', condition: 'blocklist_hit', channels: ['webhook'] };
  const made = await service.call('POST', '/v1/alerts', { json: rule });
  assert.equal(made.status, 201, made.text);
  const { id } = await create();
  await runDue();
  const [run] = await runs(id);
  assert.equal(run!.status, 'alerting');
  assert.deepEqual(
    run!.changes.appeared.map(({ list }) => list),
    [ZEN],
  );
  assert.deepEqual(
    (await alerts()).map((alert) => alert.id),
    [run!.id],
  );
  const triggered = async () =>
    (await service.call<{ data: object[] }>('GET', '/v1/events?type=alert.triggered')).body.data;
  assert.equal((await triggered()).length, 1);
  clock.advance(HOUR_MS);
  await runDue();
  assert.equal((await runs(id)).length, 2);
  assert.deepEqual([(await alerts()).length, (await triggered()).length], [1, 1]);
});
