import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createDataReader } from '../../src/smtp/end-of-data.ts';
import { FALSE_ENDS } from './false-ends.ts';

interface Outcome {
  content: string;
  rest: string | null;
  falseEnd: boolean;
  atFalseEnd: boolean;
}

/** Reads the pieces up to the one with the end in it; `rest` includes the pieces after it. */
function readPieces(pieces: string[]): Outcome {
  const reader = createDataReader();
  let content = '';
  let rest: string | null = null;
  for (const piece of pieces) {
    if (rest !== null) {
      rest += piece;
      continue;
    }
    const read = reader.read(Buffer.from(piece, 'latin1'));
    content += read.content.toString('latin1');
    rest = read.rest?.toString('latin1') ?? null;
  }
  return { content, rest, falseEnd: reader.falseEnd, atFalseEnd: reader.atFalseEnd };
}

/** Whole, byte by byte, and cut in two at every place: all have to read the same. */
function everyCut(text: string): Outcome {
  const whole = readPieces([text]);
  assert.deepEqual(readPieces([...text]), whole, 'byte by byte');
  for (let at = 1; at < text.length; at++)
    assert.deepEqual(readPieces([text.slice(0, at), text.slice(at)]), whole, `cut at ${at}`);
  return whole;
}

describe('the end of data', () => {
  const messages: [string, string, string][] = [
    ['an ordinary message', 'a\r\nb\r\n.\r\n', 'a\r\nb\r\n'],
    ['an empty message', '.\r\n', ''],
    ['a message of one line end', '\r\n.\r\n', '\r\n'],
    ['a stuffed dot alone', '..\r\n.\r\n', '.\r\n'],
    ['a stuffed dot alone between lines', 'a\r\n..\r\nb\r\n.\r\n', 'a\r\n.\r\nb\r\n'],
    ['two dots, stuffed', 'a\r\n...\r\n.\r\n', 'a\r\n..\r\n'],
    ['a line that begins with a dot', 'a\r\n..b\r\n.\r\n', 'a\r\n.b\r\n'],
    ['a dot that should have been stuffed (RFC 5321 §4.5.2)', 'a\r\n.b\r\n.\r\n', 'a\r\nb\r\n'],
    ['dots elsewhere', 'a.\r\nb..c\r\n.\r\n', 'a.\r\nb..c\r\n'],
    ['bare LF and dots after it', 'a\n..b\n.c\r\n.\r\n', 'a\n..b\n.c\r\n'],
    ['bare CR and dots after it', 'a\r..b\r.c\r\n.\r\n', 'a\r..b\r.c\r\n'],
    ['a line end of CR CR LF, dots stuffed', 'a\r\r\n..b\r\n.\r\n', 'a\r\r\n.b\r\n'],
    ['NUL and bytes above 127', '\0a\xff\r\n\x80\r\n.\r\n', '\0a\xff\r\n\x80\r\n'],
    ['an end right after a bare LF and an empty line', 'a\n\r\n.\r\n', 'a\n\r\n'],
  ];
  for (const [name, wire, content] of messages) {
    it(`reads ${name}`, () => {
      assert.deepEqual(everyCut(`${wire}NOOP\r\n`), {
        content,
        rest: 'NOOP\r\n',
        falseEnd: false,
        atFalseEnd: false,
      });
    });
  }

  it('has no end before it has come whole', () => {
    for (const part of ['', '.', '.\r', 'a\r\n.\r', 'a.\r\n', 'a\n', '..\r\n'])
      assert.equal(everyCut(part).rest, null, JSON.stringify(part));
  });
});

describe('a false end', () => {
  for (const [name, end] of FALSE_ENDS) {
    for (const before of ['', 'a', 'a\r\n']) {
      it(`${name} after ${JSON.stringify(before)} is noticed and ends nothing`, () => {
        const { rest, falseEnd } = everyCut(`${before}${end}MAIL FROM:<>\r\n.\r\nNOOP\r\n`);
        assert.equal(falseEnd, true);
        assert.equal(rest, 'NOOP\r\n');
      });
    }
  }

  for (const start of ['.\n', '.\rX', '\0.\r\n', '.\0\r\n', '\r.\r\n'])
    it(`${JSON.stringify(start)} at the start of data is noticed and ends nothing`, () => {
      const { rest, falseEnd } = everyCut(`${start}X\r\n.\r\nNOOP\r\n`);
      assert.deepEqual([falseEnd, rest], [true, 'NOOP\r\n']);
    });

  it('is known to be the last that came, until more of the message comes', () => {
    for (const [name, end] of FALSE_ENDS) {
      // A CR after the dot of CRLF. may still be followed by the LF that makes it a true end.
      const certain = name !== '<CR><LF>.<CR>';
      assert.equal(everyCut(`a${end}`).atFalseEnd, certain, name);
      assert.equal(everyCut(`a${end}b`).atFalseEnd, false, name);
    }
  });

  it('hides no true end after it', () => {
    assert.equal(everyCut('a\n.\r\n.\r\nNOOP\r\n').rest, 'NOOP\r\n');
  });
});
