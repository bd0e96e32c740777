/** The operations on name servers, plans, and changes of DNS records. */

import { domainOr404 } from '../domains/queries.ts';
import { allows } from '../http/actor.ts';
import { requireLive, roleError } from '../http/authorize.ts';
import { route } from '../http/route.ts';
import { deletedOf, idOf, listOf, listSchema } from '../http/schemas.ts';
import { changeOr404, listChanges, presentChange } from './changes.ts';
import { applyPlan, undoChange } from './confirmed.ts';
import { planFor, presentPlan } from './plans.ts';
import {
  ApplyPlan,
  DnsChange,
  DnsChangeListQuery,
  DnsPlan,
  DnsServer,
  DnsServerListQuery,
  DnsServerPatch,
  NewDnsServer,
  NewPlan,
} from './schema.ts';
import {
  changeServer,
  checkServer,
  createServer,
  deleteServer,
  listServers,
  presentServer,
  recordCheck,
  serverOr404,
} from './stored-servers.ts';

const SERVER_ID = idOf('dns', 'The ID of the name server.');
const CHANGE_ID = idOf('chg', 'The ID of the change.');
const DOMAIN_ID = idOf('dom', 'The ID of the domain.');

// Name servers.

/** Secrets are not in responses, so the ETag does not cover them. */
const editableServer = ({ id, name, settings }: DnsServer) => [id, name, settings];

const create = route({
  method: 'POST',
  path: '/v1/dns_servers',
  operation: 'createDnsServer',
  role: 'admin',
  summary: 'Add a name server',
  description:
    'Adds a name server where the service can publish records. This does not contact it. Check it next.',
  body: NewDnsServer,
  status: 201,
  etag: editableServer,
  location: ({ id }) => `/v1/dns_servers/${id}`,
  response: DnsServer,
  errors: ['conflict'],
  handle: (call) =>
    call.transact(async (tx) => presentServer(await createServer(tx, call, call.body))),
});

const list = route({
  method: 'GET',
  path: '/v1/dns_servers',
  operation: 'listDnsServers',
  role: 'admin',
  summary: 'List name servers',
  description: 'Returns the name servers of your team without their credentials, newest first.',
  query: DnsServerListQuery,
  response: listSchema(DnsServer),
  async handle({ app, query }) {
    const { rows, hasMore } = await listServers(app.db, query);
    return listOf(rows.map(presentServer), hasMore);
  },
});

const get = route({
  method: 'GET',
  path: '/v1/dns_servers/:id',
  params: { id: SERVER_ID },
  operation: 'getDnsServer',
  role: 'admin',
  summary: 'Get a name server',
  description: 'Returns a name server without its credentials.',
  etag: editableServer,
  response: DnsServer,
  handle: async ({ app, params }) => presentServer(await serverOr404(app.db, params.id!)),
});

const update = route({
  method: 'PATCH',
  path: '/v1/dns_servers/:id',
  params: { id: SERVER_ID },
  operation: 'updateDnsServer',
  role: 'admin',
  summary: 'Update a name server',
  description: 'Changes the name or the settings of a name server.',
  etag: editableServer,
  body: DnsServerPatch,
  response: DnsServer,
  errors: ['conflict'],
  handle: (call) =>
    call.transact(async (tx) => {
      const current = await serverOr404(tx, call.params.id!);
      call.ifMatch(presentServer(current));
      return presentServer(await changeServer(tx, call, current, call.body));
    }),
});

const remove = route({
  method: 'DELETE',
  path: '/v1/dns_servers/:id',
  params: { id: SERVER_ID },
  operation: 'deleteDnsServer',
  role: 'admin',
  summary: 'Delete a name server',
  description:
    'Deletes a name server and its credentials. Published records stay, but you can no longer undo their changes here.',
  response: deletedOf('dns_server', 'dns'),
  errors: ['conflict'],
  async handle(call) {
    const id = call.params.id!;
    return call.transact(async (tx) => {
      const current = await serverOr404(tx, id);
      call.ifMatch(presentServer(current));
      await deleteServer(tx, call, current);
      return { id, object: 'dns_server', deleted: true };
    });
  },
});

