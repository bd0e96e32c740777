/** The token of the team, in the TXT record that proves control over any of its domains. It never changes. */

import { randomToken } from '../lib/crypto.ts';
import { memoizePerObject } from '../lib/memoize.ts';
import type { Db, Tx } from '../store/open.ts';

const FACT = 'team_verification_token';

/** 160 random bits: infeasible to guess. */
export const TOKEN_LENGTH = 32;

const tokens = memoizePerObject((_: Db | Tx): { token?: string } => ({}));

/** Created when the service starts. In a transaction, pass that: another connection would wait for its end. */
export async function teamToken(db: Db | Tx): Promise<string> {
  const known = tokens(db);
  known.token ??= (await storedToken(db)) ?? (await createToken(db));
  return known.token;
}

async function storedToken(db: Db | Tx): Promise<string | undefined> {
  const query = db.selectFrom('service_facts').select('value').where('name', '=', FACT);
  return (await query.executeTakeFirst())?.value;
}

/** Another node may create it at the same time: the first one stays. */
async function createToken(db: Db | Tx): Promise<string> {
  await db
    .insertInto('service_facts')
    .values({ name: FACT, value: randomToken(TOKEN_LENGTH) })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return (await storedToken(db))!;
}
