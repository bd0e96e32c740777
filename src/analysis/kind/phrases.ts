/**
 * The phrases by which a text shows its kind: `phrases.json`, by list and language. Compared without case and accents.
 * Symbols count as spaces, a final `*` matches any word ending, and `…` stands for up to a few words.
 */

import { parsePhrases } from './phrase-search.ts';
import phrases from './phrases.json' with { type: 'json' };

// Signs of marketing.

export const OFFERS = parsePhrases(phrases.offers);

/** Words for a discount, next to a percentage. */
export const DISCOUNT_WORDS = parsePhrases(phrases.discountWords);
export const CALLS_TO_ACTION = parsePhrases(phrases.callsToAction);
export const APPEALS = parsePhrases(phrases.appeals);
export const PROMO_CODES = parsePhrases(phrases.promoCodes);
export const CARTS = parsePhrases(phrases.carts);
export const ANNOUNCEMENTS = parsePhrases(phrases.announcements);
export const SURVEYS = parsePhrases(phrases.surveys);
export const OUTREACH = parsePhrases(phrases.outreach);
export const BROWSER_LINKS = parsePhrases(phrases.browserLinks);
export const RECIPIENT_REASONS = parsePhrases(phrases.recipientReasons);
export const READ_MORE = parsePhrases(phrases.readMore);

/** A letter to many readers: what an issue contains, and where to read on. */
export const EDITORIAL = parsePhrases(phrases.editorial);

/** Asks the recipient to bring others, for a reward. */
export const REFERRALS = parsePhrases(phrases.referrals);

/** Another person invites the recipient to something that they share. */
export const INVITES = parsePhrases(phrases.invites);

/** What somebody did in a program that several people use. */
export const ACTIONS = parsePhrases(phrases.actions);

// Signs of mail about the recipient's own business.

/** Followed by the number of an order, a booking, a case, … */
export const REFERENCES = parsePhrases(phrases.references);
export const PURCHASES = parsePhrases(phrases.purchases);
export const DELIVERIES = parsePhrases(phrases.deliveries);
export const ACCOUNT_SECURITY = parsePhrases(phrases.accountSecurity);
export const WELCOMES = parsePhrases(phrases.welcomes);

/** Next to a code of four to eight digits. */
export const ONE_TIME_CODES = parsePhrases(phrases.oneTimeCodes);
export const ACCOUNT_NOTICES = parsePhrases(phrases.accountNotices);
export const BOOKINGS = parsePhrases(phrases.bookings);

/** Lines of a receipt. One alone may be anything. */
export const RECEIPT_LINES = parsePhrases(phrases.receiptLines);

/** Part account notice, part offer. */
export const ENDING_PLANS = parsePhrases(phrases.endingPlans);

/** A digest of what happened in an account: part notification, part promotion of a service. */
export const DIGESTS = parsePhrases(phrases.digests);
