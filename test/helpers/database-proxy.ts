/** A proxy before PostgreSQL that loses replies: it goes silent, or cuts a connection, at a chosen statement. */

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

/** The end of a transaction on the wire. `start transaction isolation level read committed` does not contain it. */
export const COMMIT = 'commit\0';

export interface DatabaseProxy {
  /** The URL of the database through the proxy. */
  url: string;
  /** From the next request on that contains `text`, nothing returns to any client, and nothing is closed. */
  silenceAt(text: string): void;
  /**
   * Cuts the next connection that commits after a statement that contains `text`. The server receives the
   * commit; the client gets no reply. Resolves then.
   */
  cutAtCommitOf(text: string): Promise<void>;
  recover(): void;
}

export async function startDatabaseProxy(t: TestContext, direct: string): Promise<DatabaseProxy> {
  const { port } = new URL(direct);
  const sockets = new Set<Socket>();
  let isSilenceDue: (text: string) => boolean = () => false;
  let isSilent = false;
  let cut: { text: string; resolve(): void } | null = null;
  const server = createServer((client) => {
    const upstream = connect(Number(port), '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
    }
    let isChosen = false;
    client.on('data', (data) => {
      const text = data.toString('latin1');
      isSilent ||= isSilenceDue(text);
      isChosen ||= cut !== null && text.includes(cut.text);
      upstream.write(data);
      if (!cut || !isChosen || !text.includes(COMMIT)) return;
      const { resolve } = cut;
      cut = null;
      // The server has committed when it replies.
      upstream.removeAllListeners('data').once('data', () => {
        client.destroy();
        resolve();
      });
    });
    upstream.on('data', (data) => {
      if (!isSilent) client.write(data);
    });
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = server.address() as { port: number };
  return {
    url: Object.assign(new URL(direct), { port: String(address.port) }).href,
    silenceAt(text) {
      isSilenceDue = (data) => data.includes(text);
    },
    cutAtCommitOf(text) {
      const { promise, resolve } = Promise.withResolvers<void>();
      cut = { text, resolve };
      return promise;
    },
    recover() {
      isSilent = false;
      isSilenceDue = () => false;
    },
  };
}
