/** A message handed in over HTTP (for build pipelines): a test that has its message from the start. */

import type { Envelope } from '../analysis/check.ts';
import type { App } from '../app.ts';
import { normalizeAddress } from '../lib/addresses.ts';
import { sha256 } from '../lib/crypto.ts';
import type { TestRow } from '../store/tables.ts';
import { insertMessage, storeTail } from './messages.ts';
import { insertTest, newTestRow } from './queries.ts';
import { EXPIRES_IN_DEFAULT, type SubmitQuery } from './schema.ts';

const CR = 0x0d;
const LF = 0x0a;

/** Lines that end in bare LF throughout become CRLF; anything else stays exactly as it is. */
export function withCrlf(raw: Uint8Array): { raw: Uint8Array; converted: boolean } {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  if (bytes.includes(CR) || !bytes.includes(LF)) return { raw: bytes, converted: false };
  let lines = 0;
  for (const byte of bytes) if (byte === LF) lines += 1;
  const out = Buffer.allocUnsafe(bytes.length + lines);
  let to = 0;
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(LF, from);
    const stop = end < 0 ? bytes.length : end;
    to += bytes.copy(out, to, from, stop);
    if (end >= 0) {
      out[to++] = CR;
      out[to++] = LF;
    }
    from = stop + 1;
  }
  return { raw: out, converted: true };
}

/** Creates the test and stores its message; the analysis is due at once. */
export async function submitMessage(
  app: App,
  bytes: Uint8Array,
  query: SubmitQuery,
  livemode: boolean,
): Promise<TestRow> {
  const { raw, converted } = withCrlf(bytes);
  const envelope: Envelope = {
    mail_from: query.mail_from ?? null,
    client_ip: query.client_ip === undefined ? null : normalizeAddress(query.client_ip),
    helo: query.helo ?? null,
    tls: null,
  };
  const { name, kind } = query;
  const seed = { name, kind, metadata: {}, expires_in: EXPIRES_IN_DEFAULT, livemode };
  const waiting = newTestRow(app, seed);
  const test: TestRow = {
    ...waiting,
    status: 'processing',
    received_at: waiting.created_at,
    message_size: raw.byteLength,
    envelope: JSON.stringify(envelope),
    line_ends_converted: converted ? 1 : 0,
    analysis_due_at: waiting.created_at,
  };
  const message = {
    id: app.newId('msg'),
    test_id: test.id,
    recipient: `${test.token}@${app.config.INBOX_DOMAIN}`,
    sha256: sha256(raw),
    size: raw.byteLength,
    envelope: JSON.stringify(envelope),
    received_at: waiting.created_at,
  };
  await storeTail(app.db, message.id, raw);
  await app.db.transaction().execute(async (tx) => {
    await insertTest(tx, test);
    await insertMessage(tx, message, raw);
  });
  app.scheduler.wake('tests.analyze');
  return test;
}
