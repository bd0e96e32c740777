/** Fetches from Microsoft SNDS: which addresses are blocked, and the activity of each address by day. */

import type { MicrosoftSndsAccount } from '../config/receivers.ts';
import { dayBefore } from '../feedback/sums.ts';
import { isoTime } from '../lib/clock.ts';
import { AccountError } from '../net/account-error.ts';
import { openSnds, type Snds, type SndsRows } from '../net/snds/client.ts';
import { providerWeb, withAccessToken } from '../sign-ins/access-tokens.ts';
import { renewalAdvice } from './account-state.ts';
import { countOf, type Fetch, type FetchedPart, NO_DATA, storePart } from './fetch.ts';
import { storeBlocks } from './microsoft-blocks.ts';
import { publishAddresses, storeAddresses } from './microsoft-store.ts';

/** Before the first fetch that succeeds, and at most. */
const FIRST_DAYS = 30;
const RECENT_DAYS = 7;

export async function fetchMicrosoft(fetch: Fetch, account: MicrosoftSndsAccount): Promise<void> {
  const { name, baseUrl, oauth, key } = account;
  const open = (access: { key: string } | { accessToken: string }) =>
    openSnds({ web: providerWeb(fetch.app), baseUrl, access, signal: fetch.signal });
  const withKey = oauth ? null : open({ key: key! });
  async function read<Row>(
    part: FetchedPart,
    get: (snds: Snds) => Promise<SndsRows<Row> | null>,
  ): Promise<SndsRows<Row> | AccountError | null> {
    fetch.parts.push(part);
    try {
      if (withKey) return await get(withKey);
      return await withAccessToken(fetch.app, { kind: 'receiver', name, oauth: oauth! }, (token) =>
        get(open({ accessToken: token })),
      );
    } catch (error) {
      if (!(error instanceof AccountError)) throw error;
      part.problem = error;
      return error;
    }
  }

  const blocks: FetchedPart = { name: 'blocks', found: 'no list', problem: null };
  const status = await read(blocks, (snds) => snds.status());
  // A refusal may be about this report only: the days show.
  if (status instanceof AccountError && status.problem !== 'refused') throw status;
  const list = status instanceof AccountError ? null : status;
  if (list) blocks.found = countOf(list.rows.length, 'range', 'ranges');
  const gone = list ? await storePart(fetch, (tx) => storeBlocks(tx, fetch, list)) : [];
  let problem: AccountError | null = null;
  let hasData = false;
  // The newest day first, so that a failure costs the older ones.
  for (const day of daysToAsk(fetch)) {
    const part: FetchedPart = { name: day, found: NO_DATA, problem: null };
    const data = await read(part, (snds) => snds.data(day));
    if (data === null) continue;
    if (data instanceof AccountError) {
      problem = data;
      break;
    }
    hasData = true;
    const { rows, skipped } = data;
    const count = new Set(rows.map(({ address }) => address)).size;
    part.found = countOf(count, 'address', 'addresses');
    if (skipped > 0)
      fetch.app.log.warn('lines of a receiver can’t be read', { receiver: name, day, skipped });
    await storePart(fetch, (tx) => storeAddresses(tx, fetch, day, data));
  }
  // Also what was stored before a day could not be read.
  await storePart(fetch, (tx) => publishAddresses(tx, fetch, gone));
  if (problem) throw problem;
  // SNDS says 404 both for “no data” and for “expired”.
  if (!hasData && list === null)
    throw new AccountError(
      'refused',
      `Microsoft SNDS has no data for any day of the last week, and rejects the request for the list of blocks, too. The access of this account may have ended. ${renewalAdvice(account)}`,
    );
  if (status instanceof AccountError) throw status;
}

/** At least a week, also for a second fetch on one day. */
function daysToAsk({ startedAt, before }: Fetch): string[] {
  const today = isoTime(startedAt).slice(0, 10);
  const earliest = dayBefore(today, FIRST_DAYS);
  const last = before.fetched_at?.slice(0, 10);
  // The last fetch was not in the future, whatever the clock said.
  const recent =
    last === undefined ? earliest : dayBefore(last > today ? today : last, RECENT_DAYS - 1);
  const days: string[] = [];
  for (
    let day = dayBefore(today, 1);
    day >= earliest && (day >= recent || days.length < RECENT_DAYS);
    day = dayBefore(day, 1)
  )
    days.push(day);
  return days;
}
