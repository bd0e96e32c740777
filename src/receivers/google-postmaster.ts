/** Fetches from Google Postmaster Tools: the domains of the account, and the figures of those that the team has. */

import { type GooglePostmasterAccount, RECEIVER_NAMES } from '../config/receivers.ts';
import { dayBefore } from '../feedback/sums.ts';
import { isoTime } from '../lib/clock.ts';
import { HOUR_MS } from '../lib/durations.ts';
import { AccountError } from '../net/account-error.ts';
import {
  AccountRefusedError,
  openPostmaster,
  type Postmaster,
  type PostmasterDomain,
} from '../net/google-postmaster/client.ts';
import { providerWeb, withAccessToken } from '../sign-ins/access-tokens.ts';
import type { Tx } from '../store/open.ts';
import type { ReceiverDomainRow } from '../store/tables.generated.ts';
import { countOf, type Fetch, type FetchedPart, storePart } from './fetch.ts';
import { storeDays, storeRequirements } from './google-store.ts';

/** Of a domain that was never read, and at most. */
const FIRST_DAYS = 120;
/** Days change for a while after they are published. */
const RECENT_DAYS = 7;
/** After a failed fetch, what was read shortly before is not read again. */
const RECENTLY_READ_MS = 12 * HOUR_MS;

export async function fetchGoogle(fetch: Fetch, account: GooglePostmasterAccount): Promise<void> {
  const call: Call = (use) =>
    withAccessToken(
      fetch.app,
      { kind: 'receiver', name: account.name, oauth: account.oauth },
      (accessToken) =>
        use(
          openPostmaster({
            web: providerWeb(fetch.app),
            baseUrl: account.baseUrl,
            accessToken,
            signal: fetch.signal,
          }),
        ),
    );
  const listed = await call((client) => client.listDomains());
  const due = await storePart(fetch, (tx) => storeListing(tx, fetch, listed));
  await fetchDomains(fetch, due, call);
}

type Call = <T>(use: (client: Postmaster) => Promise<T>) => Promise<T>;

// The domains.

/** What the listing says. Reading a domain finds out the rest. */
const LISTING_PROBLEMS = ['not_in_account', 'not_verified', 'no_permission'];

/** Stores which domains the account shows. Returns those to read, the longest unread first. */
async function storeListing(
  tx: Tx,
  fetch: Fetch,
  listed: PostmasterDomain[],
): Promise<ReceiverDomainRow[]> {
  const own = new Set(
    (await tx.selectFrom('domains').select('name').execute()).map(({ name }) => name),
  );
  const before = await tx
    .selectFrom('receiver_domains')
    .selectAll()
    .where('receiver_id', '=', fetch.id)
    .execute();
  const known = new Map(before.map((row) => [row.name, row]));
  const rows = listed.map((domain) => listedRow(fetch, domain, known.get(domain.name)));
  const names = new Set(rows.map(({ name }) => name));
  const gone = before.filter(({ name }) => !names.has(name));
  for (const { name } of gone.filter(({ name }) => !own.has(name)))
    await tx
      .deleteFrom('receiver_domains')
      .where('receiver_id', '=', fetch.id)
      .where('name', '=', name)
      .execute();
  const lost = gone
    .filter(({ name }) => own.has(name))
    .map((row) => ({
      ...row,
      problem: 'not_in_account',
      problem_detail: `The account ${fetch.id} no longer has ${row.name}. Add the domain in ${RECEIVER_NAMES.google_postmaster}, and verify it there.`,
    }));
  for (const row of [...rows, ...lost])
    await tx
      .insertInto('receiver_domains')
      .values(row)
      .onConflict((conflict) => conflict.columns(['receiver_id', 'name']).doUpdateSet(row))
      .execute();
  return rows
    .filter(({ name, problem }) => own.has(name) && !LISTING_PROBLEMS.includes(problem ?? ''))
    .filter((row) => !isRecentlyRead(fetch, row))
    .sort((a, b) => ((a.days_at ?? '') < (b.days_at ?? '') ? -1 : 1));
}

