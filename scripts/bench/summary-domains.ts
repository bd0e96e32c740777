/** What a summary of many domains takes, and how long it holds up others at a stretch. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { CHECKS } from '../../src/analysis/checks/index.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { TALLIED } from '../../src/mailtests/tally.ts';
import { type Db, openStore } from '../../src/store/open.ts';
import { periodEndingAt, summarize } from '../../src/summary/summary.ts';
import { seededRandom } from '../../test/helpers/random.ts';
import { median, round2 } from './measure.ts';

const DOMAINS = 100;
const HOUR_MS = 3_600_000;
const TIMES = 9;
/** What is wrong with a domain's mail is much the same from hour to hour. */
const HABITS = 4;

/** Every domain has tests in every hour of a month and of the month before. */
export async function manyDomains(path: string) {
  const { db, close } = openStore(path);
  const span = { ...periodEndingAt(Date.now(), 'month'), livemode: true };
  const domains = await fillHours(db, span.before, span.to);
  const times: number[] = [];
  const stretches: number[] = [];
  for (let i = 0; i < TIMES; i++) {
    const gaps = longestGap();
    const started = performance.now();
    const { total_tests } = await summarize(db, { ...span, domains });
    times.push(performance.now() - started);
    stretches.push(await gaps.stop());
    if (total_tests === 0) throw new Error('the summary must tell of tests');
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
  const habits = domains.map(() =>
    Array.from({ length: HABITS }, () => JSON.stringify(issuesOf())),
  );
  for (let at = from; at < to; at += HOUR_MS)
    await db
      .insertInto('test_tallies')
      .values(
        domains.map((domain_id, i) => ({
          ...{ livemode: 1, domain_id, hour: isoTime(at) },
          ...(Object.fromEntries(TALLIED.map((name) => [name, 1])) as Record<
            (typeof TALLIED)[number],
            number
          >),
          issues: habits[i]![random.below(HABITS)]!,
        })),
      )
      .execute();
  return domains;
}

/** Milliseconds that this thread itself has worked: what else the machine does disturbs nobody here. */
function worked(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** How long the thread worked at most while nothing else had its turn. */
function longestGap() {
  let longest = 0;
  let on = true;
  const watch = async () => {
    for (let last = worked(); on; ) {
      await nextTurn();
      const now = worked();
      longest = Math.max(longest, now - last);
      last = now;
    }
    return longest;
  };
  const watching = watch();
  return {
    stop() {
      on = false;
      return watching;
    },
  };
}
