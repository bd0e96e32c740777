/** The list of monitors: by state, or filtered by state. */

import * as v from 'valibot';
import { findDomainNames } from '../../domains/queries.ts';
import { readableDomain } from '../../lib/readable-domain.ts';
import { countMonitors } from '../../monitors/queries.ts';
import { monitorOperations } from '../../monitors/routes.ts';
import type { Monitor } from '../../monitors/schema.ts';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Notice } from '../frame/form.tsx';
import { page } from '../frame/page-route.ts';
import { useReader } from '../frame/reader.tsx';
import { EmptyState, Fold } from '../frame/states.tsx';
import { type Column, DataTable, Pager, pathWith } from '../frame/table.tsx';
import { Ago, Due } from '../frame/times.tsx';
import {
  FREQUENCY_WORDS,
  MONITOR_STATES,
  MonitorMark,
  type MonitorState,
  STATE_SENTENCES,
  STATE_WORDS,
  typeWords,
} from './states.tsx';

export const MONITORS = '/monitors';

/** Rows of each state on the first page, which shows all states. */
const GROUP_SIZE = 10;
const PAGE_SIZE = 25;

const Query = v.strictObject({
  state: v.optional(v.string()),
  starting_after: v.optional(v.string()),
  ending_before: v.optional(v.string()),
  done: v.optional(v.string()),
});
type Query = v.InferOutput<typeof Query>;

/** The names of the domains of monitors, by ID. */
type Names = Map<string, string>;

async function render(call: PageCall, query: Query) {
  const counts = await countMonitors(call.app.db);
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const state = MONITOR_STATES.find((candidate) => candidate === query.state);
  const { starting_after, ending_before } = query;
  const listQuery = { status: state, limit: String(PAGE_SIZE), starting_after, ending_before };
  const filtered = state ? await call.invoke(monitorOperations.list, { query: listQuery }) : null;
  const groups = state ? [] : await groupsOf(call, counts);
  const shown = [...(filtered?.data ?? []), ...groups.flatMap(({ monitors }) => monitors)];
  const ids = shown.flatMap(({ domain_id }) => (domain_id === null ? [] : [domain_id]));
  const names = await findDomainNames(call.app.db, ids);
  return appPage(call, {
    title: 'Monitors',
    section: 'monitors',
    path: pathWith(MONITORS, { state }),
    actions: total > 0 && <NewButton />,
    calls: [{ route: monitorOperations.list, query: state ? listQuery : {} }],
    children: (
      <>
        {query.done === 'deleted' && <Notice tone="pass">Monitor deleted.</Notice>}
        {total === 0 && (
          <EmptyState title="No monitors yet" action={<NewButton />}>
            A monitor checks a domain, looks up your IP addresses in blocklists, or watches where
            your messages arrive, as often as every hour.
          </EmptyState>
        )}
        {total > 0 && <StateTabs state={state} counts={counts} total={total} />}
        {groups.map((group) => (
          <GroupSection key={group.state} {...group} names={names} />
        ))}
        {state && filtered && filtered.data.length === 0 && (
          <EmptyState
            title="No matching monitors"
            action={
              <a class="button" href={MONITORS}>
                Show all
              </a>
            }
          >
            No monitors have this state.
          </EmptyState>
        )}
        {state && filtered && filtered.data.length > 0 && (
          <>
            <p class="group-note muted small">{STATE_SENTENCES[state]}</p>
            <MonitorTable label={STATE_WORDS[state]} monitors={filtered.data} names={names} />
            <Pager
              path={MONITORS}
              query={{ state }}
              cursors={{ starting_after, ending_before }}
              rows={filtered.data}
              hasMore={filtered.has_more}
            />
          </>
        )}
      </>
    ),
  });
}

type Counts = Partial<Record<MonitorState, number>>;

interface Group {
  state: MonitorState;
  count: number;
  monitors: Monitor[];
}

async function groupsOf(call: PageCall, counts: Counts): Promise<Group[]> {
  const states = MONITOR_STATES.filter((state) => counts[state]);
  return Promise.all(
    states.map(async (state) => {
      const query = { status: state, limit: String(GROUP_SIZE) };
      const { data: monitors } = await call.invoke(monitorOperations.list, { query });
      return { state, count: counts[state]!, monitors };
    }),
  );
}

