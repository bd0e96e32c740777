import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createDataReader } from '../../src/smtp/data-parser.ts';
import { ADDRESS, beginData, listen, type TestListener } from './listener.ts';
import type { RawClient } from './raw-client.ts';

// Sequences that some servers take for the end of data (RFC 5321 §4.1.1.4).

const NAMES = [
  '<LF>.<LF>',
  '<LF>.<CR><LF>',
  '<CR>.<CR>',
  '<CR>.<CR><LF>',
  '<CR><LF>.<CR>',
  '<LF>.<CR>',
  '<CR>.<LF>',
  '<CR><LF>.<LF>',
  '<CR><CR><LF>.<CR><LF>',
  '<CR><LF><NUL>.<CR><LF>',
];

/** Name and bytes. */
export const FALSE_ENDS: [string, string][] = NAMES.map((name) => [
  name,
  name.replaceAll('<CR>', '\r').replaceAll('<LF>', '\n').replaceAll('<NUL>', '\0'),
]);

interface Outcome {
  content: string;
  rest: string | null;
  falseEnd: boolean;
  atFalseEnd: boolean;
}

/** Reads the pieces up to the end of data; `rest` includes the pieces after it. */
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
  return { content, rest, falseEnd: reader.hasFalseEnd, atFalseEnd: reader.atFalseEnd };
}

/** Whole, byte by byte, and split in two at every position: all must give the same result. */
function everyCut(text: string): Outcome {
  const whole = readPieces([text]);
  assert.deepEqual(readPieces([...text]), whole, 'byte by byte');
  for (let at = 1; at < text.length; at++)
    assert.deepEqual(readPieces([text.slice(0, at), text.slice(at)]), whole, `cut at ${at}`);
  return whole;
}

