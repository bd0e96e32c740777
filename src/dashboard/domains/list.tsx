/** The list of domains: by state, or filtered by state and name; and the form to add one. */

import * as v from 'valibot';
import { countDomains } from '../../domains/queries.ts';
import { domainOperations } from '../../domains/routes.ts';
import type { ListedDomain } from '../../domains/schema.ts';
import { readableDomain } from '../../lib/readable-domain.ts';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Filters } from '../frame/filters.tsx';
import { Notice, Select, TextField } from '../frame/form.tsx';
import { page } from '../frame/page-route.ts';
import { For, useReader } from '../frame/reader.tsx';
import { EmptyState, Fold, Score } from '../frame/states.tsx';
import { type Column, DataTable, Pager, pathWith } from '../frame/table.tsx';
import { Ago, Due } from '../frame/times.tsx';
import { AddDomains, type AddDomainsProps } from './add-form.tsx';
import {
  DOMAIN_STATES,
  DomainMark,
  type DomainState,
  domainStateOf,
  filterOf,
  STATE_SENTENCES,
  STATE_WORDS,
} from './states.tsx';

export const DOMAINS = '/domains';

/** Rows of each state on the first page, which shows all states. */
const GROUP_SIZE = 10;
const PAGE_SIZE = 25;

const Query = v.strictObject({
  state: v.optional(v.string()),
  q: v.optional(v.string()),
  starting_after: v.optional(v.string()),
  ending_before: v.optional(v.string()),
  done: v.optional(v.string()),
});
type Query = v.InferOutput<typeof Query>;

interface State extends Partial<AddDomainsProps> {
  query?: Query;
}

/** A section of the first page. */
interface Group {
  state: DomainState;
  count: number;
  domains: ListedDomain[];
}

export async function renderDomains(
  call: PageCall,
  { query = {}, problem = null, ...typed }: State,
) {
  const counts = countsOf(await countDomains(call.app.db));
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const state = DOMAIN_STATES.find((candidate) => candidate === query.state);
  const q = query.q?.trim() || undefined;
  const { starting_after, ending_before } = query;
  const isFiltered = Boolean(state || q);
  const listQuery = {
    ...(state ? filterOf(state) : {}),
    q,
    limit: String(PAGE_SIZE),
    starting_after,
    ending_before,
  };
  const filtered = isFiltered
    ? await call.invoke(domainOperations.list, { query: listQuery })
    : null;
  const groups = isFiltered ? [] : await groupsOf(call, counts);
  return appPage(call, {
    title: 'Domains',
    section: 'domains',
    path: pathWith(DOMAINS, { state, q }),
    status: problem?.status,
    headers: problem?.headers,
    actions: counts.pending + counts.failed > 0 && (
      <a class="button" href={`${DOMAINS}/verify`}>
        Verify domains
      </a>
    ),
    calls: [
      { route: domainOperations.list, query: isFiltered ? listQuery : {} },
      { route: domainOperations.create, body: { name: 'example.com' } },
    ],
    children: (
      <>
        {query.done === 'deleted' && <Notice tone="pass">Domain deleted.</Notice>}
        {total === 0 && call.actor.tags !== null && (
          <EmptyState title="No domains yet">
            No domain has the tags that your access is limited to. An admin can add them.
          </EmptyState>
        )}
        {total === 0 && call.actor.tags === null && (
          <EmptyState title="Add your first domain">
            The service checks the DNS records of your domains every day, and tells you which
            records to publish or fix.
          </EmptyState>
        )}
        <For role="member" team>
          <AddDomains {...typed} problem={problem} />
        </For>
        {total > 0 && (
          <Filters path={DOMAINS} active={isFiltered}>
            <Select
              name="state"
              label="State"
              value={state ?? ''}
              options={[
                ['', `All (${total.toLocaleString('en')})`],
                ...DOMAIN_STATES.map((one): [string, string] => [
                  one,
                  `${STATE_WORDS[one]} (${counts[one].toLocaleString('en')})`,
                ]),
              ]}
            />
            <TextField
              name="q"
              label="Name contains"
              type="search"
              value={q}
              maxLength={200}
              grow
            />
          </Filters>
        )}
        {groups.map((group) => (
          <GroupSection key={group.state} {...group} />
        ))}
        {filtered && (
          <FilteredList
            state={state}
            q={q}
            starting_after={starting_after}
            ending_before={ending_before}
            {...filtered}
          />
        )}
      </>
    ),
  });
}

function countsOf(rows: Awaited<ReturnType<typeof countDomains>>): Record<DomainState, number> {
  const counts = { critical: 0, failed: 0, warning: 0, pending: 0, unknown: 0, healthy: 0 };
  for (const { status, health_status, count } of rows)
    counts[domainStateOf({ status, health: { status: health_status } })] += count;
  return counts;
}

