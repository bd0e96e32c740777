/** Tests with a message submitted over HTTP, for build pipelines. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileInput } from '../analysis/receipt/file.ts';
import type { App } from '../app.ts';
import { rememberTrace } from '../events/traces.ts';
import { requireSpace } from '../http/disk-space.ts';
import { normalizeAddress } from '../lib/addresses.ts';
import { sha256 } from '../lib/crypto.ts';
import { discardChunks, storeLaterChunks } from '../store/chunks.ts';
import { afterCommit, type Tx } from '../store/open.ts';
import type { TestRow } from '../store/tables.generated.ts';
import { insertMessage } from './messages.ts';
import { presentTest } from './present.ts';
import { ANALYZE_JOB, insertTest, newTestRow } from './queries.ts';
import type { Test } from './schema.ts';
import { DEFAULT_EXPIRES_IN, type SubmitQuery } from './schemas/request.ts';
import { insertTags } from './tags.ts';
import { subjectColumns } from './titles.ts';

const CR = 0x0d;
const LF = 0x0a;

/** Small enough to convert within a few milliseconds. */
const SLICE_BYTES = 1024 * 1024;

/**
 * Converts line endings to CRLF if all of them are bare LF. Anything else stays as it is. Yields between
 * slices.
 */
export async function withCrlf(raw: Uint8Array): Promise<{ raw: Uint8Array; converted: boolean }> {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  if (bytes.includes(CR) || !bytes.includes(LF)) return { raw: bytes, converted: false };
  let lines = 0;
  for await (const slice of slices(bytes)) lines += countLf(slice);
  const out = Buffer.allocUnsafe(bytes.length + lines);
  let offset = 0;
  for await (const slice of slices(bytes)) offset = copyWithCr(slice, out, offset);
  return { raw: out, converted: true };
}

async function* slices(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += SLICE_BYTES) {
    if (start > 0) await nextTurn();
    yield bytes.subarray(start, start + SLICE_BYTES);
  }
}

// Iterating over a buffer is ten times slower than access by index.
function countLf(bytes: Buffer): number {
  let lines = 0;
  for (let index = 0; index < bytes.length; index++) if (bytes[index] === LF) lines += 1;
  return lines;
}

function copyWithCr(bytes: Buffer, out: Buffer, start: number): number {
  let offset = start;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index]!;
    if (byte === LF) out[offset++] = CR;
    out[offset++] = byte;
  }
  return offset;
}

/**
 * Creates the test and stores its message in a transaction of `transact`. The analysis is due
 * immediately. If the transaction rejects, nothing is stored.
 */
export async function submitMessage(
  app: App,
  bytes: Uint8Array,
  { livemode, limit, tags, ...query }: SubmitQuery & { livemode: boolean; limit?: string[] | null },
  transact: (work: (tx: Tx) => Promise<Test>) => Promise<Test>,
): Promise<Test> {
  await requireSpace(app);
  const { raw, converted } = await withCrlf(bytes);
  const { envelope } = fileInput(raw, {
    mail_from: query.mail_from ?? null,
    client_ip: query.client_ip === undefined ? null : normalizeAddress(query.client_ip),
    helo: query.helo ?? null,
    tls: null,
  });
  const { name, kind } = query;
  const fields = { name, kind, metadata: {}, expires_in: DEFAULT_EXPIRES_IN, livemode, limit };
  const waitingRow = newTestRow(app, fields);
  const test: TestRow = {
    ...waitingRow,
    status: 'processing',
    received_at: waitingRow.created_at,
    message_size: raw.byteLength,
    envelope: JSON.stringify(envelope),
    line_ends_converted: converted ? 1 : 0,
    analysis_due_at: waitingRow.created_at,
    ...subjectColumns(waitingRow.name, raw),
  };
  const message = {
    id: app.newId('msg'),
    test_id: test.id,
    recipient: `${test.token}@${app.config.INBOX_DOMAIN}`,
    sha256: sha256(raw),
    size: raw.byteLength,
    envelope: JSON.stringify(envelope),
    received_at: waitingRow.created_at,
  };
  try {
    await storeLaterChunks(app.db, message.id, raw);
    return await transact(async (tx) => {
      await insertTest(tx, test);
      rememberTrace(app, test.id);
      await insertTags(tx, test, tags);
      await insertMessage(tx, message, raw);
      afterCommit(tx, () => app.scheduler.wake(ANALYZE_JOB));
      return presentTest(test, app.config, tags.toSorted());
    });
  } catch (error) {
    await discardChunks(app.db, message.id, error);
    throw error;
  }
}
