/** The history of a test on its page: earlier tests with the same name or sender, and how the score changed. */

import { formatTime } from '../../lib/format/times.ts';
import { testOperations } from '../../mailtests/routes.ts';
import type { HistoryEntry } from '../../mailtests/schemas/history.ts';
import { titleOfTest } from '../../mailtests/titles.ts';
import { oneLine } from '../../report/blocks.ts';
import type { Chart } from '../../report/charts.ts';
import { ChartImage } from '../../report/html/chart.tsx';
import { ScrollArea, StateMark } from '../../ui/components.tsx';
import type { PageCall } from '../frame/app-page.tsx';
import { useReader } from '../frame/reader.tsx';
import { Score } from '../frame/states.tsx';
import { pathWith } from '../frame/table.tsx';
import { Ago, Time } from '../frame/times.tsx';
import { TESTS_PATH } from './filters.tsx';
import { ScoreChange } from './test-cells.tsx';

/** Each bar of the chart still has room for its value. */
const MAX_SHOWN = 8;

export interface TestHistory {
  entries: HistoryEntry[];
  hasMore: boolean;
}

export const historyCall = (id: string) => ({
  route: testOperations.history,
  params: { id },
  query: { limit: String(MAX_SHOWN) },
});

export async function readTestHistory(
  call: Pick<PageCall, 'invoke'>,
  id: string,
): Promise<TestHistory> {
  const { route, ...parameters } = historyCall(id);
  const { data, has_more } = await call.invoke(route, parameters);
  return { entries: data, hasMore: has_more };
}

const comparePath = (a: string, b: string): string => pathWith(`${TESTS_PATH}/compare`, { a, b });

/** The change since the test before, in a line below the name. Nothing for a first test. */
export function SinceLastTest({ history: { entries } }: { history: TestHistory }) {
  const [current, previous] = entries;
  if (!current || !previous) return null;
  const { change } = current;
  return (
    <p class="small muted">
      {change === null ? (
        'Tested before: '
      ) : (
        <>
          <a href={comparePath(previous.id, current.id)}>
            <ScoreChange change={change} />
          </a>{' '}
          since the previous test:{' '}
        </>
      )}
      {previous.score === null ? 'no score' : `score ${previous.score}`}
      {previous.received_at && (
        <>
          , <Ago at={previous.received_at} />
        </>
      )}
      {'. '}
      <a href="#history">History</a>
    </p>
  );
}

/** Nothing for the first test with its name or from its sender. */
export function History({ history: { entries, hasMore } }: { history: TestHistory }) {
  const [current, previous] = entries;
  if (!current || !previous) return null;
  const { matched_by, name, from_address } = current;
  const all = pathWith(
    TESTS_PATH,
    matched_by === 'name' ? { name: name! } : { from_address: from_address! },
  );
  return (
    <section class="section test-history" id="history" aria-labelledby="history-title">
      <h2 id="history-title">History</h2>
      <p class="note">
        {matched_by === 'name' ? (
          'Tests with the same name, newest first.'
        ) : (
          <>
            Tests from <bdi>{oneLine(from_address!, 100)}</bdi>, newest first.
          </>
        )}{' '}
        <a href={all}>{hasMore ? 'All of them' : 'Show them in the list'}</a>
      </p>
      {entries.some(({ score }) => score !== null) && <ScoreChart entries={entries} />}
      <form method="get" action={`${TESTS_PATH}/compare`}>
        <ScrollArea label="History" class="table">
          <table class="history-rows">
            <thead>
              <tr>
                <th scope="col">Before</th>
                <th scope="col">After</th>
                <th scope="col">Test</th>
                <th scope="col">Score</th>
                <th scope="col">Change</th>
                <th scope="col" class="with-this">
                  <span class="visually-hidden">Compare</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {entries.map((entry, index) => (
                <HistoryRow
                  key={entry.id}
                  entry={entry}
                  index={index}
                  earlier={entries[index + 1]}
                  currentId={current.id}
                />
              ))}
            </tbody>
          </table>
        </ScrollArea>
        <div class="actions screen-only">
          <button type="submit" class="button">
            Compare
          </button>
        </div>
      </form>
    </section>
  );
}

