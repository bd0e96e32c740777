/** A fetch in progress: one node reads what an account publishes, and stores it part by part. */

import type { App } from '../app.ts';
import type { AccountError } from '../net/account-error.ts';
import { timeIn } from '../store/database-clock.ts';
import { lockIn, type Tx, transact } from '../store/open.ts';
import type { ReceiverRow } from '../store/tables.generated.ts';

/** Renewed with each part that is stored, and longer than reading one takes. */
export const LEASE_MS = 600_000;

/** What was read about a domain at Google, or the blocks or a day at Microsoft. */
export interface FetchedPart {
  name: string;
  /** In words: `2 days`, or `no data`. */
  found: string;
  problem: AccountError | null;
}

export const partText = ({ name, found, problem }: FetchedPart): string =>
  `${name}: ${found}${problem ? `. ${problem.message}` : ''}`;

/** What a day at Microsoft has before it is published, or if little mail was sent. */
export const NO_DATA = 'no data';

export const countOf = (count: number, one: string, many: string): string =>
  `${count} ${count === 1 ? one : many}`;

/** An account that this node has claimed, as it was before. */
export type HeldAccount = ReceiverRow & { lease: string };

export interface Fetch {
  app: App;
  /** The name of the account. */
  id: string;
  before: HeldAccount;
  /** In milliseconds since the Unix epoch. */
  startedAt: number;
  /** Ends requests when the service stops. */
  signal: AbortSignal;
  /** What has been stored so far. */
  parts: FetchedPart[];
}

/** Another node has taken over, for example because this process was suspended. */
export class LostAccountError extends Error {}

/** Stores a part. Throws a LostAccountError, without effect, if this node no longer has the account. */
export const storePart = <T>(
  { app, id, before }: Pick<Fetch, 'app' | 'id' | 'before'>,
  work: (tx: Tx) => Promise<T>,
): Promise<T> =>
  transact(app.db, async (tx) => {
    const held = tx
      .selectFrom('receivers')
      .select('id')
      .where('id', '=', id)
      .where('lease', '=', before.lease);
    if (!(await lockIn(tx, held).executeTakeFirst()))
      throw new LostAccountError('Another node fetches from this account.');
    await tx
      .updateTable('receivers')
      .set({ leased_until: timeIn(app.clock, LEASE_MS) })
      .where('id', '=', id)
      .execute();
    return work(tx);
  });
