/** A seed mailbox that is read through Microsoft Graph. It has no connection: each look sends requests. */

import type { App } from '../app.ts';
import type { SeedMailbox } from '../config/seed-mailboxes.ts';
import { AccountError, type AccountProblem } from '../net/account-error.ts';
import {
  type GraphFolder,
  type GraphMailbox,
  type GraphMessage,
  type ListedMessage,
  openGraphMailbox,
} from '../net/graph/mailbox.ts';
import type { PlacementReason } from '../report/report.ts';
import { providerWeb, withAccessToken } from '../sign-ins/access-tokens.ts';
import type { SignIn } from '../sign-ins/sign-in.ts';
import { accountFault } from './graph-account.ts';
import { copyOf, type MailCopy } from './mail-copy.ts';
import { CLOCK_TOLERANCE_MS, type FoundMessage } from './match.ts';
import type { SeedSource } from './source.ts';

export type GraphSeed = SeedMailbox & SignIn & { graphUrl: string };

/** Spam first, as providers move messages out of the inbox rather than into it. */
const FOLDERS: { id: GraphFolder; name: string; isJunk: boolean }[] = [
  { id: 'junkemail', name: 'Junk Email', isJunk: true },
  { id: 'inbox', name: 'Inbox', isJunk: false },
];

/** New messages that are read in one look, from the newest. The next look continues. */
const MAX_MESSAGES = 200;
/** After this many messages that Graph does not send, and none that it does, the fault is its own. */
const MAX_FAILURES = 3;
/** Messages that Graph has not sent before and that a look asks for again. */
const MAX_REFUSED = 3;
/** For all requests of one look. What was read until then is kept for the next. */
const LOOK_TIMEOUT_MS = 120_000;

export function createGraphSource(app: App, seed: GraphSeed): SeedSource {
  /** By the ID of the message. */
  const copies = new Map<string, MailCopy>();
  /** The IDs of messages that Graph did not send. */
  const refused = new Set<string>();
  let found: FoundMessage[] = [];
  let truncatedAt: number | null = null;
  let unreadableAt: number | null = null;
  const closing = new AbortController();
  /** Of the access token that was used last. */
  let checked: { accessToken: string; fault: AccountError | null } | null = null;

  async function requireAccount(mailbox: GraphMailbox, accessToken: string): Promise<void> {
    if (checked?.accessToken !== accessToken)
      checked = { accessToken, fault: await accountFault(mailbox, seed) };
    if (checked.fault) throw checked.fault;
  }

  async function copyFor(mailbox: GraphMailbox, id: string): Promise<MailCopy | null> {
    const known = copies.get(id);
    if (known) return known;
    const message = await mailbox.read(id);
    if (!message) return null;
    const copy = copyOfGraph(message);
    copies.set(id, copy);
    return copy;
  }

  /** Reads messages. One that Graph does not send would otherwise hide all others. */
  async function readMessages(
    mailbox: GraphMailbox,
    messages: ListedMessage[],
    signal: AbortSignal,
  ): Promise<void> {
    let sent = 0;
    let failures = 0;
    for (const { id } of messages) {
      try {
        await copyFor(mailbox, id);
        refused.delete(id);
        sent += 1;
      } catch (error) {
        if (!(error instanceof AccountError) || signal.aborted) throw error;
        const isOfServer = PROBLEMS_OF_SERVERS.includes(error.problem);
        if (!isOfServer && !PROBLEMS_OF_MESSAGES.includes(error.problem)) throw error;
        if (!refused.has(id)) failures += 1;
        // To the end, so that the others are asked for first.
        refused.delete(id);
        refused.add(id);
        if (isOfServer && sent === 0 && failures >= MAX_FAILURES) throw error;
      }
    }
  }

  async function look(accessToken: string, since: number): Promise<void> {
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(LOOK_TIMEOUT_MS)]);
    const access = { web: providerWeb(app), baseUrl: seed.graphUrl, accessToken, signal };
    const mailbox = openGraphMailbox(access);
    await requireAccount(mailbox, accessToken);
    let isListTruncated = false;
    // A message that was moved between two lists is in both; the later list is right.
    const listed = new Map<string, ListedMessage & Pick<FoundMessage, 'folder' | 'isJunk'>>();
    for (const { id, name: folder, isJunk } of FOLDERS) {
      const listing = await mailbox.list(id, since);
      if (listing.isTruncated) isListTruncated = true;
      for (const message of listing.messages)
        listed.set(message.id, { ...message, folder, isJunk });
    }
    for (const id of copies.keys()) if (!listed.has(id)) copies.delete(id);
    for (const id of refused) if (!listed.has(id)) refused.delete(id);
    const unread = [...listed.values()].filter(({ id }) => !copies.has(id));
    const fresh = inTurn(unread.filter(({ id }) => !refused.has(id)));
    const again = [...refused].slice(0, MAX_REFUSED).map((id) => listed.get(id)!);
    truncatedAt = isListTruncated ? app.clock.now() : newestOf(fresh.slice(MAX_MESSAGES));
    await readMessages(mailbox, [...fresh.slice(0, MAX_MESSAGES), ...again], signal);
    unreadableAt = newestOf(unread.filter(({ id }) => refused.has(id)));
    const messages: FoundMessage[] = [];
    for (const { id, folder, isJunk, receivedAt, inference } of listed.values()) {
      const copy = copies.get(id);
      if (!copy) continue;
      const notes = isJunk ? [] : inferenceNotes(inference);
      messages.push({ ...copy, key: id, folder, isJunk, uid: null, receivedAt, notes });
    }
    found = messages;
  }

  return {
    async read(since) {
      if (closing.signal.aborted) throw new AccountError('closed', 'The service is stopping.');
      await withAccessToken(app, seed, (token) => look(token, since - CLOCK_TOLERANCE_MS));
      const searched = FOLDERS.map(({ name }) => name);
      return { searched, hasJunkFolder: true, truncatedAt, unreadableAt };
    },
    messages: () => found,
    tabOf: async () => 'inbox',
    // Each look lists the messages again.
    keepWatch: async () => {},
    disconnect() {},
    close: () => closing.abort(),
  };
}

