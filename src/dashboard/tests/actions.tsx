/** What a member can do with a test: buttons on its page, and their forms. */

import type { ComponentChildren } from 'preact';
import type { App } from '../../app.ts';
import { readDomainNames } from '../../domains/names.ts';
import type { Call } from '../../http/route.ts';
import { waitUntil } from '../../lib/concurrency.ts';
import { presentListed } from '../../mailtests/present.ts';
import { testOr404 } from '../../mailtests/queries.ts';
import { unsubscribePath } from '../../mailtests/report.ts';
import { testOperations } from '../../mailtests/routes.ts';
import { tagsOf } from '../../mailtests/tags.ts';
import { unsubscribeOperations } from '../../mailtests/unsubscribe.ts';
import type { TestRow } from '../../store/tables.generated.ts';
import { ActionButton, Confirm } from '../frame/action.tsx';
import { readForm } from '../frame/form.tsx';
import { operationForm } from '../frame/operation-form.ts';
import { seeOther } from '../frame/page.tsx';
import { form } from '../frame/page-route.ts';
import { For } from '../frame/reader.tsx';

type ActionRow = Pick<TestRow, 'id' | 'status' | 'received_at' | 'analysis_due_at'>;

/** What its result allows. */
export function TestActions({ row }: { row: ActionRow }) {
  const { id, status, received_at, analysis_due_at } = row;
  const isCompleted = status === 'completed';
  return (
    <>
      {isCompleted && (
        <>
          <For role="member">
            <ActionButton action={`/tests/${id}/reanalyze`} disabled={analysis_due_at !== null}>
              Reanalyze
            </ActionButton>
          </For>
          <a class="button" href={`/tests/compare?b=${id}`}>
            Compare with previous
          </a>
          <For role="member">
            <a class="button" href={`/reports/shares/new?test_ids=${id}`}>
              Share…
            </a>
          </For>
        </>
      )}
      {status !== 'waiting' && (
        <For role="member">
          <CreateSimilarTest id={id}>Create similar test</CreateSimilarTest>
        </For>
      )}
      {isCompleted && (
        <a class="button" href={`/v1/tests/${id}/report.pdf`}>
          PDF
        </a>
      )}
      {isCompleted && (
        <a class="button" href={`/tests/${id}/images`}>
          Images
        </a>
      )}
      {received_at !== null && (
        <a class="button" href={`/v1/tests/${id}/source`}>
          Message source
        </a>
      )}
    </>
  );
}

export function ManageActions({ row: { id, received_at } }: { row: ActionRow }) {
  return (
    <For role="member">
      <a class="button" href={`/tests/${id}/edit`}>
        Edit
      </a>
      <Confirm
        action={`/tests/${id}/delete`}
        label="Delete…"
        warning={
          received_at === null
            ? 'The address stops accepting mail immediately. This cannot be undone.'
            : 'The test, its message and its report are deleted. Links to it stop working. This cannot be undone.'
        }
        confirm="Delete test"
      />
    </For>
  );
}

/** Creates a test with the name, kind, domain and metadata of another one. */
export function CreateSimilarTest({
  id,
  primary,
  children,
}: {
  id: string;
  primary?: boolean;
  children: ComponentChildren;
}) {
  return (
    <ActionButton action="/tests" fields={{ like: id }} primary={primary}>
      {children}
    </ActionButton>
  );
}

const create = form({
  path: '/tests',
  operation: 'submitTestCreation',
  limited: true,
  role: 'member',
  summary: 'Get a test address with the button',
  async handle(call) {
    const { app, actor, invoke } = call;
    const like = readForm(call.raw)('like');
    const body =
      like === '' ? {} : await settingsOf(app, await testOr404(app, like, actor.livemode));
    const { id } = await invoke(testOperations.create, { body });
    return seeOther(`/tests/${id}`);
  },
});

async function settingsOf({ db, config }: Pick<App, 'db' | 'config'>, row: TestRow) {
  const test = presentListed(row, config, await tagsOf(db, row.id));
  const { name, kind, metadata, tags } = test;
  // The domain may have been deleted.
  const names = await readDomainNames(db, row.domain_id === null ? [] : [row.domain_id]);
  // The seed mailboxes may have been removed.
  const placement = row.placement_status !== 'none' && config.SEED_MAILBOXES.length > 0;
  return { name, kind, metadata, tags, placement, domain_id: [...names.keys()][0] ?? null };
}

const reanalyze = form({
  path: '/tests/:id/reanalyze',
  operation: 'submitTestReanalysis',
  limited: true,
  role: 'member',
  summary: 'Reanalyze a test with the button',
  async handle(call) {
    const id = call.params.id!;
    await call.invoke(testOperations.reanalyze, { params: { id }, body: {} });
    return afterReanalysis(call, id);
  },
});

/** Most analyses end in this time. The page of the test shows the progress of the others. */
const MAX_WAIT_MS = 2_000;

/** Waits a moment for the result, and then leads to the page of the test. */
export async function afterReanalysis(
  { app, actor, signal }: Pick<Call<'member', undefined, undefined>, 'app' | 'actor' | 'signal'>,
  id: string,
): Promise<Response> {
  const find = () => testOr404(app, id, actor.livemode);
  const isDone = ({ analysis_due_at }: TestRow) => analysis_due_at === null;
  await waitUntil(app, { name: id, ms: MAX_WAIT_MS, abort: signal }, find, isDone);
  return seeOther(`/tests/${id}?done=reanalyzed`);
}

const remove = form({
  path: '/tests/:id/delete',
  operation: 'submitTestDeletion',
  limited: true,
  role: 'member',
  summary: 'Delete a test with the button',
  async handle(call) {
    await call.invoke(testOperations.remove, { params: { id: call.params.id! } });
    return seeOther('/tests?deleted=1');
  },
});

const tryUnsubscribe = operationForm({
  path: unsubscribePath(':id'),
  operation: 'submitUnsubscribeTry',
  summary: 'Try the unsubscribe link of a test with the button',
  route: unsubscribeOperations.tryLink,
  // The method, and the number of tries that the page shows.
  read: (raw) => readForm(raw)('try').split(' '),
  body: ([method, tries]) => ({ method: method as 'POST', after_tries: Number(tries) }),
  next: (_, { params }) => `/tests/${params.id}#unsubscribe`,
});

export const testActions = [create, reanalyze, remove, tryUnsubscribe];
