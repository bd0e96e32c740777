/** A month of schedules and monitors on two nodes with wrong clocks. */

import { test } from 'node:test';
import { skipUnlessOnPostgres } from '../helpers/postgres.ts';
import { assertRunOnce } from '../scheduler/two-nodes.ts';

test(
  'Two nodes whose clocks are ten minutes apart run each schedule and monitor of a month once',
  {
    skip: skipUnlessOnPostgres(),
  },
  (t) => assertRunOnce(t, { days: 30, fridays: 4 }),
);
