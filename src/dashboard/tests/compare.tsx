/** Two tests side by side: what improved, what got worse, and which points make the difference. */

import type { ComponentChildren } from 'preact';
import * as v from 'valibot';
import type { Readiness } from '../../analysis/result.ts';
import { findPreviousTests } from '../../mailtests/history.ts';
import { findTest } from '../../mailtests/queries.ts';
import { differenceOf } from '../../mailtests/report.ts';
import { testOperations } from '../../mailtests/routes.ts';
import type { Test } from '../../mailtests/schema.ts';
import { oneLine, stateOf } from '../../report/blocks.ts';
import { type Cause, causesOf } from '../../report/causes.ts';
import {
  type Change,
  type ComparedCheck,
  type ComparedResult,
  type Comparison,
  compareResults,
  type ScoreStep,
} from '../../report/comparison.ts';
import { formatPoints, STATUS_WORDS } from '../../report/content.ts';
import { ScrollArea, type State, StateMark } from '../../ui/components.tsx';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Card } from '../frame/card.tsx';
import { catchErrors, Notice } from '../frame/form.tsx';
import { page } from '../frame/page-route.ts';
import { EmptyState, Fold, Score } from '../frame/states.tsx';
import { pathWith } from '../frame/table.tsx';
import { Time } from '../frame/times.tsx';
import { DifferenceCard } from './difference.tsx';
import { TESTS_PATH } from './filters.tsx';
import { titleOf } from './test-cells.tsx';

const PATH = '/tests/compare';

const show = page({
  path: PATH,
  operation: 'showTestComparison',
  limited: true,
  role: 'viewer',
  summary: 'Compare two tests',
  query: v.strictObject({ a: v.optional(v.string()), b: v.optional(v.string()) }),
  async handle(call) {
    const { a, b } = call.query;
    const later = b === undefined ? null : await readTest(call, b);
    if (b === undefined || later === null)
      return unavailable(call, {
        title: b === undefined ? 'Select two tests to compare' : 'This test no longer exists',
        text: 'Select two tests in the list, and choose “Compare”.',
      });
    const previous = a ?? (await previousOf(call, b));
    const earlier = previous === undefined ? null : await readTest(call, previous);
    if (earlier === null)
      return unavailable(call, {
        title: a === undefined ? 'No earlier test to compare with' : 'This test no longer exists',
        text:
          a === undefined
            ? 'No earlier completed test has the same name or the same sender.'
            : 'Select two tests in the list, and choose “Compare”.',
        test: later,
      });
    for (const test of [earlier, later])
      if (test.status !== 'completed')
        return unavailable(call, {
          title: 'This test has no result yet',
          text: 'Only completed tests can be compared.',
          test,
        });
    if (earlier.id === later.id)
      return unavailable(call, {
        title: 'These are the same test',
        text: 'Select two different tests in the list, and choose “Compare”.',
      });
    return comparisonPage(call, earlier, later);
  },
});

/** Null if there is no such test. */
async function readTest(call: PageCall, id: string): Promise<Test | null> {
  const { result } = await catchErrors(['not_found'], () =>
    call.invoke(testOperations.get, { params: { id } }),
  );
  return result;
}

async function previousOf({ app, actor }: PageCall, id: string): Promise<string | undefined> {
  const row = await findTest(app.db, id, actor.livemode);
  return row && (await findPreviousTests(app.db, [row.id])).get(row.id)?.id;
}

interface Unavailable {
  title: string;
  text: string;
  test?: Test;
}

function unavailable(call: PageCall, { title, text, test }: Unavailable): Promise<Response> {
  return appPage(call, {
    title: 'Compare tests',
    section: 'tests',
    path: PATH,
    parents: [{ href: TESTS_PATH, text: 'Tests' }],
    calls: [
      test
        ? { route: testOperations.get, params: { id: test.id } }
        : { route: testOperations.list },
    ],
    children: (
      <EmptyState
        title={title}
        action={
          <>
            <a class="button" href={TESTS_PATH}>
              Tests
            </a>
            {test && (
              <a class="button" href={`/tests/${test.id}`}>
                {test.status === 'completed' ? 'Back to the report' : 'Open the test'}
              </a>
            )}
          </>
        }
      >
        {text}
      </EmptyState>
    ),
  });
}

