/**
 * The OAuth 2 sign-ins of seed mailboxes. Providers can replace a refresh token with every answer, and then accept only
 * the new one. So a new one is stored before its access token is used.
 */

import type { App } from '../app.ts';
import { PREFIX } from '../config/config.ts';
import type { SeedMailbox } from '../config/seed-mailboxes.ts';
import type { OAuthClient } from '../config/seed-sign-in.ts';
import { isoTime } from '../lib/clock.ts';
import type { SecretBox } from '../lib/crypto.ts';
import { memoizePerObject } from '../lib/memoize.ts';
import { AccountError } from '../net/account-error.ts';
import { createTrustedWebClient } from '../net/http/client.ts';
import type { WebClient } from '../net/http/web.ts';
import { refreshTokens, type Tokens } from '../net/oauth/token-endpoint.ts';
import { type Db, lockIn, type Tx, transact } from '../store/open.ts';
import type { SeedCredentialRow } from '../store/tables.generated.ts';
import { untilAvailable } from '../store/until-available.ts';

export type OAuthSeed = Pick<SeedMailbox, 'name'> & { oauth: OAuthClient };

/** How long a rejected refresh token is not sent again. Signing in again replaces it at once. */
const REJECTED_RETRY_MS = 3_600_000;
/** An access token is not used in the last minutes of its life, or in the last tenth of a short one. */
const MAX_EXPIRY_MARGIN_MS = 300_000;

interface CachedToken {
  accessToken: string;
  expiresAt: number;
  /** The encrypted refresh token that is stored with it. */
  version: string;
}

/** What a provider has sent, until it is stored. */
interface Unsaved {
  /** The encrypted refresh token that it replaces. */
  replaces: string;
  refreshToken: string;
}

interface Memory {
  web: WebClient;
  tokens: Map<string, CachedToken>;
  refreshing: Map<string, Promise<CachedToken>>;
  unsaved: Map<string, Unsaved>;
}

const memoryOf = memoizePerObject(
  (app: App): Memory => ({
    web: createTrustedWebClient(app.backgroundResolver),
    tokens: new Map(),
    refreshing: new Map(),
    unsaved: new Map(),
  }),
);

/** The client for requests to the servers of seed mailboxes. */
export const seedWeb = (app: App): WebClient => memoryOf(app).web;

/** Calls `use` with an access token, and again with a new one if the server rejects the first. Rejects with a AccountError. */
export async function withAccessToken<T>(
  app: App,
  seed: OAuthSeed,
  use: (accessToken: string) => Promise<T>,
): Promise<T> {
  const accessToken = await accessTokenOf(app, seed);
  try {
    return await use(accessToken);
  } catch (error) {
    if (!(error instanceof AccountError) || error.problem !== 'sign_in_failed') throw error;
    return use(await accessTokenOf(app, seed, accessToken));
  }
}

/** `rejected` is an access token that the server no longer accepts, although it is valid by its time. */
async function accessTokenOf(app: App, seed: OAuthSeed, rejected?: string): Promise<string> {
  const { tokens, refreshing } = memoryOf(app);
  const cached = tokens.get(seed.name);
  if (cached && cached.accessToken !== rejected && app.clock.now() < cached.expiresAt) {
    const row = await findCredential(app.db, seed.name);
    // The command has signed in again.
    if (row?.refresh_token === cached.version) return cached.accessToken;
  }
  const running = refreshing.get(seed.name) ?? refresh(app, seed);
  refreshing.set(seed.name, running);
  try {
    const token = await running;
    tokens.set(seed.name, token);
    return token.accessToken;
  } finally {
    if (refreshing.get(seed.name) === running) refreshing.delete(seed.name);
  }
}

async function refresh(app: App, seed: OAuthSeed): Promise<CachedToken> {
  const { web } = memoryOf(app);
  await saveUnsaved(app, seed);
  const row = await untilAvailable(() => currentCredential(app, seed));
  const refreshToken = row && app.secrets.open(row.refresh_token, purposeOf(seed.name));
  if (!row || !refreshToken) throw signInRequired(seed);
  const now = app.clock.now();
  if (row.rejected_at !== null && now < Date.parse(row.rejected_at) + REJECTED_RETRY_MS)
    throw signInExpired(seed);
  let received: Tokens;
  try {
    received = await refreshTokens(seed.oauth, refreshToken, web);
  } catch (error) {
    if (!(error instanceof AccountError) || error.problem !== 'sign_in_expired') throw error;
    await setRejected(app, row, isoTime(now));
    throw signInExpired(seed, error.message);
  }
  if (received.refreshToken !== null && received.refreshToken !== refreshToken)
    memoryOf(app).unsaved.set(seed.name, {
      replaces: row.refresh_token,
      refreshToken: received.refreshToken,
    });
  else if (row.rejected_at !== null) await setRejected(app, row, null);
  const version = (await saveUnsaved(app, seed)) ?? row.refresh_token;
  const margin = Math.min(MAX_EXPIRY_MARGIN_MS, received.expiresInMs / 10);
  return {
    accessToken: received.accessToken,
    expiresAt: now + received.expiresInMs - margin,
    version,
  };
}

// What it says to people.

/** What renews the sign-in. Not all providers have an address to sign in at. */
export const signInAdvice = ({ name, oauth }: OAuthSeed): string =>
  oauth.deviceUrl || oauth.authorizationUrl
    ? `Run: deliverability seed sign-in ${name}`
    : `Set a new "refresh_token" for ${name} in ${PREFIX}SEED_MAILBOXES, and restart the service.`;

