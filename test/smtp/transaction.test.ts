import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { it } from 'node:test';
import { createTransport } from 'nodemailer';
import { ADDRESS, beginData, listen } from './listener.ts';

/** Dot-stuffed and terminated (RFC 5321 §4.5.2). */
function onTheWire(message: Buffer): Buffer {
  const stuffed = message.toString('latin1').replace(/(^|\r\n)\./g, '$1..');
  return Buffer.from(`${stuffed}.\r\n`, 'latin1');
}

const DOTS = Buffer.from(
  '.first\r\nSubject: dots\r\n\r\n.\r\n..\r\n...\r\na.\r\n.b\r\n\r\n.\r\n\xe9\xff\x00\x80\r\n.\r\n',
  'latin1',
);

it('SMTP server receives a nodemailer message byte for byte with its envelope', async (t) => {
  const listener = await listen(t);
  const mailer = createTransport({
    host: '127.0.0.1',
    port: listener.port,
    name: 'Mail.Example.COM',
    tls: { rejectUnauthorized: false },
  });
  const sent = await mailer.sendMail({
    envelope: { from: 'Bounce@example.com', to: ADDRESS },
    from: 'Ann <ann@example.com>',
    to: ADDRESS,
    subject: 'Grüße',
    text: '.\n..\n.hidden\nlast',
  });
  mailer.close();
  assert.match(sent.response, /^250 2\.6\.0 Kept/);
  const [message] = listener.messages;
  assert.equal(message?.recipient, ADDRESS);
  assert.match(message?.raw.toString() ?? '', /\r\n\r\n\.\r\n\.\.\r\n\.hidden\r\nlast\r\n$/);
  assert.deepEqual(message?.envelope, {
    mail_from: 'Bounce@example.com',
    client_ip: '127.0.0.1',
    helo: 'Mail.Example.COM',
    tls: { used: true, version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384' },
  });
});

for (const tls of [false, true]) {
  const over = tls ? 'TLS' : 'a plain connection';
  it(`SMTP server preserves dots and 8-bit bytes however the data is split, over ${over}`, async (t) => {
    const listener = await listen(t);
    const client = await listener.connect();
    if (tls) await client.startTls();
    await client.say('EHLO client.example.com', 250);
    const wire = onTheWire(DOTS);
    for (let at = 0; at < wire.length; at++) {
      await beginData(client, false);
      await client.write(wire.subarray(0, at));
      await client.write(wire.subarray(at));
      assert.match(await client.reply(), /^250 /);
    }
    await beginData(client, false);
    for (const byte of wire) await client.write(Buffer.of(byte));
    assert.match(await client.reply(), /^250 /);
    assert.equal(listener.messages.length, wire.length + 1);
    for (const { raw } of listener.messages) assert.deepEqual(raw, DOTS);
  });

  it(`SMTP server receives a large message byte for byte over ${over}`, async (t) => {
    const listener = await listen(t);
    const client = await listener.connect();
    if (tls) await client.startTls();
    await beginData(client);
    // Base64 text, so that the random data contains no false end.
    const body = randomBytes(6_000_000)
      .toString('base64')
      .replace(/.{1,76}/g, '.$&\r\n');
    const message = Buffer.from(`Subject: large\r\n\r\n${body}`);
    await client.write(onTheWire(message));
    assert.match(await client.reply(), /^250 /);
    assert.ok(listener.messages[0]?.raw.equals(message));
  });
}

it('SMTP server accepts an empty message', async (t) => {
  const listener = await listen(t);
  const client = await listener.connect();
  await beginData(client);
  await client.say('.', 250);
  assert.equal(listener.messages[0]?.raw.length, 0);
});

it('SMTP envelope keeps sender, HELO name and TLS state as sent', async (t) => {
  const listener = await listen(t);
  const client = await listener.connect();
  const say = async (mailFrom: string, hello: string) => {
    await client.say(hello, 250);
    await client.say(`MAIL FROM:<${mailFrom}>`, 250);
    await client.say(`RCPT TO:<${ADDRESS.toUpperCase()}>`, 250);
    await client.say('DATA', 354);
    await client.say('Subject: a\r\n\r\nb\r\n.', 250);
    return listener.messages.at(-1)!;
  };
  const plain = await say('Ann@XN--Bcher-KVA.example', 'HELO [192.0.2.1]');
  assert.equal(plain.recipient, ADDRESS.toUpperCase());
  assert.deepEqual(plain.envelope, {
    mail_from: 'Ann@XN--Bcher-KVA.example',
    client_ip: '127.0.0.1',
    helo: '[192.0.2.1]',
    tls: { used: false, version: null, cipher: null },
  });
  const bounce = await say('', 'EHLO LocalHost');
  assert.deepEqual([bounce.envelope.mail_from, bounce.envelope.helo], ['', 'LocalHost']);
  const routed = await say('@relay.example:odd.@under_score.example', 'EHLO x');
  assert.equal(routed.envelope.mail_from, 'odd.@under_score.example');
});

it('SMTP server accepts a pipelined second message in one session', async (t) => {
  const listener = await listen(t);
  const client = await listener.connect();
  await beginData(client);
  await client.write(
    `one\r\n.\r\nMAIL FROM:<b@example.com>\r\nRCPT TO:<token2@inbox.example.com>\r\nDATA\r\n`,
  );
  for (const code of [/^250 2\.6\.0/, /^250 2\.1\.0/, /^250 2\.1\.5/, /^354 /])
    assert.match(await client.reply(), code);
  await client.say('two\r\n.', 250);
  assert.deepEqual(
    listener.messages.map(({ raw, recipient }) => [raw.toString(), recipient]),
    [
      ['one\r\n', ADDRESS],
      ['two\r\n', 'token2@inbox.example.com'],
    ],
  );
});
