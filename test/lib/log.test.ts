import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createLog, LOG_LEVELS, type LogLevel, printable, silentLog } from '../../src/lib/log.ts';
import { testClock } from '../helpers/clock.ts';

function logInto(level: LogLevel, format: 'json' | 'pretty') {
  const lines: string[] = [];
  const log = createLog({ level, format, clock: testClock(), write: (line) => lines.push(line) });
  return { log, lines };
}

it('Log omits messages below its level', () => {
  for (const [rank, level] of LOG_LEVELS.entries()) {
    const { log, lines } = logInto(level, 'json');
    for (const name of LOG_LEVELS) log[name]('message');
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).level),
      LOG_LEVELS.slice(rank),
    );
  }
});

it('Log in JSON format writes time, level, message and fields', () => {
  const { log, lines } = logInto('info', 'json');
  log.warn('slow', { ms: 12, path: '/v1', ok: false, missing: null, left: undefined });
  assert.equal(
    lines[0],
    '{"time":"2026-11-21T10:00:00.000Z","level":"warn","message":"slow","ms":12,"path":"/v1","ok":false,"missing":null}',
  );
});

it('Log in pretty format writes time of day, level, message and fields', () => {
  const { log, lines } = logInto('info', 'pretty');
  log.info('ready', { port: 8080, url: 'http://127.0.0.1:8080', left: undefined, none: null });
  assert.equal(lines[0], '10:00:00 info  ready port=8080 url=http://127.0.0.1:8080 none=null');
});

const HOSTILE = 'a\r\nb\u001b[2Jc\u009b31md\u202ee\u2066f\u061cg\u2028h\u0000i\u007fj\ti';

/** Control characters, line separators and bidirectional formatting characters. */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

it('Log escapes control and bidi characters in both formats', () => {
  for (const format of ['json', 'pretty'] as const) {
    const { log, lines } = logInto('info', format);
    log.error(`message ${HOSTILE}`, { helo: HOSTILE });
    assert.equal(lines.length, 1);
    assert.doesNotMatch(lines[0]!, UNSAFE);
  }
});

it('Log in JSON format preserves hostile text', () => {
  const { log, lines } = logInto('info', 'json');
  log.error('message', { helo: HOSTILE });
  assert.equal(JSON.parse(lines[0]!).helo, HOSTILE);
});

it('printable keeps harmless text and replaces control characters', () => {
  for (const text of ['', 'Größe 10 €', '日本語', '👩‍🚀 astronaut', 'a b'])
    assert.equal(printable(text), text);
  assert.equal(printable('a\u001bb'), 'a·b');
});

it('silentLog accepts every level and writes nothing', () => {
  for (const level of LOG_LEVELS) assert.equal(silentLog[level]('x', { a: 1 }), undefined);
});