interface RowProps {
  entry: HistoryEntry;
  /** 0 for the test of the page, whose previous test is 1. */
  index: number;
  /** The test before, if it is on the page. */
  earlier: HistoryEntry | undefined;
  currentId: string;
}

function HistoryRow({ entry, index, earlier, currentId }: RowProps) {
  const { id, score, grade, change, previous_id } = entry;
  const at = entry.received_at ?? entry.completed_at!;
  const { timeZone, locale } = useReader();
  const time = formatTime(at, { timeZone, locale });
  return (
    <tr>
      <td>
        <input
          type="radio"
          name="a"
          value={id}
          checked={index === 1}
          aria-label={`Compare the test of ${time}`}
        />
      </td>
      <td>
        <input
          type="radio"
          name="b"
          value={id}
          checked={index === 0}
          aria-label={`Compare with the test of ${time}`}
        />
      </td>
      <td>
        {index === 0 ? (
          <strong>
            <Time at={at} />
          </strong>
        ) : (
          <a href={`${TESTS_PATH}/${id}`}>
            <Time at={at} />
          </a>
        )}
        {index === 0 && ' (this test)'}
        {entry.matched_by === 'sender' && (
          <span class="row-note">
            <bdi>{oneLine(titleOfTest({ ...entry, status: 'completed' }), 80)}</bdi>
          </span>
        )}
        <span class="row-note">{changesText(entry, earlier)}</span>
      </td>
      <td>
        {score === null ? (
          <StateMark state="unknown" word="No score" />
        ) : (
          <Score score={score} grade={grade} />
        )}
      </td>
      <td>
        {change === null || previous_id === null ? (
          <span class="muted nowrap">{previous_id === null ? 'First' : 'Not known'}</span>
        ) : (
          <a href={comparePath(previous_id, id)}>
            <ScoreChange change={change} />
          </a>
        )}
      </td>
      <td class="with-this">
        {index > 0 && (
          <a class="nowrap" href={comparePath(id, currentId)}>
            Compare with this test
          </a>
        )}
      </td>
    </tr>
  );
}

const MAX_NAMED = 3;

/** "New: DMARC policy. Resolved: SPF, Links and 2 more." */
function changesText(entry: HistoryEntry, earlier: HistoryEntry | undefined): string {
  const { previous_id, new_findings, resolved_findings, ruleset } = entry;
  if (previous_id === null) return '';
  const parts = [
    listText('New', new_findings),
    listText('Resolved', resolved_findings),
    earlier && earlier.ruleset !== ruleset ? 'The rules differ.' : '',
  ].filter((part) => part !== '');
  return parts.length > 0 ? parts.join(' ') : 'The same findings.';
}

function listText(word: string, findings: HistoryEntry['new_findings']): string {
  if (findings.length === 0) return '';
  const named = findings.slice(0, MAX_NAMED).map(({ label }) => oneLine(label, 40));
  const rest = findings.length - named.length;
  return `${word}: ${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}.`;
}

/** The scores, oldest first. The table below has the same figures. */
function ScoreChart({ entries }: { entries: HistoryEntry[] }) {
  const { timeZone, locale } = useReader();
  const chart: Chart = {
    title: 'Score of each test',
    max: 100,
    format: (value) => String(value),
    buckets: entries.toReversed().map(({ score, received_at, completed_at }) => {
      const at = received_at ?? completed_at!;
      const day = formatTime(at, { timeZone, locale, day: true });
      return {
        // Without the year, which does not fit.
        label: day.replace(/,? \d{4}$/, ''),
        name: formatTime(at, { timeZone, locale }),
        value: score,
        emptyText: 'no score',
      };
    }),
  };
  return (
    <div class="history-chart">
      <ChartImage chart={chart} id="history-chart" />
    </div>
  );
}
