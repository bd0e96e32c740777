/** What Google and Microsoft publish about the domains of a summary, and about the addresses that send for them. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { daysBetween } from '../feedback/summary.ts';
import { sendingAddresses } from '../picture/addresses.ts';
import { receiverFigures } from '../receivers/summary.ts';
import type { Summary } from '../report/summary.ts';
import type { Db, Tx } from '../store/open.ts';

interface Query {
  /** In milliseconds; excludes `to`. */
  from: number;
  to: number;
  livemode: boolean;
  /** IDs; null for all domains. */
  domains: string[] | null;
  /** The configured accounts at receivers. */
  accounts: readonly string[];
}

/** Test mode has nothing of it. */
export async function receiversOf(
  db: Db | Tx,
  { from, to, livemode, domains, accounts }: Query,
): Promise<Summary['receivers']> {
  const days = livemode ? daysBetween(from, to) : null;
  if (days === null) return null;
  const addresses = domains && (await addressesOf(db, domains, days.to));
  return receiverFigures(db, { ...days, domains, addresses, accounts });
}

/** Reads tests, so only if Microsoft has published anything at all. */
async function addressesOf(db: Db | Tx, domains: string[], today: string): Promise<string[]> {
  if (!(await hasAny(db))) return [];
  const addresses = new Set<string>();
  for (const id of domains) {
    await nextTurn();
    for (const address of await sendingAddresses(db, { id }, today)) addresses.add(address);
  }
  return [...addresses];
}

async function hasAny(db: Db | Tx): Promise<boolean> {
  const found = await Promise.all([
    db.selectFrom('receiver_blocks').select('first_address').limit(1).executeTakeFirst(),
    db.selectFrom('receiver_addresses').select('address').limit(1).executeTakeFirst(),
  ]);
  return found.some((row) => row !== undefined);
}
