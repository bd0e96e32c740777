/** Which file is refused if the thread that reads files ends. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFeedbackReader } from '../../src/feedback/thread/reader.ts';
import type { FromWorker, ToWorker } from '../../src/feedback/thread/worker.ts';
import { silentLog } from '../../src/lib/log.ts';
import type { StartWorker } from '../../src/lib/threads.ts';
import { zoneResolver } from '../../src/net/dns/zone.ts';

/** A thread that does with each job what `work` says: it ends, does nothing yet, or answers. */
function readerWith(work: (message: ToWorker) => 'end' | FromWorker | null) {
  const startWorker: StartWorker = () => {
    const listeners: Record<string, (value?: unknown) => void> = {};
    return {
      postMessage(message) {
        const outcome = work(message as ToWorker);
        if (outcome === 'end') setImmediate(() => listeners.exit!());
        else if (outcome !== null) setImmediate(() => listeners.message!(outcome));
      },
      ref() {},
      unref() {},
      async terminate() {},
      on(event, listener) {
        listeners[event] = listener;
      },
    };
  };
  return createFeedbackReader({ resolver: zoneResolver({}), log: silentLog, startWorker });
}

const FILE = new Uint8Array(1);

test('A file that ends its thread twice, without other work in it, is refused', async () => {
  let attempts = 0;
  const reader = readerWith(() => {
    attempts += 1;
    return 'end';
  });
  const [item] = await reader.read(FILE, 0);
  assert.equal(item?.ok === false && item.reason, 'too_large');
  assert.equal(attempts, 2);
});

test('A file is read in the end if what was verified at the same time ended its thread each time', async () => {
  let ends = 0;
  const reader = readerWith((message) => {
    if (message.type === 'verify') return null;
    if (message.type !== 'read') throw new Error('unexpected');
    if (ends === 3) return { type: 'read', job: message.job, items: [] };
    ends += 1;
    return 'end';
  });
  const verify = async () => {
    for (let count = 0; count < 3; count++) await reader.verify(FILE, null, 0).catch(() => {});
  };
  const [items] = await Promise.all([reader.read(FILE, 0), verify()]);
  assert.deepEqual([items, ends], [[], 3]);
});

test('A file that ends its thread five times is refused, whatever else is in it', async () => {
  let attempts = 0;
  const reader = readerWith((message) => {
    if (message.type === 'verify') return null;
    attempts += 1;
    return 'end';
  });
  const verify = async () => {
    for (let count = 0; count < 5; count++) await reader.verify(FILE, null, 0).catch(() => {});
  };
  const [[item]] = await Promise.all([reader.read(FILE, 0), verify()]);
  assert.equal(item?.ok === false && item.reason, 'too_large');
  assert.equal(attempts, 5);
});
