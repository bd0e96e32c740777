/** Jobs run at start, when woken and at their ticks, one run at a time; shutdown waits for them. */

import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { type Log, silentLog } from '../../src/lib/log.ts';
import { createScheduler, type Job } from '../../src/scheduler/scheduler.ts';

/** A tick that never comes during a test. */
const NEVER = '0 0 0 1 1 *';

/** A job whose runs end when the test says so. */
function controlledJob(name = 'job') {
  const runs: PromiseWithResolvers<void>[] = [];
  const job: Job = {
    name,
    tick: NEVER,
    run() {
      const run = Promise.withResolvers<void>();
      runs.push(run);
      return run.promise;
    },
  };
  return { job, runs };
}

function startScheduler(t: TestContext, jobs: Job[], log: Log = silentLog) {
  const scheduler = createScheduler(log);
  scheduler.add(...jobs);
  scheduler.start();
  t.after(() => scheduler.stop());
  return scheduler;
}

/** Runs all pending microtasks and immediates. */
const settle = async () => {
  for (let i = 0; i < 5; i++) await new Promise(setImmediate);
};

it('Scheduler runs every job at start', async (t) => {
  const [a, b] = [controlledJob('a'), controlledJob('b')];
  startScheduler(t, [a.job, b.job]);
  assert.deepEqual([a.runs.length, b.runs.length], [1, 1]);
  for (const { runs } of [a, b]) runs[0]!.resolve();
});

it('scheduler.wake runs only the named job, at once', async (t) => {
  const [a, b] = [controlledJob('a'), controlledJob('b')];
  const scheduler = startScheduler(t, [a.job, b.job]);
  for (const { runs } of [a, b]) runs[0]!.resolve();
  await settle();
  scheduler.wake('a');
  assert.deepEqual([a.runs.length, b.runs.length], [2, 1]);
  a.runs[1]!.resolve();
  scheduler.wake('unknown');
});

it('Several wakes during a run cause one further run', async (t) => {
  const { job, runs } = controlledJob();
  const scheduler = startScheduler(t, [job]);
  for (let i = 0; i < 3; i++) scheduler.wake('job');
  await settle();
  assert.equal(runs.length, 1);
  runs[0]!.resolve();
  await settle();
  assert.equal(runs.length, 2);
  runs[1]!.resolve();
  await settle();
  assert.equal(runs.length, 2);
});

it('Scheduler logs a failed run and runs the job again', async (t) => {
  const errors: unknown[] = [];
  const log: Log = { ...silentLog, error: (_, fields) => void errors.push(fields) };
  const { job, runs } = controlledJob();
  const scheduler = startScheduler(t, [job], log);
  runs[0]!.reject(new Error('the disk is full'));
  await settle();
  scheduler.wake('job');
  assert.equal(runs.length, 2);
  runs[1]!.resolve();
  const [{ job: name, error, fault }] = errors as [Record<string, string>];
  assert.deepEqual([name, error], ['job', 'the disk is full']);
  assert.match(fault!, /scheduler\.test/, 'has the stack');
});

it('Scheduler survives jobs that throw synchronously', async (t) => {
  let runs = 0;
  const run = () => {
    runs += 1;
    throw new Error('at once');
  };
  const scheduler = startScheduler(t, [{ name: 'job', tick: NEVER, run }]);
  scheduler.wake('job');
  await settle();
  scheduler.wake('job');
  assert.equal(runs, 3);
});

it('Scheduler reruns a job woken during a failed run', async (t) => {
  const { job, runs } = controlledJob();
  const scheduler = startScheduler(t, [job]);
  scheduler.wake('job');
  runs[0]!.reject(new Error('once'));
  await settle();
  assert.equal(runs.length, 2);
  runs[1]!.resolve();
});

it('Scheduler runs jobs at their cron ticks', async (t) => {
  t.mock.timers.enable({
    apis: ['setTimeout', 'Date'],
    now: Date.UTC(2026, 10, 21, 10, 0, 0, 500),
  });
  const { job, runs } = controlledJob();
  startScheduler(t, [{ ...job, tick: '*/10 * * * * *' }]);
  const runsAfter = async (ms: number) => {
    for (const run of runs) run.resolve();
    await settle();
    t.mock.timers.tick(ms);
    return runs.length;
  };
  assert.equal(await runsAfter(9_000), 1);
  assert.equal(await runsAfter(1_000), 2);
  assert.equal(await runsAfter(10_000), 3);
  for (const run of runs) run.resolve();
});

it('scheduler.stop waits for running work and starts nothing new', async () => {
  const { job, runs } = controlledJob();
  const idle = Promise.withResolvers<void>();
  const scheduler = createScheduler(silentLog);
  scheduler.add({ ...job, idle: () => idle.promise });
  assert.equal(scheduler.running(), false);
  scheduler.start();
  assert.equal(scheduler.running(), true);
  scheduler.wake('job');
  let stopped = false;
  const stopping = scheduler.stop().then(() => {
    stopped = true;
  });
  assert.equal(scheduler.running(), false);
  scheduler.wake('job');
  await settle();
  assert.equal(stopped, false, 'a run is in progress');
  runs[0]!.resolve();
  await settle();
  assert.equal(stopped, false, 'work started by the run is in progress');
  idle.resolve();
  await stopping;
  assert.equal(runs.length, 1, 'wakes after stop are ignored');
});

it('Scheduler runs nothing before start', async () => {
  const { job, runs } = controlledJob();
  const scheduler = createScheduler(silentLog);
  scheduler.add(job);
  scheduler.wake('job');
  assert.equal(runs.length, 0);
  await scheduler.stop();
});

it('Scheduler rejects a second job of the same name and jobs added after the start', (t) => {
  const [first, second] = [controlledJob('a'), controlledJob('b')];
  assert.throws(
    () => createScheduler(silentLog).add(first.job, first.job),
    /A job named a already exists/,
  );
  const scheduler = startScheduler(t, []);
  assert.throws(() => scheduler.add(second.job), /before the scheduler starts/);
});
