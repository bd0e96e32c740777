/** The table of domains, sorted, filtered and grouped by its URL; actions on selected ones; and the form to add one. */

import * as v from 'valibot';
import { COLUMNS, SORTS, type Sort } from '../../domain-table/columns.ts';
import { countGroups, type TableCounts, tableCounts } from '../../domain-table/queries.ts';
import { tableOperations } from '../../domain-table/routes.ts';
import type { TableRow } from '../../domain-table/schema.ts';
import { domainOperations } from '../../domains/routes.ts';
import { DOMAIN_STATES } from '../../domains/states.ts';
import { allows } from '../../http/actor.ts';
import { normalizeTag } from '../../http/tags.ts';
import { AppError } from '../../lib/errors.ts';
import { formatCount } from '../../lib/format/numbers.ts';
import { Popover } from '../../ui/components.tsx';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Filters } from '../frame/filters.tsx';
import {
  type FormProblem,
  Notice,
  ProblemNotice,
  readForm,
  readFormList,
  Select,
  submit,
  TextField,
} from '../frame/form.tsx';
import { localPath, seeOther } from '../frame/page.tsx';
import { form, page } from '../frame/page-route.ts';
import { For, useReader } from '../frame/reader.tsx';
import { EmptyState } from '../frame/states.tsx';
import { Pager, pathWith } from '../frame/table.tsx';
import { splitTags, TAG_LIST, TagOptions, tagLabels } from '../frame/tags-field.tsx';
import { AddDomains, type AddDomainsProps } from './add-form.tsx';
import { STATE_SENTENCES, STATE_WORDS } from './states.tsx';
import { DomainTable, SORT_OPTIONS } from './table.tsx';

export const DOMAINS = '/domains';
const TAGS_PATH = '/domains/tags';

const PAGE_SIZE = 100;
const DEFAULT_SORT: Sort = 'next_step';

const FILTERS = ['q', 'state', 'tag', 'next_step', 'group', 'sort', 'order'] as const;
type TableFilterValues = Partial<Record<(typeof FILTERS)[number], string>>;

const Query = v.strictObject({
  ...(Object.fromEntries(FILTERS.map((name) => [name, v.optional(v.string())])) as Record<
    (typeof FILTERS)[number],
    v.OptionalSchema<v.StringSchema<undefined>, undefined>
  >),
  starting_after: v.optional(v.string()),
  ending_before: v.optional(v.string()),
  done: v.optional(v.string()),
  changed: v.optional(v.string()),
});
type Query = v.InferOutput<typeof Query>;

interface State extends Partial<AddDomainsProps> {
  query?: Query;
  tagProblem?: FormProblem | null;
}

/** What the URL says, without values that do not exist: old links keep working. */
function readFilters(query: Query): TableFilterValues {
  const one = <T extends string>(values: readonly T[], value?: string): T | undefined =>
    values.find((known) => known === value);
  const tag = query.tag ? normalizeTag(query.tag) : undefined;
  return {
    q: query.q?.trim().slice(0, 200) || undefined,
    state: one(DOMAIN_STATES, query.state),
    tag: tag && !tag.includes(',') && tag.length <= 50 ? tag : undefined,
    next_step: one(['yes', 'no'], query.next_step),
    group: /^[^:,]{1,40}$/.test(query.group ?? '') ? normalizeTag(query.group!) : undefined,
    sort: query.sort === DEFAULT_SORT ? undefined : one(SORTS, query.sort),
    order: one(['asc', 'desc'], query.order),
  };
}

