/** Lists that don't answer: which are queried again, and which would only delay the others. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serveLists, startMonitoring } from './monitoring.ts';

const ZEN = 'zen.spamhaus.org';
const NAMES = Array.from({ length: 4 }, (_, i) => `n${i}.example.com`);
const ADDRESSES = Array.from({ length: 10 }, (_, i) => `203.0.114.${i + 20}`);
const questionOf = (address: string): string => `${address.split('.').reverse().join('.')}.${ZEN}`;

/** The queries to the list, and the addresses for which it is unknown; `null` means all. */
async function runWith(t: Parameters<typeof startMonitoring>[0], silent: string[]) {
  const dns = await serveLists(t);
  for (const address of silent) dns.zone[questionOf(address)] = { fails: 'timeout' };
  const { create, runDue, runs } = await startMonitoring(t, { dns });
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
