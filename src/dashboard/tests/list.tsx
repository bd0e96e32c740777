/** The list of tests: filters, pages, and actions on selected tests. */

import * as v from 'valibot';
import { readDomainNames } from '../../domains/names.ts';
import { allows } from '../../http/actor.ts';
import type { Call } from '../../http/route.ts';
import { AppError } from '../../lib/errors.ts';
import { findScoreChanges } from '../../mailtests/history.ts';
import { countTests } from '../../mailtests/queries.ts';
import { testOperations } from '../../mailtests/routes.ts';
import type { ListedTest } from '../../mailtests/schema.ts';
import { TestFilters } from '../../mailtests/schemas/filter.ts';
import { ActionButton } from '../frame/action.tsx';
import { appPage } from '../frame/app-page.tsx';
import { Notice, ProblemNotice, submit } from '../frame/form.tsx';
import { seeOther } from '../frame/page.tsx';
import { page } from '../frame/page-route.ts';
import { For } from '../frame/reader.tsx';
import { EmptyState } from '../frame/states.tsx';
import { DataTable, Pager, pathWith } from '../frame/table.tsx';
import { Ago } from '../frame/times.tsx';
import {
  type ApiFilters,
  FILTER_LABELS,
  FilterForm,
  FilterQuery,
  readFilters,
  readSuggestions,
  TESTS_PATH,
} from './filters.tsx';
import { INBOXES_PATH } from './inboxes.tsx';
import { SELECTION_PATH } from './selection.tsx';
import { AuthMarks, domainOf, Tags, TestName, TestResult, titleOf } from './test-cells.tsx';

const PAGE_SIZE = 25;
/** Nobody reads an exact larger number, and it would take longer to count. */
const MAX_COUNT = 1000;

const Query = v.strictObject({
  ...FilterQuery,
  starting_after: v.optional(v.string()),
  ending_before: v.optional(v.string()),
  done: v.optional(v.string()),
  deleted: v.optional(v.string()),
});
type Query = v.InferOutput<typeof Query>;

const NOTICES: Record<string, { tone: 'pass' | 'warn'; text: string }> = {
  deleted: { tone: 'pass', text: 'Test deleted.' },
  select: { tone: 'warn', text: 'Select at least one test first.' },
  'select-two': { tone: 'warn', text: 'Select exactly two tests to compare.' },
};

function DoneNotice({ done = '', deleted = '' }: Pick<Query, 'done' | 'deleted'>) {
  if (/^\d{1,3}$/.test(deleted))
    return (
      <Notice tone="pass">
        {deleted === '1' ? 'Test deleted.' : `${Number(deleted)} tests deleted.`}
      </Notice>
    );
  if (!Object.hasOwn(NOTICES, done)) return null;
  const { tone, text } = NOTICES[done]!;
  return <Notice tone={tone}>{text}</Notice>;
}

const show = page({
  path: TESTS_PATH,
  operation: 'showTests',
  limited: true,
  role: 'viewer',
  summary: 'Show the tests',
  query: Query,
  async handle(call) {
    const { app, actor, query } = call;
    const { starting_after, ending_before, done, deleted } = query;
    const cursors = { starting_after, ending_before };
    const { values, api } = await readFilters(app, query);
    const listQuery = { ...api, limit: String(PAGE_SIZE), ...cursors };
    const { result, problem } = await submit(FILTER_LABELS, () =>
      call.invoke(testOperations.list, { query: listQuery }),
    ).catch((error: unknown) => {
      // The test that began this page was deleted, or the link was cut.
      if (error instanceof AppError && error.code === 'invalid_cursor') return FIRST_PAGE;
      throw error;
    });
    if (result === 'first page') return seeOther(pathWith(TESTS_PATH, values));
    const { data: tests, has_more: hasMore } = result ?? { data: [], has_more: false };
    const isFiltered = Object.keys(values).some((name) => values[name as keyof typeof values]);
    const isFirstPage = !starting_after && !ending_before;
    const count =
      isFirstPage && !hasMore ? tests.length : problem ? 0 : await countMatching(call, api);
    const path = pathWith(TESTS_PATH, { ...values, ...cursors });
    const isEmpty = tests.length === 0 && !isFiltered && isFirstPage;
    return appPage(call, {
      title: 'Tests',
      section: 'tests',
      path,
      status: problem?.status,
      headers: problem?.headers,
      calls: [{ route: testOperations.list, query: listQuery }],
      actions: (
        <>
          <a class="button" href={INBOXES_PATH}>
            Inboxes
          </a>
          <For role="member">
            <a class="button" href="/tests/new">
              Create test
            </a>
          </For>
        </>
      ),
      children: (
        <>
          <DoneNotice done={done} deleted={deleted} />
          <ProblemNotice problem={problem} />
          {!isEmpty && (
            <FilterForm
              values={values}
              errors={problem?.fields ?? {}}
              suggestions={await readSuggestions(app.db, actor.livemode)}
            />
          )}
          {isEmpty && <NoTests canCreate={allows(actor.role, 'member')} />}
          {tests.length === 0 && !isEmpty && !problem && (
            <EmptyState
              title="No tests match these filters"
              action={
                <a class="button" href={TESTS_PATH}>
                  Clear filters
                </a>
              }
            />
          )}
          {tests.length > 0 && (
            <TestTable
              tests={tests}
              names={await readDomainNames(app.db, domainIdsOf(tests))}
              changes={await findScoreChanges(app.db, tests)}
              count={count}
              exportPath={pathWith('/v1/tests/export', api)}
              back={path}
            />
          )}
          <Pager
            path={TESTS_PATH}
            query={values}
            cursors={cursors}
            rows={tests}
            hasMore={hasMore}
          />
        </>
      ),
    });
  },
});

