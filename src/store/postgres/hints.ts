/** Hints between nodes through LISTEN and NOTIFY. Any of them can be lost, so nothing may depend on them. */

import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import type { Db, Hints } from '../types.ts';
import { listenerSession } from './sessions.ts';

const CHANNEL = 'deliverability';
const CONNECT_TIMEOUT_MS = 5_000;
const RECONNECT_DELAY_MS = 1_000;
/** A connection can die without an error, for example behind a firewall that forgets it. */
const CHECK_INTERVAL_MS = 15_000;
const CHECK_TIMEOUT_MS = 5_000;

export function createHints(url: string, db: Db): Hints {
  return {
    async send(text) {
      await sql`select pg_notify(${CHANNEL}, ${text})`.execute(db);
    },
    listen: (node, onHint, onConnect) => listen({ url, node }, onHint, onConnect),
  };
}

interface Target {
  url: string;
  node: string;
}

/** Keeps a connection of its own, and replaces it when it fails. Resolves the returned function when it is closed. */
function listen(
  target: Target,
  onHint: (text: string) => void,
  onConnect: () => void,
): () => Promise<void> {
  const stopping = new AbortController();
  const run = async () => {
    while (!stopping.signal.aborted) {
      await listenOnce(target, onHint, onConnect, stopping.signal).catch(() => {});
      await pause(RECONNECT_DELAY_MS, undefined, { signal: stopping.signal, ref: false }).catch(
        () => {},
      );
    }
  };
  const running = run();
  return async () => {
    stopping.abort();
    await running;
  };
}

/** Resolves or rejects when the connection has ended. */
async function listenOnce(
  { url, node }: Target,
  onHint: (text: string) => void,
  onConnect: () => void,
  signal: AbortSignal,
): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    application_name: listenerSession(node),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: CHECK_TIMEOUT_MS,
    keepAlive: true,
  });
  const ended = new AbortController();
  const end = () => ended.abort();
  client.on('error', end);
  client.on('end', end);
  client.on('notification', ({ payload = '' }) => onHint(payload));
  const over = AbortSignal.any([signal, ended.signal]);
  try {
    await client.connect();
    await client.query(`LISTEN ${CHANNEL}`);
    onConnect();
    for (;;) {
      await pause(CHECK_INTERVAL_MS, undefined, { signal: over, ref: false });
      await client.query('SELECT 1');
    }
  } finally {
    // Waits for the server, which may not respond.
    const closed = client.end().catch(() => {});
    await Promise.race([closed, pause(CONNECT_TIMEOUT_MS, undefined, { ref: false })]);
  }
}
