/** Moving messages to the trash: what is gone does not keep the rest from being moved. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moveToTrash } from '../../../src/net/imap/trash.ts';
import { startImapServer } from '../../helpers/imap-server.ts';

test('Messages of a folder that no longer exists are skipped, and those of others are moved', async (t) => {
  const moved: string[] = [];
  const server = await startImapServer(t, {
    capabilities: ['MOVE'],
    folders: [
      { name: 'INBOX', messages: [{ uid: 1, raw: 'Subject: a\r\n\r\nb' }] },
      { name: 'Trash', flags: ['\\Trash'], messages: [] },
    ],
    on({ tag, line, send }) {
      if (/^SELECT/.test(line)) {
        send('* 1 EXISTS');
        send('* OK [UIDVALIDITY 1] valid');
        send('* OK [UIDNEXT 2] next');
        send(`${tag} OK [READ-WRITE] done`);
      } else if (/^UID MOVE/.test(line)) {
        moved.push(line);
        send(`${tag} OK done`);
      } else return false;
      return true;
    },
  });
  const { port } = server;
  const account = { host: '127.0.0.1', port, tls: 'loopback', user: 'seed', password: 'right' };
  await moveToTrash(account as never, [
    { folder: 'Old Spam', uidValidity: '1', uids: [5] },
    { folder: 'INBOX', uidValidity: '1', uids: [1] },
  ]);
  assert.deepEqual(moved, ['UID MOVE 1 Trash']);
  assert.ok(!server.commands.some((line) => line.includes('Old Spam')));
});
