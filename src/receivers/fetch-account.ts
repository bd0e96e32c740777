/** Fetches from an account once, and records whether that worked. */

import type { App } from '../app.ts';
import type { ReceiverAccount } from '../config/receivers.ts';
import { observed } from '../events/observations.ts';
import { isoTime } from '../lib/clock.ts';
import { DAY_MS, HOUR_MS } from '../lib/durations.ts';
import { AccountError } from '../net/account-error.ts';
import type { ReceiverRow } from '../store/tables.generated.ts';
import { type AccountState, accountState, expiryOf } from './account-state.ts';
import { claimAccount, registerReceivers } from './accounts.ts';
import {
  type Fetch,
  type FetchedPart,
  type HeldAccount,
  LostAccountError,
  storePart,
} from './fetch.ts';
import { fetchGoogle } from './google-postmaster.ts';
import { fetchMicrosoft } from './microsoft-snds.ts';
import { appendStatusChange } from './status-changed.ts';

/** After the first failure, the second, and so on; then daily. */
const RETRY_HOURS = [1, 2, 4, 8, 24];

export interface FetchResult {
  parts: FetchedPart[];
  /** Why the account failed; null if it did not. */
  problem: AccountError | null;
}

/** Fetches at once, whether it is due or not. Null if another node or process is fetching from the account. */
export async function fetchNow(
  app: App,
  account: ReceiverAccount,
  signal: AbortSignal,
): Promise<FetchResult | null> {
  await registerReceivers(app);
  const held = await claimAccount(app, account);
  return held && fetchAccount(app, account, held, signal);
}

/** Null if it was ended by the signal, or another node has taken over. */
export async function fetchAccount(
  app: App,
  account: ReceiverAccount,
  before: HeldAccount,
  signal: AbortSignal,
): Promise<FetchResult | null> {
  const fetch: Fetch = {
    app,
    id: account.name,
    before,
    startedAt: app.clock.now(),
    signal,
    parts: [],
  };
  try {
    await storePart(fetch, (tx) =>
      tx
        .updateTable('receivers')
        // It stays due until the end. Null later means that somebody signed in, or asked for another fetch.
        .set({ attempted_at: isoTime(fetch.startedAt), next_fetch_at: isoTime(fetch.startedAt) })
        .where('id', '=', fetch.id)
        .execute(),
    );
    const problem = await read(fetch, account);
    if (signal.aborted) await release(fetch);
    else await record(fetch, account, problem);
    return signal.aborted ? null : { parts: fetch.parts, problem };
  } catch (error) {
    if (error instanceof LostAccountError) return null;
    throw error;
  }
}

async function read(fetch: Fetch, account: ReceiverAccount): Promise<AccountError | null> {
  try {
    if (account.receiver === 'google_postmaster') await fetchGoogle(fetch, account);
    else await fetchMicrosoft(fetch, account);
    return null;
  } catch (error) {
    if (!(error instanceof AccountError)) throw error;
    return error;
  }
}

/** It stays due, so that another node or the next process continues. */
const release = (fetch: Fetch): Promise<unknown> =>
  storePart(fetch, (tx) =>
    tx
      .updateTable('receivers')
      .set({ lease: null, leased_until: null })
      .where('id', '=', fetch.id)
      .execute(),
  );

async function record(
  fetch: Fetch,
  account: ReceiverAccount,
  problem: AccountError | null,
): Promise<void> {
  const { app, id, before } = fetch;
  if (problem) app.log.warn('a receiver can’t be read', { receiver: id, error: problem.message });
  const after = stateAfter(fetch, problem);
  const ending = expiryOf(account, { ...before, ...after }, fetch.startedAt);
  const state: AccountState = ending ? 'expiring' : accountState(after);
  const detail = after.problem_detail ?? ending?.message ?? null;
  await storePart(fetch, async (tx) => {
    const { next_fetch_at } = await tx
      .selectFrom('receivers')
      .select('next_fetch_at')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    // Somebody signed in meanwhile, or asked for another fetch.
    const again = problem !== null && next_fetch_at === null ? { next_fetch_at } : {};
    await tx
      .updateTable('receivers')
      .set({ ...after, ...again, state, lease: null, leased_until: null })
      .where('id', '=', id)
      .execute();
    const previous = before.state ?? accountState(before);
    const { receiver } = account;
    await appendStatusChange(tx, app, {
      receiver,
      receiver_id: id,
      status: state,
      detail,
      previous_status: previous === 'waiting' ? null : previous,
    });
    const failingMs = after.failing_since ? fetch.startedAt - Date.parse(after.failing_since) : 0;
    const seen = { receiver, state, problem: after.problem, detail, failingMs };
    await app.subscribers.publish(observed, tx, [
      { kind: 'receiver', subject: id, domainId: null, ...seen },
    ]);
  });
}

function stateAfter(
  { app, before, startedAt }: Fetch,
  problem: AccountError | null,
): Pick<
  ReceiverRow,
  'fetched_at' | 'failures' | 'problem' | 'problem_detail' | 'failing_since' | 'next_fetch_at'
> {
  if (problem === null)
    return {
      fetched_at: isoTime(startedAt),
      failures: 0,
      problem: null,
      problem_detail: null,
      failing_since: null,
      next_fetch_at: isoTime(startedAt + DAY_MS),
    };
  const failures = before.failures + 1;
  const delayMs = (RETRY_HOURS[before.failures] ?? RETRY_HOURS.at(-1)!) * HOUR_MS;
  const waitMs = Math.min(Math.max(delayMs, problem.retryAfterMs ?? 0), DAY_MS);
  return {
    fetched_at: before.fetched_at,
    failures,
    problem: problem.problem,
    problem_detail: problem.message,
    failing_since: before.failing_since ?? isoTime(startedAt),
    next_fetch_at: isoTime(app.clock.now() + waitMs),
  };
}