const signInRequired = (seed: OAuthSeed): AccountError =>
  new AccountError(
    'sign_in_required',
    `Nobody has signed in to this mailbox yet. ${signInAdvice(seed)}`,
  );

const signInExpired = (seed: OAuthSeed, detail?: string): AccountError =>
  new AccountError(
    'sign_in_expired',
    `${detail ?? 'The provider no longer accepts the sign-in.'} ${signInAdvice(seed)}`,
  );

// The stored refresh tokens.

const purposeOf = (name: string): string => `seed credential ${name}`;

/** Identifies the app and the token in the configuration, without revealing them. */
const configuredHash = (secrets: SecretBox, { oauth }: OAuthSeed): string =>
  secrets.token(
    JSON.stringify([oauth.clientId, oauth.tokenUrl, oauth.refreshToken]),
    'seed credential',
  );

const findCredential = (db: Db | Tx, name: string): Promise<SeedCredentialRow | undefined> =>
  lockIn(
    db,
    db.selectFrom('seed_credentials').selectAll().where('id', '=', name),
  ).executeTakeFirst();

/** What the current credential depends on. */
type CredentialContext = Pick<App, 'db' | 'clock' | 'secrets'>;

/**
 * The stored credential if the configuration is as it was then, or else that of the configuration, which is stored.
 * Null if there is none.
 */
async function currentCredential(
  { db, clock, secrets }: CredentialContext,
  seed: OAuthSeed,
): Promise<SeedCredentialRow | null> {
  const configured = configuredHash(secrets, seed);
  const isCurrent = (row: SeedCredentialRow | undefined) =>
    row?.configured === configured && secrets.open(row.refresh_token, purposeOf(seed.name));
  const found = await findCredential(db, seed.name);
  if (found && isCurrent(found)) return found;
  const { refreshToken } = seed.oauth;
  if (refreshToken === null) return null;
  return transact(db, async (tx) => {
    const row = await findCredential(tx, seed.name);
    if (row && isCurrent(row)) return row;
    return storeCredential(tx, { clock, secrets }, seed, refreshToken);
  });
}

/** Stores the refresh tokens of the configuration, so that unused ones are kept alive too. */
export async function storeConfiguredSignIns(
  context: CredentialContext & Pick<App, 'config'>,
): Promise<void> {
  for (const { name, oauth } of context.config.SEED_MAILBOXES)
    if (oauth) await currentCredential(context, { name, oauth });
}

async function storeCredential(
  tx: Tx,
  { clock, secrets }: Omit<CredentialContext, 'db'>,
  seed: OAuthSeed,
  refreshToken: string,
): Promise<SeedCredentialRow> {
  const row: SeedCredentialRow = {
    id: seed.name,
    configured: configuredHash(secrets, seed),
    refresh_token: secrets.seal(refreshToken, purposeOf(seed.name)),
    stored_at: isoTime(clock.now()),
    rejected_at: null,
  };
  await tx
    .insertInto('seed_credentials')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
    .execute();
  return row;
}

/**
 * Stores a replaced refresh token. Returns its encrypted form, or null if there is none. If the row has changed
 * meanwhile, because someone signed in again, that sign-in stays.
 */
async function saveUnsaved(app: App, seed: OAuthSeed): Promise<string | null> {
  const { unsaved } = memoryOf(app);
  const change = unsaved.get(seed.name);
  if (!change) return null;
  const refresh_token = app.secrets.seal(change.refreshToken, purposeOf(seed.name));
  const stored_at = isoTime(app.clock.now());
  await untilAvailable(() =>
    transact(app.db, (tx) =>
      tx
        .updateTable('seed_credentials')
        .set({ refresh_token, stored_at, rejected_at: null })
        .where('id', '=', seed.name)
        .where('refresh_token', '=', change.replaces)
        .execute(),
    ),
  );
  unsaved.delete(seed.name);
  return refresh_token;
}

async function setRejected(
  { db }: Pick<App, 'db'>,
  { id, refresh_token }: SeedCredentialRow,
  rejected_at: string | null,
): Promise<void> {
  await db
    .updateTable('seed_credentials')
    .set({ rejected_at })
    .where('id', '=', id)
    .where('refresh_token', '=', refresh_token)
    .execute();
}

/** Stores a new sign-in, which the running service uses from now on, and lets it read the mailbox at once. */
export async function storeSignIn(
  context: CredentialContext,
  seed: OAuthSeed,
  refreshToken: string,
): Promise<void> {
  await transact(context.db, async (tx) => {
    await storeCredential(tx, context, seed, refreshToken);
    await tx
      .updateTable('seed_mailboxes')
      .set({ failures: 0, error: null, error_detail: null, next_look_at: null })
      .where('id', '=', seed.name)
      .execute();
  });
}

/** When each mailbox was last signed in to, by its name; only those whose sign-in counts. */
export async function signInTimes(
  { db, secrets }: Pick<App, 'db' | 'secrets'>,
  seeds: OAuthSeed[],
): Promise<Map<string, string>> {
  const rows = await db.selectFrom('seed_credentials').selectAll().execute();
  return new Map(
    seeds.flatMap((seed) => {
      const row = rows.find(
        ({ id, configured }) => id === seed.name && configured === configuredHash(secrets, seed),
      );
      return row ? [[seed.name, row.stored_at]] : [];
    }),
  );
}