export async function renderDomains(
  call: PageCall,
  { query = {}, problem = null, tagProblem, ...typed }: State,
) {
  const filters = readFilters(query);
  const counts = await tableCounts(call.app.db);
  const { starting_after, ending_before } = query;
  const listQuery = { ...filters, limit: String(PAGE_SIZE), starting_after, ending_before };
  const found = await call
    .invoke(tableOperations.table, { query: listQuery as never })
    .catch((error: unknown) => {
      // The domain that began this page was deleted, or the link was cut.
      if (error instanceof AppError && error.code === 'invalid_cursor') return null;
      throw error;
    });
  if (found === null) return seeOther(pathWith(DOMAINS, filters));
  const shown = problem ?? tagProblem;
  const isWholeTeam = call.actor.tags === null;
  /** The form is on the page itself where nothing else is, or where it must be corrected. */
  const isAlone = counts.total === 0 || problem !== null || !call.actor.livemode;
  return appPage(call, {
    title: 'Domains',
    section: 'domains',
    path: pathWith(DOMAINS, { ...filters, starting_after, ending_before }),
    status: shown?.status,
    headers: shown?.headers,
    calls: [
      { route: tableOperations.table, query: filters },
      { route: domainOperations.create, body: { name: 'example.com' } },
    ],
    actions: counts.total > 0 && (
      <>
        {!isAlone && (
          <For role="member" team>
            <Popover id="add-domains" class="add-domains" button="Add domains">
              <AddDomains {...typed} problem={null} />
            </Popover>
          </For>
        )}
        {isWholeTeam && counts.states.pending + counts.states.failed > 0 && (
          <a class="button" href={`${DOMAINS}/verify`}>
            Verify<span class="visually-hidden"> domains</span>
          </a>
        )}
      </>
    ),
    children: (
      <>
        <DoneNotice {...query} />
        {counts.total === 0 && !isWholeTeam && (
          <EmptyState title="No domains yet">
            No domain has the tags that your access is limited to. An admin can add them.
          </EmptyState>
        )}
        {counts.total === 0 && isWholeTeam && (
          <EmptyState title="Add your first domain">
            The service checks the DNS records of your domains every day, and tells you which
            records to publish or fix.
          </EmptyState>
        )}
        {isAlone && (
          <For role="member" team>
            <div class={call.actor.livemode ? 'card panel' : undefined}>
              <AddDomains {...typed} problem={problem} />
            </div>
          </For>
        )}
        {counts.total > 0 && (
          <>
            <TableFilters filters={filters} counts={counts} />
            <div id="domain-list" class="domain-list">
              <List
                filters={filters}
                cursors={{ starting_after, ending_before }}
                rows={found.data}
                hasMore={found.has_more}
                matches={await countGroups(call.app.db, filters as never)}
                tags={counts.tags}
                tagProblem={tagProblem ?? null}
                canChange={isWholeTeam && allows(call.actor.role, 'member')}
              />
            </div>
          </>
        )}
      </>
    ),
  });
}

function DoneNotice({ done, changed = '' }: Pick<Query, 'done' | 'changed'>) {
  if (done === 'deleted') return <Notice tone="pass">Domain deleted.</Notice>;
  if (done === 'select') return <Notice tone="warn">Select at least one domain first.</Notice>;
  if (done !== 'tagged' || !/^\d{1,4}$/.test(changed)) return null;
  return (
    <Notice tone="pass">
      {changed === '0'
        ? 'The selected domains already had these tags.'
        : `Tags of ${formatCount(Number(changed), 'domain')} changed.`}
    </Notice>
  );
}

/** Tags such as `client:acme` have a first part, by which they can be grouped. */
const prefixesOf = (tags: string[]): string[] => [
  ...new Set(tags.flatMap((tag) => /^([^:]+):./.exec(tag)?.[1] ?? [])),
];

function TableFilters({ filters, counts }: { filters: TableFilterValues; counts: TableCounts }) {
  const { q, state, tag, next_step, group, sort, order } = filters;
  return (
    <Filters path={DOMAINS} active={FILTERS.some((name) => filters[name])}>
      <TextField name="q" label="Name contains" type="search" value={q} maxLength={200} grow />
      <Select
        name="state"
        label="State"
        value={state ?? ''}
        options={[
          ['', `All (${formatCount(counts.total)})`],
          ...DOMAIN_STATES.map((one): [string, string] => [
            one,
            `${STATE_WORDS[one]} (${formatCount(counts.states[one])})`,
          ]),
        ]}
      />
      {(counts.tags.length > 0 || tag) && (
        <Select
          name="tag"
          label="Tag"
          value={tag ?? ''}
          options={optionsOf('All', counts.tags, tag)}
        />
      )}
      <Select
        name="next_step"
        label="Next step"
        value={next_step ?? ''}
        options={[
          ['', 'All'],
          ['yes', 'Something to fix'],
          ['no', 'Nothing to fix'],
        ]}
      />
      <Select
        name="group"
        label="Group by"
        value={group ?? ''}
        options={[
          ['', 'None'],
          ['state', 'State'],
          ...optionsOf('', prefixesOf(counts.tags), group === 'state' ? undefined : group)
            .slice(1)
            .map(([name]): [string, string] => [name, capitalized(name)]),
        ]}
      />
      <Select name="sort" label="Sort by" value={sort ?? ''} options={SORT_OPTIONS} />
      {order && <input type="hidden" name="order" value={order} />}
    </Filters>
  );
}

/** The current value stays a choice, even if nothing has it anymore. */
const optionsOf = (all: string, values: string[], current?: string): [string, string][] => [
  ['', all],
  ...[...new Set([...values, ...(current ? [current] : [])])].map((one): [string, string] => [
    one,
    one,
  ]),
];

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

interface ListProps {
  filters: TableFilterValues;
  cursors: { starting_after?: string; ending_before?: string };
  rows: TableRow[];
  hasMore: boolean;
  matches: Map<string | null, number>;
  tags: string[];
  tagProblem: FormProblem | null;
  canChange: boolean;
}

