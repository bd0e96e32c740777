/** The operations on domains (contract §7). */

import { route } from '../http/route.ts';
import { listSchema } from '../http/schemas.ts';
import { afterCommit } from '../store/open.ts';
import { deletedOf } from '../team/schema.ts';
import { auditVerification, changeDomain, createDomain, deleteDomain } from './change-domain.ts';
import { checkHealthShared } from './health.ts';
import {
  domainOr404,
  listDomains,
  presentDomain,
  presentHealth,
  presentListed,
} from './queries.ts';
import { recordsToPublish } from './records-to-publish.ts';
import {
  Domain,
  DomainHealthResponse,
  DomainListQuery,
  DomainPatch,
  ListedDomain,
  NewDomain,
} from './schema.ts';
import { recordHealth, recordRequestedLookup } from './transitions.ts';
import { lookUpVerification } from './verification.ts';
import { VERIFY_JOB } from './verify-job.ts';

const create = route({
  method: 'POST',
  path: '/v1/domains',
  operation: 'createDomain',
  role: 'member',
  liveOnly: true,
  summary: 'Add a domain; publish the TXT record in the response to verify it',
  body: NewDomain,
  status: 201,
  etag: true,
  location: ({ id }) => `/v1/domains/${id}`,
  response: Domain,
  errors: ['conflict'],
  async handle(call) {
    const { body } = call;
    return call.transact(async (tx) => presentDomain(await createDomain(tx, call, body)));
  },
});

const list = route({
  method: 'GET',
  path: '/v1/domains',
  operation: 'listDomains',
  role: 'member',
  summary: 'List domains, newest first',
  query: DomainListQuery,
  response: listSchema(ListedDomain),
  async handle({ app, query }) {
    const { rows, hasMore } = await listDomains(app.db, query);
    return { object: 'list' as const, data: rows.map(presentListed), has_more: hasMore };
  },
});

const get = route({
  method: 'GET',
  path: '/v1/domains/:id',
  operation: 'getDomain',
  role: 'member',
  summary: 'Get a domain with the results of its last health check',
  etag: true,
  response: Domain,
  async handle({ app, params }) {
    return presentDomain(await domainOr404(app.db, params.id!));
  },
});

const update = route({
  method: 'PATCH',
  path: '/v1/domains/:id',
  operation: 'updateDomain',
  role: 'member',
  liveOnly: true,
  summary: 'Update the DKIM selectors or the badge setting of a domain',
  etag: true,
  body: DomainPatch,
  response: Domain,
  async handle(call) {
    const { params, body } = call;
    return call.transact(async (tx) => {
      const current = await domainOr404(tx, params.id!);
      call.ifMatch(presentDomain(current));
      return presentDomain(await changeDomain(tx, call, current, body));
    });
  },
});

const remove = route({
  method: 'DELETE',
  path: '/v1/domains/:id',
  operation: 'deleteDomain',
  role: 'member',
  liveOnly: true,
  summary:
    'Delete a domain with its monitors and alert rules, but keep its tests; only admins can delete a domain that has alert rules',
  response: deletedOf('domain'),
  errors: ['conflict'],
  async handle(call) {
    const { params } = call;
    const id = params.id!;
    return call.transact(async (tx, { role }) => {
      const current = await domainOr404(tx, id);
      call.ifMatch(presentDomain(current));
      await deleteDomain(tx, call, current, role);
      return { id, object: 'domain', deleted: true };
    });
  },
});

const verify = route({
  method: 'POST',
  path: '/v1/domains/:id/verify',
  operation: 'verifyDomain',
  role: 'member',
  liveOnly: true,
  summary: 'Look up the verification record now; this gives a failed domain another 72 hours',
  response: Domain,
  async handle(call) {
    const { app, params } = call;
    const id = params.id!;
    const lookup = await lookUpVerification(app, await domainOr404(app.db, id));
    return call.transact(async (tx) => {
      const current = await domainOr404(tx, id);
      await auditVerification(tx, call, current);
      const row = await recordRequestedLookup(tx, app, current, lookup);
      afterCommit(tx, () => app.scheduler.wake(VERIFY_JOB));
      return presentDomain(row);
    });
  },
});

const health = route({
  method: 'GET',
  path: '/v1/domains/:id/health',
  operation: 'getDomainHealth',
  role: 'member',
  // The result is stored with the domain.
  writes: true,
  liveOnly: true,
  summary: 'Check the health of a domain now and get the DNS records to publish',
  response: DomainHealthResponse,
  errors: ['unavailable'],
  async handle(call) {
    const { app, params } = call;
    const id = params.id!;
    const fresh = await checkHealthShared(app, await domainOr404(app.db, id), 'people');
    const { row, result } = await call.transact(
      async (tx) => recordHealth(tx, app, await domainOr404(tx, id), fresh),
      () => undefined,
    );
    const records = await recordsToPublish(app.resolver, row, result.health.checks);
    return presentHealth(row, result, records);
  },
});

export const domainRoutes = [create, list, get, update, remove, verify, health];
