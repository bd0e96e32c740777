/** Plans for a domain: from its last health check, or from the findings of a test. */

import type { App } from '../app.ts';
import { storedHealth } from '../domains/health.ts';
import { hostedFilesOf, hostedRecords } from '../hosted-files/files.ts';
import { ownedDomain, ownerOf } from '../lib/domain-names.ts';
import { AppError, invalidParams } from '../lib/errors.ts';
import { storedReport } from '../mailtests/present.ts';
import { testOr404 } from '../mailtests/queries.ts';
import type { Resolver } from '../net/dns/resolver.ts';
import { type Db, shareIn, type Tx } from '../store/open.ts';
import type { DnsServerRow, DomainRow } from '../store/tables.generated.ts';
import type { Change } from './apply.ts';
import { copiesOf } from './copies.ts';
import { type PlannedChange, type ProposedRecord, planChanges, planToken } from './plan.ts';
import { type Proposer, proposalsOf, verificationProposal } from './proposals.ts';
import { publicRecords } from './public-records.ts';
import type { ApplyPlan, DnsPlan, PlannedChangeBody } from './schema.ts';
import { DnsServerError, type DnsServerProblem, type RecordSource } from './server.ts';
import { openServer } from './stored-servers.ts';

export interface PlanSource {
  test_id?: string | null | undefined;
  checks?: string[] | undefined;
  /** Of the test. True by default. */
  livemode?: boolean;
}

export interface Plan {
  changes: PlannedChange[];
  token: string;
}

/**
 * Reads the current records at the name server, or with resolvers if it is null. Throws `validation_failed` for an
 * unknown test, `unavailable` if the records cannot be read, and `conflict` if the server cannot be used. Call outside
 * of a transaction.
 */
export async function planFor(
  app: App,
  domain: DomainRow,
  server: DnsServerRow | null,
  from: PlanSource,
  signal?: AbortSignal,
): Promise<Plan> {
  const source = server ? openServer(app, server, signal) : publicSource(app.resolver);
  const proposals = await proposalsFor(app, domain, from);
  const { test_id = null, checks = null } = from;
  const latest = await latestChange(app.db, domain.id);
  return planOf(source, proposals, [server?.id ?? null, domain.id, test_id, checks, latest]);
}

/** A plan is for once: its token is no longer valid when a change for the domain has finished. */
async function latestChange(db: Db, domainId: string): Promise<string | null> {
  const row = await db
    .selectFrom('dns_changes')
    .select('id')
    .where('domain_id', '=', domainId)
    .where('status', '!=', 'applying')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.id ?? null;
}

/** The token of the plan is valid only for the same `boundTo`. */
export async function planOf(
  source: RecordSource,
  proposals: ProposedRecord[],
  boundTo: unknown = null,
): Promise<Plan> {
  try {
    const changes = await planChanges(source, proposals);
    return { changes, token: planToken(changes, boundTo) };
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
  'rate_limited',
  'unreachable',
  'timeout',
  'server_failed',
  'bad_response',
] as const;

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
  const toMake = (chosen ?? changes.filter(({ needsChoice }) => !needsChoice)).filter(isPossible);
  if (toMake.length === 0)
    throw new AppError('conflict', 'There is nothing to change. See the plan for the reasons.');
  return toMake.map(({ zone, before, after, purpose }) => ({
    zone: zone!,
    before,
    after,
    reason: purpose,
  }));
}

export const isPossible = ({
  action,
  problem,
}: Pick<PlannedChange, 'action' | 'problem'>): boolean => action !== 'none' && problem === null;

