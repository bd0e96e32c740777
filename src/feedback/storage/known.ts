/** Whether a message is by a reporter that the service knows, or that a person confirmed. */

import type { Envelope } from '../../analysis/check.ts';
import type { App } from '../../app.ts';
import { isGenuine } from '../record/record.ts';
import { readerOf } from '../thread/reader.ts';

/** `unknown`: DNS did not answer. */
export type SenderJudgement = 'known' | 'other' | 'unknown';

/** Reads and verifies the message, without storing anything. */
export async function judgeSender(
  app: App,
  { raw, envelope }: { raw: Uint8Array; envelope: Envelope },
): Promise<SenderJudgement> {
  const now = app.clock.now();
  const reader = readerOf(app);
  const [items, verifications] = await Promise.all([
    reader.read(raw, now),
    reader.verify(raw, envelope, now),
  ]);
  const reports = items.filter((item) => item.ok);
  if (reports.length === 0) return 'other';
  if (reports.some((report) => isGenuine(report, verifications))) return 'known';
  const trusted = await app.db
    .selectFrom('feedback_reporters')
    .select('id')
    .where('trusted', '=', 1)
    .where(
      'name',
      'in',
      reports.map(({ reporter }) => reporter),
    )
    .limit(1)
    .executeTakeFirst();
  if (trusted) return 'known';
  return verifications.any === 'unknown' ? 'unknown' : 'other';
}
