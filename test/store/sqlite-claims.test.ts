/** Claims on SQLite: no row is claimed twice by concurrent jobs of the process. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isoTime } from '../../src/lib/clock.ts';
import { openStore } from '../../src/store/open.ts';
import { claimMails, insertMails } from './claim-mails.ts';

const ROWS = 4000;
const CLAIMERS = 8;
const START = Date.UTC(2026, 10, 21, 10);

test('Eight concurrent claimers of one process claim each of 4,000 rows once', async (t) => {
  const { db, close } = await openStore(':memory:');
  t.after(close);
  // Each look at it takes a millisecond, so time passes while a claimer waits for the write lock.
  let time = START;
  const clock = { now: () => time++ };
  await insertMails(db, ROWS, isoTime(START - 1000));
  const claimed: string[] = [];
  const claimAll = async () => {
    for (;;) {
      const rows = await claimMails({ db, clock }, { due: isoTime(START) });
      if (rows.length === 0) return;
      claimed.push(...rows.map(({ id }) => id));
      // A row that is claimed twice would let the claimers go on forever.
      assert.ok(claimed.length <= ROWS, 'none is claimed twice');
    }
  };
  await Promise.all(Array.from({ length: CLAIMERS }, claimAll));
  assert.equal(new Set(claimed).size, ROWS, 'none is lost');
});