/** One message of each folder after the other, so that those of one folder can't stand for all. */
function inTurn<T extends { folder: string }>(messages: T[]): T[] {
  const counts = new Map<string, number>();
  const positions = messages.map((message) => {
    const position = counts.get(message.folder) ?? 0;
    counts.set(message.folder, position + 1);
    return { message, position };
  });
  return positions.toSorted((a, b) => a.position - b.position).map(({ message }) => message);
}

/** The latest time at which one of these messages can have arrived by this machine’s clock; null without messages. */
const newestOf = (messages: ListedMessage[]): number | null =>
  messages.length === 0
    ? null
    : Math.max(...messages.map(({ receivedAt }) => receivedAt)) + CLOCK_TOLERANCE_MS;

/** Of one message: a response that makes no sense, or a refusal. */
const PROBLEMS_OF_MESSAGES: readonly AccountProblem[] = ['bad_response', 'refused'];
/** Of one message, or of Graph as a whole. */
const PROBLEMS_OF_SERVERS: readonly AccountProblem[] = ['unreachable', 'timeout'];

/** A message as Graph shows it, by which it is recognized. */
function copyOfGraph({ headers, from, subject, body }: GraphMessage): MailCopy {
  const { isHtml, content } = body ?? { isHtml: false, content: null };
  return copyOf({
    headers: headers.map(({ name, value }) => ({ name, key: name.toLowerCase(), value })),
    from: from === null ? [] : [{ address: from }],
    subject,
    text: isHtml ? null : content,
    html: isHtml ? content : null,
  });
}

function inferenceNotes(inference: ListedMessage['inference']): PlacementReason[] {
  if (inference === null) return [];
  const text =
    inference === 'focused'
      ? 'Outlook shows the message under Focused.'
      : 'Outlook shows the message under Other, not under Focused.';
  return [{ field: 'inferenceClassification', name: 'inference', value: inference, text }];
}
