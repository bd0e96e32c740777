/** API keys: create, list, revoke. A new key is shown once, in the response to its form. Connected assistants below. */

import type * as v from 'valibot';
import type { Role } from '../../http/actor.ts';
import { protectedResourceOf } from '../../http/protected-resource.ts';
import { apiKeyOperations } from '../../team/api-key-routes.ts';
import { assistantOperations, type ConnectedAssistant } from '../../team/assistant-routes.ts';
import { memberOperations } from '../../team/member-routes.ts';
import type { ApiKey } from '../../team/schema.ts';
import { Copyable, StateMark } from '../../ui/components.tsx';
import { Confirm } from '../frame/action.tsx';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Card } from '../frame/card.tsx';
import {
  type FormProblem,
  Notice,
  ProblemNotice,
  readForm,
  Select,
  TextField,
} from '../frame/form.tsx';
import { ListQuery } from '../frame/list-page.tsx';
import { operationForm } from '../frame/operation-form.ts';
import { page } from '../frame/page-route.ts';
import { EmptyState } from '../frame/states.tsx';
import { DataTable, Pager } from '../frame/table.tsx';
import { splitTags, tagLabels } from '../frame/tags-field.tsx';
import { Ago } from '../frame/times.tsx';
import { LimitField, LimitNote, readTags } from './limit.tsx';
import { MODES, ROLE_NAMES, rolesUpTo } from './roles.ts';

const PATH = '/api-keys';

const LIFETIMES: [seconds: string, text: string][] = [
  ['2592000', '30 days'],
  ['7776000', '90 days'],
  ['31536000', '1 year'],
  ['', 'Never'],
];

interface State {
  query?: v.InferOutput<typeof ListQuery>;
  /** What was typed. */
  values?: { name: string; role: string; tags: string; mode: string; expires_in: string };
  problem?: FormProblem | null;
  /** The new key. */
  created?: { name: string; key: string };
}

async function render(call: PageCall, { query = {}, values, problem = null, created }: State) {
  const { starting_after, ending_before } = query;
  const listQuery = { starting_after, ending_before };
  const keys = await call.invoke(apiKeyOperations.list, { query: listQuery });
  const assistants = await call.invoke(assistantOperations.list, { query: { limit: '100' } });
  const { data: members } = await call.invoke(memberOperations.list);
  const nameOf = (id: string) =>
    members.find((member) => member.id === id)?.name ?? 'Removed member';
  const resource = protectedResourceOf(call.app.config);
  return appPage(call, {
    suggestTags: true,
    title: 'API keys',
    section: 'keys',
    path: PATH,
    status: problem?.status,
    headers: problem?.headers,
    calls: [
      { route: apiKeyOperations.list, query: listQuery },
      { route: assistantOperations.list },
    ],
    children: (
      <>
        {query.done === 'revoked' && <Notice tone="pass">API key revoked.</Notice>}
        {query.done === 'disconnected' && <Notice tone="pass">Assistant disconnected.</Notice>}
        {created && <NewKey {...created} />}
        {!call.actor.livemode && (
          <Notice tone="info">
            This list has the keys of both modes. Revoking a live key affects programs that use live
            data.
          </Notice>
        )}
        {keys.data.length > 0 ? (
          <KeyTable keys={keys.data} nameOf={nameOf} />
        ) : (
          <EmptyState title="No API keys yet">
            Scripts and build pipelines use a key to create tests and read results.
          </EmptyState>
        )}
        <Pager
          path={PATH}
          query={{}}
          cursors={listQuery}
          rows={keys.data}
          hasMore={keys.has_more}
        />
        <Card title="Create an API key" id="create">
          <form method="post" action={PATH} class="fields">
            <ProblemNotice problem={problem} />
            <TextField
              name="name"
              label="Name"
              hint="What the key is for, such as “Build pipeline”."
              value={values?.name}
              error={problem?.fields.name}
              required
            />
            <Select
              name="role"
              label="Role"
              options={rolesUpTo(call.actor.role)}
              value={values?.role ?? 'member'}
              error={problem?.fields.role}
            />
            <LimitField value={values?.tags} problem={problem} limit={call.actor.tags} />
            <div class="field-row">
              <Select
                name="mode"
                label="Mode"
                options={MODES}
                value={values?.mode ?? (call.actor.livemode ? 'live' : 'test')}
              />
              <Select
                name="expires_in"
                label="Expires after"
                options={LIFETIMES}
                value={values?.expires_in ?? '7776000'}
                error={problem?.fields.expires_in}
              />
            </div>
            <button type="submit" class="button primary">
              Create key
            </button>
          </form>
        </Card>
        {(resource !== null || assistants.data.length > 0) && (
          <Card title="Connected assistants" id="assistants">
            {assistants.data.length > 0 && (
              <AssistantTable rows={assistants.data} nameOf={nameOf} />
            )}
            {resource === null ? (
              <p>Assistants are turned off. None of them has access.</p>
            ) : (
              <>
                <p>
                  To connect Claude, ChatGPT or another assistant, add this URL to it as a
                  connector:
                </p>
                <div class="box">
                  <Copyable text={resource.resource} label="the URL for assistants" />
                </div>
              </>
            )}
          </Card>
        )}
      </>
    ),
  });
}

