/** The TXT records that prove the team's control over its domains, and their lookup. */

import type { App } from '../app.ts';
import { randomToken } from '../lib/crypto.ts';
import { memoizePerObject } from '../lib/memoize.ts';
import { DNS_FAILURES } from '../net/dns/resolver.ts';
import type { Db } from '../store/open.ts';
import type { DomainRow } from '../store/tables.generated.ts';

/** The result of a lookup. `detail` is a sentence for users; `startedAt` is in ms since the epoch. */
export type Lookup = { startedAt: number } & (
  | { found: 'yes' }
  /** DNS answered, and the record isn't there. */
  | { found: 'no'; detail: string }
  /** DNS didn't answer. */
  | { found: 'unknown'; detail: string }
);

export function verificationRecord({ name, token }: Pick<DomainRow, 'name' | 'token'>) {
  return {
    type: 'TXT' as const,
    name: `_deliverability.${name}`,
    value: `deliverability-verify=${token}`,
  };
}

/** The record of the domain counts, or that of the team. Rejects only if the database is unavailable. */
export async function lookUpVerification(
  app: Pick<App, 'resolver' | 'clock' | 'db'>,
  domain: Pick<DomainRow, 'name' | 'token'>,
): Promise<Lookup> {
  const { resolver, clock } = app;
  const startedAt = clock.now();
  const { name, value } = verificationRecord(domain);
  const ofTeam = verificationRecord({ name: domain.name, token: await teamToken(app) });
  const accepted = [value, ofTeam.value];
  const answer = await resolver(name, 'TXT');
  if (answer.status === 'error')
    return {
      startedAt,
      found: 'unknown',
      detail: `Could not look up the TXT record at ${name}: ${DNS_FAILURES[answer.reason]}. This does not count as a failed verification.`,
    };
  if (answer.status !== 'found')
    return { startedAt, found: 'no', detail: `No TXT record found at ${name}.` };
  if (answer.records.some((text) => accepted.includes(stripQuotes(text))))
    return { startedAt, found: 'yes' };
  return {
    startedAt,
    found: 'no',
    detail: `The TXT record at ${name} does not contain ${value}.`,
  };
}

/** Some users publish the quotes of the zone file syntax as part of the value. */
const stripQuotes = (text: string): string => text.trim().replace(/^"(.*)"$/, '$1');

// The token of the team, whose record proves control over any of its domains. It never changes.

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
