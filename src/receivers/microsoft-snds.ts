/** Fetches from Microsoft SNDS: which addresses are blocked, and the activity of each address by day. */

import type { MicrosoftSndsAccount } from '../config/receivers.ts';
import { dayBefore } from '../feedback/sums.ts';
import { isoTime } from '../lib/clock.ts';
import { AccountError } from '../net/account-error.ts';
import { openSnds, type Snds } from '../net/snds/client.ts';
import { providerWeb } from '../sign-ins/access-tokens.ts';
import { type Fetch, storePart } from './fetch.ts';
import { storeBlocks } from './microsoft-blocks.ts';
import { publishAddresses, storeAddresses } from './microsoft-store.ts';

/** Before the first fetch that succeeds, and at most. */
const FIRST_DAYS = 30;
const RECENT_DAYS = 7;

export async function fetchMicrosoft(fetch: Fetch, account: MicrosoftSndsAccount): Promise<void> {
  const client = openSnds({
    web: providerWeb(fetch.app),
    baseUrl: account.baseUrl,
    key: account.key,
    signal: fetch.signal,
  });
  const status = await client.status();
  const gone = await storePart(fetch, (tx) => storeBlocks(tx, fetch, status));
  const problem = await fetchDays(fetch, client);
  // Also what was stored before a day could not be read.
  await storePart(fetch, (tx) => publishAddresses(tx, fetch, gone));
  if (problem) throw problem;
}

/** The newest day first, so that a failure costs the older ones. Returns why it ended early. */
async function fetchDays(fetch: Fetch, client: Snds): Promise<AccountError | null> {
  for (const day of daysToAsk(fetch)) {
    const part = { name: day, count: 0, problem: null as AccountError | null };
    fetch.parts.push(part);
    try {
      const { rows, skipped } = await client.data(day);
      part.count = new Set(rows.map(({ address }) => address)).size;
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
      return error;
    }
  }
  return null;
}

function daysToAsk({ startedAt, before }: Fetch): string[] {
  const today = isoTime(startedAt).slice(0, 10);
  const earliest = dayBefore(today, FIRST_DAYS);
  const last = before.fetched_at?.slice(0, 10);
  // The last fetch was not in the future, whatever the clock said.
  const recent =
    last === undefined ? earliest : dayBefore(last > today ? today : last, RECENT_DAYS - 1);
  const days: string[] = [];
  for (let day = dayBefore(today, 1); day >= earliest && day >= recent; day = dayBefore(day, 1))
    days.push(day);
  return days;
}
