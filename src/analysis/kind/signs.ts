/**
 * The signs of marketing and of transactional mail, with their points. `kind.ts` adds them up. A phrase
 * in the subject counts more than in the text, because the subject says what the message is about.
 */

import { campaignField, isCampaignField, serviceField } from '../bulk-sender.ts';
import { fields, fieldValue } from '../mime/message.ts';
import { hasField, type MailFacts } from './mail-facts.ts';
import { findNumbered, findPhrases, type PhraseList, type SearchedText } from './phrase-search.ts';
import * as phrases from './phrases.ts';

/** What speaks for a kind. `both`: part notice, part promotion. */
export type Side = 'marketing' | 'transactional' | 'both';

interface SignRule {
  side: Side;
  /**
   * `list`: fields of mailing lists, which discussion lists and notifications have too. `manage`: how to unsubscribe or
   * change settings, as in notifications. `conclusive`: only campaigns have it. `promotion`: leads to a purchase, which words alone do not.
   */
  basis?: 'list' | 'manage' | 'conclusive' | 'promotion';
  points: number;
  /** The sentence of the reason; null if the message does not have the sign. */
  find(mail: MailFacts): string | null;
}

export interface FoundSign extends Pick<SignRule, 'side' | 'basis' | 'points'> {
  sentence: string;
}

// Two forms of signs: a fact with its sentence, and phrases in the subject or the text.

const fact = (sentence: string, applies: (mail: MailFacts) => boolean) => (mail: MailFacts) =>
  applies(mail) ? sentence : null;

/** `claim` follows "Its subject" or "Its text": "announces an offer". */
const inSubject = (claim: string, list: PhraseList) => (mail: MailFacts) =>
  quoted('Its subject', claim, findPhrases(list, mail.subject, 1)[0]);

const inText =
  (claim: string, list: PhraseList, place: 'body' | 'buttons' = 'body') =>
  (mail: MailFacts) =>
    quoted(place === 'body' ? 'Its text' : 'A link', claim, findPhrases(list, mail[place], 1)[0]);

const quoted = (where: string, claim: string, phrase: string | undefined): string | null =>
  phrase === undefined ? null : `${where} ${claim} (“${phrase}”).`;

/** Shows `first`, or else `second`: a phrase of the subject mostly occurs in the text as well. */
const subjectElseText = (
  claim: string,
  list: PhraseList,
  points: [subject: number, text: number],
) =>
  [
    { points: points[0], find: inSubject(claim, list) },
    {
      points: points[1],
      find: (mail: MailFacts) =>
        inSubject(claim, list)(mail) === null ? inText(claim, list)(mail) : null,
    },
  ] as const;

const inSubjectOrText = (
  side: Side,
  claim: string,
  list: PhraseList,
  points: [subject: number, text: number],
): SignRule[] => subjectElseText(claim, list, points).map((rule) => ({ side, ...rule }));

// The table.

const marketing = (
  points: number,
  find: SignRule['find'],
  basis?: SignRule['basis'],
): SignRule => ({ side: 'marketing', points, find, basis });

const transactional = (points: number, find: SignRule['find']): SignRule => ({
  side: 'transactional',
  points,
  find,
});

