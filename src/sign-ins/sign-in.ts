/** An account at a provider that is signed in to with OAuth 2: a seed mailbox, or an account at a receiver. */

import { type Config, PREFIX } from '../config/config.ts';
import type { OAuthClient } from '../config/oauth-client.ts';
import { AccountError } from '../net/account-error.ts';
import type { Tx } from '../store/open.ts';

export type SignInKind = 'seed' | 'receiver';

export interface SignIn {
  kind: SignInKind;
  /** The name of its entry in the configuration, unique for the kind. */
  name: string;
  oauth: OAuthClient;
}

interface Kind {
  /** Where the refresh tokens are stored, and what begins their purpose: changing either loses all sign-ins. */
  table: 'seed_credentials' | 'receiver_credentials';
  purpose: string;
  /** For people. */
  noun: string;
  command: string;
  variable: 'SEED_MAILBOXES' | 'RECEIVERS';
  /** The entries of the configuration that use OAuth 2. */
  configured(config: Config): Omit<SignIn, 'kind'>[];
  /** Lets the running service use a new sign-in at once. */
  resume(tx: Tx, name: string): Promise<unknown>;
  /** Records that somebody has signed in, by the command or with a new token of the configuration. */
  confirm?(tx: Tx, name: string, at: string): Promise<unknown>;
}

export const SIGN_IN_KINDS: Record<SignInKind, Kind> = {
  seed: {
    table: 'seed_credentials',
    purpose: 'seed credential',
    noun: 'mailbox',
    command: 'seed sign-in',
    variable: 'SEED_MAILBOXES',
    configured: ({ SEED_MAILBOXES }) =>
      SEED_MAILBOXES.flatMap(({ name, oauth }) => (oauth ? [{ name, oauth }] : [])),
    resume: (tx, name) =>
      tx
        .updateTable('seed_mailboxes')
        .set({ failures: 0, error: null, error_detail: null, next_look_at: null })
        .where('id', '=', name)
        .execute(),
  },
  receiver: {
    table: 'receiver_credentials',
    purpose: 'receiver credential',
    noun: 'account',
    command: 'receivers sign-in',
    variable: 'RECEIVERS',
    configured: ({ RECEIVERS }) =>
      RECEIVERS.flatMap(({ name, oauth }) => (oauth ? [{ name, oauth }] : [])),
    // Its problem stays until the fetch shows that it is solved.
    resume: (tx, name) =>
      tx.updateTable('receivers').set({ next_fetch_at: null }).where('id', '=', name).execute(),
    confirm: (tx, name, access_since) =>
      tx.updateTable('receivers').set({ access_since }).where('id', '=', name).execute(),
  },
};

/** The accounts of a kind that use OAuth 2, in the order of the configuration. */
export const configuredSignIns = (config: Config, kind: SignInKind): SignIn[] =>
  SIGN_IN_KINDS[kind].configured(config).map(({ name, oauth }) => ({ kind, name, oauth }));

/** What renews the sign-in. Not all providers have an address to sign in at. */
export function signInAdvice({ kind, name, oauth }: SignIn): string {
  const { command, variable } = SIGN_IN_KINDS[kind];
  return oauth.deviceUrl || oauth.authorizationUrl
    ? `Run: deliverability ${command} ${name}`
    : `Set a new "refresh_token" for ${name} in ${PREFIX}${variable}, and restart the service.`;
}

export const signInRequired = (signIn: SignIn): AccountError =>
  new AccountError(
    'sign_in_required',
    `Nobody has signed in to this ${SIGN_IN_KINDS[signIn.kind].noun} yet. ${signInAdvice(signIn)}`,
  );

export const signInExpired = (signIn: SignIn, detail?: string): AccountError =>
  new AccountError(
    'sign_in_expired',
    `${detail ?? 'The provider no longer accepts the sign-in.'} ${signInAdvice(signIn)}`,
  );
