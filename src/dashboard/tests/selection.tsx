/** What can be done with several tests at once. Each action has a page of its own, to which the selection leads. */

import * as v from 'valibot';
import { testOperations } from '../../mailtests/routes.ts';
import { MAX_FILTER_IDS } from '../../mailtests/schemas/filter.ts';
import { HiddenFields } from '../frame/action.tsx';
import { appPage } from '../frame/app-page.tsx';
import { Card } from '../frame/card.tsx';
import { catchErrors, readForm, readFormList } from '../frame/form.tsx';
import { localPath, seeOther } from '../frame/page.tsx';
import { form, page } from '../frame/page-route.ts';
import { EmptyState } from '../frame/states.tsx';
import { DataTable, pathWith } from '../frame/table.tsx';
import { TESTS_PATH } from './filters.tsx';
import { TestName, TestResult } from './test-cells.tsx';

export const SELECTION_PATH = '/tests/selection';
const DELETE_PATH = '/tests/delete';

/** The list from which the selection comes, on its first page: the others may change. */
function listPath(back: string, more: Record<string, string | undefined>): string {
  const [path, search = ''] = localPath(back).split('?');
  if (path !== TESTS_PATH) return pathWith(TESTS_PATH, more);
  const query = Object.fromEntries(new URLSearchParams(search));
  const { done, deleted, starting_after, ending_before, ...filters } = query;
  return pathWith(TESTS_PATH, { ...filters, ...more });
}

const select = form({
  path: SELECTION_PATH,
  operation: 'submitTestSelection',
  limited: true,
  role: 'viewer',
  summary: 'Continue with the selected tests',
  handle(call) {
    const field = readForm(call.raw);
    const ids = readFormList(call.raw)('id').slice(0, MAX_FILTER_IDS);
    const back = field('back');
    if (ids.length === 0) return seeOther(listPath(back, { done: 'select' }));
    const list = ids.join(',');
    switch (field('action')) {
      case 'compare': {
        if (ids.length !== 2) return seeOther(listPath(back, { done: 'select-two' }));
        // The older test first.
        const [a, b] = ids.toSorted();
        return seeOther(pathWith('/tests/compare', { a, b }));
      }
      case 'share':
        return seeOther(pathWith('/reports/shares/new', { test_ids: list }));
      case 'export':
        return seeOther(pathWith('/v1/tests/export', { ids: list }));
      default:
        return seeOther(pathWith(DELETE_PATH, { ids: list, back: listPath(back, {}) }));
    }
  },
});

const DeletionQuery = v.strictObject({
  ids: v.optional(v.string()),
  back: v.optional(v.string()),
});

/** The API returns at most 100 objects at once, four pages of the list. */
const MAX_DELETED = 100;

const confirmDeletion = page({
  path: DELETE_PATH,
  operation: 'showTestDeletion',
  limited: true,
  role: 'member',
  summary: 'Show the confirmation to delete the selected tests',
  query: DeletionQuery,
  async handle(call) {
    const { ids = '', back = TESTS_PATH } = call.query;
    const wanted = [...new Set(ids.split(','))].slice(0, MAX_DELETED).join(',');
    const { data: tests } = await call.invoke(testOperations.list, {
      query: { ids: wanted, limit: String(MAX_DELETED) },
    });
    const noun = tests.length === 1 ? '1 test' : `${tests.length} tests`;
    const cancel = (
      <a class="button" href={listPath(back, {})}>
        {tests.length === 0 ? 'Back to the tests' : 'Cancel'}
      </a>
    );
    return appPage(call, {
      title: tests.length === 0 ? 'Delete tests' : `Delete ${noun}?`,
      section: 'tests',
      path: pathWith(DELETE_PATH, { ids: wanted, back }),
      parents: [{ href: TESTS_PATH, text: 'Tests' }],
      calls: tests.map(({ id }) => ({ route: testOperations.remove, params: { id } })),
      children:
        tests.length === 0 ? (
          <EmptyState title="These tests no longer exist" action={cancel} />
        ) : (
          <>
            <Card>
              <p>
                {tests.length === 1
                  ? 'The test, its message and its report are deleted. Shared links no longer show it.'
                  : `The ${noun}, their messages and their reports are deleted. Shared links no longer show them.`}{' '}
                This cannot be undone.
              </p>
              <form method="post" action={DELETE_PATH} class="actions">
                <HiddenFields fields={{ ids: tests.map(({ id }) => id).join(','), back }} />
                <button type="submit" class="button danger-solid">
                  Delete {noun}
                </button>
                {cancel}
              </form>
            </Card>
            <DataTable
              label="Tests to delete"
              rows={tests}
              keyOf={({ id }) => id}
              columns={[
                { title: 'Test', cell: (test) => <TestName test={test} /> },
                { title: 'Result', cell: (test) => <TestResult test={test} /> },
              ]}
            />
          </>
        ),
    });
  },
});

const deleteSelected = form({
  path: DELETE_PATH,
  operation: 'submitTestsDeletion',
  limited: true,
  role: 'member',
  summary: 'Delete the selected tests',
  async handle(call) {
    const field = readForm(call.raw);
    const ids = [...new Set(field('ids').split(','))].filter((id) => id !== '');
    let deleted = 0;
    for (const id of ids.slice(0, MAX_DELETED)) {
      const { error } = await catchErrors(['not_found'], () =>
        call.invoke(testOperations.remove, { params: { id } }),
      );
      // Somebody else has deleted it in the meantime.
      if (error === null) deleted += 1;
    }
    return seeOther(listPath(field('back'), { deleted: String(deleted) }));
  },
});

export const selectionPages = [select, confirmDeletion, deleteSelected];