function NewButton() {
  if (useReader().testMode) return null;
  return (
    <a class="button primary" href={`${MONITORS}/new`}>
      Create monitor
    </a>
  );
}

function StateTabs({
  state,
  counts,
  total,
}: {
  state?: MonitorState;
  counts: Counts;
  total: number;
}) {
  const tabs: [state: MonitorState | undefined, text: string, count: number][] = [
    [undefined, 'All', total],
    ...MONITOR_STATES.map((one): [MonitorState, string, number] => [
      one,
      STATE_WORDS[one],
      counts[one] ?? 0,
    ]),
  ];
  return (
    <nav class="tabs screen-only" aria-label="State">
      {tabs.map(([one, text, count]) => (
        <a
          key={text}
          href={pathWith(MONITORS, { state: one })}
          aria-current={one === state ? 'page' : undefined}
        >
          {text} <span class="count">{count.toLocaleString('en')}</span>
        </a>
      ))}
    </nav>
  );
}

const ICONS: Record<MonitorState, string> = {
  alerting: 'fail',
  unknown: 'unknown',
  paused: 'unset',
  ok: 'pass',
};

/** What is fine is folded. */
function GroupSection({ state, count, monitors, names }: Group & { names: Names }) {
  const content = (
    <>
      <p class="group-note muted small">{STATE_SENTENCES[state]}</p>
      <div class="same-columns">
        <MonitorTable label={STATE_WORDS[state]} monitors={monitors} names={names} state={state} />
      </div>
      {count > monitors.length && (
        <p>
          <a href={pathWith(MONITORS, { state })}>
            Show all {count.toLocaleString('en')}
            <span class="visually-hidden"> monitors: {STATE_WORDS[state]}</span>
          </a>
        </p>
      )}
    </>
  );
  if (state === 'ok')
    return (
      <section class="card panel">
        <Fold
          summary={
            <h2 class="fold-title">
              {count === 1
                ? '1 monitor without problems'
                : `${count.toLocaleString('en')} monitors without problems`}
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

interface TableProps {
  label: string;
  monitors: Monitor[];
  names: Names;
  /** Set under a heading that says the state. */
  state?: MonitorState;
}

function MonitorTable({ label, monitors, names, state }: TableProps) {
  const columns: Column<Monitor>[] = [
    {
      title: 'Monitor',
      cell: (monitor) => (
        <>
          <bdi>{monitor.name}</bdi>
          <span class="row-note">
            {typeWords(monitor.type)}: {subjectOf(monitor, names)}
          </span>
        </>
      ),
    },
    { title: 'State', cell: (monitor) => <MonitorMark monitor={monitor} /> },
    { title: 'Frequency', wide: 'desktop', cell: ({ frequency }) => FREQUENCY_WORDS[frequency] },
    {
      title: 'Last run',
      wide: true,
      cell: ({ last_run_at }) =>
        last_run_at ? <Ago at={last_run_at} /> : <span class="muted">Never</span>,
    },
    {
      title: 'Next run',
      wide: true,
      cell: ({ next_run_at }) =>
        next_run_at ? <Due at={next_run_at} /> : <span class="muted">None</span>,
    },
  ];
  return (
    <DataTable
      label={label}
      rows={monitors}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => `${MONITORS}/${id}`}
      columns={columns.filter(({ title }) => title !== 'State' || !state || state === 'unknown')}
    />
  );
}

/** The domain, or the first target and the number of others. */
function subjectOf({ domain_id, targets, address }: Monitor, names: Names): string {
  if (domain_id !== null) return readableDomain(names.get(domain_id) ?? domain_id);
  if (targets === null) return address ?? 'seed mailboxes';
  const others = targets.length - 1;
  return `${targets[0]}${others > 0 ? ` and ${others} more` : ''}`;
}

const show = page({
  path: MONITORS,
  operation: 'showMonitors',
  limited: true,
  role: 'member',
  summary: 'Show the monitors',
  query: Query,
  handle: (call) => render(call, call.query),
});

export const monitorListPages = [show];
