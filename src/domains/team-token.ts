/** The token of the team, in the TXT record that proves control over any of its domains. It never changes. */

import type { App } from '../app.ts';
import { randomToken } from '../lib/crypto.ts';
import { memoizePerObject } from '../lib/memoize.ts';
import type { Db } from '../store/open.ts';

const FACT = 'team_verification_token';

/** 160 random bits: infeasible to guess. */
export const TOKEN_LENGTH = 32;

/** Of the service, which limited callers share: they also read it within transactions. */
const tokens = memoizePerObject((_: Pick<App, 'db'>): { token?: string } => ({}));

/** Creates it with the first call. Not within a transaction. */
export async function teamToken(app: Pick<App, 'db'>): Promise<string> {
  const { db } = app;
  const known = tokens(app);
  known.token ??= (await storedToken(db)) ?? (await createToken(db));
  return known.token;
}

async function storedToken(db: Db): Promise<string | undefined> {
  const query = db.selectFrom('service_facts').select('value').where('name', '=', FACT);
  return (await query.executeTakeFirst())?.value;
}

/** Another node may create it at the same time: the first one stays. */
async function createToken(db: Db): Promise<string> {
  await db
    .insertInto('service_facts')
    .values({ name: FACT, value: randomToken(TOKEN_LENGTH) })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return (await storedToken(db))!;
}
