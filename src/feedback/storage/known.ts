/** Whether a message is by a reporter that the service knows, or that a person confirmed. */

import type { Envelope } from '../../analysis/check.ts';
import type { App } from '../../app.ts';
import { trustedReporters } from '../record/reporters.ts';
import { signedReporter } from '../senders/reporter.ts';
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
  const [items, { signer, isUndecided }] = await Promise.all([
    reader.read(raw, now),
    reader.verify(raw, envelope, now),
  ]);
  const reports = items.filter((item) => item.ok);
  if (reports.length === 0) return 'other';
  const reporters = reports.flatMap(({ type }) => signedReporter(signer, type) ?? []);
  if (reporters.some(({ kind }) => kind === 'known')) return 'known';
  const names = reporters.map(({ name }) => name);
  const confirmed =
    names.length > 0 &&
    (await trustedReporters(app.db).where('name', 'in', names).limit(1).executeTakeFirst());
  if (confirmed) return 'known';
  return isUndecided ? 'unknown' : 'other';
}
