/** The page of all name servers with the latest changes, and the form for a new one. */

import * as v from 'valibot';
import { dnsChangeOperations, dnsServerOperations } from '../../dns-changes/routes.ts';
import type { DnsServer } from '../../dns-changes/schema.ts';
import {
  isKnownServerKind,
  SERVER_KIND_IDS,
  SERVER_KINDS,
  type ServerKindId,
} from '../../dns-changes/servers/index.ts';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Card } from '../frame/card.tsx';
import { type FormProblem, readForm, submit } from '../frame/form.tsx';
import { listPage } from '../frame/list-page.tsx';
import { seeOther } from '../frame/page.tsx';
import { form, page } from '../frame/page-route.ts';
import { EmptyState } from '../frame/states.tsx';
import { DataTable } from '../frame/table.tsx';
import { Ago } from '../frame/times.tsx';
import { ChangeTable } from './changes.tsx';
import { CHANGES, DNS, PARENTS, SERVERS, ServerState } from './parts.tsx';
import {
  bodyOf,
  NEW_SERVER,
  readValues,
  SERVER_LABELS,
  ServerForm,
  type ServerValues,
} from './server-form.tsx';

const LATEST_CHANGES = '5';

const kindName = (id: string): string => (isKnownServerKind(id) ? SERVER_KINDS[id].name : id);

const show = listPage({
  path: DNS,
  operation: 'showDnsServers',
  summary: 'Show the name servers and the latest DNS changes',
  title: 'Name servers',
  section: 'dns',
  route: dnsServerOperations.list,
  done: { deleted: 'Name server deleted.' },
  async content(servers, call) {
    const query = { limit: LATEST_CHANGES };
    const changes = await call.invoke(dnsChangeOperations.list, { query });
    const isEmpty = servers.length === 0;
    return {
      actions: !isEmpty && <AddServer />,
      list: isEmpty ? (
        <EmptyState title="No name servers yet" action={<AddServer />}>
          Add the credentials of your name server to publish the records that fix findings with one
          button. You see each change before it is made, and can undo it.
        </EmptyState>
      ) : (
        <ServerTable servers={servers} />
      ),
      calls: [{ route: dnsChangeOperations.list, query }],
      after: changes.data.length > 0 && (
        <Card
          title="Latest changes"
          id="changes"
          actions={changes.has_more && <a href={CHANGES}>All changes</a>}
        >
          <ChangeTable changes={changes.data} />
        </Card>
      ),
    };
  },
});

const AddServer = () => (
  <a class="button primary" href={`${SERVERS}/new`}>
    Add name server
  </a>
);

const ServerTable = ({ servers }: { servers: DnsServer[] }) => (
  <DataTable
    label="Name servers"
    rows={servers}
    keyOf={({ id }) => id}
    hrefOf={({ id }) => `${SERVERS}/${id}`}
    columns={[
      { title: 'Name', cell: ({ name }) => <bdi>{name}</bdi> },
      { title: 'State', cell: (server) => <ServerState server={server} /> },
      { title: 'Kind', cell: ({ kind }) => kindName(kind), wide: true },
      {
        title: 'Last check',
        cell: ({ checked_at }) => checked_at && <Ago at={checked_at} />,
        wide: true,
      },
    ]}
  />
);

// A new one.

const NewQuery = v.strictObject({ kind: v.optional(v.string()) });

function renderNew(
  call: PageCall,
  kind: ServerKindId,
  values: ServerValues = NEW_SERVER,
  problem: FormProblem | null = null,
) {
  const { fields, hint } = SERVER_KINDS[kind];
  return appPage(call, {
    title: 'New name server',
    section: 'dns',
    path: `${SERVERS}/new?kind=${kind}`,
    parents: PARENTS,
    status: problem?.status,
    headers: problem?.headers,
    calls: [{ route: dnsServerOperations.create, body: exampleOf(kind) }],
    children: (
      <Card>
        <nav class="tabs screen-only" aria-label="Kind of name server">
          {SERVER_KIND_IDS.map((id) => (
            <a
              key={id}
              href={`${SERVERS}/new?kind=${id}`}
              aria-current={id === kind ? 'true' : undefined}
            >
              {SERVER_KINDS[id].name}
            </a>
          ))}
        </nav>
        <p class="muted">
          {hint} For other providers, copy each record from{' '}
          <a href="/domains">the page of a domain</a>.
        </p>
        <ServerForm
          action={SERVERS}
          kind={kind}
          fields={fields}
          values={values}
          problem={problem}
          submit="Add and check"
        />
      </Card>
    ),
  });
}

const exampleOf = (kind: ServerKindId) => ({
  // A team has one name server of each name.
  kind,
  name: kind,
  settings: Object.fromEntries(
    SERVER_KINDS[kind].fields
      .filter(({ isRequired }) => isRequired)
      .map(({ name, example }) => [name, example]),
  ),
});

const showNew = page({
  path: `${SERVERS}/new`,
  operation: 'showNewDnsServer',
  role: 'admin',
  summary: 'Show the form for a new name server',
  query: NewQuery,
  handle: (call) => renderNew(call, kindOf(call.query.kind)),
});

const kindOf = (text = ''): ServerKindId => (isKnownServerKind(text) ? text : SERVER_KIND_IDS[0]!);

const create = form({
  path: SERVERS,
  operation: 'submitDnsServer',
  role: 'admin',
  summary: 'Add a name server with the form, and check it',
  async handle(call) {
    const kind = kindOf(readForm(call.raw)('kind'));
    const { fields } = SERVER_KINDS[kind];
    const values = readValues(call.raw, fields);
    const { result, problem } = await submit(SERVER_LABELS, () =>
      call.invoke(dnsServerOperations.create, { body: { kind, ...bodyOf(values, fields) } }),
    );
    if (problem) return renderNew(call, kind, values, problem);
    await call.invoke(dnsServerOperations.check, { params: { id: result.id } });
    return seeOther(`${SERVERS}/${result.id}?done=added`);
  },
});

/** Before the pages of a server, because the path of the form matches theirs too. */
export const dnsServerListPages = [show, showNew, create];
