/** Comparisons of all pairs of whole mails. */

// @one-database: opens no database.

import { test } from 'node:test';
import { assertExplained } from '../report/explained-pairs.ts';

test('Differences in score between all pairs of mails are explained with points that add up', () =>
  assertExplained(1));
