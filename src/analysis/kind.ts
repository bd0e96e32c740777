/**
 * Whether a message is marketing or transactional: as the sender stated, or as the message shows.
 * `kind/signs.ts` has the signs and their points.
 */

import { serviceField } from './bulk-sender.ts';
import { type Context, type Finding, type KindConfidence, skipped } from './check.ts';
import { forwarding } from './forwarding/forwarding.ts';
import { hasField, type MailFacts, mailFacts } from './kind/mail-facts.ts';
import { notification } from './kind/notifications.ts';
import {
  discussionList,
  type FoundSign,
  findSigns,
  hasKnownPhrase,
  isNoticeFirst,
} from './kind/signs.ts';
import { LIMITS } from './mime/message.ts';
import { isInThread } from './quotes/sender-part.ts';

export type Kind = 'marketing' | 'transactional';

export interface Classification {
  kind: Kind;
  /** `sender`: stated when the test was created or reanalyzed. `message`: found in the message. */
  by: 'sender' | 'message';
  confidence: KindConfidence;
  /** What in the message shows it, or why nothing does; as sentences. */
  reasons: string[];
}

/** A fact: call `context.fact(classifyMessage)`. */
export function classifyMessage(context: Context): Classification {
  if (context.kind !== 'auto')
    return {
      kind: context.kind,
      by: 'sender',
      confidence: 'certain',
      reasons: ['You chose this kind.'],
    };
  const mail = context.fact(mailFacts);
  const signs = findSigns(mail);
  const discussion = discussionList(mail) ?? forwardedByList(context);
  const verdict = discussion
    ? classifyDiscussion(discussion, signs)
    : (classifyNotification(mail, signs) ??
      withDoubtfulQuote(withLanguage(weigh(signs, mail), mail), mail));
  const { kind, confidence, reasons } = verdict;
  return { kind, by: 'message', confidence, reasons: [...reasons, ...unreadHeader(mail)] };
}

/** A list that passed a message on has added the list fields, not the author. */
const forwardedByList = (context: Context): string | null =>
  context.fact(forwarding).kind === 'list'
    ? 'It is a post to a discussion list, whose members write to each other.'
    : null;

type Verdict = Pick<Classification, 'kind' | 'confidence' | 'reasons'>;

// Points that decide. The default is transactional, so marketing needs more of them.

/** How far marketing must lead. */
const MIN_LEAD = 4;
/** How far transactional must lead if anything speaks for marketing. */
const MIN_TRANSACTIONAL_LEAD = 2;
/** Less than this says nothing. */
const MIN_MARKETING = 3;
/** With this many points on both sides, the message is both: a receipt with a promotion under it. */
const MIN_BOTH = 6;
/** The lead that decides even a message with a sign for both sides. */
const MIN_CLEAR_LEAD = 8;
/** With fewer points for transactional mail, the fields of a campaign are conclusive. */
const MAX_DOUBT = 5;

function weigh(signs: FoundSign[], mail: MailFacts): Verdict {
  const marketing = sumOf(signs, 'marketing');
  const transactional = sumOf(signs, 'transactional');
  const lead = marketing - transactional;
  const kind: Kind = lead > 0 && marketing >= MIN_MARKETING ? 'marketing' : 'transactional';
  const reasons = reasonsFor(kind, signs);
  if (isConclusive(signs) && transactional < MAX_DOUBT)
    return { kind: 'marketing', confidence: 'certain', reasons: reasonsFor('marketing', signs) };
  // A receipt with a coupon at its end is a receipt. How much it promotes decides how certain that is.
  if (lead > -MIN_TRANSACTIONAL_LEAD && isNoticeFirst(mail))
    return {
      kind: 'transactional',
      confidence: 'uncertain',
      reasons: [NOTICE_FIRST, ...reasonsFor('transactional', signs)],
    };
  // Designed for many readers, but nothing says for what.
  if (signs.length === 0 && mail.hasLayout) return { kind, confidence: 'uncertain', reasons };
  const isMixed = signs.some(({ side }) => side === 'both') && Math.abs(lead) < MIN_CLEAR_LEAD;
  const isBoth = marketing >= MIN_BOTH && transactional >= MIN_BOTH;
  if (isMixed || isBoth) return { kind, confidence: 'uncertain', reasons };
  const isClear =
    kind === 'marketing'
      ? lead >= MIN_LEAD
      : marketing < MIN_MARKETING || -lead >= MIN_TRANSACTIONAL_LEAD;
  return { kind, confidence: isClear ? 'likely' : 'uncertain', reasons };
}

const NOTICE_FIRST = 'Its subject and beginning are about the recipient’s own business.';

/** Words that are not understood say nothing, so only the fields of a campaign are certain. */
function withLanguage(verdict: Verdict, mail: MailFacts): Verdict {
  if (mail.isLanguageKnown !== false || verdict.confidence === 'certain') return verdict;
  if (hasKnownPhrase(mail) || showsKindWithoutWords(verdict, mail)) return verdict;
  return {
    ...verdict,
    confidence: 'uncertain',
    reasons: [...verdict.reasons, UNKNOWN_LANGUAGE],
  };
}

