/** Plans for a domain: from its last health check, or from the findings of a test. */

import type { App } from '../app.ts';
import { storedHealth } from '../domains/health.ts';
import { ownedDomain } from '../lib/domain-names.ts';
import { AppError, invalidParams } from '../lib/errors.ts';
import { storedReport } from '../mailtests/present.ts';
import { testOr404 } from '../mailtests/queries.ts';
import type { Resolver } from '../net/dns/resolver.ts';
import type { DomainRow } from '../store/tables.generated.ts';
import type { Change } from './apply.ts';
import { copiesOf } from './copies.ts';
import { type PlannedChange, type ProposedRecord, planChanges, planToken } from './plan.ts';
import { type Proposer, proposalsOf, verificationProposal } from './proposals.ts';
import { publicRecords } from './public-records.ts';
import type { ApplyPlan, DnsPlan, PlannedChangeBody } from './schema.ts';
import { DnsServerError, type DnsServerProblem, type RecordSource } from './server.ts';

/** Which records to plan. */
export interface PlanSource {
  test_id?: string | null | undefined;
  checks?: string[] | undefined;
}

export interface Plan {
  changes: PlannedChange[];
  token: string;
}

/**
 * Reads the current records at the source. Throws `validation_failed` for an unknown test, and `unavailable` if the
 * records cannot be read. Call outside of a transaction.
 */
export async function planFor(
  app: App,
  domain: DomainRow,
  source: RecordSource,
  from: PlanSource,
): Promise<Plan> {
  return planOf(source, await proposalsFor(app, domain, from));
}

export async function planOf(source: RecordSource, proposals: ProposedRecord[]): Promise<Plan> {
  try {
    const changes = await planChanges(source, proposals);
    return { changes, token: planToken(changes) };
  } catch (error) {
    throw asAppError(error);
  }
}

/** What went wrong at a name server, as the response of the API. */
export function asAppError(error: unknown): unknown {
  if (!(error instanceof DnsServerError)) return error;
  const isTemporary = TEMPORARY.includes(error.problem);
  return new AppError(isTemporary ? 'unavailable' : 'conflict', error.message);
}

const TEMPORARY: DnsServerProblem[] = [
  ...(['rate_limited', 'unreachable', 'timeout', 'server_failed', 'bad_response'] as const),
];

/**
 * The changes of a plan that its author has confirmed. Throws `conflict` if the plan is no longer what they saw, and
 * `validation_failed` for a record that is not in it, or can’t be published.
 */
export function applicableChanges(
  { changes, token }: Plan,
  confirmed: Pick<ApplyPlan, 'token' | 'records'>,
): Change[] {
  if (token !== confirmed.token)
    throw new AppError(
      'conflict',
      'The records or the findings have changed since this plan was made. Nothing was changed. Make a new plan.',
    );
  const chosen = confirmed.records?.map((record, index) => {
    const found = changes.find(({ name, type }) => name === record.name && type === record.type);
    const message = found ? found.problem : 'is not in this plan';
    if (found && message === null) return found;
    throw invalidParams([{ param: `records.${index}`, code: 'invalid', message: message! }]);
  });
  const toMake = (chosen ?? changes).filter(
    ({ action, problem }) => action !== 'none' && problem === null,
  );
  if (toMake.length === 0)
    throw new AppError('conflict', 'There is nothing to change. See the plan for the reasons.');
  return toMake.map(({ zone, before, after, purpose }) => ({
    ...{ zone: zone!, before, after, reason: purpose },
  }));
}

async function proposalsFor(
  app: App,
  domain: DomainRow,
  { test_id, checks: ids }: PlanSource,
): Promise<ProposedRecord[]> {
  const checks = test_id ? await checksOfTest(app, test_id) : storedHealth(domain).health.checks;
  const isVerified = domain.status === 'verified';
  const owner = ownedDomain(domain.name) ?? domain.name;
  const proposals = proposalsOf(checks)
    .filter(({ name }) => name === owner || name.endsWith(`.${owner}`))
    .map((proposal) => (isVerified ? proposal : { ...proposal, problem: NOT_VERIFIED }));
  const needsProof = !test_id && (!isVerified || domain.missing_since !== null);
  const proof = needsProof ? [{ ...verificationProposal(domain), checks: [VERIFICATION] }] : [];
  const all = [...proof, ...proposals];
  return all.filter(({ checks: of }) =>
    of.some((id) => (ids ? ids.includes(id) : !ON_REQUEST.includes(id))),
  );
}

/** Stands for the verification where checks are named. */
export const VERIFICATION = 'verification';

/** Of no use without a file on a web server, so they are planned only if they are asked for. */
const ON_REQUEST = ['mta_sts'];

const NOT_VERIFIED = 'Verify the domain first.';

async function checksOfTest(app: App, id: string): Promise<Proposer[]> {
  try {
    return JSON.parse(storedReport(await testOr404(app, id, true), app).checks);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
    throw invalidParams([
      { param: 'test_id', code: 'invalid', message: 'is not the ID of a test' },
    ]);
  }
}

/** For a plan without a name server. The zone, which only copies need, is the domain if its SOA record isn’t found. */
export function publicSource(resolver: Resolver): RecordSource {
  const { zoneOf, read } = publicRecords(resolver);
  return { zoneOf: async (name) => (await zoneOf(name)) ?? ownedDomain(name), read };
}

export const presentPlan = (
  domain: Pick<DomainRow, 'id'>,
  server_id: string | null,
  { changes, token }: Plan,
): DnsPlan => ({
  ...{ object: 'dns_plan', domain_id: domain.id, server_id, token },
  changes: changes.map(presentPlanned),
});

export const presentPlanned = (change: PlannedChange): PlannedChangeBody => {
  const { name, type, action, before, after, purpose, checks, problem, caution } = change;
  const zone = change.zone ?? ownedDomain(name) ?? name;
  return {
    ...{ name, type, action, purpose, checks, problem, caution },
    before: { values: before.values, ttl: before.ttl },
    after: { values: after.values, ttl: after.ttl },
    copies: action === 'none' ? null : copiesOf(after, zone),
  };
};