async function proposalsFor(
  app: App,
  domain: DomainRow,
  { test_id, checks: ids, livemode = true }: PlanSource,
): Promise<ProposedRecord[]> {
  const checks = test_id
    ? await checksOfTest(app, test_id, livemode)
    : storedHealth(domain).health.checks;
  const isVerified = domain.status === 'verified';
  const owner = ownerOf(domain.name);
  const hosted = test_id ? [] : await hostedProposals(app, domain);
  const isHosted = (id: string) => hosted.some((proposal) => proposal.checks.includes(id));
  const found = proposalsOf(checks).filter((proposal) => !proposal.checks.some(isHosted));
  const owned = [...found, ...hosted].filter(({ name }) => isWithin(name, owner));
  const unproven = await unprovenNames(app.db, domain.name, owned);
  const proposals = owned.map((proposal) => {
    if (!isVerified) return { ...proposal, problem: NOT_VERIFIED };
    const problem = unproven.includes(proposal.name) ? `Add and verify ${owner} first.` : null;
    return { ...proposal, problem: problem ?? proposal.problem };
  });
  const needsProof = !test_id && (!isVerified || domain.missing_since !== null);
  const proof = needsProof ? [{ ...verificationProposal(domain), checks: [VERIFICATION] }] : [];
  const all = [...proof, ...proposals];
  return all.filter(({ checks: of }) =>
    of.some((id) => (ids ? ids.includes(id) : isHosted(id) || !isOnRequest(id))),
  );
}

/** The records of the files that this service serves, in place of what the checks propose. */
async function hostedProposals(app: App, { id, name }: DomainRow): Promise<ProposedRecord[]> {
  const records = hostedRecords(app, name, await hostedFilesOf(app.db, id));
  return records.map(({ check, ...record }) => ({
    ...record,
    checks: [check],
    basedOn: null,
    isFinal: true,
    problem: null,
    caution: null,
  }));
}

const isWithin = (name: string, domain: string): boolean =>
  name === domain || name.endsWith(`.${domain}`);

/** Names outside of the domain that are below no verified domain of the team. */
export async function unprovenNames(
  db: Db | Tx,
  domain: string,
  records: { name: string }[],
): Promise<string[]> {
  const names = [...new Set(records.map(({ name }) => name))].filter(
    (name) => !isWithin(name, domain),
  );
  if (names.length === 0) return [];
  const labels = names.map((name) => name.split('.'));
  const above = labels.flatMap((all) => all.map((_, index) => all.slice(index).join('.')));
  const query = db
    .selectFrom('domains')
    .select('name')
    .where('name', 'in', [...new Set(above)])
    .where('status', '=', 'verified');
  const verified = await shareIn(db, query).execute();
  return names.filter((name) => !verified.some((row) => isWithin(name, row.name)));
}

/** Stands for the verification where checks are named. */
export const VERIFICATION = 'verification';

/** Of no use without a file on a web server, so they are planned only if they are asked for. */
const isOnRequest = (check: string): boolean => check === 'mta_sts';

const NOT_VERIFIED = 'Verify the domain first.';

async function checksOfTest(app: App, id: string, livemode: boolean): Promise<Proposer[]> {
  try {
    return JSON.parse(storedReport(await testOr404(app, id, livemode), app).checks);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
    throw invalidParams([
      { param: 'test_id', code: 'invalid', message: 'is not the ID of a test' },
    ]);
  }
}

/** For a plan without a name server. The zone, which only copies need, is the domain if its SOA record isn’t found. */
export function publicSource(resolver: Resolver): RecordSource {
  const records = publicRecords(resolver);
  return { ...records, zoneOf: async (name) => (await records.zoneOf(name)) ?? ownedDomain(name) };
}

export const presentPlan = (
  domain: Pick<DomainRow, 'id'>,
  server_id: string | null,
  { changes, token }: Plan,
): DnsPlan => ({
  object: 'dns_plan',
  domain_id: domain.id,
  server_id,
  token,
  changes: changes.map(presentPlanned),
});

export const presentPlanned = (change: PlannedChange): PlannedChangeBody => {
  const { name, type, action, before, after, proposed, purpose, checks, problem, caution } = change;
  const zone = change.zone ?? ownerOf(name);
  return {
    name,
    type,
    action,
    proposed,
    purpose,
    checks,
    problem,
    caution,
    needs_choice: change.needsChoice,
    before: { values: before.values, ttl: before.ttl },
    after: { values: after.values, ttl: after.ttl },
    copies: action === 'none' ? null : copiesOf(after, zone),
  };
};
