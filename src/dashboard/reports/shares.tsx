/** Shared links: list, create, show, revoke. */

import * as v from 'valibot';
import { badgeRoutes } from '../../badges/routes.ts';
import { allows } from '../../http/actor.ts';
import { formatCount } from '../../lib/format/numbers.ts';
import { truncate } from '../../lib/format/plain-text.ts';
import {
  findTitledTests,
  newestResults,
  type TitledTest,
  titleOfTest,
} from '../../mailtests/titles.ts';
import type { SharePreview } from '../../report/report.ts';
import { shareOperations } from '../../shares/routes.ts';
import type { Share } from '../../shares/schema.ts';
import { Copyable, StateMark } from '../../ui/components.tsx';
import { Confirm } from '../frame/action.tsx';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Card, Facts } from '../frame/card.tsx';
import {
  type FormProblem,
  Notice,
  PageQuery,
  ProblemNotice,
  readForm,
  readFormList,
  Select,
  submit,
  TextField,
} from '../frame/form.tsx';
import { operationForm } from '../frame/operation-form.ts';
import { seeOther } from '../frame/page.tsx';
import { form, page } from '../frame/page-route.ts';
import { For, useReader } from '../frame/reader.tsx';
import { EmptyState, Fold, Score } from '../frame/states.tsx';
import { DataTable, Pager } from '../frame/table.tsx';
import { splitTags, TAG_LIST } from '../frame/tags-field.tsx';
import { Ago, Time } from '../frame/times.tsx';
import { Clip } from '../overview/clip.tsx';
import { ReportTabs } from './tabs.tsx';

const PATH = '/reports/shares';
const NEW_PATH = `${PATH}/new`;
const STATUS_PATH = `${NEW_PATH}?tags=`;
const PARENTS = [{ href: PATH, text: 'Shared links' }];

// The list.

const ListQuery = v.strictObject({
  starting_after: v.optional(v.string()),
  ending_before: v.optional(v.string()),
  done: v.optional(v.string()),
});

const list = page({
  path: PATH,
  operation: 'showSharedReports',
  limited: true,
  role: 'viewer',
  summary: 'Show the shared links',
  query: ListQuery,
  async handle(call) {
    const { starting_after, ending_before, done } = call.query;
    const cursors = { starting_after, ending_before };
    const shares = await call.invoke(shareOperations.list, { query: cursors });
    const firstIds = shares.data.flatMap(({ test_ids }) => test_ids.slice(0, 1));
    const tests = await findTitledTests(call.app.db, call.actor.livemode, firstIds);
    const isMember = allows(call.actor.role, 'member');
    const create = isMember && (
      <>
        <a class="button" href={STATUS_PATH}>
          Create status page
        </a>
        <a class="button primary" href={NEW_PATH}>
          Share reports
        </a>
      </>
    );
    return appPage(call, {
      title: 'Shared links',
      section: 'reports',
      path: PATH,
      actions: shares.data.length > 0 && create,
      calls: [{ route: shareOperations.list, query: cursors }],
      children: (
        <>
          <ReportTabs current="shares" />
          {done === 'revoked' && (
            <Notice tone="pass">Link revoked. It no longer opens the report.</Notice>
          )}
          {shares.data.length > 0 ? (
            <ShareTable shares={shares.data} tests={tests} />
          ) : (
            <EmptyState title="No shared links yet" action={create}>
              Anyone who has a shared link sees the reports of chosen tests, or the status of a
              client’s domains, without signing in.
            </EmptyState>
          )}
          <Pager
            path={PATH}
            query={{}}
            cursors={cursors}
            rows={shares.data}
            hasMore={shares.has_more}
          />
        </>
      ),
    });
  },
});

type Tests = Map<string, TitledTest>;

const PREVIEW_WORDS: Record<SharePreview, string> = {
  none: 'Not shown',
  without_images: 'Without images',
  with_images: 'With images',
};

/** Pages of several reports show no messages, whatever was chosen. */
const previewWords = ({ preview, test_ids }: Share): string =>
  PREVIEW_WORDS[test_ids.length === 1 ? preview : 'none'];

function ShareTable({ shares, tests }: { shares: Share[]; tests: Tests }) {
  return (
    <DataTable
      label="Shared links"
      rows={shares}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => `${PATH}/${id}`}
      columns={[
        {
          title: 'Title',
          cell: (share) => <Clip text={titleOf(share, tests)} />,
        },
        { title: 'State', cell: (share) => <ShareState share={share} /> },
        {
          title: 'Shows',
          cell: ({ tags, test_ids }) =>
            tags ? `Domains: ${tags.join(', ')}` : formatCount(test_ids.length, 'test'),
          wide: true,
        },
        {
          title: 'Message',
          cell: (share) => (share.tags ? <span class="muted">–</span> : previewWords(share)),
          wide: true,
        },
        {
          title: 'Views',
          cell: ({ view_count }) => formatCount(view_count),
          number: true,
          wide: 'desktop',
        },
        {
          title: 'Last opened',
          cell: ({ last_viewed_at }) =>
            last_viewed_at ? <Ago at={last_viewed_at} /> : <span class="muted">Never</span>,
          wide: 'desktop',
        },
        {
          title: 'Expires',
          cell: ({ revoked_at, expires_at }) =>
            revoked_at ? <span class="muted">–</span> : <Ago at={expires_at} />,
          wide: true,
        },
      ]}
    />
  );
}

