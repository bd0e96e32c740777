/**
 * The floor: a bare service of the same libraries. It receives messages with smtp-server, accepts each when it is on disk,
 * analyzes it in a thread, and stores the result. With the folder of its data and the port of the DNS server.
 */

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import type { FloorInput, FloorOutput } from './floor-thread.ts';

const [folder, dnsPort] = process.argv.slice(2) as [string, string];

// Each commit is on disk before it returns.
const path = join(folder, 'floor.db');
const sqlite = new Sqlite(path);
sqlite.pragma('journal_mode = WAL');
sqlite.pragma('synchronous = FULL');
sqlite.exec(`
  CREATE TABLE messages (id INTEGER PRIMARY KEY, envelope TEXT NOT NULL, raw BLOB NOT NULL);
  CREATE TABLE results (id INTEGER PRIMARY KEY, result TEXT NOT NULL);
`);
const insertMessage = sqlite.prepare('INSERT INTO messages (envelope, raw) VALUES (?, ?)');
const insertResult = sqlite.prepare('INSERT INTO results (id, result) VALUES (?, ?)');

const thread = new Worker(fileURLToPath(new URL('floor-thread.cjs', import.meta.url)), {
  workerData: { dnsPort: Number(dnsPort) },
});
thread.on('message', ({ id, result }: FloorOutput) => {
  insertResult.run(id, result);
});
thread.on('error', (error) => {
  throw error;
});

async function accept(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  const raw = Buffer.concat(chunks);
  const envelope: FloorInput['envelope'] = {
    ip: session.remoteAddress,
    helo: session.hostNameAppearsAs || '',
    sender: session.envelope.mailFrom ? session.envelope.mailFrom.address : '',
    recipients: session.envelope.rcptTo.map(({ address }) => address),
  };
  const { lastInsertRowid } = insertMessage.run(JSON.stringify(envelope), raw);
  thread.postMessage({ id: Number(lastInsertRowid), raw, envelope } satisfies FloorInput);
}

const server = new SMTPServer({
  disabledCommands: ['AUTH', 'STARTTLS'],
  disableReverseLookup: true,
  logger: false,
  onData: (stream, session, callback) => {
    accept(stream, session).then(() => callback(), callback);
  },
});

async function listen(): Promise<void> {
  const listener = server.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  console.log(JSON.stringify({ smtp: (listener.address() as AddressInfo).port, path }));
}

void listen();
process.on('SIGTERM', () => process.exit(0));
