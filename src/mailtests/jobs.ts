/** What the analysis of tests is called, and what it takes from the database. */

import type { TestRow } from '../store/tables.ts';

/** To wake it by. */
export const ANALYZE_JOB = 'tests.analyze';

/** A test whose analysis is due, taken for as long as the lease holds. */
export type ClaimedTest = Pick<TestRow, 'id' | 'kind' | 'analysis_due_at'> & { lease: string };
