/** `kill -9` at any moment while reports are sent: each reader gets each, and a second copy only under the same name. */

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { isoTime, systemClock } from '../../src/lib/clock.ts';
import { createIds } from '../../src/lib/ids.ts';
import { SEND_JOB } from '../../src/outbox/queue.ts';
import { lastSend } from '../../src/reports/schedule-times.ts';
import { openStore } from '../../src/store/open.ts';
import type { ReportScheduleRow } from '../../src/store/report-tables.ts';
import { startTestService, temporaryFolder } from '../helpers/app.ts';
import { type Random, seededRandom } from '../helpers/random.ts';
import { type ServeOptions, spawnServe } from '../helpers/serve-process.ts';
import { type MailSink, startMailSink } from '../outbox/mail-sink.ts';
import { fieldOf } from '../reports/scheduling.ts';

/** About a second each; a hundred are run before a release. */
const ROUNDS = Number(process.env.REPORT_KILL_ROUNDS ?? 15);
const SCHEDULES_PER_ROUND = 4;
const READERS = 3;
const LONGEST_LIFE_MS = 700;
/** Mails that are under way at once, each of which a kill may cut off behind the 250. */
const AT_ONCE = 5;

test(`${ROUNDS} kills lose no report and send none under two names`, {
  timeout: 300_000,
}, async (t) => {
  const seed = Number(process.env.KILL_SEED ?? randomInt(2 ** 31));
  t.diagnostic(`KILL_SEED=${seed}`);
  const random = seededRandom(seed);
  const sink = await startMailSink(t);
  const folder = temporaryFolder(t);
  const env = {
    DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${sink.port}`,
    DELIVERABILITY_MAIL_FROM: 'reports@example.com',
    DELIVERABILITY_BLOCKLISTS: '-all',
    DELIVERABILITY_WORKERS: '1',
  };
  const readers: string[] = [];
  let cutShort = 0;
  for (let round = 0; round < ROUNDS; round++) {
    readers.push(...(await makeDue(join(folder, 'deliverability.db'), round)));
    const before = sink.taken.length;
    await liveAndBeKilled({ folder, env }, random);
    if (sink.taken.length > before && sink.taken.length < readers.length) cutShort += 1;
  }
  await sendAll(t, folder, env);
  assertEachOnce(sink, readers);
  assert.ok(cutShort > 0, 'no kill came while reports were sent');
  t.diagnostic(JSON.stringify({ rounds: ROUNDS, cutShort, taken: sink.taken.length }));
});

/** Schedules whose time has come, each with readers of its own. */
async function makeDue(path: string, round: number): Promise<string[]> {
  const now = systemClock.now();
  const newId = createIds(systemClock);
  const store = openStore(path);
  try {
    const addresses: string[] = [];
    for (let i = 0; i < SCHEDULES_PER_ROUND; i++) {
      const recipients = Array.from(
        { length: READERS },
        (_, r) => `r${round}-${i}-${r}@example.com`,
      );
      // Twelve hours away from now, so that no other time comes meanwhile.
      const send_hour = (new Date(now).getUTCHours() + 12) % 24;
      const plan = { frequency: 'daily', send_hour, timezone: 'UTC', weekday: 'monday' } as const;
      const row: ReportScheduleRow = {
        ...{ id: newId('rps'), name: 'Ours', ...plan, day_of_month: 1 },
        ...{ recipients: JSON.stringify(recipients), domains: null },
        ...{ include_sections: '["summary","trends","alerts"]', format: 'html', enabled: 1 },
        ...{ next_send_at: isoTime(lastSend({ ...plan, day_of_month: 1 }, now)) },
        ...{ created_at: isoTime(now), lease: null, leased_until: null },
      };
      await store.db.insertInto('report_schedules').values(row).execute();
      addresses.push(...recipients);
    }
    return addresses;
  } finally {
    await store.close();
  }
}

async function liveAndBeKilled(options: ServeOptions, random: Random): Promise<void> {
  const service = await spawnServe(options);
  const ready = await service.line('ready');
  assert.ok(ready, `it did not start again: ${JSON.stringify(service.log)}`);
  await pause(random.below(LONGEST_LIFE_MS));
  service.signal('SIGKILL');
  await service.ended;
  assert.deepEqual(
    service.log.filter(({ level }) => level === 'error'),
    [],
  );
}

/** The same database once more, until nothing is due and nothing waits. */
async function sendAll(t: TestContext, folder: string, env: Record<string, string>) {
  let ahead = 0;
  const clock = { now: () => systemClock.now() + ahead };
  const { app } = await startTestService(t, { folder, env, clock });
  for (;;) {
    const due = await app.db
      .selectFrom('report_schedules')
      .select('id')
      .where('next_send_at', '<=', isoTime(clock.now()))
      .execute();
    const waiting = await app.db
      .selectFrom('outbox')
      .select(['due_at', 'lease'])
      .where('status', '=', 'queued')
      .orderBy('due_at')
      .execute();
    if (due.length === 0 && waiting.length === 0) break;
    // Minutes at most: what is tried again.
    const [next] = waiting;
    if (next && next.lease === null)
      ahead = Math.max(ahead, Date.parse(next.due_at!) - systemClock.now());
    app.scheduler.wake(SEND_JOB);
    await pause(20);
  }
  const runs = await app.db.selectFrom('report_runs').select('schedule_id').execute();
  assert.equal(runs.length, ROUNDS * SCHEDULES_PER_ROUND);
  assert.equal(new Set(runs.map(({ schedule_id }) => schedule_id)).size, runs.length);
  const ended = await app.db
    .selectFrom('outbox')
    .select(({ fn }) => ['status', fn.countAll<number>().as('count')])
    .groupBy('status')
    .execute();
  assert.deepEqual(ended, [{ status: 'sent', count: ROUNDS * SCHEDULES_PER_ROUND * READERS }]);
}

function assertEachOnce({ taken }: MailSink, readers: string[]): void {
  const names = new Map<string, string[]>();
  for (const { to, raw } of taken)
    names.set(to[0]!, [...(names.get(to[0]!) ?? []), fieldOf(raw, 'Message-ID')!]);
  assert.deepEqual([...names.keys()].toSorted(), readers.toSorted());
  for (const [reader, all] of names) assert.equal(new Set(all).size, 1, `${reader}: ${all}`);
  const again = taken.length - readers.length;
  assert.ok(again <= ROUNDS * AT_ONCE, `${again} came twice`);
}