const FIRST_PAGE = { result: 'first page', problem: null } as const;

const domainIdsOf = (tests: ListedTest[]): string[] => [
  ...new Set(tests.flatMap(({ domain_id }) => domain_id ?? [])),
];

/** The filters were valid for the list. */
async function countMatching(
  { app, actor }: Pick<Call<'viewer', undefined, undefined>, 'app' | 'actor'>,
  api: ApiFilters,
): Promise<number> {
  return countTests(app.db, actor.livemode, v.parse(TestFilters, api), MAX_COUNT + 1);
}

function NoTests({ canCreate }: { canCreate: boolean }) {
  if (!canCreate)
    return (
      <EmptyState title="No tests yet">
        Tests that members of your team create appear here with their score.
      </EmptyState>
    );
  return (
    <EmptyState
      title="No tests yet"
      action={
        <>
          <ActionButton action={TESTS_PATH} primary>
            Get a test address
          </ActionButton>
          <a class="button" href="/tests/new">
            Upload a message
          </a>
        </>
      }
    >
      Send one message to a test address. You get a score, what to fix, and how.
    </EmptyState>
  );
}

interface TestTableProps {
  tests: ListedTest[];
  /** Names of domains by ID. */
  names: Map<string, string>;
  /** Changes of the score by ID. */
  changes: Map<string, number>;
  count: number;
  exportPath: string;
  /** The path of this page. */
  back: string;
}

function TestTable({ tests, names, changes, count, exportPath, back }: TestTableProps) {
  return (
    <form method="post" action={SELECTION_PATH} class="selection" data-repeatable>
      <input type="hidden" name="back" value={back} />
      <div class="selection-head">
        <p class="muted">
          {countText(count)}
          <a class="screen-only" href={exportPath}>
            Export as CSV
          </a>
        </p>
        <fieldset class="actions screen-only" data-selection>
          <legend class="visually-hidden">Actions on selected tests</legend>
          <span class="selected-count small muted" role="status" data-selected-count>
            Selected:
          </span>
          <span id="select-one" hidden>
            Select at least one test first.
          </span>
          <span id="select-two" hidden>
            Select exactly two tests first.
          </span>
          <SelectionButton action="compare" needs="two">
            Compare
          </SelectionButton>
          <For role="member">
            <SelectionButton action="share">Share…</SelectionButton>
          </For>
          <SelectionButton action="export">Export</SelectionButton>
          <For role="member">
            <SelectionButton action="delete">Delete…</SelectionButton>
          </For>
        </fieldset>
      </div>
      <DataTable
        label="Tests"
        rows={tests}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => `/tests/${id}`}
        selectable
        labelOf={(test) => titleOf(test)}
        columns={[
          { title: 'Test', cell: (test) => <TestName test={test} /> },
          {
            title: 'Result',
            cell: (test) => <TestResult test={test} change={changes.get(test.id)} />,
          },
          {
            title: 'Authentication',
            cell: ({ auth_results }) => <AuthMarks results={auth_results} />,
            wide: true,
          },
          {
            title: 'Domain',
            cell: (test) => <DomainName name={domainOf(test, names)} />,
            wide: true,
          },
          { title: 'Tags', cell: ({ tags }) => <Tags tags={tags} />, wide: true },
          {
            title: 'Received',
            cell: ({ received_at, created_at }) =>
              received_at ? (
                <Ago at={received_at} />
              ) : (
                <span class="muted">
                  created <Ago at={created_at} />
                </span>
              ),
          },
        ]}
      />
    </form>
  );
}

const DomainName = ({ name }: { name: string | null }) =>
  name === null ? null : (
    <bdi class="one-line" title={name}>
      {name}
    </bdi>
  );

interface SelectionButtonProps {
  action: string;
  /** How many tests it takes: at least one, or exactly two. */
  needs?: 'one' | 'two';
  children: string;
}

/** Works without the script, which turns it off until enough tests are selected. */
const SelectionButton = ({ action, needs = 'one', children }: SelectionButtonProps) => (
  <button type="submit" name="action" value={action} class="button" data-needs={needs}>
    {children}
  </button>
);

function countText(count: number): string {
  if (count > MAX_COUNT) return 'More than 1,000 tests';
  return count === 1 ? '1 test' : `${count.toLocaleString('en')} tests`;
}

export const testListPages = [show];
