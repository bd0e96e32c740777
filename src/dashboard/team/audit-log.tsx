/** The page of the audit log: who changed what, when, and from where. */

import * as v from 'valibot';
import { isoTime } from '../../lib/clock.ts';
import { DAY_MS } from '../../lib/durations.ts';
import type { AuditedObject } from '../../store/audited.ts';
import { auditOperations } from '../../team/audit-routes.ts';
import { memberOperations } from '../../team/member-routes.ts';
import type { AuditEntry, TeamMember } from '../../team/schema.ts';
import { Popover } from '../../ui/components.tsx';
import { appPage } from '../frame/app-page.tsx';
import { Filters } from '../frame/filters.tsx';
import { Select } from '../frame/form.tsx';
import { page } from '../frame/page-route.ts';
import { EmptyState } from '../frame/states.tsx';
import { DataTable, Pager, pathWith } from '../frame/table.tsx';
import { Ago, Time } from '../frame/times.tsx';
import {
  actionOptions,
  actionText,
  cut,
  detailName,
  detailText,
  findPages,
  objectName,
  objectNoun,
} from './audit-words.ts';

const PATH = '/audit-log';

const PERIODS: [days: string, text: string][] = [
  ['1', 'Last 24 hours'],
  ['7', 'Last 7 days'],
  ['30', 'Last 30 days'],
  ['90', 'Last 90 days'],
];

const Query = v.strictObject({
  member: v.optional(v.string()),
  action: v.optional(v.string()),
  /** The ID of an object. */
  object: v.optional(v.string()),
  /** Days. */
  period: v.optional(v.string()),
  starting_after: v.optional(v.string()),
  ending_before: v.optional(v.string()),
});

export const auditPages = (audited: AuditedObject[]) => [
  page({
    path: PATH,
    operation: 'showAuditLog',
    role: 'admin',
    summary: 'Show the audit log',
    query: Query,
    async handle(call) {
      const { starting_after, ending_before, ...filters } = call.query;
      const { member, action, object } = filters;
      const period = PERIODS.find(([days]) => days === filters.period)?.[0];
      const cursors = { starting_after, ending_before };
      const query = {
        ...cursors,
        member_id: member || undefined,
        action: action || undefined,
        object_id: object || undefined,
        created_after: period && isoTime(call.app.clock.now() - Number(period) * DAY_MS),
      };
      const entries = await call.invoke(auditOperations.list, { query });
      const { data: members } = await call.invoke(memberOperations.list);
      const { app, actor } = call;
      const pages = await findPages(audited, app.db, entries.data, actor.livemode);
      const active = { member, action, object, period };
      const isFiltered = Object.values(active).some(Boolean);
      return appPage(call, {
        title: 'Audit log',
        section: 'audit',
        path: pathWith(PATH, { ...active, ...cursors }),
        calls: [{ route: auditOperations.list, query }],
        children: (
          <>
            <AuditFilters {...active} audited={audited} members={members} isFiltered={isFiltered} />
            {entries.data.length > 0 ? (
              <EntryTable
                audited={audited}
                entries={entries.data}
                members={members}
                pages={pages}
              />
            ) : (
              <NoEntries isFiltered={isFiltered} />
            )}
            <Pager
              path={PATH}
              query={active}
              cursors={cursors}
              rows={entries.data}
              hasMore={entries.has_more}
            />
          </>
        ),
      });
    },
  }),
];

interface FilterProps {
  audited: AuditedObject[];
  member?: string;
  action?: string;
  object?: string;
  period?: string;
  members: TeamMember[];
  isFiltered: boolean;
}

function AuditFilters({
  audited,
  member,
  action,
  object,
  period,
  members,
  isFiltered,
}: FilterProps) {
  const isRemoved = member && !members.some(({ id }) => id === member);
  return (
    <Filters path={PATH} active={isFiltered}>
      <Select
        name="member"
        label="Member"
        options={[
          ['', 'Everyone'],
          ...(isRemoved ? [[member, 'Removed member'] as [string, string]] : []),
          ...members.map(({ id, name }): [string, string] => [id, name]),
        ]}
        value={member}
      />
      <Select
        name="action"
        label="Change"
        options={[['', 'Any'], ...actionOptions(audited, action)]}
        value={action}
      />
      <Select
        name="period"
        label="Period"
        options={[['', 'Any time'], ...PERIODS]}
        value={period}
      />
      {object && <input type="hidden" name="object" value={object} />}
    </Filters>
  );
}