function NewKey({ name, key }: { name: string; key: string }) {
  return (
    <Card title={`Copy the key “${name}” now`} id="new-key">
      <p>It is shown only once. Store it where only your program can read it.</p>
      <div class="box">
        <Copyable text={key} label="the API key" />
      </div>
    </Card>
  );
}

type NameOf = (id: string) => string;

/** The columns that keys and assistants share. */
const columnsOf = (nameOf: NameOf) => ({
  mode: {
    title: 'Mode',
    cell: ({ livemode }: { livemode: boolean }) =>
      livemode ? 'Live' : <StateMark state="unknown" word="Test mode" badge />,
    wide: 'desktop' as const,
  },
  member: {
    title: 'Member',
    cell: ({ member_id }: { member_id: string }) => nameOf(member_id),
    wide: true as const,
  },
  lastUsed: {
    title: 'Last used',
    cell: ({ last_used_at }: { last_used_at: string | null }) =>
      last_used_at ? <Ago at={last_used_at} /> : 'Never',
  },
});

function KeyTable({ keys, nameOf }: { keys: ApiKey[]; nameOf: NameOf }) {
  const { mode, member, lastUsed } = columnsOf(nameOf);
  return (
    <DataTable<ApiKey>
      label="API keys"
      rows={keys}
      compact
      keyOf={({ id }) => id}
      columns={[
        { title: 'Name', cell: ({ name }) => name },
        { title: 'Key', cell: ({ prefix }) => <code>{prefix}…</code>, wide: true },
        {
          title: 'Role',
          cell: ({ role, tags }) => (
            <>
              {ROLE_NAMES[role]}
              <LimitNote tags={tags} />
            </>
          ),
        },
        mode,
        member,
        lastUsed,
        {
          title: 'Expires',
          cell: ({ expires_at }) => (expires_at ? <Ago at={expires_at} /> : 'Never'),
          wide: true,
        },
        {
          title: 'Actions',
          hiddenTitle: true,
          cell: ({ id, name }) => (
            <Confirm
              action={`${PATH}/${id}/revoke`}
              label="Revoke…"
              warning={`Programs that use “${name}” stop working immediately. This cannot be undone.`}
              confirm="Revoke key"
            />
          ),
        },
      ]}
    />
  );
}

function AssistantTable({ rows, nameOf }: { rows: ConnectedAssistant[]; nameOf: NameOf }) {
  const { mode, member, lastUsed } = columnsOf(nameOf);
  const withNote = (text: string, note: string | false) => (
    <>
      {text}
      {note && <span class="row-note">{note}</span>}
    </>
  );
  return (
    <DataTable<ConnectedAssistant>
      label="Connected assistants"
      rows={rows}
      compact
      keyOf={({ id }) => id}
      columns={[
        { title: 'Name', cell: ({ name, host }) => withNote(name, host) },
        {
          title: 'Role',
          cell: ({ role, writes, tags }) => (
            <>
              {withNote(ROLE_NAMES[role], writes && 'can change settings')}
              <LimitNote tags={tags} />
            </>
          ),
        },
        mode,
        member,
        { title: 'Connected', cell: ({ created_at }) => <Ago at={created_at} />, wide: true },
        { ...lastUsed, wide: true },
        {
          title: 'Actions',
          hiddenTitle: true,
          cell: ({ id, name }) => (
            <Confirm
              action={`${PATH}/assistants/${id}/disconnect`}
              label="Disconnect…"
              warning={`“${name}” loses its access immediately. To use it again, connect it again.`}
              confirm="Disconnect"
            />
          ),
        },
      ]}
    />
  );
}

const show = page({
  path: PATH,
  operation: 'showApiKeys',
  limited: true,
  role: 'member',
  summary: 'Show the API keys',
  query: ListQuery,
  handle: (call) => render(call, { query: call.query }),
});

const LABELS = { name: 'name', role: 'role', expires_in: 'lifetime' };

const create = operationForm({
  path: PATH,
  operation: 'submitApiKey',
  summary: 'Create an API key with the form',
  route: apiKeyOperations.create,
  read(raw) {
    const field = readForm(raw);
    return {
      name: field('name'),
      role: field('role'),
      tags: field('tags'),
      mode: field('mode'),
      expires_in: field('expires_in'),
    };
  },
  body: ({ name, role, tags, mode, expires_in }) => ({
    name,
    role: role as Role,
    tags: readTags(tags),
    livemode: mode !== 'test',
    expires_in: expires_in === '' ? null : Number(expires_in),
  }),
  labels: ({ tags }) => ({ ...LABELS, ...tagLabels(splitTags(tags)) }),
  // The key is in this response only, so there is no redirect.
  next: (created, call) => render(call, { created }),
  onProblem: (call, problem, values) => render(call, { values, problem }),
});

const revoke = operationForm({
  path: `${PATH}/:id/revoke`,
  operation: 'submitApiKeyRevocation',
  role: 'member',
  summary: 'Revoke an API key with the button',
  route: apiKeyOperations.revoke,
  next: () => `${PATH}?done=revoked`,
});

const disconnect = operationForm({
  path: `${PATH}/assistants/:id/disconnect`,
  operation: 'submitAssistantDisconnection',
  role: 'member',
  summary: 'Disconnect an assistant with the button',
  route: assistantOperations.revoke,
  next: () => `${PATH}?done=disconnected#assistants`,
});

export const apiKeyPages = [show, create, revoke, disconnect];
