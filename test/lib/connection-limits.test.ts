import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createConnectionCount, createRefusalLog } from '../../src/lib/connection-limits.ts';
import { type Log, silentLog } from '../../src/lib/log.ts';

it('createConnectionCount counts in total and per client, and releases a connection once', () => {
  const count = createConnectionCount({ total: 3, perClient: 2 });
  const releases = ['a', 'a', 'b'].map((client) => [count.add(), count.addClient(client)]);
  assert.deepEqual([count.total(), count.isFull()], [3, true]);
  assert.deepEqual(['a', 'b', 'c'].map(count.isClientFull), [true, false, false]);
  for (const release of [...releases[0]!, ...releases[0]!]) release();
  assert.deepEqual([count.total(), count.isFull(), count.isClientFull('a')], [2, false, false]);
});

it('createRefusalLog writes one line at first, one per minute, and one at the end', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const lines: unknown[] = [];
  const log: Log = {
    ...silentLog,
    warn: (message, fields) => void lines.push([message, fields]),
    info: (message, fields) => void lines.push([message, fields]),
  };
  const texts = { begin: 'too many', end: 'fewer again' };
  const refusals = createRefusalLog(log, texts, { limit: 3 });
  const minute = () => {
    t.mock.timers.tick(60_000);
    return lines.splice(0);
  };
  assert.equal(refusals.isActive(), false);
  for (let i = 0; i < 1000; i++) refusals.record({ client_ip: '192.0.2.1' });
  assert.deepEqual(lines.splice(0), [['too many', { limit: 3, client_ip: '192.0.2.1' }]]);
  assert.deepEqual(minute(), [['too many', { limit: 3, refused: 999 }]]);
  assert.equal(refusals.isActive(), true);
  assert.deepEqual(minute(), [['fewer again', { limit: 3 }]]);
  assert.equal(refusals.isActive(), false);
  assert.deepEqual(minute(), []);
  refusals.record();
  assert.deepEqual(lines.splice(0), [['too many', { limit: 3 }]]);
});
