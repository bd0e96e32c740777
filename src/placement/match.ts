/** Decides which message in a seed mailbox belongs to which test. */

import type { PlacementReason } from '../report/report.ts';
import type { PlacementRow } from '../store/tables.generated.ts';
import type { MailCopy } from './mail-copy.ts';

export type Match = NonNullable<PlacementRow['matched_by']>;

/** A message in a seed mailbox. */
export interface FoundMessage extends MailCopy {
  /** Unique in the mailbox. */
  key: string;
  folder: string;
  isJunk: boolean;
  /** Null if the mailbox is not on an IMAP server. */
  uid: number | null;
  /** What the provider says about the message, other than in its header. */
  notes?: PlacementReason[];
  /** In milliseconds since the Unix epoch, by the clock of the provider. */
  receivedAt: number;
}

/** A test whose message is looked for. */
export interface WantedTest {
  id: string;
  token: string;
  /** The address of the seed mailbox for this test. */
  address: string;
  createdAt: number;
  /** The copy that reached the test address, and when; null before. */
  received: { copy: MailCopy; at: number } | null;
  /** How long after that the placement becomes final. */
  timeoutMs: number;
  /** Whether that is now, so that nothing is left to other tests any more. By default, it is not. */
  isEnding?: boolean;
  /** Whether other tests of the same monitor have the same token and seed addresses. */
  sharesToken: boolean;
}

/** How far the clock of a provider may be behind. */
export const CLOCK_TOLERANCE_MS = 10 * 60_000;

/** How long a message that another test may claim is left to it. */
const CLAIM_MS = 60_000;

/** From the surest to the least sure. */
const MATCHES: readonly Match[] = ['address', 'token', 'message_id', 'probable'];

/** How surely the message belongs to the test; null if it doesn't. */
export function matchOf(message: FoundMessage, test: WantedTest): Match | null {
  if (message.receivedAt < test.createdAt - CLOCK_TOLERANCE_MS) return null;
  if (isAnswer(message, test)) return null;
  if (test.address.includes(`+${test.token}@`) && message.plusAddresses.has(test.address))
    return 'address';
  if (message.tokens.has(test.token)) return 'token';
  if (test.received === null) return null;
  const { copy, at } = test.received;
  if (copy.messageId !== null && copy.messageId === message.messageId) return 'message_id';
  const isInTime =
    message.receivedAt >= at - CLOCK_TOLERANCE_MS && message.receivedAt <= at + test.timeoutMs;
  return isInTime && likeness(message, test) > 0 ? 'probable' : null;
}

/** Somebody else’s reply, bounce or forwarded copy, which quotes the token and can have the seed address. */
const isAnswer = ({ isReply, from }: FoundMessage, { received }: WantedTest): boolean =>
  isReply && received !== null && received.copy.from !== null && from !== received.copy.from;

/** 2 with the same Message-ID, 1 with the same sender and subject, otherwise 0. */
function likeness(message: FoundMessage, { received }: WantedTest): 0 | 1 | 2 {
  if (received === null) return 0;
  const { messageId, from, subject } = received.copy;
  if (messageId !== null && messageId === message.messageId) return 2;
  const isAlike =
    from !== null && subject !== null && from === message.from && subject === message.subject;
  return isAlike ? 1 : 0;
}

export interface MatchedMessage {
  message: FoundMessage;
  match: Match;
}

/**
 * The message of each test, by the ID of the test. A message to the seed address of another test is not matched by its
 * Message-ID, sender or subject. No message is matched twice. For a minute until `now`, a new message is left to a test
 * whose own message has not reached the test address yet, but which may fit better.
 */
export function matchMessages(
  messages: FoundMessage[],
  tests: WantedTest[],
  now = Number.POSITIVE_INFINITY,
): Map<string, MatchedMessage> {
  const matches = new Map<string, MatchedMessage>();
  const taken = new Set<string>();
  // Each level for all tests before the next, so that no test takes the message of another.
  for (const level of MATCHES) {
    const pairs = tests
      .filter(({ id }) => !matches.has(id))
      .flatMap((test) =>
        messages
          .filter((message) => !taken.has(message.key) && matchOf(message, test) === level)
          .filter(
            (message) => level === 'address' || level === 'token' || !isOfAnother(message, test),
          )
          .filter(
            (message) =>
              test.isEnding ||
              now - message.receivedAt >= CLAIM_MS ||
              !mayBeOfAnother(message, test, tests, level),
          )
          .map((message) => ({
            test,
            message,
            likeness: likeness(message, test),
            distance: distanceOf(message, test),
          })),
      )
      .sort(
        (a, b) =>
          b.likeness - a.likeness ||
          a.distance - b.distance ||
          Number(b.message.isJunk) - Number(a.message.isJunk),
      );
    for (const { test, message } of pairs) {
      if (matches.has(test.id) || taken.has(message.key)) continue;
      matches.set(test.id, { message, match: level });
      taken.add(message.key);
    }
  }
  return matches;
}

/**
 * Whether a test that can't be compared yet may be the right one. Such a test waits for its message. A test of a monitor
 * does not even exist before.
 */
function mayBeOfAnother(
  message: FoundMessage,
  test: WantedTest,
  tests: WantedTest[],
  level: Match,
): boolean {
  if (likeness(message, test) === 2) return false;
  if (test.sharesToken && distanceOf(message, test) > CLAIM_MS) return true;
  return (
    level === 'probable' &&
    tests.some(
      ({ id, received, createdAt }) =>
        id !== test.id && received === null && message.receivedAt >= createdAt - CLOCK_TOLERANCE_MS,
    )
  );
}

/** A recipient with the token of another test: sent for that one, however alike the messages are. */
const isOfAnother = ({ plusAddresses }: FoundMessage, { token }: WantedTest): boolean =>
  plusAddresses.size > 0 && ![...plusAddresses].some((address) => address.includes(`+${token}@`));

const distanceOf = ({ receivedAt }: FoundMessage, { received, createdAt }: WantedTest): number =>
  Math.abs(receivedAt - (received?.at ?? createdAt));
