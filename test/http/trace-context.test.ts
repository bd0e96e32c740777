/** W3C Trace Context: in the log and in the webhooks that result from a request; invalid headers are ignored. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/lib/clock.ts';
import { createLog } from '../../src/lib/log.ts';
import { currentTrace, readTraceContext, traceHeaders } from '../../src/lib/trace-context.ts';
import { startTestService } from '../helpers/app.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { sendMail } from '../helpers/send.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const VALID = `00-${TRACE}-${PARENT}-01`;

const read = (traceparent: string, tracestate?: string) =>
  readTraceContext(new Headers({ traceparent, ...(tracestate ? { tracestate } : {}) }));

test('Only valid traceparent headers are read', () => {
  assert.deepEqual(read(VALID), { traceId: TRACE, sampled: true, state: null });
  assert.equal(read(`00-${TRACE}-${PARENT}-00`)?.sampled, false);
  assert.equal(read(`00-${TRACE}-${PARENT}-fe`)?.sampled, false, 'other flags are not ours');
  assert.equal(read(`cc-${TRACE}-${PARENT}-01-what-the-future-brings`)?.traceId, TRACE);
  assert.equal(read(VALID, 'rojo=1,congo=2')?.state, 'rojo=1,congo=2');
  assert.equal(read(VALID, 'x'.repeat(513))?.state, null);
  for (const invalid of [
    '',
    `ff-${TRACE}-${PARENT}-01`,
    `00-${'0'.repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${PARENT}-01`,
    `00-${TRACE.slice(1)}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}-01-more`,
    `cc-${TRACE}-${PARENT}-01.more`,
    `${VALID}, ${VALID}`,
  ])
    assert.equal(read(invalid), null, invalid);
});

test('Each outgoing request has its own parent ID', () => {
  const trace = read(VALID, 'rojo=1')!;
  const [first, second] = [traceHeaders(trace), traceHeaders(trace)];
  assert.match(first.traceparent!, new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`));
  assert.notEqual(first.traceparent, second.traceparent);
  assert.notEqual(first.traceparent, VALID);
  assert.equal(first.tracestate, 'rojo=1');
});

test('A trace is in the log lines of its request and in the webhooks that result from it', async (t) => {
  const receiver = await startReceiver(t);
  const lines: Record<string, string>[] = [];
  const log = createLog({
    level: 'info',
    format: 'json',
    clock: systemClock,
    write: (line) => void lines.push(JSON.parse(line)),
  });
  const service = await startTestService(t, { env: receiver.env, log });
  await service.call('POST', '/v1/webhooks/endpoints', {
    json: { url: receiver.url, events: ['test.completed'] },
  });
  const create = async (headers: Record<string, string>) => {
    const { body, headers: answered } = await service.call<{ id: string; address: string }>(
      'POST',
      '/v1/tests',
      {
        json: {},
        headers,
      },
    );
    for (const name of ['traceparent', 'tracestate', 'traceresponse'])
      assert.equal(answered.get(name), null, 'the standard defines no response header');
    await sendMail({ port: service.smtp.port, to: body.address, raw: goodMessage() });
    assert.equal((await service.getTest(body.id, '?wait=20')).status, 'completed');
    return body.id;
  };
  const traced = await create({ traceparent: VALID, tracestate: 'rojo=1' });
  const untraced = await create({ traceparent: 'nonsense' });
  await t.waitFor(() => assert.equal(receiver.requests.length, 2));
  const sentFor = (id: string) => receiver.requests.find(({ body }) => body.includes(id))!.headers;
  assert.match(String(sentFor(traced).traceparent), new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`));
  assert.doesNotMatch(String(sentFor(traced).traceparent), new RegExp(PARENT));
  assert.equal(sentFor(traced).tracestate, 'rojo=1');
  assert.equal(sentFor(untraced).traceparent, undefined);
  const tracedLines = lines.filter(({ trace_id }) => trace_id !== undefined);
  assert.deepEqual(
    tracedLines.map(({ message, trace_id }) => [message, trace_id]),
    [
      ['request', TRACE],
      ['accepted a message', TRACE],
    ],
  );
  assert.equal(currentTrace(), null);
});