const MAX_TITLE_LENGTH = 80;

/** The title of a shared report or, without one, of its first test. */
function titleOf(
  { title, tags, test_ids }: Pick<Share, 'title' | 'tags' | 'test_ids'>,
  tests: Tests,
): string {
  if (title !== null) return title;
  if (tags) return `Status of ${tags.join(', ')}`;
  const first = tests.get(test_ids[0] ?? '');
  const more = test_ids.length > 1 ? ` and ${formatCount(test_ids.length - 1)} more` : '';
  // Also a page title, so a subject of any length is cut.
  return `${first ? truncate(titleOfTest(first), MAX_TITLE_LENGTH) : 'Deleted test'}${more}`;
}

/** Ended links are gray: they are neither fine nor broken. */
function ShareState({ share: { revoked_at, expires_at } }: { share: Share }) {
  const { now } = useReader();
  if (revoked_at) return <StateMark state="unknown" word="Revoked" />;
  if (Date.parse(expires_at) <= now) return <StateMark state="unknown" word="Expired" />;
  return <StateMark state="pass" word="Active" />;
}

// Creating a link.

const LIFETIMES: [seconds: string, text: string][] = [
  ['86400', '1 day'],
  ['604800', '7 days'],
  ['2592000', '30 days'],
  ['7776000', '90 days'],
  ['31536000', '1 year'],
];

/** Offered if the URL names no tests. */
const MAX_OFFERED = 20;
/** As the API allows. */
const MAX_TESTS = 100;

const PREVIEWS: [value: SharePreview, text: string][] = [
  ['none', 'No'],
  ['without_images', 'Without images'],
  ['with_images', 'With images'],
];

interface Values {
  /** For a link to the status of domains; empty for one to tests. */
  tags: string;
  test_ids: string[];
  title: string;
  expires_in: string;
  preview: string;
}

interface NewState {
  /** The tests to choose from; null for the newest ones. */
  offered: string[] | null;
  values: Values;
  /** The form asks for tags only. */
  isStatus: boolean;
  problem?: FormProblem | null;
}

const readIds = (text: string): string[] =>
  [...new Set(text.split(',').map((id) => id.trim()))].filter(Boolean).slice(0, MAX_TESTS);

const showNew = page({
  path: NEW_PATH,
  operation: 'showNewSharedReport',
  limited: true,
  role: 'member',
  summary: 'Show the form for a shared link',
  query: v.strictObject({ test_ids: v.optional(v.string()), tags: v.optional(v.string()) }),
  handle(call) {
    const ids = readIds(call.query.test_ids ?? '');
    const isStatus = ids.length === 0 && call.query.tags !== undefined;
    return renderNew(call, {
      offered: ids.length > 0 ? ids : null,
      isStatus,
      values: {
        tags: call.query.tags ?? '',
        test_ids: ids,
        title: '',
        // Clients keep the link of a status page.
        expires_in: isStatus ? '31536000' : '604800',
        preview: 'without_images',
      },
    });
  },
});

