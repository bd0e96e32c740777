import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  createLog,
  LOG_LEVELS,
  type LogLevel,
  printable,
  printableJson,
  silentLog,
  terminalText,
} from '../../src/lib/log.ts';
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

it('printableJson escapes control characters and keeps the value', () => {
  for (const indent of [0, 2]) {
    const value = { [HOSTILE]: [HOSTILE, 1, null], nested: { text: 'a\nb\u009b\u202e\u2028' } };
    const json = printableJson(value, indent);
    assert.deepEqual(JSON.parse(json), value);
    assert.doesNotMatch(json, /(?!\n)[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u);
    assert.equal(json.includes('\n'), indent > 0);
  }
});

it('terminalText keeps line breaks, and our colors where allowed', () => {
  for (const [text, allowsColor, expected] of [
    ['a\nb', false, 'a\nb'],
    [
      '\u001b[1m\u001b[31mred\u001b[39m\u001b[22m',
      true,
      '\u001b[1m\u001b[31mred\u001b[39m\u001b[22m',
    ],
    ['\u001b[31mred\u001b[39m', false, '·[31mred·[39m'],
    ['\u001b[8mhidden\u001b[2J\u001b]0;x\u0007', true, '·[8mhidden·[2J·]0;x·'],
    ['a\r\u009b1m\u202eb\u2028c\u200fd', true, 'a··1m·b·c·d'],
  ] as const)
    assert.equal(terminalText(text, allowsColor), expected);
});