function listedRow(
  { id, startedAt }: Fetch,
  { name, permission, verificationState }: PostmasterDomain,
  before: ReceiverDomainRow | undefined,
): ReceiverDomainRow {
  const problem = listingProblem(id, name, permission, verificationState);
  const isSolved = before !== undefined && LISTING_PROBLEMS.includes(before.problem ?? '');
  const kept =
    before && !isSolved
      ? { problem: before.problem, problem_detail: before.problem_detail }
      : { problem: null, problem_detail: null };
  return {
    receiver_id: id,
    name,
    permission,
    verification: verificationState,
    listed_at: isoTime(startedAt),
    days_at: before?.days_at ?? null,
    requirements_at: before?.requirements_at ?? null,
    ...(problem ?? kept),
  };
}

function listingProblem(
  account: string,
  name: string,
  permission: string,
  verification: string | null,
): { problem: string; problem_detail: string } | null {
  if (verification === 'UNVERIFIED')
    return {
      problem: 'not_verified',
      problem_detail: `${name} is not verified in ${RECEIVER_NAMES.google_postmaster}. Add the DNS record that it shows for the domain.`,
    };
  if (permission === 'NONE')
    return {
      problem: 'no_permission',
      problem_detail: `The account ${account} has no permission to read ${name}. Ask an owner of the domain in ${RECEIVER_NAMES.google_postmaster} to give it access.`,
    };
  return null;
}

function isRecentlyRead(
  { before, startedAt }: Fetch,
  { days_at, requirements_at }: ReceiverDomainRow,
): boolean {
  if (before.failures === 0 || days_at === null || requirements_at === null) return false;
  const since = isoTime(startedAt - RECENTLY_READ_MS);
  return days_at > since && requirements_at > since;
}

// The figures.

/** Then the server is down, most likely. */
const MAX_FAILED_IN_A_ROW = 3;

/** Rejects with the last problem that may pass, so that the fetch is repeated soon. */
async function fetchDomains(fetch: Fetch, due: ReceiverDomainRow[], call: Call): Promise<void> {
  let passing: AccountError | null = null;
  let failed = 0;
  for (const domain of due) {
    const problem = await fetchDomain(fetch, domain, call);
    const mayPass = problem !== null && problem.problem !== 'refused';
    failed = mayPass ? failed + 1 : 0;
    if (mayPass) passing = problem;
    if (failed === MAX_FAILED_IN_A_ROW) break;
  }
  if (passing) throw passing;
}

/** Resolves with why something could not be read; rejects if other domains would fail, too. */
async function fetchDomain(
  fetch: Fetch,
  domain: ReceiverDomainRow,
  call: Call,
): Promise<AccountError | null> {
  const { name } = domain;
  const part: FetchedPart = { name, found: 'no days', problem: null };
  fetch.parts.push(part);
  const note = (error: unknown) => {
    if (!(error instanceof AccountError)) throw error;
    part.problem ??= error;
    if (isOfAccount(error)) throw error;
  };
  try {
    const { days, problem } = await call((client) => client.days(name, daysToAsk(fetch, domain)));
    part.found = countOf(days.length, 'day', 'days');
    await storePart(fetch, (tx) => storeDays(tx, fetch, name, { days, isComplete: !problem }));
    if (problem) note(problem);
    const requirements = await call((client) => client.compliance(name));
    await storePart(fetch, (tx) => storeRequirements(tx, fetch, name, requirements));
  } catch (error) {
    note(error);
  }
  await storePart(fetch, (tx) => setProblem(tx, fetch, name, part.problem));
  return part.problem;
}

const isOfAccount = (error: AccountError): boolean =>
  error instanceof AccountRefusedError ||
  ['sign_in_failed', 'sign_in_required', 'sign_in_expired', 'throttled'].includes(error.problem);

function daysToAsk(
  { startedAt }: Fetch,
  { days_at }: ReceiverDomainRow,
): { from: string; to: string } {
  const to = isoTime(startedAt).slice(0, 10);
  const earliest = dayBefore(to, FIRST_DAYS - 1);
  // Days that an earlier fetch could not read are asked for, too. It was not in the future, whatever the clock said.
  const last = days_at !== null && days_at.slice(0, 10) > to ? to : days_at?.slice(0, 10);
  const recent = last === undefined ? earliest : dayBefore(last, RECENT_DAYS);
  return { from: recent > earliest ? recent : earliest, to };
}

async function setProblem(
  tx: Tx,
  { id }: Fetch,
  name: string,
  error: AccountError | null,
): Promise<void> {
  await tx
    .updateTable('receiver_domains')
    .set({ problem: error?.problem ?? null, problem_detail: error?.message ?? null })
    .where('receiver_id', '=', id)
    .where('name', '=', name)
    .execute();
}
