/** Permanent addresses, of monitors and inboxes: each message to one becomes a new test. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { HOUR_MS } from '../lib/durations.ts';
import type { Tx } from '../store/open.ts';
import type { MessageRow, TestRow } from '../store/tables.generated.ts';
import { type NewTestFields, newTestRow } from './queries.ts';
import { subjectColumns } from './titles.ts';

/** A mail server that missed our reply sends the same bytes again. */
const REPEAT_MS = 24 * HOUR_MS;

/** The owner of the address. */
type Owner = { monitor_id: string } | { inbox_id: string };

interface EarlierMail {
  /** The earlier message with the same bytes. */
  repeated: { id: string; testId: string } | null;
  /** The number of messages in the last hour. */
  lastHour: number;
}

/** What this address has received before. Lock its owner first. */
export async function earlierMail(
  tx: Tx,
  { received_at, sha256 }: Pick<MessageRow, 'received_at' | 'sha256'>,
  owner: Owner,
): Promise<EarlierMail> {
  const at = Date.parse(received_at);
  const [column, id] =
    'monitor_id' in owner
      ? (['tests.monitor_id', owner.monitor_id] as const)
      : (['tests.inbox_id', owner.inbox_id] as const);
  const earlier = await tx
    .selectFrom('tests')
    .innerJoin('messages', 'messages.test_id', 'tests.id')
    .select(['messages.id', 'messages.sha256', 'tests.id as test_id', 'tests.created_at'])
    .where(column, '=', id)
    .where('tests.created_at', '>', isoTime(at - REPEAT_MS))
    .execute();
  const same = earlier.find((message) => message.sha256 === sha256);
  return {
    repeated: same ? { id: same.id, testId: same.test_id } : null,
    lastHour: earlier.filter(({ created_at }) => Date.parse(created_at) > at - HOUR_MS).length,
  };
}

/** The row of a test whose message has just arrived, due for analysis. It is not stored yet. */
export function receivedTestRow(
  app: Pick<App, 'clock' | 'newId'>,
  fields: Omit<NewTestFields, 'expires_in'>,
  message: MessageRow,
  raw: Uint8Array,
): TestRow {
  const row = newTestRow(app, { ...fields, expires_in: 0 });
  return {
    ...row,
    ...subjectColumns(row.name, raw),
    status: 'processing',
    received_at: message.received_at,
    message_size: message.size,
    envelope: message.envelope,
    analysis_due_at: message.received_at,
  };
}
