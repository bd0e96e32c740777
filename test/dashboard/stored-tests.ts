/** Stores completed tests with chosen results, counted as the service counts them. */

import type { App } from '../../src/app.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { newTestRow } from '../../src/mailtests/queries.ts';
import { countTest } from '../../src/mailtests/tally.ts';
import type { TestRow } from '../../src/store/tables.generated.ts';

const HOUR_MS = 3_600_000;

interface Wanted extends Partial<TestRow> {
  /** How long ago it was completed. */
  hoursAgo?: number;
  /** The checks that found something to fix. */
  issues?: string[];
}

const KIND = {
  kind: 'transactional',
  by: 'message',
  confidence: 'likely',
  reasons: [],
  alternative: null,
};

/** Returns the ID. */
export async function storeTest(app: App, wanted: Wanted = {}): Promise<string> {
  const { hoursAgo = 1, issues = [], ...columns } = wanted;
  const at = isoTime(app.clock.now() - hoursAgo * HOUR_MS);
  const checks = issues.map((id) => ({ id, status: 'fail', gain: 5, points: 5, evidence: {} }));
  const blank = newTestRow(app, { kind: 'auto', metadata: {}, expires_in: 3600, livemode: true });
  const row: TestRow = {
    ...blank,
    status: 'completed',
    score: 90,
    grade: 'A',
    spf: 'pass',
    dkim: 'pass',
    dmarc: 'pass',
    created_at: at,
    received_at: at,
    completed_at: at,
    checks: JSON.stringify(checks),
    summary: 'No problems found.',
    subject: 'Hello',
    from_address: 'Ann <ann@example.com>',
    judged_kind: JSON.stringify(KIND),
    ...columns,
  };
  await app.db.transaction().execute(async (tx) => {
    await tx.insertInto('tests').values(row).execute();
    await countTest(tx, row, 1);
  });
  return row.id;
}