async function renderNew(call: PageCall, { offered, values, isStatus, problem = null }: NewState) {
  const { app, actor } = call;
  const tests = isStatus
    ? new Map<string, TitledTest>()
    : offered
      ? await findTitledTests(app.db, actor.livemode, offered)
      : new Map(
          (await newestResults(app.db, actor.livemode, MAX_OFFERED)).map((test) => [test.id, test]),
        );
  const ordered = offered ?? [...tests.keys()];
  const rows = ordered.flatMap((id) => tests.get(id) ?? []);
  const test_ids =
    values.test_ids.length > 0 ? values.test_ids : rows.slice(0, 1).map(({ id }) => id);
  const preview = values.preview as SharePreview;
  const ofTests = test_ids.length > 0 ? { test_ids, preview } : undefined;
  const subject = isStatus ? { tags: ['client:acme'] } : ofTests;
  return appPage(call, {
    suggestTags: true,
    title: isStatus ? 'Create status page' : 'Share reports',
    section: 'reports',
    path: NEW_PATH,
    parents: PARENTS,
    status: problem?.status,
    headers: problem?.headers,
    calls: subject && [
      {
        route: shareOperations.create,
        body: {
          ...subject,
          expires_in: Number(values.expires_in),
          ...(values.title === '' ? {} : { title: values.title }),
        },
      },
    ],
    children:
      offered && rows.length === 0 ? (
        <EmptyState
          title="These tests no longer exist"
          action={
            <a class="button" href="/tests">
              Go to the tests
            </a>
          }
        >
          Only tests with a result can be shared.
        </EmptyState>
      ) : (
        <form method="post" action={PATH} class="fields card panel">
          <ProblemNotice problem={problem} />
          <p>
            Anyone with the link sees {isStatus ? 'the state of these domains' : 'these reports'}{' '}
            without signing in, until it expires. Your test addresses and your own notes are left
            out. <a href="/reports/brand">Brand</a> sets the name, logo and color.
          </p>
          <input type="hidden" name="offered" value={offered?.join(',') ?? ''} />
          {isStatus && <input type="hidden" name="status" value="yes" />}
          {!offered && (
            <TextField
              name="tags"
              label="Status page for the tags (optional)"
              list={TAG_LIST}
              hint="Separated by commas, such as client:acme. Instead of tests, the link shows the status of the domains that have one of these tags."
              value={values.tags}
              error={problem?.fields.tags}
            />
          )}
          {rows.length > 0 && (
            <TestChoice rows={rows} chosen={values.test_ids} error={problem?.fields.test_ids} />
          )}
          <div class="field-row">
            <TextField
              name="title"
              label="Title (optional)"
              hint="Shown above the reports."
              value={values.title}
              error={problem?.fields.title}
            />
            <Select
              name="expires_in"
              label="Expires after"
              hint="Shared tests are kept at least until then."
              options={LIFETIMES}
              value={values.expires_in}
              error={problem?.fields.expires_in}
            />
          </div>
          {!isStatus && (
            <Select
              name="preview"
              label="Show the message"
              hint="For a link to one test. Anyone with the link can then read the message. Images are those loaded on the page of the test."
              options={PREVIEWS}
              value={values.preview}
              error={problem?.fields.preview}
            />
          )}
          <button type="submit" class="button primary">
            Create link
          </button>
        </form>
      ),
  });
}

interface ChoiceProps {
  rows: TitledTest[];
  chosen: string[];
  error: string | undefined;
}

