/** Connections to IMAP servers: every operation ends, and says why. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ImapError, type ImapProblem } from '../../../src/net/imap/errors.ts';
import { openMailbox, watchInbox } from '../../../src/net/imap/mailbox.ts';
import { freePort } from '../../helpers/daemon.ts';
import { type ImapServer, startImapServer } from '../../helpers/imap-server.ts';

const FOLDERS = [{ name: 'INBOX', messages: [{ uid: 3, raw: 'Subject: a\r\n\r\nText\r\n' }] }];

const accountOf = ({ port }: Pick<ImapServer, 'port'>, password = 'right') => ({
  host: '127.0.0.1',
  port,
  tls: 'loopback' as const,
  user: 'seed',
  password,
});

const isProblem = (problem: ImapProblem) => (error: unknown) => {
  assert.ok(error instanceof ImapError, String(error));
  assert.equal(error.problem, problem);
  assert.ok(!error.message.includes('right') && !error.message.includes('wrong'));
  return true;
};

const QUICK = { timeoutMs: 300 };

test('A message is read with its time, up to 64 KB', async (t) => {
  const receivedAt = new Date('2026-11-21T10:00:00Z');
  const raw = `Subject: long\r\n\r\n${'x'.repeat(100_000)}`;
  const server = await startImapServer(t, {
    folders: [{ name: 'INBOX', messages: [{ uid: 3, raw, receivedAt }] }],
  });
  const mailbox = await openMailbox(accountOf(server));
  t.after(() => mailbox.close());
  assert.deepEqual(await mailbox.examine('INBOX'), { uidValidity: '1', uidNext: 4 });
  assert.deepEqual(await mailbox.uidsSince(receivedAt.getTime()), [3]);
  assert.deepEqual(await mailbox.timesOf([3]), new Map([[3, receivedAt.getTime()]]));
  const [message] = await mailbox.read([3]);
  assert.equal(message!.receivedAt, receivedAt.getTime());
  assert.equal(message!.bytes.length, 65_536);
  assert.deepEqual(await mailbox.uidsFrom(4), [], 'the last message is not a new one');
});

test('A silent server ends in a timeout, before and after its greeting', async (t) => {
  for (const script of [{ greet() {} }, { on: () => true }]) {
    const server = await startImapServer(t, { folders: FOLDERS, ...script });
    await assert.rejects(openMailbox(accountOf(server), QUICK), isProblem('timeout'));
    await assert.rejects(
      watchInbox(accountOf(server), () => {}, QUICK),
      isProblem('timeout'),
    );
    while (server.open > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }
});

test('A server that falls silent during an operation is disconnected', async (t) => {
  const server = await startImapServer(t, {
    folders: FOLDERS,
    on({ line }) {
      if (!/^UID SEARCH/.test(line)) return false;
      t.mock.timers.tick(60_000);
      return true;
    },
  });
  const mailbox = await openMailbox(accountOf(server), { timeoutMs: 60_000 });
  await mailbox.examine('INBOX');
  t.mock.timers.enable({ apis: ['setTimeout'] });
  await assert.rejects(mailbox.uidsSince(0), isProblem('timeout'));
  assert.equal(mailbox.isOpen(), false);
});

test('A server that sends one byte at a time for ever ends in a timeout', async (t) => {
  const server = await startImapServer(t, {
    folders: FOLDERS,
    on({ line, socket }) {
      if (!/^UID SEARCH/.test(line)) return false;
      // Ten seconds pass with each byte.
      const write = () => socket.write('*', () => t.mock.timers.tick(10_000));
      const timer = setInterval(write, 1);
      socket.on('close', () => clearInterval(timer));
      return true;
    },
  });
  const mailbox = await openMailbox(accountOf(server), { timeoutMs: 60_000 });
  await mailbox.examine('INBOX');
  t.mock.timers.enable({ apis: ['setTimeout'] });
  await assert.rejects(mailbox.uidsSince(0), isProblem('timeout'));
});

test('A wrong password, a closed port and a refused search have their own reasons', async (t) => {
  const server = await startImapServer(t, {
    folders: FOLDERS,
    on({ tag, line, send }) {
      if (!/^UID SEARCH/.test(line)) return false;
      send(`${tag} NO try again later`);
      return true;
    },
  });
  await assert.rejects(openMailbox(accountOf(server, 'wrong')), isProblem('sign_in_failed'));
  const port = await freePort();
  await assert.rejects(openMailbox(accountOf({ port })), isProblem('unreachable'));
  const mailbox = await openMailbox(accountOf(server));
  t.after(() => mailbox.close());
  await mailbox.examine('INBOX');
  // An empty result would look as if there were no messages.
  await assert.rejects(mailbox.uidsSince(0), isProblem('refused'));
});

test('Without TLS, a server that is not on loopback gets no password', async (t) => {
  const server = await startImapServer(t, { folders: FOLDERS });
  const account = { ...accountOf(server), tls: 'starttls' as const };
  await assert.rejects(openMailbox(account), isProblem('tls_failed'));
  assert.ok(!server.commands.some((line) => /LOGIN|AUTHENTICATE/.test(line)));
});

test('A server that opens a folder for writing is disconnected', async (t) => {
  const server = await startImapServer(t, {
    folders: FOLDERS,
    on({ tag, line, send }) {
      if (!/^EXAMINE/.test(line)) return false;
      send('* 1 EXISTS');
      send(`${tag} OK [READ-WRITE] done`);
      return true;
    },
  });
  const mailbox = await openMailbox(accountOf(server));
  await assert.rejects(mailbox.examine('INBOX'), isProblem('bad_response'));
  assert.equal(mailbox.isOpen(), false);
});

test('Many messages are requested in ranges, and in several commands that no server finds too long', async (t) => {
  const raw = 'Subject: a\r\n\r\nText\r\n';
  const messages = Array.from({ length: 3000 }, (_, i) => ({ uid: 100_000 + 2 * i, raw }));
  const server = await startImapServer(t, { folders: [{ name: 'INBOX', messages }] });
  const mailbox = await openMailbox(accountOf(server));
  t.after(() => mailbox.close());
  await mailbox.examine('INBOX');
  const uids = messages.map(({ uid }) => uid);
  assert.deepEqual([...(await mailbox.timesOf(uids)).keys()], uids);
  assert.deepEqual(await mailbox.existing([...uids, 999_999]), uids);
  const longest = Math.max(...server.commands.map((line) => line.length));
  assert.ok(longest > 2000 && longest < 5000, `${longest} characters`);
  messages.push(...[1, 2, 3].map((i) => ({ uid: 200_000 + i, raw })));
  assert.equal((await mailbox.read([100_000, 200_001, 200_002, 200_003])).length, 4);
  assert.match(server.commands.at(-1)!, /^UID FETCH 100000,200001:200003 /);
});
