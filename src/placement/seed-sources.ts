/** Chooses how a seed mailbox is read: over IMAP or through Microsoft Graph. */

import type { App } from '../app.ts';
import type { SeedMailbox } from '../config/seed-mailboxes.ts';
import { openGraphMailbox } from '../net/graph/mailbox.ts';
import type { WebClient } from '../net/http/web.ts';
import { openMailbox } from '../net/imap/mailbox.ts';
import type { SignIn } from '../sign-ins/sign-in.ts';
import { accountFault } from './graph-account.ts';
import { createGraphSource } from './graph-source.ts';
import { createImapSource } from './imap-source.ts';
import type { SeedSource } from './source.ts';

export function sourceFor(app: App, seed: SeedMailbox): SeedSource {
  const { imap, oauth, graphUrl } = seed;
  if (imap) return createImapSource(app, { ...seed, imap });
  if (oauth && graphUrl) return createGraphSource(app, { ...seed, kind: 'seed', oauth, graphUrl });
  throw new Error(`No way to read the seed mailbox ${seed.name}`);
}

const ACCESS_TIMEOUT_MS = 30_000;

/** Tries whether the access token opens this mailbox. Rejects with a AccountError if not. */
export async function tryAccess(
  seed: SeedMailbox & SignIn,
  accessToken: string,
  web: WebClient,
): Promise<void> {
  const { imap, graphUrl } = seed;
  if (imap) {
    const { password: _, ...server } = imap;
    (await openMailbox({ ...server, accessToken })).close();
  } else if (graphUrl) {
    const signal = AbortSignal.timeout(ACCESS_TIMEOUT_MS);
    const mailbox = openGraphMailbox({ web, baseUrl: graphUrl, accessToken, signal });
    const fault = await accountFault(mailbox, seed);
    if (fault) throw fault;
    // No message is that new: an empty list is enough.
    await mailbox.list('inbox', Date.UTC(2100, 0));
  }
}