/** A newsletter repeats the link of its field in the text. The report of a program has data, in no language. */
const showsKindWithoutWords = ({ kind }: Verdict, mail: MailFacts): boolean =>
  kind === 'marketing'
    ? hasField(mail, 'list-unsubscribe') && mail.hasUnsubscribeLink
    : mail.autoSubmitted === 'auto-generated' && !mail.hasLayout && mail.links === 0;

const UNKNOWN_LANGUAGE =
  'Its language is not one of those whose phrases are known, so its words were not considered.';

/** A sign for both sides counts for both. */
const sumOf = (signs: FoundSign[], wanted: Kind): number =>
  signs
    .filter(({ side }) => side === wanted || side === 'both')
    .reduce((sum, { points }) => sum + points, 0);

/** Two fields of mailing lists, or one and the field of a campaign tool. */
const isConclusive = (signs: FoundSign[]): boolean =>
  signs.filter(({ basis }) => basis === 'list' || basis === 'conclusive').length >= 2;

/** Its list fields say nothing, but a list may also be used for campaigns. */
function classifyDiscussion(reason: string, signs: FoundSign[]): Verdict {
  const content = signs.filter(({ basis }) => basis !== 'list');
  const offers = sumOf(content, 'marketing') >= 2 * MIN_BOTH;
  return {
    kind: 'transactional',
    confidence: offers ? 'uncertain' : 'likely',
    reasons: [reason, ...(offers ? doubts(content, 'marketing') : [])],
  };
}

/** Below this, it is a passing mention, not a promotion disguised as a notification. */
const MIN_PROMOTION = 8;

/**
 * The verdict on a notification; null if the content promotes something, whatever its fields say. A comment may be about
 * coupons, so words alone promote nothing.
 */
function classifyNotification(mail: MailFacts, signs: FoundSign[]): Verdict | null {
  const content = signs.filter(({ basis }) => basis !== 'list' && basis !== 'manage');
  // Without a list field or a way to unsubscribe, weighing all signs says more.
  if (content.length === signs.length) return null;
  const reason = notification(mail);
  if (reason === null) return null;
  const promotes = content.some(({ basis }) => basis === 'promotion');
  const offers = promotes ? sumOf(content, 'marketing') : 0;
  if (offers >= MIN_PROMOTION) return null;
  const isDoubtful = offers >= MIN_BOTH || signs.some(({ side }) => side === 'both');
  return {
    kind: 'transactional',
    confidence: isDoubtful ? 'uncertain' : 'likely',
    reasons: [reason, ...(isDoubtful ? doubts(content, 'marketing') : [])],
  };
}

/** Anyone can mark their own words as quoted, so a message of nothing else may be anything. */
function withDoubtfulQuote(verdict: Verdict, { own, message, words }: MailFacts): Verdict {
  if (!own.hasQuotes || words > 0 || isInThread(message)) return verdict;
  const isForward = own.relation === 'forward';
  if (isForward && serviceField(message) === null) return verdict;
  const sentence = isForward
    ? 'A bulk email service sent it, although it only forwards another message.'
    : 'It consists of a quote, but no field shows that it is a reply.';
  return { ...verdict, confidence: 'uncertain', reasons: [...verdict.reasons, sentence] };
}

// Reasons: the strongest signs first, then what speaks against them.

const MAX_REASONS = 5;
const MAX_DOUBTS = 2;

function reasonsFor(kind: Kind, signs: FoundSign[]): string[] {
  const supporting = strongest(signs.filter(({ side }) => side === kind || side === 'both'));
  const against = doubts(signs, otherKind(kind));
  if (supporting.length > 0) return [...supporting.slice(0, MAX_REASONS), ...against];
  return ['Nothing in it shows a campaign or an offer.', ...against];
}

/** One sentence about the strongest signs of the other kind; empty if there are none. */
function doubts(signs: FoundSign[], side: Kind): string[] {
  const clauses = strongest(signs.filter((sign) => sign.side === side))
    .slice(0, MAX_DOUBTS)
    .map((sentence) => `${sentence[0]!.toLowerCase()}${sentence.slice(1, -1)}`);
  return clauses.length === 0 ? [] : [`On the other hand, ${clauses.join(', and ')}.`];
}

const strongest = (signs: FoundSign[]): string[] =>
  signs.toSorted((a, b) => b.points - a.points).map(({ sentence }) => sentence);

const unreadHeader = ({ message }: MailFacts): string[] =>
  message.headerBytes > LIMITS.headerBytes
    ? ['Its header is too long to read in full. The rest may contain fields that show its kind.']
    : [];

// The other kind, for messages whose kind is uncertain.

export const otherKind = (kind: Kind): Kind =>
  kind === 'marketing' ? 'transactional' : 'marketing';

/** The same message as another kind. All other facts are shared, so nothing is looked up again. */
export function contextAs(context: Context, kind: Kind): Context {
  const other: Context = {
    ...context,
    kind,
    fact: (make) => (make === (classifyMessage as unknown) ? make(other) : context.fact(make)),
  };
  return other;
}

// The finding of checks that only apply to marketing mail.

/** The `skipped` finding for transactional mail, with the reasons; null for marketing mail. */
export function skipUnlessMarketing(context: Context, title: string): Finding | null {
  const { kind, reasons } = context.fact(classifyMessage);
  if (kind === 'marketing') return null;
  const why = reasons.join(' ');
  return skipped(title, `Not checked: your message is transactional mail. ${why}`);
}