describe('SMTP data parser', () => {
  const messages: [string, string, string][] = [
    ['an ordinary message', 'a\r\nb\r\n.\r\n', 'a\r\nb\r\n'],
    ['an empty message', '.\r\n', ''],
    ['a message of one line break', '\r\n.\r\n', '\r\n'],
    ['a stuffed dot alone', '..\r\n.\r\n', '.\r\n'],
    ['a stuffed dot alone between lines', 'a\r\n..\r\nb\r\n.\r\n', 'a\r\n.\r\nb\r\n'],
    ['two stuffed dots', 'a\r\n...\r\n.\r\n', 'a\r\n..\r\n'],
    ['a line starting with a dot', 'a\r\n..b\r\n.\r\n', 'a\r\n.b\r\n'],
    ['a dot that should have been stuffed (RFC 5321 §4.5.2)', 'a\r\n.b\r\n.\r\n', 'a\r\nb\r\n'],
    ['dots elsewhere', 'a.\r\nb..c\r\n.\r\n', 'a.\r\nb..c\r\n'],
    ['bare LF followed by dots', 'a\n..b\n.c\r\n.\r\n', 'a\n..b\n.c\r\n'],
    ['bare CR followed by dots', 'a\r..b\r.c\r\n.\r\n', 'a\r..b\r.c\r\n'],
    ['a line ending of CR CR LF, dots stuffed', 'a\r\r\n..b\r\n.\r\n', 'a\r\r\n.b\r\n'],
    ['NUL and bytes above 127', '\0a\xff\r\n\x80\r\n.\r\n', '\0a\xff\r\n\x80\r\n'],
    ['an end after a bare LF and an empty line', 'a\n\r\n.\r\n', 'a\n\r\n'],
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

  it('reports no end of data before the terminator is complete', () => {
    for (const part of ['', '.', '.\r', 'a\r\n.\r', 'a.\r\n', 'a\n', '..\r\n'])
      assert.equal(everyCut(part).rest, null, JSON.stringify(part));
  });
});

describe('SMTP data parser at a false end of data', () => {
  for (const [name, end] of FALSE_ENDS) {
    for (const before of ['', 'a', 'a\r\n']) {
      it(`flags ${name} after ${JSON.stringify(before)} and does not end the message`, () => {
        const { rest, falseEnd } = everyCut(`${before}${end}MAIL FROM:<>\r\n.\r\nNOOP\r\n`);
        assert.equal(falseEnd, true);
        assert.equal(rest, 'NOOP\r\n');
      });
    }
  }

  for (const start of ['.\n', '.\rX', '\0.\r\n', '.\0\r\n', '\r.\r\n'])
    it(`flags ${JSON.stringify(start)} at the start of data and does not end the message`, () => {
      const { rest, falseEnd } = everyCut(`${start}X\r\n.\r\nNOOP\r\n`);
      assert.deepEqual([falseEnd, rest], [true, 'NOOP\r\n']);
    });

  it('reports a trailing false end only until more data arrives', () => {
    for (const [name, end] of FALSE_ENDS) {
      // After CRLF, a dot and a CR, an LF would make it a true end.
      const certain = name !== '<CR><LF>.<CR>';
      assert.equal(everyCut(`a${end}`).atFalseEnd, certain, name);
      assert.equal(everyCut(`a${end}b`).atFalseEnd, false, name);
    }
  });

  it('still finds the true end after a false one', () => {
    assert.equal(everyCut('a\n.\r\n.\r\nNOOP\r\n').rest, 'NOOP\r\n');
  });
});

const SMUGGLED =
  `MAIL FROM:<evil@example.net>\r\nRCPT TO:<${ADDRESS}>\r\nDATA\r\n` +
  'Subject: smuggled\r\n\r\nsmuggled\r\n.\r\n';

/** Writes the pieces in turn, each in its own system call. */
async function writePieces(client: RawClient, pieces: string[]): Promise<void> {
  for (const piece of pieces) await client.write(piece);
}

/** The message is rejected once, at its true end, and no part of it runs as a command. */
async function assertRefused(
  listener: TestListener,
  client: RawClient,
  pieces: string[],
  name: string,
): Promise<void> {
  await beginData(client, false);
  await writePieces(client, pieces);
  assert.match(await client.reply(), /^554 5\.6\.0 /, name);
  // Any other reply would come before this one.
  assert.match(await client.say('VRFY', 501), /VRFY/, name);
  assert.equal(listener.messages.length, 0, name);
}

for (const tls of [false, true]) {
  describe(`SMTP smuggling over ${tls ? 'TLS' : 'a plain connection'}`, () => {
    for (const [name, end] of FALSE_ENDS) {
      it(`rejects ${name} with 554 however it is split`, async (t) => {
        const listener = await listen(t);
        const client = await listener.connect();
        if (tls) await client.startTls();
        await client.say('EHLO client.example.com', 250);
        const head = 'Subject: a\r\n\r\nbody';
        for (const before of [head, ''])
          await assertRefused(listener, client, [before + end + SMUGGLED], `whole: ${before}`);
        for (let at = 0; at <= end.length; at++)
          await assertRefused(
            listener,
            client,
            [head + end.slice(0, at), end.slice(at) + SMUGGLED],
            `cut at ${at}`,
          );
        await assertRefused(listener, client, [...`${head}${end}${SMUGGLED}`], 'byte by byte');
        await assertRefused(listener, client, [...`${end}${SMUGGLED}`], 'from the start');
        await client.say('QUIT', 221);
      });
    }
  });
}

describe('SMTP server at a false end of data', () => {
  it('rejects a dot and LF as the first bytes', async (t) => {
    const listener = await listen(t);
    const client = await listener.connect();
    await client.say('EHLO client.example.com', 250);
    await assertRefused(listener, client, [`.\n${SMUGGLED}`], 'whole');
    await assertRefused(listener, client, ['.', '\n', SMUGGLED], 'cut');
    await assertRefused(listener, client, [`.\r${SMUGGLED}`], 'a dot and CR');
  });

  it('replies 554 and closes the connection if the client stops there', async (t) => {
    for (const [name, end] of FALSE_ENDS) {
      // This may still become a true end, so the normal idle timeout applies.
      if (name === '<CR><LF>.<CR>') continue;
      const listener = await listen(t, { limits: { falseEndMs: 20 } });
      const client = await listener.connect();
      await beginData(client);
      await client.write(`Subject: a\r\n\r\nbody${end}`);
      assert.match(await client.reply(), /^554 5\.6\.0 /, name);
      assert.equal(await client.reply(), '', name);
      assert.equal(listener.messages.length, 0);
    }
  });

  it('accepts the next message in the session', async (t) => {
    const listener = await listen(t);
    const client = await listener.connect();
    await beginData(client);
    await client.write('a\n.\nb\r\n.\r\n');
    assert.match(await client.reply(), /^554 /);
    await beginData(client, false);
    await client.write('a\nb\rc\r\n.\r\n');
    assert.match(await client.reply(), /^250 /);
    assert.equal(listener.messages[0]?.raw.toString(), 'a\nb\rc\r\n');
  });
});
