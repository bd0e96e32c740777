/** How a report mailbox is opened, and whose Authentication-Results are trusted. */

import type { App } from '../../app.ts';
import { PREFIX } from '../../config/config.ts';
import { type ImapAccount, isLoopback } from '../../config/seed-mailboxes.ts';
import { SEED_PROVIDERS, type SeedProvider, seedProvider } from '../../config/seed-providers.ts';
import { AccountError } from '../../net/account-error.ts';
import { findAllowedAddress } from '../../net/guarded-connection.ts';
import { openReportFolder, type ReportFolder } from '../../net/imap/report-folder.ts';
import { withAccessToken } from '../../sign-ins/access-tokens.ts';
import type { ReportMailboxRow } from '../../store/tables.generated.ts';
import type { TrustedServers } from '../thread/recorded.ts';

export const passwordPurpose = (id: string): string => `password of ${id}`;

/** Rejects with an AccountError. */
export async function openStored(
  app: App,
  row: ReportMailboxRow,
  signal: AbortSignal,
): Promise<ReportFolder> {
  const { config } = app;
  const options = {
    folder: row.folder,
    moveTo: row.move_to,
    maxBytes: config.FEEDBACK_MAX_SIZE,
    signal,
  };
  if (row.sign_in === null) {
    const account = storedAccount(app, row);
    const address = await allowedAddress(app, account, signal);
    return openReportFolder(account, { ...options, address });
  }
  const { imap, oauth, name } = signInOf(app, row.sign_in);
  const { password, ...server } = imap;
  return oauth === null
    ? openReportFolder({ ...server, password: password ?? '' }, options)
    : withAccessToken(app, { kind: 'seed', name, oauth }, (accessToken) =>
        openReportFolder({ ...server, accessToken }, options),
      );
}

function signInOf({ config }: Pick<App, 'config'>, name: string) {
  const seed = config.SEED_MAILBOXES.find((each) => each.name === name);
  if (!seed)
    throw new AccountError(
      'sign_in_required',
      `${PREFIX}SEED_MAILBOXES has no mailbox named ${name}. Choose another sign-in.`,
    );
  const { imap } = seed;
  if (imap === null)
    throw new AccountError(
      'sign_in_required',
      `${name} is read through Microsoft Graph, but reports are imported over IMAP. Remove "api": "graph" from its entry, and sign in again.`,
    );
  return { ...seed, imap };
}

function storedAccount(
  { secrets }: Pick<App, 'secrets'>,
  { id, host, port, tls, username, password }: ReportMailboxRow,
): ImapAccount {
  const plain = secrets.open(password!, passwordPurpose(id));
  if (plain === null)
    throw new AccountError(
      'sign_in_failed',
      'The password can’t be decrypted, because it was encrypted with another secret key. Enter it again.',
    );
  return {
    host: host!,
    port: port!,
    tls: tls === 'implicit' ? 'implicit' : isLoopback(host!) ? 'loopback' : 'starttls',
    user: username!,
    password: plain,
  };
}

const LOOKUP_TIMEOUT_MS = 15_000;

async function allowedAddress(app: App, target: ImapAccount, signal: AbortSignal): Promise<string> {
  const found = await findAllowedAddress(
    { resolver: app.resolver, allowNetworks: app.config.WEBHOOK_ALLOW_NETWORKS },
    target,
    AbortSignal.any([signal, AbortSignal.timeout(LOOKUP_TIMEOUT_MS)]),
  );
  if (found.status === 'found') return found.address;
  const advice =
    found.reason === 'forbidden_address'
      ? ` Ask your administrator to allow it in ${PREFIX}WEBHOOK_ALLOW_NETWORKS.`
      : ' Check the name of the server.';
  throw new AccountError(
    'unreachable',
    `Can’t connect to ${target.host}: ${found.detail}.${advice}`,
  );
}

/** The authserv-ids of the provider, or the one that the team has entered. */
export function trustedServers(
  { config }: Pick<App, 'config'>,
  { sign_in, host, authserv_id }: Pick<ReportMailboxRow, 'sign_in' | 'host' | 'authserv_id'>,
): TrustedServers {
  if (authserv_id !== null) return [authserv_id.toLowerCase()];
  const seed = config.SEED_MAILBOXES.find(({ name }) => name === sign_in);
  const provider: SeedProvider | undefined = seed
    ? seedProvider(seed.provider)
    : Object.values(SEED_PROVIDERS).find((each) => each.host !== null && each.host === host);
  if (!provider) return [];
  const names = provider.authserv.map((name) => `.${name}`);
  return provider.oauth === 'microsoft' ? [...names, ''] : names;
}