const NoEntries = ({ isFiltered }: { isFiltered: boolean }) =>
  isFiltered ? (
    <EmptyState
      title="No matching entries"
      action={
        <a class="button" href={PATH}>
          Clear filters
        </a>
      }
    >
      Choose another member, change, or period.
    </EmptyState>
  ) : (
    <EmptyState title="No entries yet">
      Every change to the team, its domains and its settings appears here.
    </EmptyState>
  );

interface EntriesProps {
  audited: AuditedObject[];
  entries: AuditEntry[];
  members: TeamMember[];
  /** The pages of objects, by ID. */
  pages: Map<string, string>;
}

function EntryTable({ audited, entries, members, pages }: EntriesProps) {
  const nameOf = (id: string) => members.find((member) => member.id === id)?.name;
  const propsOf = (entry: AuditEntry) => ({
    audited,
    entry,
    path: pages.get(entry.object_id) ?? null,
  });
  return (
    <DataTable
      label="Audit log"
      rows={entries}
      compact
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Change',
          cell: ({ action, member_email }) => (
            <>
              <strong>{actionText(audited, action)}</strong>
              <div class="narrow long">{member_email ?? 'The service'}</div>
            </>
          ),
        },
        {
          title: 'Object',
          cell: (entry) => (
            <ChangedObject {...propsOf(entry)} memberName={nameOf(entry.object_id)} />
          ),
          wide: true,
        },
        {
          title: 'By',
          cell: ({ member_email, key_id }) =>
            member_email === null ? (
              <span class="muted">The service</span>
            ) : (
              <>
                <span class="actor">{member_email}</span>
                {key_id && (
                  <span class="row-note">
                    with {key_id.startsWith('con_') ? 'an assistant' : 'an API key'}
                  </span>
                )}
              </>
            ),
          wide: true,
        },
        { title: 'Address', cell: ({ ip }) => ip ?? <span class="muted">–</span>, wide: 'desktop' },
        {
          title: 'When',
          cell: ({ created_at }) => (
            <span class="nowrap">
              <Ago at={created_at} />
            </span>
          ),
        },
        { title: 'Details', hiddenTitle: true, cell: (entry) => <Details {...propsOf(entry)} /> },
      ]}
    />
  );
}

interface EntryProps {
  audited: AuditedObject[];
  entry: AuditEntry;
  /** The page of the object, if there is one. */
  path: string | null;
}

function ChangedObject({ audited, entry, path, memberName }: EntryProps & { memberName?: string }) {
  const { name, email, receiver } = entry.details;
  const candidates = [memberName, name, email, receiver];
  const label = candidates.find((value) => typeof value === 'string') ?? entry.object_id;
  const text = <bdi class="clipped">{cut(String(label))}</bdi>;
  return (
    <>
      {path ? <a href={path}>{text}</a> : text}
      <span class="row-note">{objectName(audited, entry.object_type)}</span>
    </>
  );
}

function Details({ audited, entry, path }: EntryProps) {
  const noun = objectNoun(objectName(audited, entry.object_type));
  const { id, object_id, key_id, session_id, ip, details } = entry;
  const facts: [string, string][] = [
    ...Object.entries(details).map(([name, value]): [string, string] => [
      detailName(name),
      detailText(value),
    ]),
    [`ID (${noun})`, object_id],
    ...(key_id
      ? [[key_id.startsWith('con_') ? 'Assistant' : 'API key', key_id] as [string, string]]
      : []),
    ...(session_id ? [['Session', session_id] as [string, string]] : []),
    ...(ip ? [['Address', ip] as [string, string]] : []),
  ];
  return (
    <Popover
      id={id}
      class="printed"
      label="Details"
      buttonClass="button quiet-icon"
      button={
        <svg class="icon" aria-hidden="true" viewBox="0 0 16 16">
          <path d="M3 8h.1M8 8h.1M13 8h.1" />
        </svg>
      }
    >
      <dl class="details">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <bdi>
                <WithTimes text={cut(value)} />
              </bdi>
            </dd>
          </div>
        ))}
      </dl>
      <p class="links small">
        {path && <a href={path}>Open the {noun}</a>}
        <a href={pathWith(PATH, { object: object_id })}>All changes to this object</a>
      </p>
    </Popover>
  );
}

/** Times in the zone of the reader, wherever they are in the text. */
const WithTimes = ({ text }: { text: string }) => (
  <>
    {text
      .split(/\b(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)/)
      .map((part, index) =>
        index % 2 === 1 && isTime(part) ? <Time key={index} at={part} /> : part,
      )}
  </>
);

/** Members can write anything in the form of a time. */
const isTime = (text: string): boolean => !Number.isNaN(Date.parse(text));
