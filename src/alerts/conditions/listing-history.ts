/** What the latest tests and monitor runs say about blocklists, for the history of that condition. */

import { observeTest } from '../../mailtests/observe.ts';
import type { MonitorRow, MonitorRunRow, TestRow } from '../../store/tables.generated.ts';
import type { ObservationOf, Verdict } from './condition.ts';
import { countTimes, keptSince, type PastAnswer, type PastReading, type Times } from './history.ts';

type Judge = (observation: ObservationOf<'test' | 'run'>) => Verdict['answer'];

/** The checks of a test are up to 100 KB of JSON. */
const MAX_TESTS = 100;
const MAX_RUNS = 2000;

/** If there are more tests or runs, the period begins with the first of which all are read. */
export async function listingTimes(reading: PastReading, judge: Judge): Promise<Times | null> {
  const tests = await testsOf(reading, judge);
  const runs = await runsOf(reading, judge);
  const since = [tests.since, runs.since].toSorted()[1]!;
  const answers = [...tests.answers, ...runs.answers].filter(({ at }) => at >= since);
  if (answers.every(({ answer }) => answer === 'unknown')) return null;
  return { times: countTimes(answers), since };
}

interface Answers {
  answers: PastAnswer[];
  since: string;
}

async function testsOf({ db, since }: PastReading, judge: Judge): Promise<Answers> {
  const rows = await db
    .selectFrom('tests')
    .select(['completed_at', 'livemode', 'from_domain', 'domain_id', 'checks'])
    .where('livemode', '=', 1)
    .where('completed_at', '>=', since)
    .orderBy('completed_at', 'desc')
    .limit(MAX_TESTS)
    .execute();
  const answers = rows.flatMap((row) =>
    observeTest(row as TestRow).map((observation) => ({
      at: row.completed_at!,
      subject: observation.subject,
      answer: judge(observation),
    })),
  );
  return { answers, since: rows.length < MAX_TESTS ? since : rows.at(-1)!.completed_at! };
}

async function runsOf(reading: PastReading, judge: Judge): Promise<Answers> {
  const since = keptSince(reading);
  const rows = await reading.db
    .selectFrom('monitor_runs as run')
    .innerJoin('monitors', 'monitors.id', 'run.monitor_id')
    .leftJoin('domains', 'domains.id', 'monitors.domain_id')
    .select(['run.started_at', 'run.findings', 'run.changes', 'monitors.targets', 'domains.name'])
    .where('run.started_at', '>=', since)
    .where('monitors.token', 'is', null)
    .orderBy('run.started_at', 'desc')
    .limit(MAX_RUNS)
    .execute();
  const answers = rows.flatMap(({ started_at: at, targets, name, ...row }) => {
    const [findings, changes] = [JSON.parse(row.findings), JSON.parse(row.changes)];
    const subjects: string[] =
      targets === null ? (name === null ? [] : [name]) : JSON.parse(targets);
    return subjects.map((subject) => {
      const of = { run: row as MonitorRunRow, monitor: {} as MonitorRow };
      const answer = judge({ kind: 'run', subject, domainId: null, ...of, findings, changes });
      return { at, subject, answer };
    });
  });
  return { answers, since: rows.length < MAX_RUNS ? since : rows.at(-1)!.started_at };
}
