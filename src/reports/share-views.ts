/** How often the report of a link was read. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { errorMessage } from '../lib/errors.ts';

/** Counts one, behind whatever else is written: no reader waits for it, nor is refused where it fails. */
export function noteView({ db, clock, log }: Pick<App, 'db' | 'clock' | 'log'>, id: string): void {
  db.updateTable('shared_reports')
    .set(({ eb }) => ({
      view_count: eb('view_count', '+', 1),
      last_viewed_at: isoTime(clock.now()),
    }))
    .where('id', '=', id)
    .execute()
    .catch((error: unknown) =>
      log.warn('a view of a shared report was not counted', {
        report_id: id,
        error: errorMessage(error),
      }),
    );
}
