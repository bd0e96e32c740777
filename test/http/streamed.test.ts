/** Bodies that are made while the client reads them. */

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { streamed } from '../../src/http/streamed.ts';

/** Parts, how many of them were asked for, and whether the generator was ended. */
function counted(parts: (string | Uint8Array)[], fault?: Error) {
  const state = { asked: 0, ended: false };
  async function* generate() {
    try {
      for (const part of parts) {
        state.asked += 1;
        yield part;
      }
      if (fault) throw fault;
    } finally {
      state.ended = true;
    }
  }
  return { state, body: streamed(generate()) };
}

const settle = async () => {
  for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
};

it('A streamed body requests nothing before the client reads, and then for one piece at a time', async () => {
  const large = new Uint8Array(100_000);
  const { state, body } = counted([large, large, large]);
  await settle();
  assert.equal(state.asked, 0);
  const reader = body.getReader();
  assert.equal((await reader.read()).value?.byteLength, 100_000);
  await settle();
  assert.equal(state.asked, 1);
  await reader.read();
  await settle();
  assert.equal(state.asked, 2);
  await reader.read();
  assert.equal((await reader.read()).done, true);
});

it('A streamed body joins small parts to pieces, in order, whatever their kind', async () => {
  const lines = Array.from({ length: 10_000 }, (_, i) => `${i} Größe 大きさ\r\n`);
  const parts = lines.map((line, i) => (i % 2 === 0 ? line : Buffer.from(line)));
  const { body } = counted(parts);
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  assert.equal(Buffer.concat(pieces).toString(), lines.join(''));
  for (const piece of pieces.slice(0, -1)) {
    assert.ok(piece.byteLength >= 64 * 1024 && piece.byteLength < 65 * 1024, `${piece.byteLength}`);
  }
});

it('A streamed body can be empty', async () => {
  for (const parts of [[], [''], [new Uint8Array(0), '']])
    assert.equal(await new Response(counted(parts).body).text(), '');
});

it('A streamed body that fails ends with the error, after the pieces before it', async () => {
  const reader = counted(['x'.repeat(70_000)], new Error('deleted')).body.getReader();
  assert.equal((await reader.read()).value?.byteLength, 70_000);
  await assert.rejects(reader.read(), /deleted/);
});

it('A client that leaves ends the generator; other bodies go on', async () => {
  const large = 'x'.repeat(70_000);
  const left = counted([large, large]);
  const reader = left.body.getReader();
  await reader.read();
  await reader.cancel();
  assert.deepEqual(left.state, { asked: 1, ended: true });
  const bodies = Array.from({ length: 20 }, () => counted([large, large]).body);
  // Some are never read, some leave while a piece is made.
  const others = bodies.map((body, i) => (i % 3 === 0 ? body.cancel() : new Response(body).text()));
  const lengths = (await Promise.all(others)).map((text) => text?.length);
  assert.deepEqual(
    lengths,
    bodies.map((_, i) => (i % 3 === 0 ? undefined : 140_000)),
  );
});
