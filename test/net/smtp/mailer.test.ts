/** The mailer against real servers on loopback: delivery, rejections, and what it never sends without TLS. */

import assert from 'node:assert/strict';
import { connect, Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { SMTPServerOptions } from 'smtp-server';
import { parseMessage } from '../../../src/analysis/mime/parse-message.ts';
import type { Mail } from '../../../src/net/smtp/compose.ts';
import {
  createMailer,
  MAILER_CLOSED,
  type Mailer,
  type MailerOptions,
  type MailServer,
  parseMailServerUrl,
} from '../../../src/net/smtp/mailer.ts';
import { testClock } from '../../helpers/clock.ts';
import { HOST, type MailSink, PAIR, startMailSink } from '../../outbox/mail-sink.ts';
import { startRaw } from '../canary.ts';

const clock = testClock();
const MAIL: Mail = {
  id: 'mail_01',
  to: 'reader@example.net',
  subject: 'Grüße an 読者',
  text: 'Schöne Grüße\n',
  html: '<p>Schöne Grüße</p>',
};

function mailerTo(url: string, options: Partial<MailerOptions> = {}): Mailer {
  const from = 'The Service <notices@example.com>';
  return createMailer({ url, from, dkim: null, name: 'mx.example.com', clock, ...options });
}

async function relay(t: TestContext, options: SMTPServerOptions = {}) {
  const sink = await startMailSink(t, options);
  return { sink, mailer: mailerTo(`smtp://127.0.0.1:${sink.port}`) };
}

/** A public name that resolves to the sink. */
const publicUrl = (login = '') => `smtp://${login}${HOST}`;
const dialSink = (sink: MailSink): Pick<MailerOptions, 'dial'> => ({
  dial: () => connect(sink.port, '127.0.0.1'),
});

test('Mailer delivers a message with correct envelope, headers and bodies', async (t) => {
  const { sink, mailer } = await relay(t);
  const outcome = await mailer.send({ ...MAIL, headers: { 'List-Id': '<a.example.com>' } });
  assert.ok(outcome.ok, JSON.stringify(outcome));
  assert.match(outcome.response, /^250 /);
  const [{ raw, ...about }] = sink.taken as [MailSink['taken'][0]];
  assert.deepEqual(about, {
    mailFrom: 'notices@example.com',
    to: ['reader@example.net'],
    secure: true,
    user: null,
  });
  const message = await parseMessage(raw);
  const field = (name: string) =>
    message.headers.filter(({ key }) => key === name).map(({ value }) => value);
  assert.deepEqual(message.from, [{ name: 'The Service', address: 'notices@example.com' }]);
  assert.equal(message.subject, MAIL.subject);
  assert.deepEqual(field('to'), ['reader@example.net']);
  assert.deepEqual(field('message-id'), ['<mail_01@example.com>']);
  assert.deepEqual(field('date'), ['Sat, 21 Nov 2026 10:00:00 +0000']);
  assert.deepEqual(field('auto-submitted'), ['auto-generated']);
  assert.deepEqual(field('list-id'), ['<a.example.com>']);
  assert.deepEqual(field('x-mailer'), []);
  assert.deepEqual(
    message.parts.map(({ type, charset }) => [type, charset]),
    [
      ['text/plain', 'utf-8'],
      ['text/html', 'utf-8'],
    ],
  );
  assert.deepEqual([message.text?.trim(), message.html?.trim()], ['Schöne Grüße', MAIL.html]);
  assert.ok(raw.every((byte) => byte < 128));
  assert.deepEqual(mailer.lastAttempt(), { at: clock.now(), fault: null });
});

test('Mailer delivers attachments byte for byte', async (t) => {
  const { sink, mailer } = await relay(t);
  const content = Buffer.from('Subject: für dich\r\n\r\n.\r\nNächster Halt: Übermorgen\r\n');
  const attachments = [
    { filename: 'message.eml', contentType: 'message/rfc822', content },
    {
      filename: 'any.bin',
      contentType: 'application/octet-stream',
      content: Buffer.from([0, 255]),
    },
  ];
  assert.ok((await mailer.send({ ...MAIL, attachments })).ok);
  const { parts } = await parseMessage(sink.taken[0]!.raw);
  const kept = parts.slice(2).map(({ type, filename, disposition, content: bytes }) => ({
    type,
    filename,
    disposition,
    hex: Buffer.from(bytes).toString('hex'),
  }));
  assert.deepEqual(kept, [
    {
      type: 'message/rfc822',
      filename: 'message.eml',
      disposition: 'attachment',
      hex: content.toString('hex'),
    },
    {
      type: 'application/octet-stream',
      filename: 'any.bin',
      disposition: 'attachment',
      hex: '00ff',
    },
  ]);
});

test('Mailer prevents header, address and file injection', async (t) => {
  const { sink, mailer } = await relay(t);
  const subject = 'a\r\nBcc: other@example.net';
  const headers = { 'X-Note': 'b\r\nX-Evil: 1' };
  assert.ok((await mailer.send({ ...MAIL, subject, headers })).ok);
  const { headers: fields } = await parseMessage(sink.taken[0]!.raw);
  assert.deepEqual(
    fields.filter(({ key }) => key === 'bcc' || key === 'x-evil'),
    [],
  );
  assert.deepEqual(sink.taken[0]!.to, ['reader@example.net']);
  const odd = await mailer.send({ ...MAIL, to: 'a@example.net>\r\nRCPT TO:<b@example.net' });
  assert.deepEqual([odd.ok, !odd.ok && odd.temporary], [false, false]);
  assert.equal(sink.taken.length, 1);
  assert.equal(mailer.lastAttempt()?.fault, null);
});

const REFUSALS: [at: 'mail' | 'rcpt' | 'data', code: number, temporary: boolean, reason: string][] =
  [
    ['rcpt', 550, false, 'the server rejected the recipient: 550 no such user'],
    ['rcpt', 450, true, 'the server rejected the recipient: 450 no such user'],
    ['data', 554, false, 'the server rejected the message: 554 no such user'],
    ['data', 451, true, 'the server rejected the message: 451 no such user'],
    // Retried, because the operator may fix it.
    ['mail', 550, true, 'the server rejected the sender: 550 no such user'],
  ];
for (const [at, code, temporary, reason] of REFUSALS)
  test(`Mailer treats ${code} at ${at} as ${temporary ? 'temporary' : 'permanent'}`, async (t) => {
    const { sink, mailer } = await relay(t);
    sink.refuse = { at, code, text: 'no such user' };
    assert.deepEqual(await mailer.send(MAIL), { ok: false, temporary, reason });
    // Only a rejected sender means that the server is unusable.
    assert.equal(
      mailer.lastAttempt()?.fault ?? null,
      at === 'mail' ? 'the server rejected the sender' : null,
    );
    sink.refuse = null;
    assert.ok((await mailer.send(MAIL)).ok);
  });

test('Mailer treats 421 at RCPT as an unusable server', async (t) => {
  for (const hidePIPELINING of [false, true]) {
    const { sink, mailer } = await relay(t, { hidePIPELINING });
    sink.refuse = { at: 'rcpt', code: 421, text: 'closing' };
    const reason = 'the server rejected the session: 421 closing';
    assert.deepEqual(await mailer.send(MAIL), { ok: false, temporary: true, reason });
    assert.equal(mailer.lastAttempt()?.fault, 'the server rejected the session');
  }
});

test('Mailer reports rejections without PIPELINING alike', async (t) => {
  const { sink, mailer } = await relay(t, { hidePIPELINING: true });
  sink.refuse = { at: 'rcpt', code: 550, text: 'no' };
  const refused = await mailer.send(MAIL);
  assert.deepEqual([refused.ok, !refused.ok && refused.temporary], [false, false]);
});

test('Mailer treats silent, slow, closing and non-SMTP servers as temporary failures', async (t) => {
  const down = await startRaw(t, () => {});
  const reasonFrom = async (talk: (socket: Socket) => void, totalMs = 5_000) => {
    const { port } = await startRaw(t, talk);
    const mailer = mailerTo(`smtp://127.0.0.1:${port}`, { totalMs });
    const outcome = await mailer.send(MAIL);
    assert.ok(!outcome.ok && outcome.temporary, JSON.stringify(outcome));
    assert.notEqual(mailer.lastAttempt()?.fault, null);
    return outcome.reason;
  };
  const never = mailerTo('smtp://127.0.0.1', { dial: () => new Socket(), connectMs: 20 });
  const unreached = await never.send(MAIL);
  assert.equal(!unreached.ok && unreached.reason, 'the server did not respond in time');
  assert.equal(await reasonFrom(() => {}, 100), 'the server did not respond in time');
  assert.equal(await reasonFrom(drip, 200), 'the server did not respond in time');
  assert.equal(await reasonFrom((socket) => socket.end()), 'the server closed the connection');
  assert.equal(
    await reasonFrom((socket) => socket.end('554 go away\r\n')),
    'the server rejected the session: 554 go away',
  );
  assert.equal(
    await reasonFrom((socket) => socket.end('421 later\r\n')),
    'the server rejected the session: 421 later',
  );
  const odd = await reasonFrom((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  assert.equal(odd, 'the server rejected the session: HTTP/1.1 400 Bad Request');
  assert.equal(down.connections, 0);
});

test('Mailer treats a refused connection as a temporary failure', async (t) => {
  const { sink, mailer } = await relay(t);
  await sink.close();
  const reason = 'the server refused the connection';
  assert.deepEqual(await mailer.send(MAIL), { ok: false, temporary: true, reason });
});

/** A greeting that never ends. */
function drip(socket: Socket): void {
  const timer = setInterval(() => socket.write('220-a\r\n'), 10);
  socket.on('close', () => clearInterval(timer));
}

test('Mailer redacts links, tokens and passwords from SMTP replies and truncates them', async (t) => {
  const sink = await startMailSink(t);
  const mailer = mailerTo(`smtp://me:right@localhost:${sink.port}`, dialSink(sink));
  const token = 'kJ8vS2cWm4qpQe7TnYx0bGf1ZrLd9oHaUi3EyXwAqNk';
  sink.refuse = {
    at: 'data',
    code: 554,
    text: `spam: https://a.example/invitations/${token} a.example/i/${token} ${token} right ${'x y '.repeat(500)}`,
  };
  const outcome = await mailer.send(MAIL);
  assert.ok(!outcome.ok);
  assert.match(outcome.reason, /^the server rejected the message: 554 spam: … … … … x y /);
  assert.ok(outcome.reason.length < 300);
});

test('Mailer sends its password only over TLS and never repeats it', async (t) => {
  const sink = await startMailSink(t);
  const trusted = { ...dialSink(sink), ca: [PAIR.cert] };
  assert.ok((await mailerTo(publicUrl('me:right@'), trusted).send(MAIL)).ok);
  assert.deepEqual([sink.taken[0]!.secure, sink.taken[0]!.user], [true, 'me']);
  const wrong = mailerTo(publicUrl('me:p%40ss@'), trusted);
  assert.deepEqual(await wrong.send(MAIL), {
    ok: false,
    temporary: true,
    reason: 'the server rejected the user name and password: 535 5.7.8',
  });
  assert.equal(wrong.lastAttempt()?.fault, 'the server rejected the user name and password');
  assert.deepEqual(sink.passwords, ['right', 'p@ss']);
});

test('Mailer sends nothing to a public host without a valid certificate', async (t) => {
  const sink = await startMailSink(t);
  for (const login of ['', 'me:right@']) {
    const outcome = await mailerTo(publicUrl(login), dialSink(sink)).send(MAIL);
    const reason = 'the certificate is self-signed';
    assert.deepEqual(outcome, { ok: false, temporary: true, reason });
  }
  const other = await mailerTo('smtp://other.example.com', {
    ...dialSink(sink),
    ca: [PAIR.cert],
  }).send(MAIL);
  assert.equal(!other.ok && other.reason, 'the certificate is for a different name');
  assert.deepEqual([sink.taken, sink.passwords], [[], []]);
});

test('Mailer sends mail but no password without STARTTLS, except to this machine', async (t) => {
  const bare = await startMailSink(t, {
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
  });
  assert.ok((await mailerTo(publicUrl(), dialSink(bare)).send(MAIL)).ok);
  assert.equal(bare.taken[0]?.secure, false);
  const refused = await mailerTo(publicUrl('me:right@'), dialSink(bare)).send(MAIL);
  assert.ok(!refused.ok && refused.temporary);
  assert.match(refused.reason, /^the server did not start TLS: 5\d\d/);
  assert.deepEqual(bare.passwords, []);
  assert.ok((await mailerTo(`smtp://me:right@127.0.0.1:${bare.port}`).send(MAIL)).ok);
  assert.deepEqual(bare.passwords, ['right']);
});

test('Mailer uses implicit TLS with smtps URLs', async (t) => {
  const sink = await startMailSink(t, { secure: true });
  const url = `smtps://me:right@${HOST}`;
  assert.ok((await mailerTo(url, { ...dialSink(sink), ca: [PAIR.cert] }).send(MAIL)).ok);
  const outcome = await mailerTo(url, dialSink(sink)).send(MAIL);
  assert.equal(!outcome.ok && outcome.reason, 'the certificate is self-signed');
  const plain = await startMailSink(t);
  const spoken = await mailerTo(url, dialSink(plain)).send(MAIL);
  assert.equal(!spoken.ok && spoken.reason, 'the server does not use TLS on this port');
});

test('Mailer verify checks the server without sending mail', async (t) => {
  const { sink, mailer } = await relay(t);
  assert.equal(mailer.lastAttempt(), null);
  await mailer.verify();
  assert.deepEqual(mailer.lastAttempt(), { at: clock.now(), fault: null });
  await sink.close();
  await mailer.verify();
  assert.equal(mailer.lastAttempt()?.fault, 'the server refused the connection');
  assert.deepEqual(sink.taken, []);
});

test('Mailer sends nothing in clear text when STARTTLS is offered but refused', async (t) => {
  const { port } = await startRaw(t, (socket) => {
    socket.write('220 relay ESMTP\r\n');
    socket.on('data', (said) => {
      const [verb = ''] = String(said).split(/\s/);
      socket.write(verb === 'EHLO' ? '250-relay\r\n250 STARTTLS\r\n' : `454 ${verb}\u001b[2J\r\n`);
    });
  });
  const outcome = await mailerTo(`smtp://127.0.0.1:${port}`).send(MAIL);
  assert.deepEqual(outcome, {
    ok: false,
    temporary: true,
    reason: 'the server did not start TLS: 454',
  });
});

test('Mailer removes control characters from SMTP replies', async (t) => {
  const { port } = await startRaw(t, (socket) => socket.end('554 a\u001b[2J\u202eb\r\n'));
  const outcome = await mailerTo(`smtp://127.0.0.1:${port}`).send(MAIL);
  assert.equal(!outcome.ok && outcome.reason, 'the server rejected the session: 554 a·[2J·b');
});

test('Closing the mailer ends deliveries in progress', async (t) => {
  const { sink, mailer } = await relay(t);
  const { promise, resolve } = Promise.withResolvers<void>();
  sink.hold = promise;
  const sending = mailer.send(MAIL);
  while (sink.taken.length === 0) await new Promise(setImmediate);
  mailer.close();
  assert.equal(await sending, MAILER_CLOSED);
  assert.equal(await mailer.send(MAIL), MAILER_CLOSED);
  resolve();
});

// Parsing of the mail server URL, and the TLS that it requires.

const PLAIN = { implicitTls: false, requireTls: false, verifyTls: true, login: null };
const LOGIN = { user: 'me', password: 'p' };

const CASES: [url: string, server: MailServer][] = [
  ['smtp://mail.example.com', { ...PLAIN, host: 'mail.example.com', port: 587 }],
  ['smtp://mail.example.com:25', { ...PLAIN, host: 'mail.example.com', port: 25 }],
  [
    'smtps://mail.example.com',
    { ...PLAIN, host: 'mail.example.com', port: 465, implicitTls: true },
  ],
  [
    'smtp://me:p@mail.example.com',
    { ...PLAIN, host: 'mail.example.com', port: 587, requireTls: true, login: LOGIN },
  ],
  [
    'smtps://me:p@mail.example.com',
    { ...PLAIN, host: 'mail.example.com', port: 465, implicitTls: true, login: LOGIN },
  ],
  [
    'smtp://me%40example.com:a%2Fb%@198.51.100.7',
    {
      ...PLAIN,
      host: '198.51.100.7',
      port: 587,
      requireTls: true,
      login: { user: 'me@example.com', password: 'a%2Fb%' },
    },
  ],
  [
    'smtp://me:p@127.0.0.1:2525',
    { ...PLAIN, host: '127.0.0.1', port: 2525, verifyTls: false, login: LOGIN },
  ],
  [
    'smtp://me:p@localhost',
    { ...PLAIN, host: 'localhost', port: 587, verifyTls: false, login: LOGIN },
  ],
  ['smtp://[::1]:25', { ...PLAIN, host: '::1', port: 25, verifyTls: false }],
  // Names and addresses that no authority issues certificates for; a password still requires TLS.
  [
    'smtp://me:p@postfix',
    { ...PLAIN, host: 'postfix', port: 587, requireTls: true, verifyTls: false, login: LOGIN },
  ],
  ['smtp://10.0.0.5', { ...PLAIN, host: '10.0.0.5', port: 587, verifyTls: false }],
];

for (const [url, server] of CASES)
  test(`parseMailServerUrl reads ${url}`, () => {
    assert.deepEqual(parseMailServerUrl(url), server);
  });
