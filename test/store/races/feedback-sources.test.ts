/** Addresses that move between sources in opposite directions, beside imports. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { assignSource } from '../../../src/feedback/sources/assign.ts';
import { BEGIN, dmarc, record } from '../../feedback/reading/builders.ts';
import { NOW } from '../../feedback/start.ts';
import { testClock } from '../../helpers/clock.ts';
import { ROUNDS, SETUPS } from './nodes.ts';

const DAY_S = 86_400;
const ADDRESSES = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'];
const DAYS = 10;

for (const { on, skip, start } of SETUPS)
  test(`Opposite moves of addresses beside imports do not block each other (${on})`, {
    skip,
  }, async (t) => {
    const nodes = await start(t, { clock: testClock(NOW) });
    const [first] = nodes;
    const { db } = first.app;
    const { body: domain } = await first.call<{ id: string }>('POST', '/v1/domains', {
      json: { name: 'example.com' },
    });
    let sent = 0;
    const upload = async (node: number, day: number) => {
      const begin = BEGIN - day * DAY_S;
      const report = {
        orgName: `Receiver ${node}`,
        id: `r-${sent++}`,
        begin: String(begin),
        end: String(begin + DAY_S - 1),
      };
      const records = ADDRESSES.map((source) => record({ source })).join('');
      const { status } = await nodes[node % 2]!.call('POST', '/v1/feedback/reports', {
        key: first.key,
        body: dmarc({ ...report, records }),
        headers: { 'content-type': 'application/xml' },
      });
      assert.equal(status, 201);
    };
    const move = (node: number, address: number, source: number) =>
      assignSource(
        nodes[node % 2]!.app,
        { id: `${domain.id} ${ADDRESSES[address]}`, domain_id: domain.id },
        { host: null, name: { key: `host h${source}`, name: `h${source}`, evidence: 'x' } },
      );
    for (let day = 0; day < DAYS; day++) await upload(0, day);
    for (const address of ADDRESSES.keys()) await move(0, address, address % 2);
    for (let round = 0; round < 2 * ROUNDS; round++)
      await Promise.all([
        ...ADDRESSES.map((_, address) => move(address, address, (address + round + 1) % 2)),
        ...Array.from({ length: 4 }, (_, index) => upload(index, (round + index) % DAYS)),
      ]);

    // Each sum is that of the rows.
    for (const { table, day, length } of [
      { table: 'feedback_source_days', day: 'day', length: 10 },
      { table: 'feedback_source_months', day: 'month', length: 7 },
    ]) {
      const stored = await sql`select source_id, ${sql.ref(day)} as period, messages
        from ${sql.table(table)} order by 1, 2`.execute(db);
      const counted = await sql`select a.source_id, substr(r.day, 1, ${sql.lit(length)}) as period,
          cast(sum(r.count) as bigint) as messages
        from dmarc_rows r inner join feedback_addresses a on a.address = r.address
        group by 1, 2 order by 1, 2`.execute(db);
      assert.ok(stored.rows.length > 0);
      assert.deepEqual(stored.rows, counted.rows);
    }
  });