function List({
  filters,
  cursors,
  rows,
  hasMore,
  matches,
  tags,
  tagProblem,
  canChange,
}: ListProps) {
  const { testMode, limit } = useReader();
  const isSelectable = !testMode && canChange && limit === null;
  if (rows.length === 0)
    return (
      <EmptyState
        title="No matching domains"
        action={
          <a class="button" href={DOMAINS}>
            Clear filters
          </a>
        }
      >
        No domains match these filters.
      </EmptyState>
    );
  const { state, sort, order } = filters;
  const sorted = (sort ?? DEFAULT_SORT) as Sort;
  const total = [...matches.values()].reduce((sum, count) => sum + count, 0);
  const table = (
    <DomainTable
      rows={rows}
      sort={sorted}
      order={(order as 'asc' | undefined) ?? COLUMNS[sorted].order}
      group={filters.group}
      counts={matches}
      hrefOf={(by) => pathWith(DOMAINS, { ...filters, order: undefined, ...by })}
      selectable={isSelectable}
    />
  );
  return (
    <>
      {state && <p class="muted small">{STATE_SENTENCES[state as keyof typeof STATE_SENTENCES]}</p>}
      {isSelectable ? (
        <form method="post" action={TAGS_PATH} data-repeatable>
          <input type="hidden" name="back" value={pathWith(DOMAINS, { ...filters, ...cursors })} />
          <ProblemNotice problem={tagProblem} />
          <div class="table-head">
            <Total count={total} filters={filters} />
            <TagSelected tags={tags} />
          </div>
          {table}
        </form>
      ) : (
        <>
          <Total count={total} filters={filters} />
          {table}
        </>
      )}
      <Pager
        path={DOMAINS}
        query={filters}
        cursors={cursors}
        rows={rows}
        hasMore={hasMore}
        words={['← Previous', 'Next →']}
      />
    </>
  );
}

/** How many match, and a file with all of them. */
const Total = ({ count, filters }: { count: number; filters: TableFilterValues }) => (
  <p class="table-total muted small">
    {formatCount(count, 'domain')}
    <a class="screen-only" href={pathWith('/v1/domains/export', filters)}>
      Export as CSV
    </a>
  </p>
);

/** Works without the script, which disables the buttons until a domain is selected. */
function TagSelected({ tags }: { tags: string[] }) {
  return (
    <fieldset class="actions screen-only tag-selected" data-selection>
      <legend class="visually-hidden">Tags of selected domains</legend>
      <span class="small muted" role="status" data-selected-count>
        Selected:
      </span>
      <span id="select-one" hidden>
        Select at least one domain first.
      </span>
      <input
        name="tags"
        aria-label="Tags, separated by commas"
        placeholder="client:acme"
        list={TAG_LIST}
        maxLength={600}
        autocomplete="off"
      />
      <TagOptions tags={tags} />
      <button type="submit" name="action" value="add" class="button" data-needs="one">
        Add tag
      </button>
      <button type="submit" name="action" value="remove" class="button" data-needs="one">
        Remove tag
      </button>
    </fieldset>
  );
}

const show = page({
  path: DOMAINS,
  operation: 'showDomains',
  limited: true,
  role: 'member',
  summary: 'Show the domains',
  query: Query,
  handle: (call) => renderDomains(call, { query: call.query }),
});

function queryOf(back: string): Query {
  const [path, search = ''] = localPath(back).split('?');
  if (path !== DOMAINS) return {};
  const { done, changed, ...query } = Object.fromEntries(new URLSearchParams(search));
  const parsed = v.safeParse(Query, query);
  return parsed.success ? parsed.output : {};
}

const tagSelected = form({
  path: TAGS_PATH,
  operation: 'submitTagsOfDomains',
  role: 'member',
  summary: 'Change the tags of the selected domains',
  async handle(call) {
    const field = readForm(call.raw);
    const ids = readFormList(call.raw)('id');
    const query = queryOf(field('back'));
    const backTo = (more: Query) => seeOther(pathWith(DOMAINS, { ...query, ...more }));
    if (ids.length === 0) return backTo({ done: 'select' });
    const tags = splitTags(field('tags'));
    const name = field('action') === 'remove' ? 'remove' : 'add';
    const labels = Object.fromEntries(
      Object.entries(tagLabels(tags)).map(([key, label]) => [key.replace('tags', name), label]),
    );
    const { result, problem } = await submit(labels, async () => {
      if (tags.length === 0) throw new AppError('validation_failed', 'Enter a tag first.');
      return call.invoke(tableOperations.tag, { body: { ids, [name]: tags } });
    });
    if (problem === null) return backTo({ done: 'tagged', changed: String(result.changed) });
    const [error] = Object.values(problem.fields);
    return renderDomains(call, {
      query,
      tagProblem: { ...problem, notice: problem.notice ?? error ?? null, fields: {} },
    });
  },
});

export const domainListPages = [show, tagSelected];
