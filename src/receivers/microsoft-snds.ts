/** Fetches from Microsoft SNDS: which addresses are blocked, and the activity of each address by day. */

import { type MicrosoftSndsAccount, SNDS_PAGE } from '../config/receivers.ts';
import { dayBefore } from '../feedback/sums.ts';
import { isoTime } from '../lib/clock.ts';
import { AccountError } from '../net/account-error.ts';
import { openSnds, type Snds, type SndsRange, type SndsRows } from '../net/snds/client.ts';
import { providerWeb, withAccessToken } from '../sign-ins/access-tokens.ts';
import { countOf, type Fetch, type FetchedPart, NO_DATA, storePart } from './fetch.ts';
import { storeBlocks } from './microsoft-blocks.ts';
import { publishAddresses, storeAddresses } from './microsoft-store.ts';

/** Before the first fetch that succeeds, and at most. */
const FIRST_DAYS = 30;
const RECENT_DAYS = 7;

type Call = <T>(use: (client: Snds) => Promise<T>) => Promise<T>;

export async function fetchMicrosoft(fetch: Fetch, account: MicrosoftSndsAccount): Promise<void> {
  const { name, baseUrl, oauth, key } = account;
  const open = (access: { key: string } | { accessToken: string }) =>
    openSnds({ web: providerWeb(fetch.app), baseUrl, access, signal: fetch.signal });
  const withKey = oauth ? null : open({ key: key! });
  const call: Call = (use) =>
    withKey
      ? use(withKey)
      : withAccessToken(fetch.app, { kind: 'receiver', name, oauth: oauth! }, (accessToken) =>
          use(open({ accessToken })),
        );
  const status = await readStatus(fetch, call);
  const gone =
    status instanceof AccountError || status === null
      ? []
      : await storePart(fetch, (tx) => storeBlocks(tx, fetch, status));
  const { problem, hasData } = await fetchDays(fetch, call);
  // Also what was stored before a day could not be read.
  await storePart(fetch, (tx) => publishAddresses(tx, fetch, gone));
  if (problem) throw problem;
  if (!hasData && (status === null || status instanceof AccountError)) throw inDoubt(account);
  if (status instanceof AccountError) throw status;
}

/** Null, or a refusal, may be about this report only: the days show. */
async function readStatus(
  fetch: Fetch,
  call: Call,
): Promise<SndsRows<SndsRange> | AccountError | null> {
  const part: FetchedPart = { name: 'blocks', found: 'no list', problem: null };
  fetch.parts.push(part);
  try {
    const status = await call((client) => client.status());
    if (status) part.found = countOf(status.rows.length, 'range', 'ranges');
    return status;
  } catch (error) {
    if (!(error instanceof AccountError)) throw error;
    part.problem = error;
    if (error.problem !== 'refused') throw error;
    return error;
  }
}

/** SNDS says 404 both for “no data” and for “expired”. */
const inDoubt = ({ name, oauth }: MicrosoftSndsAccount): AccountError =>
  new AccountError(
    'refused',
    `Microsoft SNDS has no data for any day of the last week, and rejects the request for the list of blocks, too. ${
      oauth
        ? `The access of this account may have ended: Microsoft ends it unless it is confirmed about every ten months. Check your addresses at ${SNDS_PAGE}, then run: deliverability receivers sign-in ${name}`
        : `The key may have expired: keys last 30 days. Copy a new key from ${SNDS_PAGE}, or remove "key" and sign in instead.`
    }`,
  );

/** The newest day first, so that a failure costs the older ones. `problem`: why it ended early. */
async function fetchDays(
  fetch: Fetch,
  call: Call,
): Promise<{ problem: AccountError | null; hasData: boolean }> {
  let hasData = false;
  for (const day of daysToAsk(fetch)) {
    const part: FetchedPart = { name: day, found: NO_DATA, problem: null };
    fetch.parts.push(part);
    try {
      const data = await call((client) => client.data(day));
      if (data === null) continue;
      hasData = true;
      const { rows, skipped } = data;
      const count = new Set(rows.map(({ address }) => address)).size;
      part.found = countOf(count, 'address', 'addresses');
      if (skipped > 0)
        fetch.app.log.warn('lines of a receiver can’t be read', {
          receiver: fetch.id,
          day,
          skipped,
        });
      await storePart(fetch, (tx) => storeAddresses(tx, fetch, day, { rows, skipped }));
    } catch (error) {
      if (!(error instanceof AccountError)) throw error;
      part.problem = error;
      return { problem: error, hasData };
    }
  }
  return { problem: null, hasData };
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