const SIGNS: SignRule[] = [
  // Header fields (RFC 2369, RFC 2919, RFC 8058). Precedence is a convention.
  marketing(
    4,
    fact('It has a List-Unsubscribe field.', (mail) => hasField(mail, 'list-unsubscribe')),
    'list',
  ),
  marketing(
    2,
    fact('It has a List-Id field.', (mail) => hasField(mail, 'list-id')),
    'list',
  ),
  marketing(
    3,
    fact('It has the header field Precedence: bulk.', ({ precedence }) => precedence === 'bulk'),
    'list',
  ),
  marketing(
    4,
    ({ message }) => {
      const field = campaignField(message);
      return field && `It has the field ${field}, which campaign tools add.`;
    },
    'conclusive',
  ),
  marketing(1, ({ message }) => {
    const field = campaignField(message) === null ? serviceField(message) : null;
    return field && `It has the field ${field}, which bulk email services add.`;
  }),

  // What it offers.
  ...inSubjectOrText('marketing', 'announces an offer', phrases.OFFERS, [6, 3]),
  marketing(
    4,
    fact('It offers a percentage off.', ({ offersPercentage }) => offersPercentage),
  ),
  marketing(
    3,
    inText('asks the recipient to buy or sign up', phrases.CALLS_TO_ACTION, 'buttons'),
    'promotion',
  ),
  ...inSubjectOrText('marketing', 'has a discount code', phrases.PROMO_CODES, [4, 3]),
  ...inSubjectOrText(
    'marketing',
    'reminds the recipient of an abandoned cart',
    phrases.CARTS,
    [6, 5],
  ),
  ...inSubjectOrText('marketing', 'announces news or an event', phrases.ANNOUNCEMENTS, [4, 2]),
  ...inSubjectOrText('marketing', 'is a letter to many readers', phrases.EDITORIAL, [5, 4]),
  ...inSubjectOrText('marketing', 'rewards a recommendation', phrases.REFERRALS, [6, 5]),
  ...inSubjectOrText('marketing', 'asks for a donation', phrases.APPEALS, [4, 3]),
  ...inSubjectOrText('marketing', 'asks for an opinion', phrases.SURVEYS, [4, 2]),
  marketing(5, ({ subjectAndBody }) => {
    const found = findPhrases(phrases.OUTREACH, subjectAndBody, 2);
    return found.length < 2
      ? null
      : `It reads like a cold sales message (“${found.join('”, “')}”).`;
  }),
  marketing(
    1,
    fact('It lists several prices.', ({ prices }) => prices >= 3),
  ),
  marketing(
    1,
    fact('It links to several products.', ({ productLinks }) => productLinks >= 3),
    'promotion',
  ),

  // Layout, links and wording.
  marketing(
    3,
    fact('It has an unsubscribe link.', ({ hasUnsubscribeLink }) => hasUnsubscribeLink),
    'manage',
  ),
  marketing(
    2,
    fact(
      'Its text says how to unsubscribe.',
      ({ hasUnsubscribeLink, hasUnsubscribeWords }) => !hasUnsubscribeLink && hasUnsubscribeWords,
    ),
    'manage',
  ),
  marketing(3, inText('offers to view it in a browser', phrases.BROWSER_LINKS)),
  marketing(2, inText('explains why the recipient gets it', phrases.RECIPIENT_REASONS), 'manage'),
  marketing(2, inText('links to an article', phrases.READ_MORE, 'buttons')),
  marketing(
    2,
    ({ campaignParameter }) =>
      campaignParameter === null
        ? null
        : `Its links have campaign parameters such as ${campaignParameter}.`,
    'promotion',
  ),
  marketing(
    1,
    fact('Its links go through a click tracker.', ({ clickTracking }) => clickTracking),
  ),
  marketing(
    3,
    fact('It consists of images with hardly any text.', ({ isImageOnly }) => isImageOnly),
    'promotion',
  ),
  marketing(
    1,
    fact('It has many images and little text.', ({ images, words, isImageOnly }) =>
      Boolean(images >= 4 && words < 20 * images && !isImageOnly),
    ),
  ),
  marketing(
    1,
    fact('It links to several social networks.', ({ socialNetworks }) => socialNetworks >= 2),
  ),

  // What it tells the recipient about their own business.
  transactional(6, ({ subject, body }) => {
    const inSubjectLine = findNumbered(phrases.REFERENCES, subject);
    const phrase = inSubjectLine ?? findNumbered(phrases.REFERENCES, body);
    return quoted(
      inSubjectLine ? 'Its subject' : 'Its text',
      'has a reference number',
      phrase ?? undefined,
    );
  }),
  ...inSubjectOrText('transactional', 'is about a purchase', phrases.PURCHASES, [5, 2]),
  ...inSubjectOrText('transactional', 'is about a delivery', phrases.DELIVERIES, [5, 3]),
  ...inSubjectOrText(
    'transactional',
    'is about access to an account',
    phrases.ACCOUNT_SECURITY,
    [7, 5],
  ),
  ...inSubjectOrText('transactional', 'is about an account', phrases.ACCOUNT_NOTICES, [6, 3]),
  ...inSubjectOrText('transactional', 'is about a booking', phrases.BOOKINGS, [6, 3]),
  ...inSubjectOrText('transactional', 'is an invitation by a person', phrases.INVITES, [6, 3]),
  ...inSubjectOrText('transactional', 'welcomes a new user', phrases.WELCOMES, [3, 1]),
  transactional(6, ({ subjectAndBody }) => {
    const [phrase] = findPhrases(phrases.ONE_TIME_CODES, subjectAndBody, 1);
    return /(?<!\d)\d{4,8}(?!\d)|(?<!\d)\d{3} \d{3}(?!\d)/.test(subjectAndBody.words)
      ? quoted('It', 'has a one-time code', phrase)
      : null;
  }),
  transactional(3, ({ body }) => {
    const found = findPhrases(phrases.RECEIPT_LINES, body, 2);
    return found.length < 2 ? null : `It has the lines of a receipt (“${found.join('”, “')}”).`;
  }),

  // How it was written or sent.
  transactional(
    6,
    fact('It is a calendar invitation.', ({ message }) =>
      message.parts.some(({ type }) => type === 'text/calendar'),
    ),
  ),
  transactional(
    6,
    fact('It is a delivery report.', ({ message }) =>
      message.parts.some(({ type }) => type === 'message/delivery-status'),
    ),
  ),
  transactional(5, ({ own, message }) =>
    own.relation === 'forward'
      ? `It forwards another message.${NOT_COUNTED}`
      : own.relation === 'reply' || fields(message, 'in-reply-to').length > 0
        ? `It is a reply to another message.${own.hasQuotes ? NOT_COUNTED : ''}`
        : null,
  ),
  transactional(5, ({ autoSubmitted }) =>
    autoSubmitted.startsWith('auto-') ? 'A program sent it automatically (Auto-Submitted).' : null,
  ),
  transactional(
    6,
    fact(
      'A scheduled task on a server sent it.',
      (mail) => hasField(mail, 'x-cron-env') || /^ cron /.test(mail.subject.words),
    ),
  ),
  transactional(2, ({ message }) => {
    const mailer = fieldValue(message, 'user-agent') ?? fieldValue(message, 'x-mailer') ?? '';
    return CLIENTS.test(mailer.slice(0, 200)) ? 'It was written in an email client.' : null;
  }),
  transactional(3, fact('It looks like personal mail: no layout and few links.', looksPersonal)),

  // Part notice, part promotion.
  ...inSubjectOrText('both', 'is about the end of a trial or a plan', phrases.ENDING_PLANS, [4, 4]),
  ...inSubjectOrText('both', 'summarizes activity in an account', phrases.DIGESTS, [3, 3]),
];

