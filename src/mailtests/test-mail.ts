/** Messages to the addresses of tests: each test has one. */

import type { App } from '../app.ts';
import { type Destination, NO_SUCH_ADDRESS, reject } from '../smtp/destination.ts';
import { afterCommit, type Tx } from '../store/open.ts';
import { updateRow } from '../store/rows.ts';
import type { MessageRow } from '../store/tables.generated.ts';
import { takeAccepted } from './analyze.ts';
import { expectAttempt } from './live.ts';
import { findMessageOf, insertMessage } from './messages.ts';
import { ANALYZE_JOB, findTestByToken } from './queries.ts';
import { type StoreOutcome, storeMail } from './receive.ts';
import { subjectColumns } from './titles.ts';

const EXPIRED = reject(550, '5.2.1', 'This test address has expired');
const USED = reject(550, '5.2.1', 'This test address has already received its message');

export const testDestination = (app: App): Destination => ({
  label: 'test',
  maxSize: app.config.SMTP_MAX_SIZE,
  single: true,
  usesReserve: true,
  /** For used addresses, `receive` decides, when the content is known. */
  async check({ local }) {
    const test = await findTestByToken(app.db, local);
    if (!test) return null;
    expectAttempt(app, local, test.id);
    const isOpen = test.status === 'waiting' && Date.parse(test.expires_at) > app.clock.now();
    const hasMessage = !isOpen && (await findMessageOf(app.db, test.id)) !== undefined;
    return isOpen || hasMessage ? { accept: true } : EXPIRED;
  },
  receive(mail) {
    const [{ address, local }] = mail.recipients;
    return storeMail(app, mail, {
      recipient: address,
      job: ANALYZE_JOB,
      store: (tx, message, raw) => storeForTest(tx, app, { token: local, message, raw }),
    });
  },
});

async function storeForTest(
  tx: Tx,
  app: App,
  { token, message, raw }: { token: string; message: MessageRow; raw: Uint8Array },
): Promise<StoreOutcome> {
  const test = await findTestByToken(tx, token);
  if (!test) return NO_SUCH_ADDRESS;
  if (test.status !== 'waiting') {
    const earlier = await findMessageOf(tx, test.id);
    if (!earlier) return EXPIRED;
    return earlier.sha256 === message.sha256
      ? { accept: true, id: earlier.id, testId: test.id }
      : USED;
  }
  if (test.expires_at <= message.received_at) return EXPIRED;
  const stored = { ...message, test_id: test.id };
  const { id, kind, limited_to } = test;
  const due = { id, kind, limited_to, analysis_due_at: message.received_at };
  await insertMessage(tx, stored, raw);
  const taken = takeAccepted(tx, app, { test: due, message: stored, raw });
  await updateRow(tx, 'tests', test.id, {
    status: 'processing',
    received_at: message.received_at,
    message_size: message.size,
    envelope: message.envelope,
    analysis_due_at: message.received_at,
    ...subjectColumns(test.name, raw),
    ...taken,
  });
  afterCommit(tx, () => app.signals.raise(test.id));
  return { accept: true, id: message.id, testId: test.id, isTaken: 'lease' in taken };
}
