/** The page of a name server: whether its credentials work, its zones, and its settings. */

import { dnsChangeOperations, dnsServerOperations } from '../../dns-changes/routes.ts';
import type { DnsServer } from '../../dns-changes/schema.ts';
import { isKnownServerKind, SERVER_KINDS } from '../../dns-changes/servers/index.ts';
import { ActionButton, Confirm } from '../frame/action.tsx';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Card, Facts } from '../frame/card.tsx';
import { type FormProblem, Notice, PageQuery, ProblemNotice, submit } from '../frame/form.tsx';
import { operationForm } from '../frame/operation-form.ts';
import { seeOther } from '../frame/page.tsx';
import { form, page } from '../frame/page-route.ts';
import { Ago } from '../frame/times.tsx';
import { ifUnchanged, versionOf } from '../frame/version.tsx';
import { ChangeTable } from './changes.tsx';
import { CHANGES, DNS, PARENTS, SERVERS, ServerState } from './parts.tsx';
import {
  bodyOf,
  readValues,
  SERVER_LABELS,
  ServerForm,
  type ServerValues,
  valuesOf,
} from './server-form.tsx';

const DONE: Record<string, string> = {
  added: 'Name server added.',
  saved: 'Changes saved.',
  checked: 'Check completed.',
};

const MAX_SHOWN_ZONES = 50;
const LATEST_CHANGES = '5';

interface State {
  done?: string;
  values?: ServerValues;
  problem?: FormProblem | null;
  /** A problem with a button rather than with the form. */
  actionProblem?: FormProblem | null;
}

const kindOf = ({ kind }: Pick<DnsServer, 'kind'>) =>
  isKnownServerKind(kind) ? SERVER_KINDS[kind] : undefined;
const fieldsOf = (server: Pick<DnsServer, 'kind'>) => kindOf(server)?.fields ?? [];

async function render(call: PageCall, id: string, state: State = {}) {
  const { done = '', problem = null, actionProblem = null } = state;
  const params = { id };
  const server = await call.invoke(dnsServerOperations.get, { params });
  const query = { server_id: id, limit: LATEST_CHANGES };
  const changes = await call.invoke(dnsChangeOperations.list, { query });
  const failure = problem ?? actionProblem;
  const path = `${SERVERS}/${id}`;
  return appPage(call, {
    title: server.name,
    section: 'dns',
    path,
    parents: PARENTS,
    status: failure?.status,
    headers: failure?.headers,
    actions: <ActionButton action={`${path}/check`}>Check now</ActionButton>,
    calls: [
      { route: dnsServerOperations.get, params },
      { route: dnsServerOperations.check, params },
    ],
    children: (
      <>
        {Object.hasOwn(DONE, done) && server.problem === null && (
          <Notice tone="pass">{DONE[done]}</Notice>
        )}
        <ProblemNotice problem={actionProblem} />
        {server.problem !== null && (
          <Notice tone="fail">
            <bdi>{server.problem}</bdi>
          </Notice>
        )}
        <Card>
          <Facts
            items={[
              ['State', <ServerState key="state" server={server} />],
              ['Kind', kindOf(server)?.name ?? server.kind],
              ['Zones', <Zones key="zones" server={server} />],
              ['Last check', server.checked_at && <Ago key="check" at={server.checked_at} />],
              ['Added', <Ago key="added" at={server.created_at} />],
            ]}
          />
        </Card>
        {changes.data.length > 0 && (
          <Card
            title="Latest changes"
            id="changes"
            actions={changes.has_more && <a href={`${CHANGES}?server_id=${id}`}>All changes</a>}
          >
            <ChangeTable changes={changes.data} />
          </Card>
        )}
        <Card title="Settings" id="settings">
          {kindOf(server)?.isConfigured ? (
            <p>The settings are in the configuration of the service, under DNS_COMMANDS.</p>
          ) : (
            <ServerForm
              action={path}
              fields={fieldsOf(server)}
              values={state.values ?? valuesOf(server)}
              problem={problem}
              submit="Save and check"
              storedSecrets={server.stored_secrets}
              version={versionOf(dnsServerOperations.get, server)}
            />
          )}
        </Card>
        <Card title="Delete this name server" id="deletion">
          <Confirm
            action={`${path}/delete`}
            label="Delete…"
            warning="Its credentials are deleted. Published records stay, but you can no longer undo their changes here."
            confirm="Delete name server"
          />
        </Card>
      </>
    ),
  });
}

function Zones({ server: { zones, checked_at } }: { server: DnsServer }) {
  if (zones.length === 0)
    return <span class="muted">{checked_at === null ? 'Not known yet' : 'Not listed'}</span>;
  const more = zones.length - MAX_SHOWN_ZONES;
  return (
    <bdi>
      {zones.slice(0, MAX_SHOWN_ZONES).join(', ')}
      {more > 0 && ` and ${more} more`}
    </bdi>
  );
}

const show = page({
  path: `${SERVERS}/:id`,
  operation: 'showDnsServer',
  role: 'admin',
  summary: 'Show a name server',
  query: PageQuery,
  handle: (call) => render(call, call.params.id!, call.query),
});

const update = form({
  path: `${SERVERS}/:id`,
  operation: 'submitDnsServerChanges',
  role: 'admin',
  summary: 'Change a name server with the form, and check it',
  async handle(call) {
    const id = call.params.id!;
    const params = { id };
    const current = await call.invoke(dnsServerOperations.get, { params });
    const fields = fieldsOf(current);
    const values = readValues(call.raw, fields);
    const { problem } = await submit(SERVER_LABELS, () =>
      call.invoke(dnsServerOperations.update, {
        params,
        headers: ifUnchanged(call.raw),
        body: bodyOf(values, fields),
      }),
    );
    if (problem) return render(call, id, { values, problem });
    await call.invoke(dnsServerOperations.check, { params });
    return seeOther(`${SERVERS}/${id}?done=saved`);
  },
});

const withActionProblem = (
  call: PageCall & { params: Record<string, string> },
  problem: FormProblem,
) => render(call, call.params.id!, { actionProblem: problem });

const check = operationForm({
  path: `${SERVERS}/:id/check`,
  operation: 'submitDnsServerCheck',
  summary: 'Check a name server with the button',
  route: dnsServerOperations.check,
  next: ({ id }) => `${SERVERS}/${id}?done=checked`,
  onProblem: withActionProblem,
});

const remove = operationForm({
  path: `${SERVERS}/:id/delete`,
  operation: 'submitDnsServerDeletion',
  summary: 'Delete a name server with the button',
  route: dnsServerOperations.remove,
  next: () => `${DNS}?done=deleted`,
  onProblem: withActionProblem,
});

export const dnsServerPages = [show, update, check, remove];