const NOT_COUNTED = ' Quoted text is not the sender’s, so it does not count.';

const CLIENTS =
  /\b(?:thunderbird|microsoft outlook|apple mail|iphone mail|ipad mail|k-?9 mail|evolution|mutt|kmail|roundcube|zimbra|em client|airmail|spark desktop)\b/i;

const MAX_PERSONAL_LINKS = 3;

/** Whether a person seems to have written it. Cold sales mail differs only by its words. */
function looksPersonal(mail: MailFacts): boolean {
  const { hasLayout, links, isImageOnly, message } = mail;
  if (hasLayout || isImageOnly || links > MAX_PERSONAL_LINKS) return false;
  if (mail.hasUnsubscribeLink || mail.hasUnsubscribeWords || mail.campaignParameter) return false;
  if (mail.precedence === 'bulk' || message.headers.some(isCampaignField)) return false;
  if (hasField(mail, 'list-unsubscribe') || hasField(mail, 'list-id')) return false;
  return findPhrases(phrases.OUTREACH, mail.subjectAndBody, 2).length < 2;
}

/** What a message about the recipient's own business is about. */
const NOTICES = [
  phrases.PURCHASES,
  phrases.DELIVERIES,
  phrases.ACCOUNT_SECURITY,
  phrases.ACCOUNT_NOTICES,
  phrases.BOOKINGS,
  phrases.INVITES,
];

const PROMOTIONS = [
  phrases.OFFERS,
  phrases.PROMO_CODES,
  phrases.CARTS,
  phrases.ANNOUNCEMENTS,
  phrases.EDITORIAL,
  phrases.REFERRALS,
  phrases.APPEALS,
  phrases.SURVEYS,
];

/**
 * Whether the primary purpose is a notice, by subject and beginning (16 CFR 316.3): the subject announces no offer, and the
 * text begins with the recipient's own business. A promotion below changes nothing about that.
 */
export function isNoticeFirst({ subject, opening }: MailFacts): boolean {
  const has = (lists: PhraseList[], text: SearchedText) =>
    lists.some((list) => findPhrases(list, text, 1).length > 0);
  const isAbout = (text: SearchedText) =>
    has(NOTICES, text) || findNumbered(phrases.REFERENCES, text) !== null;
  const offers = (text: SearchedText) => has(PROMOTIONS, text);
  return isAbout(subject) && !offers(subject) && (isAbout(opening) || !offers(opening));
}

/** Every list, except the words that only count next to a percentage: other languages have some of them. */
const ALL_PHRASES = Object.values(phrases).filter((list) => list !== phrases.DISCOUNT_WORDS);

/** Whether any phrase is known, so that the language is, whatever its other words are. */
export const hasKnownPhrase = ({ subjectAndBody }: MailFacts): boolean =>
  ALL_PHRASES.some((list) => findPhrases(list, subjectAndBody, 1).length > 0);

/** All signs of a message, in the order of the table. */
export const findSigns = (mail: MailFacts): FoundSign[] =>
  SIGNS.flatMap(({ side, basis, points, find }) => {
    const sentence = find(mail);
    return sentence === null ? [] : [{ side, basis, points, sentence }];
  });

// Discussion lists: everyone may write to them, so no mailbox provider counts them as marketing.

/** Fields that list managers add (RFC 2369 §3.4; Mailman, Google Groups, Sympa, ezmlm, LISTSERV). */
const LIST_MANAGER_FIELDS = [
  'mailing-list',
  'x-mailman-version',
  'x-beenthere',
  'x-google-group-id',
  'x-loop',
  'list-archive',
  'x-listserver',
];

/** The reason why a message is a post to a discussion list; null if it is none. */
export function discussionList(mail: MailFacts): string | null {
  if (mail.message.headers.some(isCampaignField)) return null;
  const posts = fields(mail.message, 'list-post').map(({ value }) => value.trim());
  // RFC 2369 §3.4: a list to which nobody may post says `NO`.
  if (posts.some((value) => /^no\b/i.test(value))) return null;
  const sentence = (field: string) => `It is a post to a discussion list: it has ${field}.`;
  if (posts.length > 0) return sentence('the field List-Post');
  if (mail.precedence === 'list') return sentence('the header field Precedence: list');
  const manager = LIST_MANAGER_FIELDS.find((name) => hasField(mail, name));
  return manager && hasField(mail, 'list-id') ? sentence(`the field ${manager}`) : null;
}
