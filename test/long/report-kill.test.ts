/** `kill -9` at any moment while reports are sent: each reader gets each, and once more only what nobody could write down. */

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { isoTime, systemClock } from '../../src/lib/clock.ts';
import { createIds } from '../../src/lib/ids.ts';
import { SEND_JOB } from '../../src/outbox/queue.ts';
import { lastSend } from '../../src/schedules/times.ts';
import { openStore } from '../../src/store/open.ts';
import type { ReportScheduleRow } from '../../src/store/tables.generated.ts';
import { startTestService, temporaryFolder } from '../helpers/app.ts';
import { type Random, seededRandom } from '../helpers/random.ts';
import { type ServeOptions, spawnServe } from '../helpers/serve-process.ts';
import { type MailSink, startMailSink } from '../outbox/mail-sink.ts';
import { fieldOf } from '../schedules/scheduling.ts';

/** About a second each; a hundred are run before a release. */
const ROUNDS = Number(process.env.REPORT_KILL_ROUNDS ?? 8);
const SCHEDULES_PER_ROUND = 4;
const READERS = 3;
/** Long enough for a PDF now and then. */
const LONGEST_LIFE_MS = 1500;
/** Between a mail that has come in and the 250: kills fall into it too. */
const LONGEST_ANSWER_MS = 40;

test(`${ROUNDS} SIGKILLs lose no report and resend only unrecorded copies`, {
  timeout: 300_000,
}, async (t) => {
  const seed = Number(process.env.KILL_SEED ?? randomInt(2 ** 31));
  t.diagnostic(`KILL_SEED=${seed}`);
  const random = seededRandom(seed);
  const sink = await startSettlingSink(t, random);
  const folder = temporaryFolder(t);
  const env = {
    DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${sink.port}`,
    DELIVERABILITY_MAIL_FROM: 'reports@example.com',
    DELIVERABILITY_BLOCKLISTS: '-all',
    DELIVERABILITY_WORKERS: '1',
  };
  const path = join(folder, 'deliverability.db');
  const readers: string[] = [];
  /** Ids of mails, one for each kill that left one taken and not written down. */
  const loose: string[] = [];
  let cutShort = 0;
  for (let round = 0; round < ROUNDS; round++) {
    readers.push(...(await makeDue(path, round)));
    const before = sink.taken.length;
    // Every other time as soon as so many mails have come in.
    const come = sink.come(before + 1 + random.below(SCHEDULES_PER_ROUND * READERS));
    const atRandom = () => pause(random.below(LONGEST_LIFE_MS));
    const end = () =>
      round % 2 === 0 ? atRandom() : Promise.race([come, pause(2 * LONGEST_LIFE_MS)]);
    await liveAndBeKilled({ folder, env }, end);
    await sink.settled();
    const recorded = await recordedIn(path);
    loose.push(
      ...sink.taken
        .slice(before)
        .map(mailOf)
        .filter((id) => !recorded.has(id)),
    );
    if (sink.taken.length > before && sink.taken.length < readers.length) cutShort += 1;
  }
  await sendAll(t, folder, env);
  assertNoneTooOften(sink, readers, loose);
  assert.ok(cutShort > 0, 'no kill came while reports were sent');
  assert.ok(loose.length > 0, 'no kill came between a mail and its being written down');
  const counts = { rounds: ROUNDS, cutShort, taken: sink.taken.length, again: loose.length };
  t.diagnostic(JSON.stringify(counts));
});

interface SettlingSink extends MailSink {
  /** Once so many mails have come in; before the last of them is answered. */
  come(count: number): Promise<void>;
  /** Once all that was sent by whoever is gone has come in. */
  settled(): Promise<void>;
}

async function startSettlingSink(t: TestContext, random: Random): Promise<SettlingSink> {
  let open = 0;
  let awaited = { count: 0, resolve: () => {} };
  const sink = await startMailSink(t, {
    onConnect(_session, done) {
      open += 1;
      done();
    },
    onClose() {
      open -= 1;
    },
  });
  // Asked for each mail, when it has come in.
  Object.defineProperty(sink, 'hold', {
    get() {
      if (sink.taken.length >= awaited.count) awaited.resolve();
      return pause(random.below(LONGEST_ANSWER_MS));
    },
  });
  const turn = () => new Promise(setImmediate);
  return Object.assign(sink, {
    come(count: number) {
      const { promise, resolve } = Promise.withResolvers<void>();
      awaited = { count, resolve };
      return promise;
    },
    async settled() {
      while (open > 0) await turn();
      // What had come in as a whole when its sender was cut off is taken some turns later.
      for (let i = 0; i < 20; i++) await turn();
    },
  });
}

const mailOf = ({ raw }: MailSink['taken'][0]): string =>
  /^<(mail_\w+)@/.exec(fieldOf(raw, 'Message-ID')!)![1]!;

/** The mails of which a stopped service has written down that they went out: with the copies, or not at all. */
async function recordedIn(path: string): Promise<Set<string>> {
  const store = openStore(path);
  try {
    const rows = await store.db
      .selectFrom('report_copies as copy')
      .innerJoin('outbox', 'outbox.id', 'copy.mail_id')
      .select(['outbox.id', 'outbox.status', 'copy.status as told'])
      .execute();
    for (const { id, status, told } of rows) assert.equal(told, status, id);
    return new Set(rows.flatMap(({ id, status }) => (status === 'sent' ? [id] : [])));
  } finally {
    await store.close();
  }
}

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
        ...{ include_sections: '["summary","trends","alerts"]', enabled: 1 },
        format: i === 0 ? 'pdf' : 'html',
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

async function liveAndBeKilled(options: ServeOptions, end: () => Promise<void>): Promise<void> {
  const service = await spawnServe(options);
  const ready = await service.line('ready');
  assert.ok(ready, `it did not start again: ${JSON.stringify(service.log)}`);
  await end();
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

/** Each reader got one mail; as often as it was taken and nobody could write it down, it came once more. */
function assertNoneTooOften({ taken }: MailSink, readers: string[], loose: string[]): void {
  const mails = Map.groupBy(taken, mailOf);
  const reached = [...mails.values()].map(([mail]) => mail!.to[0]!);
  assert.deepEqual(reached.toSorted(), readers.toSorted());
  for (const [id, all] of mails) {
    const expected = 1 + loose.filter((one) => one === id).length;
    assert.equal(all.length, expected, `${id} to ${all[0]!.to[0]}`);
  }
}
