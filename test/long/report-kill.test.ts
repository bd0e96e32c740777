/** `kill -9` while reports are sent: each recipient gets each report, twice only if sending was not recorded. */

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { isoTime, systemClock } from '../../src/lib/clock.ts';
import { SEND_JOB } from '../../src/outbox/queue.ts';
import { openStore } from '../../src/store/open.ts';
import { startTestService, temporaryFolder } from '../helpers/app.ts';
import { type Random, seededRandom } from '../helpers/random.ts';
import { type ServeOptions, spawnServe } from '../helpers/serve-process.ts';
import { databaseIn, SAME_NODE } from '../helpers/store.ts';
import { type MailSink, startMailSink } from '../outbox/mail-sink.ts';
import { mailIdOf, makeReportsDue } from './due-reports.ts';

/** About a second each; before a release, run a hundred. */
const ROUNDS = Number(process.env.REPORT_KILL_ROUNDS ?? 4);
const SCHEDULES_PER_ROUND = 4;
const READERS = 3;
/** Long enough for some PDFs. */
const MAX_LIFETIME_MS = 1500;
/** The delay between receipt of an email and the 250, so that some kills happen in between. */
const MAX_REPLY_DELAY_MS = 40;

test(`${ROUNDS} SIGKILLs lose no report and resend only unrecorded copies`, {
  timeout: 300_000 + ROUNDS * 30_000,
}, async (t) => {
  const seed = Number(process.env.KILL_SEED ?? randomInt(2 ** 31));
  t.diagnostic(`KILL_SEED=${seed}`);
  const random = seededRandom(seed);
  const sink = await startSettlingSink(t, random);
  const folder = temporaryFolder(t);
  const env = {
    ...SAME_NODE,
    DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${sink.port}`,
    DELIVERABILITY_MAIL_FROM: 'reports@example.com',
    DELIVERABILITY_BLOCKLISTS: '-all',
    DELIVERABILITY_WORKERS: '1',
  };
  const location = await databaseIn(folder);
  const readers: string[] = [];
  /** IDs of emails that were received, but not recorded as sent before the kill. */
  const unrecorded: string[] = [];
  let cutShort = 0;
  for (let round = 0; round < ROUNDS; round++) {
    readers.push(...(await makeDue(location, round)));
    const before = sink.taken.length;
    // Every second kill follows the receipt of a random number of emails.
    const received = sink.receive(before + 1 + random.below(SCHEDULES_PER_ROUND * READERS));
    const atRandom = () => pause(random.below(MAX_LIFETIME_MS));
    const end = () =>
      round % 2 === 0 ? atRandom() : Promise.race([received, pause(2 * MAX_LIFETIME_MS)]);
    await runAndKill({ folder, env }, end);
    await sink.settled();
    const recorded = await recordedIn(location);
    unrecorded.push(
      ...sink.taken
        .slice(before)
        .map(mailIdOf)
        .filter((id) => !recorded.has(id)),
    );
    if (sink.taken.length > before && sink.taken.length < readers.length) cutShort += 1;
  }
  await sendAll(t, folder, env);
  assertNoUnexpectedCopies(sink, readers, unrecorded);
  assert.ok(cutShort > 0, 'no kill happened while reports were sent');
  assert.ok(unrecorded.length > 0, 'no kill happened between sending an email and recording it');
  const counts = { rounds: ROUNDS, cutShort, taken: sink.taken.length, again: unrecorded.length };
  t.diagnostic(JSON.stringify(counts));
});

interface SettlingSink extends MailSink {
  /** Resolves when `count` emails have been received, before the reply to the last one. */
  receive(count: number): Promise<void>;
  /** Resolves when everything that a killed service sent has been received. */
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
  // The sink reads this property for each received email.
  Object.defineProperty(sink, 'hold', {
    get() {
      if (sink.taken.length >= awaited.count) awaited.resolve();
      return pause(random.below(MAX_REPLY_DELAY_MS));
    },
  });
  const turn = () => new Promise(setImmediate);
  return Object.assign(sink, {
    receive(count: number) {
      const { promise, resolve } = Promise.withResolvers<void>();
      awaited = { count, resolve };
      return promise;
    },
    async settled() {
      while (open > 0) await turn();
      // A complete email from a killed sender is processed some turns later.
      for (let i = 0; i < 20; i++) await turn();
    },
  });
}

/** The emails that a stopped service has recorded as sent, both in the outbox and in the copies. */
async function recordedIn(location: string): Promise<Set<string>> {
  const store = await openStore(location);
  try {
    const rows = await store.db
      .selectFrom('report_copies as copy')
      .innerJoin('outbox', 'outbox.id', 'copy.mail_id')
      .select(['outbox.id', 'outbox.status', 'copy.status as copyStatus'])
      .execute();
    for (const { id, status, copyStatus } of rows) assert.equal(copyStatus, status, id);
    return new Set(rows.flatMap(({ id, status }) => (status === 'sent' ? [id] : [])));
  } finally {
    await store.close();
  }
}

async function makeDue(location: string, round: number): Promise<string[]> {
  const store = await openStore(location);
  try {
    return await makeReportsDue(store.db, `r${round}`, SCHEDULES_PER_ROUND, READERS);
  } finally {
    await store.close();
  }
}

async function runAndKill(options: ServeOptions, end: () => Promise<void>): Promise<void> {
  const service = await spawnServe(options);
  const ready = await service.nextLine('ready');
  assert.ok(ready, `the service did not restart: ${JSON.stringify(service.log)}`);
  await end();
  service.signal('SIGKILL');
  await service.ended;
  assert.deepEqual(
    service.log.filter(({ level }) => level === 'error'),
    [],
  );
}

/** Restarts on the same database until nothing is due or queued. */
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
    // Retries are due within minutes.
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

/** Each recipient got one email, plus one for each time that it was received but not recorded. */
function assertNoUnexpectedCopies(
  { taken }: MailSink,
  readers: string[],
  unrecorded: string[],
): void {
  const mails = Map.groupBy(taken, mailIdOf);
  const reached = [...mails.values()].map(([mail]) => mail!.to[0]!);
  assert.deepEqual(reached.toSorted(), readers.toSorted());
  for (const [id, all] of mails) {
    const expected = 1 + unrecorded.filter((other) => other === id).length;
    assert.equal(all.length, expected, `${id} to ${all[0]!.to[0]}`);
  }
}
