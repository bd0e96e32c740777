/** A small share of the disk, and messages of strangers that fill it. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { dmarc, gzip, mail, type ReportParts } from '../reading/builders.ts';
import type { FeedbackService } from '../start.ts';

/** A fifth of it, 1 MiB, is for reporters that nobody has confirmed. */
export const SMALL = { DELIVERABILITY_FEEDBACK_STORAGE_PER_DOMAIN: '5MiB' };
export const STRANGER = { from: 'broken.example' };

/** Bytes that gzip can't shrink, inside of the report. */
export const padded = (id: string, bytes: number, parts: ReportParts = {}): Uint8Array =>
  mail([
    {
      type: 'application/gzip',
      content: gzip(
        dmarc({ ...parts, id, close: `<!-- ${randomBytes(bytes).toString('hex')} --></feedback>` }),
      ),
    },
  ]);

/** `sizes`: of messages, in descending order. What is as large as the last one does not fit any more. */
export async function fillWithStrangers(
  { send }: FeedbackService,
  sizes = [120 * 1024],
): Promise<number> {
  let count = 0;
  for (const size of sizes)
    for (; ; count++)
      try {
        await send(padded(`s-${count}`, size), STRANGER);
      } catch (error) {
        assert.equal((error as { responseCode: number }).responseCode, 452);
        break;
      }
  return count;
}

export const sizes = async ({ service }: FeedbackService) =>
  (await service.app.db.selectFrom('feedback_mails').select('size').orderBy('id').execute()).map(
    ({ size }) => size,
  );
