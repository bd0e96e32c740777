import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ADDRESS, beginData, listen } from './listener.ts';

it('EHLO offers what there is, and nothing else', async (t) => {
  const client = await (await listen(t, { maxSize: 1000 })).connect();
  const offered = (await client.say('EHLO client.example.com', 250)).split('\n').slice(1);
  assert.deepEqual(
    offered.map((line) => line.slice(4)),
    ['PIPELINING', '8BITMIME', 'SMTPUTF8', 'ENHANCEDSTATUSCODES', 'STARTTLS', 'SIZE 1000'],
  );
  await client.startTls();
  assert.doesNotMatch(await client.say('EHLO client.example.com', 250), /STARTTLS|AUTH/);
});

it('what is not offered does nothing', async (t) => {
  const client = await (await listen(t)).connect();
  await client.say('EHLO client.example.com', 250);
  await client.say('AUTH PLAIN AGEAYg==', 500);
  await client.say('BDAT 3 LAST', 500);
  await client.say('XCLIENT ADDR=192.0.2.1', 500);
  await client.say('EXPN list', 500);
  assert.doesNotMatch(await client.say(`VRFY ${ADDRESS}`, 252), /token/);
  await client.say('NOOP', 250);
  await client.say('QUIT', 221);
  assert.equal(await client.reply(), '');
});

it('a recipient is taken or refused by the hook, one for each message', async (t) => {
  const listener = await listen(
    t,
    {},
    {
      recipient: async (address) =>
        address.startsWith('expired')
          ? { accept: false, code: 550, enhanced: '5.2.1', text: 'This address has expired' }
          : address.toLowerCase().startsWith('token') || address === 'postmaster'
            ? { accept: true }
            : { accept: false, code: 550, enhanced: '5.1.1', text: 'No such address' },
    },
  );
  const client = await listener.connect();
  await client.say('EHLO client.example.com', 250);
  await client.say(`RCPT TO:<${ADDRESS}>`, 503);
  await client.say('MAIL FROM:<a@example.com>', 250);
  await client.say('DATA', 503);
  assert.equal(
    await client.say('RCPT TO:<expired@inbox.example.com>', 550),
    '550 5.2.1 This address has expired',
  );
  assert.match(await client.say('RCPT TO:<else@example.net>', 550), /^550 5\.1\.1 No such/);
  await client.say('DATA', 503);
  await client.say(`RCPT TO:<${ADDRESS}>`, 250);
  await client.say(`RCPT TO:<${ADDRESS.toUpperCase()}>`, 250);
  assert.equal(
    await client.say('RCPT TO:<token2@inbox.example.com>', 452),
    '452 4.5.3 One test address for each message',
  );
  assert.match(await client.say('RCPT TO:<else@example.net>', 550), /^550 5\.1\.1/);
  await client.say('RSET', 250);
  await client.say('DATA', 503);
  await client.say('MAIL FROM:<a@example.com>', 250);
  await client.say('RCPT TO:<Postmaster>', 550);
  await client.say('RCPT TO:<postmaster>', 250);
  await client.say('DATA', 354);
  await client.say('help\r\n.', 250);
  assert.deepEqual(
    listener.messages.map(({ recipient }) => recipient),
    ['postmaster'],
  );
});

it('the verdict on a message is the reply to it', async (t) => {
  const listener = await listen(
    t,
    {},
    {
      receive: async () => ({ accept: false, code: 550, enhanced: '5.2.1', text: 'Used already' }),
    },
  );
  const client = await listener.connect();
  await beginData(client);
  assert.equal(await client.say('a\r\n.', 550), '550 5.2.1 Used already');
});

it('a hook that throws is our fault, and says nothing of it', async (t) => {
  const fault = () => Promise.reject(new Error('SELECT secret FROM table'));
  for (const hook of ['recipient', 'receive', 'freeBytes'] as const) {
    const listener = await listen(t, {}, { [hook]: fault });
    const client = await listener.connect();
    await client.say('EHLO client.example.com', 250);
    const replies: string[] = [];
    for (const line of ['MAIL FROM:<a@b.example>', `RCPT TO:<${ADDRESS}>`, 'DATA', 'a\r\n.']) {
      await client.write(`${line}\r\n`);
      replies.push(await client.reply());
      if (replies.at(-1)?.startsWith('4')) break;
    }
    assert.match(replies.at(-1)!, /^451 4\.3\.0 /, hook);
    assert.doesNotMatch(replies.join(), /SELECT/);
    assert.deepEqual(listener.errors, ['Receiving mail failed. SELECT secret FROM table']);
    await client.say('RSET', 250);
  }
});