async function comparisonPage(call: PageCall, before: Test, after: Test): Promise<Response> {
  // Results as the API returns them.
  const comparison = compareResults(
    before as unknown as ComparedResult,
    after as unknown as ComparedResult,
  );
  const { improved, worse, other, same, caveats } = comparison;
  const difference = await differenceOf(call.app, [before.id, after.id]);
  return appPage(call, {
    title: 'Compare tests',
    section: 'tests',
    path: pathWith(PATH, { a: before.id, b: after.id }),
    parents: [{ href: TESTS_PATH, text: 'Tests' }],
    calls: [before, after].map(({ id }) => ({ route: testOperations.get, params: { id } })),
    children: (
      <>
        <p class="compared-verdict">{verdictOf(comparison, before, after)}</p>
        <CausesCard causes={causesOf(comparison)} />
        {caveats.map((text) => (
          <Notice key={text} tone="info">
            {oneLine(text, 600)}
          </Notice>
        ))}
        <div class="compared">
          <ComparedTest test={before} label="Before" />
          <ComparedTest test={after} label="After" />
        </div>
        <DifferenceCard difference={difference} />
        <StepsCard comparison={comparison} before={before} after={after} />
        <ChecksCard title="Got worse" checks={worse} steps={comparison.steps} />
        <ChecksCard title="Improved" checks={improved} steps={comparison.steps} />
        {other.length > 0 && (
          <Card>
            <Fold summary={`Other changes (${other.length})`}>
              <CheckTable label="Other changes" checks={other} steps={comparison.steps} />
            </Fold>
          </Card>
        )}
        {worse.length + improved.length + other.length === 0 && (
          <p class="muted">No check has a different result.</p>
        )}
        <div class="columns">
          <AuthenticationCard comparison={comparison} />
          <ProvidersCard comparison={comparison} />
        </div>
        {same.length > 0 && (
          <Card>
            <Fold summary={unchangedText(same)}>
              <CheckTable label="Unchanged checks" checks={same} steps={[]} />
            </Fold>
          </Card>
        )}
      </>
    ),
  });
}

const CAUSES = {
  worse: { state: 'fail', word: 'Worse' },
  improved: { state: 'pass', word: 'Improved' },
  other: { state: 'info', word: 'Changed' },
} as const;

const MAX_CAUSES = 12;

function CausesCard({ causes }: { causes: Cause[] }) {
  if (causes.length === 0) return null;
  const more = causes.length - MAX_CAUSES;
  return (
    <Card title="What changed" id="causes">
      <ul class="causes">
        {causes.slice(0, MAX_CAUSES).map(({ change, text }) => (
          <li key={text}>
            <StateMark {...CAUSES[change]} />
            <bdi>{oneLine(text, 300)}</bdi>
          </li>
        ))}
      </ul>
      {more > 0 && <p class="small muted">And {more} more, listed below.</p>}
    </Card>
  );
}

function ComparedTest({ test, label }: { test: Test; label: string }) {
  const { id, score, grade, subject, from_address, received_at } = test;
  const title = titleOf(test);
  return (
    <Card>
      <p class="small muted">{label}</p>
      <h2>
        <a href={`/tests/${id}`}>
          <bdi>{title}</bdi>
        </a>
      </h2>
      <p class="compared-score">
        {score === null ? (
          <StateMark state="unknown" word="No score" />
        ) : (
          <Score score={score} grade={grade} />
        )}
      </p>
      <ul class="small muted">
        {subject !== null && oneLine(subject, 100) !== title && (
          <li>
            <bdi>{oneLine(subject, 160)}</bdi>
          </li>
        )}
        {from_address !== null && (
          <li>
            from <bdi>{oneLine(from_address, 100)}</bdi>
          </li>
        )}
        {received_at !== null && (
          <li>
            <Time at={received_at} />
          </li>
        )}
      </ul>
    </Card>
  );
}

function verdictOf({ difference }: Comparison, before: Test, after: Test): string {
  if (difference === null) return 'The scores cannot be compared: one of the tests has none.';
  if (difference === 0) return `The score is unchanged at ${after.score}.`;
  const points = Math.abs(difference) === 1 ? '1 point' : `${Math.abs(difference)} points`;
  const verb = difference > 0 ? 'rose' : 'fell';
  return `The score ${verb} by ${points}, from ${before.score} to ${after.score}.`;
}

/** "+12", "−3.5": with a minus sign, not a hyphen. */
const signed = (points: number): string =>
  `${points > 0 ? '+' : points < 0 ? '−' : '±'}${formatPoints(Math.abs(points))}`;

const toneOf = (points: number): State | 'muted' =>
  points > 0 ? 'pass' : points < 0 ? 'fail' : 'muted';

interface StepsProps {
  comparison: Comparison;
  before: Test;
  after: Test;
}

