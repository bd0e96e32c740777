import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FALSE_ENDS } from './false-ends.ts';
import { ADDRESS, beginData, listen, type TestListener } from './listener.ts';
import type { RawClient } from './raw-client.ts';

const SMUGGLED =
  `MAIL FROM:<evil@example.net>\r\nRCPT TO:<${ADDRESS}>\r\nDATA\r\n` +
  'Subject: smuggled\r\n\r\nsmuggled\r\n.\r\n';

/** The pieces in turn: each is handed to the kernel before the next. */
async function writePieces(client: RawClient, pieces: string[]): Promise<void> {
  for (const piece of pieces) await client.write(piece);
}

/** One message in one session: refused once, at its true end, and nothing of it was a command. */
async function assertRefused(
  listener: TestListener,
  client: RawClient,
  pieces: string[],
  name: string,
): Promise<void> {
  await beginData(client, false);
  await writePieces(client, pieces);
  assert.match(await client.reply(), /^554 5\.6\.0 /, name);
  // Were there any other reply on its way, it would come before this one.
  assert.match(await client.say('VRFY', 501), /VRFY/, name);
  assert.equal(listener.messages.length, 0, name);
}

for (const tls of [false, true]) {
  describe(`smuggling over ${tls ? 'TLS' : 'a plain connection'}`, () => {
    for (const [name, end] of FALSE_ENDS) {
      it(`${name} is refused in whatever pieces it comes`, async (t) => {
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

describe('a false end', () => {
  it('of a dot and LF as the very first bytes is refused', async (t) => {
    const listener = await listen(t);
    const client = await listener.connect();
    await client.say('EHLO client.example.com', 250);
    await assertRefused(listener, client, [`.\n${SMUGGLED}`], 'whole');
    await assertRefused(listener, client, ['.', '\n', SMUGGLED], 'cut');
    await assertRefused(listener, client, [`.\r${SMUGGLED}`], 'a dot and CR');
  });

  it('is answered, and the connection closed, where the client takes it for the end', async (t) => {
    for (const [name, end] of FALSE_ENDS) {
      // This one may still become a true end: it is waited for like any other byte.
      if (name === '<CR><LF>.<CR>') continue;
      const listener = await listen(t, { limits: { falseEnd: 20 } });
      const client = await listener.connect();
      await beginData(client);
      await client.write(`Subject: a\r\n\r\nbody${end}`);
      assert.match(await client.reply(), /^554 5\.6\.0 /, name);
      assert.equal(await client.reply(), '', name);
      assert.equal(listener.messages.length, 0);
    }
  });

  it('leaves the session fit for the next message', async (t) => {
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
