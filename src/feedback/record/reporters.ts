/** Who reports. */

import type { App } from '../../app.ts';
import type { Tx } from '../../store/open.ts';
import type { FeedbackReporterRow } from '../../store/tables.generated.ts';

/** Adds a report to its reporter, and returns the reporter. */
export async function upsertReporter(
  tx: Tx,
  { newId }: Pick<App, 'newId'>,
  name: string,
  at: string,
): Promise<FeedbackReporterRow> {
  return tx
    .insertInto('feedback_reporters')
    .values({
      id: newId('rep'),
      ...{ name, trusted: 0, first_at: at, last_at: at, reports: 1, counted: 0 },
    })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet(({ eb, ref }) => ({
        reports: eb(ref('feedback_reporters.reports'), '+', 1),
        last_at: at,
      })),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}