/** The first domains in each state that occurs. */
async function groupsOf(call: PageCall, counts: Record<DomainState, number>): Promise<Group[]> {
  const states = DOMAIN_STATES.filter((state) => counts[state] > 0);
  return Promise.all(
    states.map(async (state) => {
      const query = { ...filterOf(state), limit: String(GROUP_SIZE) };
      const { data: domains } = await call.invoke(domainOperations.list, { query });
      return { state, count: counts[state], domains };
    }),
  );
}

const ICONS: Record<DomainState, string> = {
  critical: 'fail',
  failed: 'fail',
  warning: 'warn',
  pending: 'unset',
  unknown: 'unknown',
  healthy: 'pass',
};

/** The heading says the state, except whether an unknown domain still waits for its first check. */
const columnsOf = (state: DomainState) =>
  COLUMNS.filter(({ title }) => title !== 'State' || state === 'unknown');

/** What is fine is folded. */
function GroupSection({ state, count, domains }: Group) {
  const label = `${STATE_WORDS[state]}: ${count.toLocaleString('en')}`;
  const content = (
    <>
      <p class="muted small">{STATE_SENTENCES[state]}</p>
      <div class="same-columns">
        <DomainTable label={label} domains={domains} columns={columnsOf(state)} />
      </div>
      {count > domains.length && (
        <p>
          <a href={pathWith(DOMAINS, { state })}>
            Show all {count.toLocaleString('en')}
            <span class="visually-hidden"> domains: {STATE_WORDS[state]}</span>
          </a>
        </p>
      )}
    </>
  );
  if (state === 'healthy')
    return (
      <section class="card panel">
        <Fold
          summary={
            <h2 class="fold-title">
              {count === 1 ? '1 healthy domain' : `${count.toLocaleString('en')} healthy domains`}
            </h2>
          }
        >
          <div class="stack">{content}</div>
        </Fold>
      </section>
    );
  return (
    <section class="stack" aria-labelledby={`state-${state}`}>
      <h2 id={`state-${state}`} class={`state-title ${ICONS[state]}`}>
        <svg class="icon" aria-hidden="true">
          <use href={`#icon-${ICONS[state]}`} />
        </svg>
        {STATE_WORDS[state]} <span class="count">{count.toLocaleString('en')}</span>
      </h2>
      {content}
    </section>
  );
}

interface FilteredProps {
  state?: DomainState;
  q?: string;
  starting_after?: string;
  ending_before?: string;
  data: ListedDomain[];
  has_more: boolean;
}

function FilteredList({ state, q, starting_after, ending_before, data, has_more }: FilteredProps) {
  if (data.length === 0)
    return (
      <EmptyState
        title="No matching domains"
        action={
          <a class="button" href={DOMAINS}>
            Clear filters
          </a>
        }
      >
        No domains match this state and name.
      </EmptyState>
    );
  return (
    <>
      {state && <p class="muted small">{STATE_SENTENCES[state]}</p>}
      <DomainTable label="Matching domains" domains={data} />
      <Pager
        path={DOMAINS}
        query={{ state, q }}
        cursors={{ starting_after, ending_before }}
        rows={data}
        hasMore={has_more}
      />
    </>
  );
}

const COLUMNS: Column<ListedDomain>[] = [
  { title: 'Domain', cell: (domain) => <DomainName {...domain} /> },
  { title: 'State', cell: (domain) => <DomainMark domain={domain} /> },
  {
    title: 'Score',
    number: true,
    cell: ({ status, health }) => (
      <Score score={status === 'verified' ? health.score : null} grade={null} />
    ),
  },
  { title: 'Last check', wide: true, cell: (domain) => <LastCheck {...domain} /> },
  {
    title: 'Next check',
    wide: true,
    cell: ({ next_check_at }) =>
      next_check_at ? <Due at={next_check_at} /> : <span class="muted">None</span>,
  },
];

interface TableProps {
  label: string;
  domains: ListedDomain[];
  columns?: Column<ListedDomain>[];
}

const DomainTable = ({ label, domains, columns = COLUMNS }: TableProps) => (
  <DataTable
    label={label}
    rows={domains}
    keyOf={({ id }) => id}
    hrefOf={({ id }) => `${DOMAINS}/${id}`}
    columns={columns}
  />
);

/** International names are shown as people write them, with the stored A-labels below. */
function DomainName({ name, missing_since }: Pick<ListedDomain, 'name' | 'missing_since'>) {
  const readable = readableDomain(name);
  return (
    <>
      <bdi>{readable}</bdi>
      {readable !== name && <span class="row-note">{name}</span>}
      {missing_since && <span class="row-note">Verification record missing</span>}
    </>
  );
}

/** Of the health for a verified domain, otherwise of the verification record. */
function LastCheck({ status, health, last_checked_at }: ListedDomain) {
  const at = status === 'verified' ? health.checked_at : last_checked_at;
  return at ? <Ago at={at} /> : <span class="muted">Never</span>;
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

export const domainListPages = [show];
