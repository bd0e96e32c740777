/** Malformed HTTP requests get a 4xx response or are cut off, without internal details. */

// @one-database: about HTTP; every operation runs on both in another test.

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { startTestService } from '../helpers/app.ts';
import { contentsOf, INSIDE } from './inside.ts';

const CRLF = '\r\n';
const HOST = 'Host: 127.0.0.1';

/** Requests that no client library would send. */
const HEADS = [
  'GET / HTTP/9.9',
  'GET /\u0000 HTTP/1.1',
  'GET http://evil.example/v1/me HTTP/1.1',
  'GET //evil.example/v1/me HTTP/1.1',
  'GET /v1/tests/../../../etc/passwd HTTP/1.1',
  'GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1',
  'GET /v1/tests?limit=%zz HTTP/1.1',
  'GET /\\..\\.. HTTP/1.1',
  'GET * HTTP/1.1',
  'OPTIONS * HTTP/1.1',
  'CONNECT 127.0.0.1:25 HTTP/1.1',
  'TRACE /v1/me HTTP/1.1',
  'PUT /v1/me HTTP/1.1',
  'BREW /pot HTTP/1.1',
  '\u0016\u0003\u0001',
  `GET /${'x'.repeat(20_000)} HTTP/1.1`,
  'POST /v1/sessions HTTP/1.1',
  'POST /sign-in HTTP/1.1',
];
const FIELDS = [
  [],
  [HOST],
  ['Host: '],
  ['Host: a b'],
  ['Host: <script>alert(1)</script>'],
  [HOST, HOST],
  [HOST, 'Content-Length: 5', 'Content-Length: 6'],
  [HOST, 'Content-Length: 5', 'Transfer-Encoding: chunked'],
  [HOST, 'Transfer-Encoding: chunked, x'],
  [HOST, 'Content-Length: -5'],
  [HOST, ' folded: x'],
  [HOST, 'Bad Name: x'],
  [HOST, 'X: a\u0000b'],
  [HOST, 'Upgrade: websocket', 'Connection: Upgrade'],
  [HOST, 'Expect: 100-continue', 'Content-Length: 2'],
  [HOST, 'Expect: x'],
  [HOST, `Cookie: ${'a=b;'.repeat(5000)}`],
  [HOST, ...Array.from({ length: 300 }, (_, i) => `X-${i}: 1`)],
  [HOST, 'Authorization: Bearer a', 'Authorization: Bearer b'],
];

/** Sends bytes and resolves with everything received until the server closes. */
function exchange(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const parts: Buffer[] = [];
    socket.on('data', (part: Buffer) => parts.push(part));
    socket.on('error', () => {});
    socket.on('close', () => resolve(Buffer.concat(parts).toString('latin1')));
    // Half-closed at once, so that the server does not wait for more.
    socket.end(bytes, 'latin1');
  });
}

test('Malformed HTTP requests get 4xx without internal details and change nothing', {
  timeout: 120_000,
}, async (t) => {
  const service = await startTestService(t);
  const before = await contentsOf(service.app.db);
  const answers: string[] = [];
  for (const head of HEADS)
    for (const fields of FIELDS) {
      const lines = [head, ...fields, 'Connection: close', '', '{"a":'];
      const answer = await exchange(service.http.port, lines.join(CRLF));
      const said = `${head.slice(0, 80)} | ${fields.join(' | ').slice(0, 80)}: ${answer.slice(0, 400)}`;
      assert.doesNotMatch(answer, /^HTTP\/1\.1 5\d\d/, said);
      assert.doesNotMatch(answer, INSIDE, said);
      assert.doesNotMatch(answer, /<script>alert|evil\.example/, said);
      answers.push(answer);
    }
  const refused = answers.filter((answer) => /^HTTP\/1\.1 4\d\d/.test(answer)).length;
  assert.ok(refused > answers.length / 3, `${refused} of ${answers.length} are refused in words`);
  assert.equal(await contentsOf(service.app.db), before);
  const failed = service.logged.filter(({ level }) => level === 'error');
  assert.deepEqual(failed, []);
  assert.equal((await service.call('GET', '/healthz')).status, 200);
});
