/** The inboxes of the team, and the page of one: its address and its tests. */

import * as v from 'valibot';
import { readDomainNames } from '../../domains/names.ts';
import { findScoreChanges } from '../../mailtests/history.ts';
import { inboxOperations } from '../../mailtests/inbox-routes.ts';
import { testOperations } from '../../mailtests/routes.ts';
import type { ListedTest } from '../../mailtests/schema.ts';
import type { Inbox } from '../../mailtests/schemas/inbox.ts';
import { Copyable } from '../../ui/components.tsx';
import { Confirm } from '../frame/action.tsx';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Card, Facts } from '../frame/card.tsx';
import { Notice } from '../frame/form.tsx';
import { seeOther } from '../frame/page.tsx';
import { form, page } from '../frame/page-route.ts';
import { For } from '../frame/reader.tsx';
import { EmptyState } from '../frame/states.tsx';
import { DataTable, Pager, pathWith } from '../frame/table.tsx';
import { Ago } from '../frame/times.tsx';
import { TESTS_PATH } from './filters.tsx';
import { KIND_WORDS } from './kind-words.ts';
import { AuthMarks, Tags, TestName, TestResult, titleOf } from './test-cells.tsx';

export const INBOXES_PATH = '/inboxes';
const PATH = `${INBOXES_PATH}/:id`;
const PAGE_SIZE = 25;

const Query = v.strictObject({
  starting_after: v.optional(v.string()),
  ending_before: v.optional(v.string()),
  done: v.optional(v.string()),
});
type Query = v.InferOutput<typeof Query>;

const cursorsOf = ({ starting_after, ending_before }: Query) => ({ starting_after, ending_before });
const TESTS_LINK = { href: TESTS_PATH, text: 'Tests' };
const nameOf = ({ name, address }: Inbox): string => name ?? address;

async function renderList(call: PageCall, query: Query) {
  const cursors = cursorsOf(query);
  const listQuery = { limit: String(PAGE_SIZE), ...cursors };
  const { data, has_more } = await call.invoke(inboxOperations.list, { query: listQuery });
  return appPage(call, {
    title: 'Inboxes',
    section: 'tests',
    path: pathWith(INBOXES_PATH, cursors),
    parents: [TESTS_LINK],
    actions: data.length > 0 && <NewButton />,
    calls: [{ route: inboxOperations.list, query: listQuery }],
    children: (
      <>
        {query.done === 'deleted' && <Notice tone="pass">Inbox deleted.</Notice>}
        {data.length === 0 ? (
          <EmptyState title="No inboxes yet" action={<NewButton />}>
            An inbox has an address that never expires. Each message to it becomes a new test, so a
            pipeline or a newsletter tool needs only one address.
          </EmptyState>
        ) : (
          <DataTable
            label="Inboxes"
            rows={data}
            keyOf={({ id }) => id}
            hrefOf={({ id }) => `${INBOXES_PATH}/${id}`}
            columns={[
              { title: 'Inbox', cell: (inbox) => <bdi class="one-line">{nameOf(inbox)}</bdi> },
              { title: 'Address', cell: ({ address }) => <code>{address}</code>, wide: true },
              { title: 'Tags', cell: ({ tags }) => <Tags tags={tags} />, wide: true },
              {
                title: 'Last message',
                cell: ({ last_received_at }) =>
                  last_received_at === null ? (
                    <span class="muted">None yet</span>
                  ) : (
                    <Ago at={last_received_at} />
                  ),
              },
            ]}
          />
        )}
        <Pager path={INBOXES_PATH} query={{}} cursors={cursors} rows={data} hasMore={has_more} />
      </>
    ),
  });
}

const NewButton = () => (
  <For role="member">
    <a class="button primary" href="/tests/new?expires_in=never">
      Create inbox
    </a>
  </For>
);

