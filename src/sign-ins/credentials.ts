/** The stored sign-ins: encrypted refresh tokens, by kind and name. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import type { SecretBox } from '../lib/crypto.ts';
import { type Db, lockIn, type Tx, transact } from '../store/open.ts';
import type { SeedCredentialRow } from '../store/tables.generated.ts';
import { untilAvailable } from '../store/until-available.ts';
import { configuredSignIns, SIGN_IN_KINDS, type SignIn, type SignInKind } from './sign-in.ts';

/** Both tables have the same columns. */
export type CredentialRow = SeedCredentialRow;

type CredentialContext = Pick<App, 'db' | 'clock' | 'secrets'>;

const tableOf = ({ kind }: SignIn) => SIGN_IN_KINDS[kind].table;
const purposeOf = ({ kind, name }: SignIn): string => `${SIGN_IN_KINDS[kind].purpose} ${name}`;

/** Identifies the app and the token in the configuration, without revealing them. */
const configuredHash = (secrets: SecretBox, { kind, oauth }: SignIn): string =>
  secrets.token(
    JSON.stringify([oauth.clientId, oauth.tokenUrl, oauth.refreshToken]),
    SIGN_IN_KINDS[kind].purpose,
  );

export const findCredential = (db: Db | Tx, signIn: SignIn): Promise<CredentialRow | undefined> =>
  lockIn(
    db,
    db.selectFrom(tableOf(signIn)).selectAll().where('id', '=', signIn.name),
  ).executeTakeFirst();

/** Null if it was encrypted with another secret key. */
export const readRefreshToken = (
  { secrets }: Pick<App, 'secrets'>,
  signIn: SignIn,
  row: CredentialRow,
): string | null => secrets.open(row.refresh_token, purposeOf(signIn));

/**
 * The stored credential if the configuration is as it was then, or else that of the configuration, which is stored.
 * Null if there is none.
 */
export async function currentCredential(
  context: CredentialContext,
  signIn: SignIn,
): Promise<CredentialRow | null> {
  const configured = configuredHash(context.secrets, signIn);
  const isCurrent = (row: CredentialRow | undefined) =>
    row?.configured === configured && readRefreshToken(context, signIn, row);
  const found = await findCredential(context.db, signIn);
  if (found && isCurrent(found)) return found;
  const { refreshToken } = signIn.oauth;
  if (refreshToken === null) return null;
  return transact(context.db, async (tx) => {
    const row = await findCredential(tx, signIn);
    if (row && isCurrent(row)) return row;
    return storeCredential(tx, context, signIn, refreshToken);
  });
}

/** Stores the refresh tokens of the configuration, so that unused ones are kept alive too. */
export async function storeConfiguredSignIns(
  context: CredentialContext & Pick<App, 'config'>,
  kind: SignInKind,
): Promise<void> {
  for (const signIn of configuredSignIns(context.config, kind))
    await currentCredential(context, signIn);
}

async function storeCredential(
  tx: Tx,
  { clock, secrets }: Omit<CredentialContext, 'db'>,
  signIn: SignIn,
  refreshToken: string,
): Promise<CredentialRow> {
  const row: CredentialRow = {
    id: signIn.name,
    configured: configuredHash(secrets, signIn),
    refresh_token: secrets.seal(refreshToken, purposeOf(signIn)),
    stored_at: isoTime(clock.now()),
    rejected_at: null,
  };
  await tx
    .insertInto(tableOf(signIn))
    .values(row)
    .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
    .execute();
  await SIGN_IN_KINDS[signIn.kind].confirm?.(tx, signIn.name, row.stored_at);
  return row;
}

/**
 * Stores the token that a provider has sent instead of an earlier one, and returns its encrypted form. `replaces` is that
 * of the earlier one. If the row has changed meanwhile, because someone signed in again, that sign-in stays.
 */
export async function replaceCredential(
  { db, clock, secrets }: CredentialContext,
  signIn: SignIn,
  { replaces, refreshToken }: { replaces: string; refreshToken: string },
): Promise<string> {
  const refresh_token = secrets.seal(refreshToken, purposeOf(signIn));
  const stored_at = isoTime(clock.now());
  await untilAvailable(() =>
    transact(db, (tx) =>
      tx
        .updateTable(tableOf(signIn))
        .set({ refresh_token, stored_at, rejected_at: null })
        .where('id', '=', signIn.name)
        .where('refresh_token', '=', replaces)
        .execute(),
    ),
  );
  return refresh_token;
}

/** Records when the provider rejected the token, or that it works again. */
export async function setRejected(
  db: Db,
  signIn: SignIn,
  { refresh_token }: CredentialRow,
  rejected_at: string | null,
): Promise<void> {
  await db
    .updateTable(tableOf(signIn))
    .set({ rejected_at })
    .where('id', '=', signIn.name)
    .where('refresh_token', '=', refresh_token)
    .execute();
}

/** Stores a new sign-in, which the running service uses from now on. */
export async function storeSignIn(
  context: CredentialContext,
  signIn: SignIn,
  refreshToken: string,
): Promise<void> {
  await transact(context.db, async (tx) => {
    await storeCredential(tx, context, signIn, refreshToken);
    await SIGN_IN_KINDS[signIn.kind].resume(tx, signIn.name);
  });
}

/** When each account of a kind was last signed in to, by its name; only those whose sign-in counts. */
export async function signInTimes(
  { db, secrets, config }: Pick<App, 'db' | 'secrets' | 'config'>,
  kind: SignInKind,
): Promise<Map<string, string>> {
  const rows = await db.selectFrom(SIGN_IN_KINDS[kind].table).selectAll().execute();
  return new Map(
    configuredSignIns(config, kind).flatMap((signIn) => {
      const row = rows.find(
        ({ id, configured }) =>
          id === signIn.name && configured === configuredHash(secrets, signIn),
      );
      return row ? [[signIn.name, row.stored_at]] : [];
    }),
  );
}
