/** How long a summary of many domains takes, and how long it blocks the event loop at a time. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { CHECKS } from '../../src/analysis/checks/index.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { TALLY_COLUMNS } from '../../src/mailtests/tally.ts';
import { type Db, openStore } from '../../src/store/open.ts';
import { periodEndingAt, summarize } from '../../src/summary/summary.ts';
import { seededRandom } from '../../test/helpers/random.ts';
import { median, round2 } from './measure.ts';

const DOMAINS = 100;
const HOUR_MS = 3_600_000;
const RUNS = 9;
/** The problems of a domain's mail are similar from hour to hour: it alternates between a few patterns. */
const PATTERNS = 4;

/** Every domain has tests in every hour of a month and of the previous month. */
export async function benchManyDomains(path: string) {
  const { db, close } = await openStore(path);
  const span = { ...periodEndingAt(Date.now(), 'month'), livemode: true };
  const domains = await fillHours(db, span.previousFrom, span.to);
  const times: number[] = [];
  const stretches: number[] = [];
  for (let i = 0; i < RUNS; i++) {
    const blocking = measureBlocking();
    const started = performance.now();
    const { total_tests } = await summarize(db, { ...span, domains }, []);
    times.push(performance.now() - started);
    stretches.push(await blocking.stop());
    if (total_tests === 0) throw new Error('The summary contains no tests');
  }
  await close();
  return {
    month_of_100_domains_ms: round2(median(times)),
    month_of_100_domains_longest_stretch_ms: round2(Math.max(...stretches)),
  };
}

async function fillHours(db: Db, from: number, to: number): Promise<string[]> {
  const random = seededRandom(5);
  const checks = CHECKS.filter(({ points }) => points > 0).map(({ id }) => id);
  const issuesOf = () =>
    Object.fromEntries(Array.from({ length: 5 }, () => [checks[random.below(checks.length)]!, 1]));
  const domains = Array.from({ length: DOMAINS }, (_, i) => `dom_${String(i).padStart(26, '0')}`);
  const patterns = domains.map(() =>
    Array.from({ length: PATTERNS }, () => JSON.stringify(issuesOf())),
  );
  for (let at = from; at < to; at += HOUR_MS)
    await db
      .insertInto('test_tallies')
      .values(
        domains.map((domain_id, i) => ({
          livemode: 1,
          domain_id,
          hour: isoTime(at),
          ...(Object.fromEntries(TALLY_COLUMNS.map((name) => [name, 1])) as Record<
            (typeof TALLY_COLUMNS)[number],
            number
          >),
          issues: patterns[i]![random.below(PATTERNS)]!,
          placement_counts: '{}',
        })),
      )
      .execute();
  return domains;
}

/** CPU time of this thread in milliseconds: other load on the machine does not count. */
function cpuTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Measures the longest CPU time during which the event loop did not turn. */
function measureBlocking() {
  let longest = 0;
  let isRunning = true;
  const watch = async () => {
    for (let last = cpuTime(); isRunning; ) {
      await nextTurn();
      const now = cpuTime();
      longest = Math.max(longest, now - last);
      last = now;
    }
    return longest;
  };
  const watching = watch();
  return {
    stop() {
      isRunning = false;
      return watching;
    },
  };
}
