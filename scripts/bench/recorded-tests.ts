/** Creates a database with many completed tests from the last sixty days, counted as in the migration. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { CHECKS } from '../../src/analysis/checks/index.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { createIdGenerator } from '../../src/lib/ids.ts';
import { openStore } from '../../src/store/open.ts';
import { seededRandom } from '../../test/helpers/random.ts';
import { COUNT_TESTS } from './counts.ts';

const SPAN_MS = 60 * 86_400_000;
const DOMAINS = 3;
const GRADES = ['F', 'D', 'C', 'B', 'A'];

/** Returns the ID of one of the domains; each has a third of the tests. */
export async function fillTests(folder: string, count: number): Promise<{ domain: string }> {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'deliverability.db');
  await (await openStore(path)).close();
  const now = Date.now();
  const newId = createIdGenerator({ now: () => now - SPAN_MS });
  const random = seededRandom(1);
  const sqlite = new Sqlite(path);
  sqlite.pragma('synchronous = OFF');
  const domains = Array.from({ length: DOMAINS }, () => newId('dom'));
  const insertDomain = sqlite.prepare(
    "INSERT INTO domains (id, name, status, token, created_at, pending_since, given_selectors, learnt_selectors, health_status, health_checks) VALUES (?, ?, 'pending', 'x', ?, ?, '[]', '[]', 'unknown', '[]')",
  );
  const insert = sqlite.prepare(
    "INSERT INTO tests (id, token, livemode, kind, metadata, status, created_at, expires_at, completed_at, spf, dkim, dmarc, score, grade, checks, domain_id, subject, search) VALUES (?, ?, 1, 'auto', '{}', 'completed', ?, ?, ?, 'pass', ?, 'pass', ?, ?, ?, ?, ?, ?)",
  );
  const ids = CHECKS.filter(({ points }) => points > 0).map(({ id }) => id);
  sqlite.exec('BEGIN');
  for (const [i, id] of domains.entries())
    insertDomain.run(id, `bench-${i}.example`, isoTime(now), isoTime(now));
  for (let i = 0; i < count; i++) {
    const id = newId('test');
    const at = isoTime(now - random.below(SPAN_MS));
    // A real result has all checks, but only failed ones are counted.
    const checks = Array.from({ length: random.below(10) }, () => ids[random.below(ids.length)]!);
    const issues = [...new Set(checks)].map((check) => ({ id: check, status: 'warn' }));
    const grade = GRADES[random.below(GRADES.length)];
    const dkim = random.chance(0.8) ? 'pass' : 'fail';
    const domain = domains[i % DOMAINS];
    const subject = `News of week ${i % 52}: what our customers say about the new products`;
    const facts = [dkim, random.below(101), grade, JSON.stringify(issues), domain];
    insert.run(id, id, at, at, at, ...facts, subject, `\n${subject.toLowerCase()}`);
  }
  sqlite.exec(COUNT_TESTS);
  sqlite.exec('COMMIT');
  sqlite.close();
  return { domain: domains[0]! };
}