function StepsCard({ comparison: { difference, steps }, before, after }: StepsProps) {
  if (difference === null || steps.length === 0) return null;
  return (
    <Card title="What changed the score" id="points">
      <ScrollArea label="What changed the score" class="table">
        <table>
          <thead>
            <tr>
              <th scope="col">Reason</th>
              <th scope="col" class="number">
                Points
              </th>
            </tr>
          </thead>
          <tbody>
            {steps.map(({ text, points }) => (
              <tr key={text}>
                <td>{oneLine(text, 300)}</td>
                <td class={`number delta ${toneOf(points)}`}>{signed(points)}</td>
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row">
                Difference: {before.score} → {after.score}
              </th>
              <td class={`number delta ${toneOf(difference)}`}>{signed(difference)}</td>
            </tr>
          </tfoot>
        </table>
      </ScrollArea>
    </Card>
  );
}

interface ChecksProps {
  title: string;
  checks: ComparedCheck[];
  steps: ScoreStep[];
}

function ChecksCard({ title, checks, steps }: ChecksProps) {
  if (checks.length === 0) return null;
  return (
    <Card title={`${title} (${checks.length})`} id={title.toLowerCase().replaceAll(' ', '-')}>
      <CheckTable label={title} checks={checks} steps={steps} />
    </Card>
  );
}

function CheckTable({ label, checks, steps }: Omit<ChecksProps, 'title'> & { label: string }) {
  const pointsOf = new Map(steps.map(({ check, points }) => [check, points]));
  const hasPoints = checks.some(({ id }) => pointsOf.has(id));
  return (
    <ScrollArea label={label} class="table">
      <table class={hasPoints ? 'compared-checks with-points' : 'compared-checks'}>
        <thead>
          <tr>
            <th scope="col">Check</th>
            <th scope="col">Before</th>
            <th scope="col">After</th>
            {hasPoints && (
              <th scope="col" class="number">
                Points
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {checks.map((check) => {
            const points = pointsOf.get(check.id);
            return (
              <tr key={check.id}>
                <th scope="row">{oneLine(check.label, 80)}</th>
                <CheckCell check={check.before} />
                <CheckCell check={check.after} />
                {hasPoints && (
                  <td class={`number delta ${toneOf(points ?? 0)}`}>
                    {points === undefined ? '' : signed(points)}
                  </td>
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
    </ScrollArea>
  );
}

function CheckCell({ check }: { check: ComparedCheck['before'] }) {
  if (check === null) return <td class="muted">Not included in this result</td>;
  const { status, title } = check;
  return (
    <td>
      <StateMark state={stateOf(status)} word={STATUS_WORDS[status]} />
      <span class="row-note">
        <bdi>{oneLine(title, 200)}</bdi>
      </span>
    </td>
  );
}

function unchangedText(same: ComparedCheck[]): string {
  const problems = same.filter(({ after }) => after?.status === 'fail' || after?.status === 'warn');
  const checks = same.length === 1 ? '1 check is unchanged' : `${same.length} checks are unchanged`;
  if (problems.length === 0) return `${checks}, none with a problem`;
  return `${checks}, ${problems.length} of them with a problem`;
}

const CHANGE_WORDS: Record<Change, ComponentChildren> = {
  improved: <StateMark state="pass" word="Improved" />,
  worse: <StateMark state="fail" word="Worse" />,
  other: <StateMark state="info" word="Changed" />,
  same: <span class="muted">Unchanged</span>,
};

interface Verdicts {
  name: string;
  before: ComponentChildren;
  after: ComponentChildren;
  change: Change;
}

function VerdictTable({ label, rows }: { label: string; rows: Verdicts[] }) {
  return (
    <ScrollArea label={label} class="table">
      <table class="verdicts">
        <thead>
          <tr>
            <th scope="col">
              <span class="visually-hidden">Name</span>
            </th>
            <th scope="col">Before</th>
            <th scope="col">After</th>
            <th scope="col" class="wide">
              <span class="visually-hidden">Change</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, before, after, change }) => (
            <tr key={name}>
              <th scope="row">{oneLine(name, 60)}</th>
              <td>{before}</td>
              <td>{after}</td>
              <td class="wide">{CHANGE_WORDS[change]}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollArea>
  );
}

function AuthenticationCard({ comparison: { authentication } }: { comparison: Comparison }) {
  const mark = (result: string | null) => {
    if (result === null) return <StateMark state="unknown" word="not checked" />;
    const state = result === 'pass' ? 'pass' : result === 'temperror' ? 'unknown' : 'fail';
    return <StateMark state={state} word={oneLine(result, 20)} />;
  };
  const rows = authentication.map(({ name, before, after, change }) => ({
    name,
    change,
    before: mark(before),
    after: mark(after),
  }));
  return (
    <Card title="Authentication" id="authentication">
      <VerdictTable label="Authentication before and after" rows={rows} />
    </Card>
  );
}

const READINESS: Record<Readiness, ComponentChildren> = {
  ready: <StateMark state="pass" word="Ready" />,
  not_ready: <StateMark state="fail" word="Not ready" />,
  unknown: <StateMark state="unknown" word="Unknown" />,
};

function ProvidersCard({ comparison: { providers } }: { comparison: Comparison }) {
  if (providers.length === 0) return null;
  const mark = (readiness: Readiness | null) =>
    readiness === null ? <StateMark state="unknown" word="Not checked" /> : READINESS[readiness];
  const rows = providers.map(({ name, before, after, change }) => ({
    name,
    change,
    before: mark(before),
    after: mark(after),
  }));
  return (
    <Card title="Provider rules" id="providers">
      <VerdictTable label="Provider rules before and after" rows={rows} />
    </Card>
  );
}

export const comparePages = [show];
