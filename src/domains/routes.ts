/** The operations on domains (contract §7). */

import type { App } from '../app.ts';
import { requireUnlimited } from '../http/limited.ts';
import { resource } from '../http/resource.ts';
import { route } from '../http/route.ts';
import { listOf, listSchema } from '../http/schemas.ts';
import { afterCommit, type Db, type Tx } from '../store/open.ts';
import type { DomainRow } from '../store/tables.generated.ts';
import { auditVerification, changeDomain, createDomain, deleteDomain } from './change-domain.ts';
import { feedbackOf } from './feedback/state.ts';
import { checkHealthShared, storedHealth } from './health.ts';
import {
  domainOr404,
  listDomains,
  type PresentedDomain,
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
import { lookUpVerification, teamToken } from './verification.ts';
import { VERIFY_JOB } from './verify-job.ts';

async function presentWith(app: App, db: Db | Tx, row: DomainRow): Promise<PresentedDomain> {
  return presentDomain(row, await feedbackOf(app, db, row), await teamToken(app));
}

const domains = resource({
  type: 'domain',
  prefix: 'dom',
  path: '/v1/domains',
  name: 'Domain',
  noun: 'domain',
  roles: { read: 'member', change: 'member' },
  response: Domain,
  // Selectors that the service learns from messages don't count.
  etag: (domain) => [
    domain.id,
    (domain as PresentedDomain).given_selectors,
    domain.badge_enabled,
    domain.tags,
  ],
  find: domainOr404,
  present: (rows, { app, db }) => Promise.all(rows.map((row) => presentWith(app, db, row))),
});

const create = domains.create({
  summary: 'Add a domain',
  description:
    'Adds a domain to your team, and looks up its public DNS in the background. To verify it, publish the TXT record in `verification`, or the one of your team in `team_verification`.',
  body: NewDomain,
  errors: ['conflict'],
  work: createDomain,
});

const list = route({
  method: 'GET',
  path: '/v1/domains',
  operation: 'listDomains',
  limited: true,
  role: 'member',
  summary: 'List domains',
  description: 'Returns the domains of your team, newest first. Filters can be combined.',
  query: DomainListQuery,
  response: listSchema(ListedDomain),
  async handle({ app, query }) {
    const { rows, hasMore } = await listDomains(app.db, query);
    return listOf(rows.map(presentListed), hasMore);
  },
});

const get = domains.get({
  limited: true,
  description: 'Returns a domain with the results of its last health check.',
});

const update = domains.update({
  limited: true,
  description: 'Changes the DKIM selectors, the badge setting or the tags of a domain.',
  body: DomainPatch,
  work(tx, call, current, body) {
    if (body.tags) requireUnlimited(call.actor, 'the tags of a domain');
    return changeDomain(tx, call, current, body);
  },
});

const remove = domains.remove({
  description:
    'Deletes a domain with its monitors and alert rules, but keeps its tests. Only admins can delete a domain that has alert rules.',
  errors: ['conflict'],
  work: (tx, call, current, { role }) => deleteDomain(tx, call, current, role),
});

const verify = route({
  method: 'POST',
  path: '/v1/domains/:id/verify',
  params: domains.params,
  operation: 'verifyDomain',
  limited: true,
  role: 'member',
  summary: 'Verify a domain',
  description: 'Looks up the verification record now. A failed domain gets another 72 hours.',
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
      return presentWith(app, tx, row);
    });
  },
});

const health = route({
  method: 'GET',
  path: '/v1/domains/:id/health',
  params: domains.params,
  operation: 'getDomainHealth',
  limited: true,
  role: 'member',
  // The result is stored with the domain, but not for a test-mode key.
  writes: true,
  hasTestMode: true,
  summary: 'Check the health of a domain',
  description:
    'Checks the DNS of a domain now, and returns the records to publish. Test-mode keys get the result of the last check instead.',
  response: DomainHealthResponse,
  errors: ['unavailable'],
  async handle(call) {
    const { app, params } = call;
    const id = params.id!;
    // A new result can cause a live event.
    if (!call.actor.livemode) {
      const row = await call.transact(
        (tx) => domainOr404(tx, id),
        () => undefined,
      );
      const stored = storedHealth(row);
      const records = await recordsToPublish(app.resolver, row, stored.health.checks);
      return presentHealth(row, stored, records);
    }
    const freshResult = await checkHealthShared(app, await domainOr404(app.db, id), 'users');
    const { row, result } = await call.transact(
      async (tx) => recordHealth(tx, app, await domainOr404(tx, id), freshResult),
      () => undefined,
    );
    const records = await recordsToPublish(app.resolver, row, result.health.checks);
    return presentHealth(row, result, records);
  },
});

export const domainOperations = { create, list, get, update, remove, verify, health };
