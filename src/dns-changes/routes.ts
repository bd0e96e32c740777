/** The operations on name servers, plans, and changes of DNS records. */

import { domainOr404 } from '../domains/queries.ts';
import { allows } from '../http/actor.ts';
import { requireLive, roleError } from '../http/authorize.ts';
import { resource } from '../http/resource.ts';
import { route } from '../http/route.ts';
import { idOf, listOf, listSchema } from '../http/schemas.ts';
import { changeOr404, listChanges, presentChange } from './changes.ts';
import { applyPlan, undoChange } from './confirmed.ts';
import { planFor, presentPlan, presentPlanned } from './plans.ts';
import {
  ApplyPlan,
  ApplyVerifications,
  DnsChange,
  DnsChangeListQuery,
  DnsPlan,
  DnsServer,
  DnsServerListQuery,
  DnsServerPatch,
  NewDnsServer,
  NewPlan,
  VerificationPlan,
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
import { applyVerifications, planVerifications } from './verifications.ts';

const CHANGE_ID = idOf('chg', 'The ID of the change.');
const DOMAIN_ID = idOf('dom', 'The ID of the domain.');

// Name servers.

const servers = resource({
  type: 'dns_server',
  prefix: 'dns',
  path: '/v1/dns_servers',
  name: 'DnsServer',
  noun: 'name server',
  roles: { read: 'admin', change: 'admin' },
  response: DnsServer,
  // Secrets are not in responses, so the ETag does not cover them.
  etag: ({ id, name, settings }) => [id, name, settings],
  find: serverOr404,
  present: (rows) => rows.map(presentServer),
});

const create = servers.create({
  summary: 'Add a name server',
  description:
    'Adds a name server where the service can publish records. This does not contact it. Check it next.',
  body: NewDnsServer,
  errors: ['conflict'],
  work: createServer,
});

const list = servers.list({
  description: 'Returns the name servers of your team without their credentials, newest first.',
  query: DnsServerListQuery,
  rows: listServers,
});

const get = servers.get({ description: 'Returns a name server without its credentials.' });

const update = servers.update({
  description: 'Changes the name or the settings of a name server.',
  body: DnsServerPatch,
  errors: ['conflict'],
  work: changeServer,
});

const remove = servers.remove({
  description:
    'Deletes a name server and its credentials. Published records stay, but you can no longer undo their changes here.',
  errors: ['conflict'],
  work: deleteServer,
});

const check = route({
  method: 'POST',
  path: '/v1/dns_servers/:id/check',
  params: servers.params,
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
  limited: true,
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

const planVerification = route({
  method: 'POST',
  path: '/v1/dns_servers/:id/verification_plan',
  params: servers.params,
  operation: 'planVerificationRecords',
  role: 'admin',
  writes: false,
  summary: 'Plan verification records',
  description:
    'Returns the verification records of all domains that are not verified and whose zones this name server has. Changes nothing.',
  response: VerificationPlan,
  errors: ['conflict', 'unavailable'],
  async handle({ app, actor, params, signal }) {
    requireLive(actor);
    const server = await serverOr404(app.db, params.id!);
    const { changes, token, more } = await planVerifications(app, server, signal);
    return {
      object: 'verification_plan' as const,
      server_id: server.id,
      token,
      changes: changes.map(presentPlanned),
      more,
    };
  },
});

const applyVerification = route({
  method: 'POST',
  path: '/v1/dns_servers/:id/verification_apply',
  params: servers.params,
  operation: 'applyVerificationRecords',
  role: 'admin',
  summary: 'Publish verification records',
  description:
    'Publishes the records of a plan at its name server, and verifies the domains. If the records have changed since the plan was made, nothing is changed.',
  body: ApplyVerifications,
  response: listSchema(DnsChange),
  errors: ['conflict', 'unavailable'],
  async handle(call) {
    const server = await serverOr404(call.app.db, call.params.id!);
    const rows = await applyVerifications(call, server, call.body.token, (work) =>
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
export const dnsChangeOperations = {
  plan,
  apply,
  planVerification,
  applyVerification,
  list: listAll,
  get: getChange,
  undo,
};