const check = route({
  method: 'POST',
  path: '/v1/dns_servers/:id/check',
  params: { id: SERVER_ID },
  operation: 'checkDnsServer',
  role: 'admin',
  summary: 'Check a name server',
  description:
    'Tries the credentials now, without changing any record, and returns the server with any problem.',
  response: DnsServer,
  errors: ['conflict'],
  async handle(call) {
    const { app, params, signal } = call;
    const row = await serverOr404(app.db, params.id!);
    const result = await checkServer(app, row, signal);
    return call.transact(async (tx) => presentServer(await recordCheck(tx, row, result)));
  },
});

// Plans.

const plan = route({
  method: 'POST',
  path: '/v1/domains/:id/dns_plan',
  params: { id: DOMAIN_ID },
  operation: 'planDnsChanges',
  role: 'viewer',
  writes: false,
  summary: 'Plan DNS changes',
  description:
    'Returns the records that fix the findings about a domain, each with its difference from the current records, and as text to copy. Changes nothing. Only admins can choose a server.',
  body: NewPlan,
  response: DnsPlan,
  errors: ['conflict', 'unavailable'],
  async handle({ app, actor, params, body, signal }) {
    const { server_id = null } = body;
    const { livemode } = actor;
    const domain = await domainOr404(app.db, params.id!);
    if (server_id === null)
      return presentPlan(domain, null, await planFor(app, domain, null, { ...body, livemode }));
    if (!allows(actor.role, 'admin')) throw roleError(actor.role, 'admin');
    requireLive(actor);
    const server = await serverOr404(app.db, server_id);
    return presentPlan(domain, server_id, await planFor(app, domain, server, body, signal));
  },
});

const apply = route({
  method: 'POST',
  path: '/v1/domains/:id/dns_apply',
  params: { id: DOMAIN_ID },
  operation: 'applyDnsChanges',
  role: 'admin',
  summary: 'Apply DNS changes',
  description:
    'Publishes the records of a plan at its name server, and checks the domain again. If the records or the findings have changed since the plan was made, nothing is changed.',
  body: ApplyPlan,
  response: listSchema(DnsChange),
  errors: ['conflict', 'unavailable'],
  async handle(call) {
    // What came of the changes is known only after the transaction.
    const rows = await applyPlan(call, call.params.id!, call.body, (work) =>
      call.transact(work, () => undefined),
    );
    return listOf(rows.map(presentChange), false);
  },
});

// Changes.

const listAll = route({
  method: 'GET',
  path: '/v1/dns_changes',
  operation: 'listDnsChanges',
  role: 'admin',
  summary: 'List DNS changes',
  description: 'Returns the DNS changes that the service made, newest first.',
  query: DnsChangeListQuery,
  response: listSchema(DnsChange),
  async handle({ app, query }) {
    const { rows, hasMore } = await listChanges(app.db, query);
    return listOf(rows.map(presentChange), hasMore);
  },
});

const getChange = route({
  method: 'GET',
  path: '/v1/dns_changes/:id',
  params: { id: CHANGE_ID },
  operation: 'getDnsChange',
  role: 'admin',
  summary: 'Get a DNS change',
  description: 'Returns a change with the records before and after it.',
  response: DnsChange,
  handle: async ({ app, params }) => presentChange(await changeOr404(app.db, params.id!)),
});

const undo = route({
  method: 'POST',
  path: '/v1/dns_changes/:id/undo',
  params: { id: CHANGE_ID },
  operation: 'undoDnsChange',
  role: 'admin',
  summary: 'Undo a DNS change',
  description:
    'Publishes the records from before the change, and returns the new change. If the records have changed since, nothing is changed, and the new change fails.',
  response: DnsChange,
  errors: ['conflict'],
  async handle(call) {
    return presentChange(
      await undoChange(call, call.params.id!, (work) => call.transact(work, () => undefined)),
    );
  },
});

export const dnsServerOperations = { create, list, get, update, remove, check };
export const dnsChangeOperations = { plan, apply, list: listAll, get: getChange, undo };
