/** The order in which an analysis thread begins its jobs. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createJobQueue } from '../../src/analysis/job-queue.ts';

const WAITING_MS = 5;

/** A queue whose jobs end when the test says so. */
function startQueue() {
  const begun: number[] = [];
  const ends = new Map<number, () => void>();
  const queue = createJobQueue<number>({
    waitingMs: WAITING_MS,
    run(job) {
      begun.push(job);
      return new Promise((resolve) => ends.set(job, resolve));
    },
  });
  return { queue, begun, end: (job: number) => ends.get(job)!() };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('Job queue of an analysis thread', () => {
  it('Three jobs begin at once, and the others as soon as one ends, in the order of arrival', async () => {
    const { queue, begun, end } = startQueue();
    for (let job = 1; job <= 6; job += 1) queue.add(job);
    assert.deepEqual(begun, [1, 2, 3]);
    end(2);
    await turn();
    assert.deepEqual(begun, [1, 2, 3, 4]);
    end(1);
    end(4);
    await turn();
    assert.deepEqual(begun, [1, 2, 3, 4, 5, 6]);
  });

  it('Jobs from which nothing is heard delay no other job', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { queue, begun } = startQueue();
    for (let job = 1; job <= 5; job += 1) queue.add(job);
    t.mock.timers.tick(WAITING_MS);
    await turn();
    assert.deepEqual(begun, [1, 2, 3, 4]);
    t.mock.timers.tick(WAITING_MS);
    await turn();
    assert.deepEqual(begun, [1, 2, 3, 4, 5]);
  });

  it('While a job goes on, no other begins', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { queue, begun } = startQueue();
    for (let job = 1; job <= 4; job += 1) queue.add(job);
    t.mock.timers.tick(WAITING_MS);
    // Arrived while the thread was busy, and handled after the timer.
    queue.heard();
    await turn();
    assert.deepEqual(begun, [1, 2, 3]);
    t.mock.timers.tick(WAITING_MS);
    await turn();
    assert.deepEqual(begun, [1, 2, 3, 4]);
  });

  it('It says when no job runs, so that what jobs share can be forgotten', async () => {
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
