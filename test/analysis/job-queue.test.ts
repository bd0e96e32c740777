/** The order in which an analysis thread starts its jobs. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createJobQueue } from '../../src/analysis/job-queue.ts';

const QUIET_MS = 5;

/** A queue whose jobs end when the test says so. */
function startQueue() {
  const started: number[] = [];
  const ends = new Map<number, () => void>();
  const queue = createJobQueue<number>({
    quietMs: QUIET_MS,
    run(job) {
      started.push(job);
      return new Promise((resolve) => ends.set(job, resolve));
    },
  });
  return { queue, started, end: (job: number) => ends.get(job)!() };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('Job queue of an analysis thread', () => {
  it('Starts three jobs at once, and the others as soon as one ends, in the order of arrival', async () => {
    const { queue, started, end } = startQueue();
    for (let job = 1; job <= 6; job += 1) queue.add(job);
    assert.deepEqual(started, [1, 2, 3]);
    end(2);
    await turn();
    assert.deepEqual(started, [1, 2, 3, 4]);
    end(1);
    end(4);
    await turn();
    assert.deepEqual(started, [1, 2, 3, 4, 5, 6]);
    end(3);
    end(5);
    end(6);
    await turn();
    for (let job = 7; job <= 9; job += 1) queue.add(job);
    assert.deepEqual(started, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('Starts another job after each 5 ms without answers', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { queue, started } = startQueue();
    for (let job = 1; job <= 5; job += 1) queue.add(job);
    t.mock.timers.tick(QUIET_MS);
    await turn();
    assert.deepEqual(started, [1, 2, 3, 4]);
    t.mock.timers.tick(QUIET_MS);
    await turn();
    assert.deepEqual(started, [1, 2, 3, 4, 5]);
  });

  it('Starts no job while answers arrive', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { queue, started } = startQueue();
    for (let job = 1; job <= 6; job += 1) queue.add(job);
    t.mock.timers.tick(QUIET_MS);
    // Arrived while the thread was busy, and handled after the timer.
    queue.noteActivity();
    await turn();
    assert.deepEqual(started, [1, 2, 3]);
    t.mock.timers.tick(QUIET_MS - 1);
    queue.noteActivity();
    t.mock.timers.tick(QUIET_MS - 1);
    await turn();
    assert.deepEqual(started, [1, 2, 3]);
    t.mock.timers.tick(1);
    await turn();
    assert.deepEqual(started, [1, 2, 3, 4]);
    // One at a time, although a message arrived between the timer and what it does.
    t.mock.timers.tick(QUIET_MS);
    await turn();
    assert.deepEqual(started, [1, 2, 3, 4, 5]);
  });

  it('Answers delay a queued job for 100 ms at most', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let time = 0;
    const started: number[] = [];
    const queue = createJobQueue<number>({
      quietMs: QUIET_MS,
      clock: { now: () => time },
      run(job) {
        started.push(job);
        return new Promise(() => {});
      },
    });
    for (let job = 1; job <= 4; job += 1) queue.add(job);
    for (; started.length === 3; time += 1) {
      queue.noteActivity();
      t.mock.timers.tick(1);
      await turn();
      assert.ok(time < 110);
    }
    assert.ok(time >= 100);
  });

  it('Calls onIdle once, after the last job', async () => {
    const ends: (() => void)[] = [];
    let idle = 0;
    const queue = createJobQueue<number>({
      run: () => new Promise((resolve) => ends.push(resolve)),
      onIdle: () => {
        idle += 1;
      },
    });
    for (let job = 1; job <= 4; job += 1) queue.add(job);
    for (let job = 1; job <= 4; job += 1) {
      assert.equal(idle, 0);
      ends.shift()!();
      await turn();
    }
    assert.equal(idle, 1);
  });
});
