/** A seed mailbox on an IMAP server: one connection that reads, and one that waits for new mail. */

import type { App } from '../app.ts';
import type { ImapAccount, SeedMailbox } from '../config/seed-mailboxes.ts';
import { errorMessage } from '../lib/errors.ts';
import { AccountError } from '../net/account-error.ts';
import { type ImapMailbox, type InboxWatch, openMailbox, watchInbox } from '../net/imap/mailbox.ts';
import { withAccessToken } from '../sign-ins/access-tokens.ts';
import { MailboxState } from './mailbox-state.ts';
import type { SeedSource } from './source.ts';

export type ImapSeed = SeedMailbox & { imap: NonNullable<SeedMailbox['imap']> };

/** Servers may end idle connections after half an hour (RFC 2177). This applies to both connections. */
const MAX_CONNECTION_AGE_MS = 25 * 60_000;
const WATCH_RETRY_MS = 60_000;
/** For all that one look reads, however slowly the server sends it. The next look continues. */
const LOOK_TIMEOUT_MS = 120_000;

/** Calls `use` with what signs in to the mailbox: its password, or an access token. Rejects with a AccountError. */
export function withAccount<T>(
  app: App,
  { name, oauth, imap: { password, ...server } }: ImapSeed,
  use: (account: ImapAccount) => Promise<T>,
): Promise<T> {
  return oauth === null
    ? use({ ...server, password: password ?? '' })
    : withAccessToken(app, { kind: 'seed', name, oauth }, (accessToken) =>
        use({ ...server, accessToken }),
      );
}

/** `lookLimit` ends a look, once for each; tests decide when. */
export function createImapSource(
  app: App,
  seed: ImapSeed,
  { lookLimit = () => AbortSignal.timeout(LOOK_TIMEOUT_MS) } = {},
): SeedSource {
  const state = new MailboxState(seed, app.clock);
  let mailbox: ImapMailbox | null = null;
  let openedAt = 0;
  let connecting: Promise<unknown> = Promise.resolve();
  let watch: InboxWatch | null = null;
  let watchOpenedAt = 0;
  let watchRetryAt = 0;
  const closing = new AbortController();
  const { signal } = closing;
  /** Ends the look that is running. */
  let look: AbortSignal = signal;

  const disconnect = () => {
    mailbox?.close();
    mailbox = null;
  };

  /** One after the other: an earlier look can still be connecting, and must not be joined by a second connection. */
  function connected(): Promise<ImapMailbox> {
    const current = look;
    const opened = connecting.catch(() => {}).then(() => connect(current));
    connecting = opened;
    return opened;
  }

  async function connect(current: AbortSignal): Promise<ImapMailbox> {
    current.throwIfAborted();
    const now = app.clock.now();
    if (mailbox?.isOpen() && now - openedAt < MAX_CONNECTION_AGE_MS) return mailbox;
    await mailbox?.end();
    mailbox = null;
    const opened = await withAccount(app, seed, (account) => openMailbox(account, { signal }));
    if (signal.aborted) opened.close();
    else if (current.aborted) await opened.end();
    mailbox = opened;
    openedAt = now;
    return opened;
  }

  /** Rejects once the time of the look is over, and ends the connection. */
  async function withinLook<T>(work: (mailbox: ImapMailbox) => Promise<T>): Promise<T> {
    const over = Promise.withResolvers<never>();
    const end = () => {
      const detail = `${seed.imap.host} took longer than 2 minutes to send what is new.`;
      over.reject(new AccountError('timeout', detail));
      disconnect();
    };
    look.addEventListener('abort', end);
    if (look.aborted) end();
    const running = connected().then(work);
    // After that, its own rejection is of no interest.
    running.catch(() => {});
    try {
      return await Promise.race([over.promise, running]);
    } finally {
      look.removeEventListener('abort', end);
    }
  }

  return {
    read(since, recheck) {
      look = lookLimit();
      return withinLook((opened) => state.read(opened, since, recheck));
    },
    messages: () => state.messages(),
    tabOf: (message) => withinLook((opened) => state.tabOf(opened, message)),
    async keepWatch(onChange) {
      const now = app.clock.now();
      const canWatch = seed.connections >= 2 && mailbox?.canIdle();
      const isWatching = watch?.isOpen() && now - watchOpenedAt < MAX_CONNECTION_AGE_MS;
      if (!canWatch || isWatching || now < watchRetryAt) return;
      watchRetryAt = now + WATCH_RETRY_MS;
      await watch?.end();
      watchOpenedAt = now;
      try {
        watch = await withAccount(app, seed, (account) =>
          watchInbox(account, onChange, { signal }),
        );
        if (signal.aborted) watch.close();
        // What arrived before it began.
        onChange();
      } catch (error) {
        app.log.debug('can’t wait for new mail in a seed mailbox', {
          seed: seed.name,
          error: errorMessage(error),
        });
      }
    },
    disconnect,
    close() {
      closing.abort();
      watch?.close();
      disconnect();
    },
  };
}