function TestChoice({ rows, chosen, error }: ChoiceProps) {
  return (
    <fieldset class="field" aria-describedby={error && 'test_ids-wrong'}>
      <legend>Tests</legend>
      {error && (
        <p id="test_ids-wrong" class="wrong">
          <span class="visually-hidden">Error: </span>
          {error}
        </p>
      )}
      <div class="choices">
        {rows.map((test) => (
          <label key={test.id} class="check">
            <input
              type="checkbox"
              name="test_ids"
              value={test.id}
              checked={chosen.includes(test.id)}
            />
            <span class="choice-text">
              <Clip text={titleOfTest(test)} />
              {test.from_address && <Clip text={test.from_address} class="small muted" />}
            </span>
            {test.hasResult ? (
              <Score score={test.score} grade={test.grade} />
            ) : (
              <StateMark state="unknown" word="No result" />
            )}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

const LABELS = {
  title: 'title',
  expires_in: 'lifetime',
  test_ids: 'choice of tests',
  tags: 'list of tags',
  preview: 'choice for the message',
};

const create = form({
  path: PATH,
  operation: 'submitSharedReport',
  limited: true,
  role: 'member',
  summary: 'Share reports with the form',
  async handle(call) {
    const field = readForm(call.raw);
    const tags = splitTags(field('tags'));
    const values: Values = {
      tags: field('tags'),
      test_ids: readFormList(call.raw)('test_ids'),
      title: field('title').trim(),
      expires_in: field('expires_in'),
      // A form that was opened before an upgrade has no such field.
      preview: field('preview') || 'none',
    };
    const { result, problem } = await submit(LABELS, () =>
      call.invoke(shareOperations.create, {
        body: {
          ...(tags.length > 0 && { tags }),
          ...(values.test_ids.length > 0 && { test_ids: values.test_ids }),
          expires_in: Number(values.expires_in),
          preview: values.preview as SharePreview,
          ...(values.title === '' ? {} : { title: values.title }),
        },
      }),
    );
    // Admins can open the link again. Members see it in this response only, so there is no redirect.
    if (result && allows(call.actor.role, 'admin'))
      return seeOther(`${PATH}/${result.id}?done=created`);
    if (result) return renderShare(call, result, 'created');
    const offered = readIds(field('offered'));
    return renderNew(call, {
      offered: offered.length > 0 ? offered : null,
      values,
      isStatus: field('status') === 'yes',
      problem,
    });
  },
});

// One link.

const show = page({
  path: `${PATH}/:id`,
  operation: 'showSharedReport',
  limited: true,
  role: 'viewer',
  summary: 'Show a shared link',
  query: PageQuery,
  async handle(call) {
    const share = await call.invoke(shareOperations.get, { params: { id: call.params.id! } });
    return renderShare(call, share, call.query.done);
  },
});

async function renderShare(call: PageCall, share: Share, done?: string) {
  const tests = await findTitledTests(call.app.db, call.actor.livemode, share.test_ids);
  const isActive = share.revoked_at === null && Date.parse(share.expires_at) > call.app.clock.now();
  const { id, url, token } = share;
  return appPage(call, {
    title: titleOf(share, tests),
    section: 'reports',
    path: `${PATH}/${id}`,
    parents: PARENTS,
    actions: isActive && (
      <For role="member">
        {url && (
          <a class="button" href={url} target="_blank" rel="noopener">
            Open
          </a>
        )}
        <Confirm
          action={`${PATH}/${id}/revoke`}
          label="Revoke…"
          warning="The link and its badge stop working immediately. This cannot be undone."
          confirm="Revoke link"
        />
      </For>
    ),
    calls: [{ route: shareOperations.get, params: { id } }],
    children: (
      <>
        {done === 'created' && <Notice tone="pass">The link is ready. Copy it now.</Notice>}
        {isActive && (
          <Card title="Link" id="link">
            {url && token ? (
              <>
                <div class="box">
                  <Copyable text={url} label="the link" />
                </div>
                {!share.tags && <BadgeCode url={url} token={token} />}
              </>
            ) : (
              <p class="muted">
                This link is a secret. Only its creator saw it, and only admins can show it again.
              </p>
            )}
          </Card>
        )}
        <Card>
          <Facts
            items={[
              ['State', <ShareState key="state" share={share} />],
              share.tags
                ? ['Domains with the tags', share.tags.join(', ')]
                : ['Message', previewWords(share)],
              ['Views', formatCount(share.view_count)],
              ['Last opened', share.last_viewed_at ? <Ago at={share.last_viewed_at} /> : 'Never'],
              ['Created', <Time key="created" at={share.created_at} />],
              share.revoked_at
                ? ['Revoked', <Time key="revoked" at={share.revoked_at} />]
                : ['Expires', <Time key="expires" at={share.expires_at} />],
            ]}
          />
        </Card>
        {!share.tags && <SharedTests ids={share.test_ids} tests={tests} />}
      </>
    ),
  });
}

const BADGE_PATH = badgeRoutes[0]!.path;

/** HTML and Markdown for other websites. The image shows the worst grade and links to the report. */
function BadgeCode({ url, token }: { url: string; token: string }) {
  const origin = url.slice(0, url.indexOf('/reports/public/'));
  const image = `${origin}${BADGE_PATH.replace(':name', token)}`;
  const codes = [
    ['HTML', `<a href="${url}"><img src="${image}" alt="Deliverability"></a>`],
    ['Markdown', `[![Deliverability](${image})](${url})`],
  ] as const;
  return (
    <Fold summary="Badge for a website">
      <div class="stack">
        <p class="small">
          The badge shows the worst grade of these tests, and leads to their reports.
        </p>
        {codes.map(([name, code]) => (
          <div key={name}>
            <p class="small muted">{name}</p>
            <div class="box command">
              <Copyable text={code} label={`the ${name} code`} />
            </div>
          </div>
        ))}
      </div>
    </Fold>
  );
}

function SharedTests({ ids, tests }: { ids: string[]; tests: Tests }) {
  const rows = ids.flatMap((id) => tests.get(id) ?? []);
  const deleted = ids.length - rows.length;
  return (
    <Card title="Tests" id="tests">
      {rows.length > 0 && (
        <DataTable
          label="Shared tests"
          rows={rows}
          keyOf={({ id }) => id}
          hrefOf={({ id }) => `/tests/${id}`}
          columns={[
            { title: 'Test', cell: (test) => <Clip text={titleOfTest(test)} /> },
            {
              title: 'Result',
              cell: ({ score, grade }) => <Score score={score} grade={grade} />,
            },
            {
              title: 'Received',
              cell: ({ received_at }) => received_at && <Ago at={received_at} />,
              wide: true,
            },
          ]}
        />
      )}
      {deleted > 0 && (
        <p class="small muted">
          {formatCount(deleted, 'test')} of this link {deleted === 1 ? 'has' : 'have'} been deleted.
        </p>
      )}
    </Card>
  );
}

const revoke = operationForm({
  path: `${PATH}/:id/revoke`,
  operation: 'submitSharedReportRevocation',
  summary: 'Revoke a shared link with the button',
  route: shareOperations.revoke,
  next: () => `${PATH}?done=revoked`,
});

export const sharePages = [list, showNew, create, show, revoke];