async function renderInbox(call: PageCall, id: string, query: Query) {
  const params = { id };
  const cursors = cursorsOf(query);
  const inbox = await call.invoke(inboxOperations.get, { params });
  const testsQuery = { inbox_id: id, limit: String(PAGE_SIZE), ...cursors };
  const tests = await call.invoke(testOperations.list, { query: testsQuery });
  const { domain_id } = inbox;
  const names = await readDomainNames(call.app.db, domain_id === null ? [] : [domain_id]);
  const path = `${INBOXES_PATH}/${id}`;
  return appPage(call, {
    title: nameOf(inbox),
    section: 'tests',
    path,
    parents: [TESTS_LINK, { href: INBOXES_PATH, text: 'Inboxes' }],
    calls: [
      { route: inboxOperations.get, params },
      { route: testOperations.list, query: { inbox_id: id } },
    ],
    children: (
      <>
        {query.done === 'created' && (
          <Notice tone="pass">Inbox created. Send messages to its address.</Notice>
        )}
        <Card title="Address" id="address">
          <p>Each message to this address becomes a new test. The address never expires.</p>
          <p>
            <Copyable text={inbox.address} label="the address" />
          </p>
          <p class="muted">
            Anyone who knows the address can send to it. If it leaks, delete the inbox and create
            another one.
          </p>
          <div class="tight-facts">
            <Facts
              items={[
                ['Kind of mail', KIND_WORDS[inbox.kind]],
                ['Tags', inbox.tags.length > 0 && <Tags tags={inbox.tags} />],
                ['Domain', domain_id && (names.get(domain_id) ?? 'Deleted')],
                ['Created', <Ago key="created" at={inbox.created_at} />],
              ]}
            />
          </div>
        </Card>
        <Card title="Tests" id="tests">
          {tests.data.length === 0 ? (
            <p class="muted">No tests yet. The first one appears here when a message arrives.</p>
          ) : (
            <InboxTests
              tests={tests.data}
              changes={await findScoreChanges(call.app.db, tests.data)}
            />
          )}
          <Pager
            path={path}
            query={{}}
            cursors={cursors}
            rows={tests.data}
            hasMore={tests.has_more}
          />
        </Card>
        <For role="member">
          <Confirm
            action={`${path}/delete`}
            label="Delete inbox…"
            warning="Its address rejects messages from now on. Its tests stay. This cannot be undone."
            confirm="Delete inbox"
          />
        </For>
      </>
    ),
  });
}

const InboxTests = ({ tests, changes }: { tests: ListedTest[]; changes: Map<string, number> }) => (
  <DataTable
    label="Tests"
    rows={tests}
    keyOf={({ id }) => id}
    hrefOf={({ id }) => `${TESTS_PATH}/${id}`}
    labelOf={(test) => titleOf(test)}
    columns={[
      { title: 'Test', cell: (test) => <TestName test={test} /> },
      { title: 'Result', cell: (test) => <TestResult test={test} change={changes.get(test.id)} /> },
      {
        title: 'Authentication',
        cell: ({ auth_results }) => <AuthMarks results={auth_results} />,
        wide: true,
      },
      {
        title: 'Received',
        cell: ({ received_at }) => received_at && <Ago at={received_at} />,
      },
    ]}
  />
);

const list = page({
  path: INBOXES_PATH,
  operation: 'showInboxes',
  limited: true,
  role: 'viewer',
  summary: 'Show the inboxes',
  query: Query,
  handle: (call) => renderList(call, call.query),
});

const show = page({
  path: PATH,
  operation: 'showInbox',
  limited: true,
  role: 'viewer',
  summary: 'Show an inbox',
  query: Query,
  handle: (call) => renderInbox(call, call.params.id!, call.query),
});

const remove = form({
  path: `${PATH}/delete`,
  operation: 'submitInboxDeletion',
  limited: true,
  role: 'member',
  summary: 'Delete an inbox with the button',
  async handle(call) {
    await call.invoke(inboxOperations.remove, { params: { id: call.params.id! } });
    return seeOther(`${INBOXES_PATH}?done=deleted`);
  },
});

export const inboxPages = [list, show, remove];
