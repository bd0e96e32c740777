/** The vocabulary in which a check declares what people outside the team see of its evidence. */

/**
 * How a value is shown; for a list, how each item is shown. Whatever the kind, URLs, mailboxes and
 * concealed values are cut from the result. `report/redact.ts` implements each kind once.
 *
 * What sentences quote of a value that is not public, or is cut, is searched for and replaced. That
 * search has limits, so a check should quote no more than it must. It does not find values of fewer
 * than four characters, a part of a value that is not its beginning of at least 24 characters, a value
 * that the sentence writes in another way than in other case, other white space or percent-encoded, values of
 * fewer than eight characters inside of a longer word, and whatever is not in the evidence at all: put what a sentence quotes into the evidence, or declare it
 * in `publicTexts`. A value that equals a common word also removes that word.
 *
 * - `shown`: unchanged.
 * - `host`: a URL reduced to its scheme and host.
 * - `mailbox-domain`: a mailbox reduced to its domain.
 * - `token-free`: long random values reduced to their first characters.
 * - `our-page`: the URL of a page that this program chose, not the message. Kept whole, here and in
 *   every text of the report.
 * - `file-extension`: a file name reduced to its extension.
 * - `archive-member`: a phrase about a file in an archive, with its name reduced to the extension.
 * - `field-name`: the name of a header field, shown if it is a standard one.
 * - `engine-text`: text from a spam engine, without addresses and file names.
 * - `as-parent`: a nested object with the same rules as the object that contains it.
 * - `left-out`: removed, also from sentences that quote it.
 * - `unquoted`: removed. No sentence of the check quotes it, so sentences are not searched for it: it
 *   may consist of words that they use themselves.
 * - `file-name`: like `unquoted`, and also removed from `engine-text`.
 */
export type PublicKind =
  | 'shown'
  | 'host'
  | 'mailbox-domain'
  | 'token-free'
  | 'our-page'
  | 'file-extension'
  | 'archive-member'
  | 'field-name'
  | 'engine-text'
  | 'as-parent'
  | 'left-out'
  | 'unquoted'
  | 'file-name';

/** For a value; or for an object, or each object of a list. */
export type PublicRule = PublicKind | PublicEvidence;

/**
 * The public keys of an object. A key that is not listed is removed, and so is a value that has not
 * the declared shape. `*` stands for any key: use it only where keys cannot hold text of the message.
 * The empty key is for a text that can take the place of the object.
 */
export interface PublicEvidence {
  [key: string]: PublicRule;
}

/** An exception to how values that are not public are removed from the sentences of a check. */
export type PublicText =
  /**
   * `phrase` is part of a title, with values of an object from the evidence list `list` in braces.
   * Where the title contains it, those values are replaced there and nowhere else.
   */
  | { list: string; phrase: string }
  /** Text that matches the regular expression (flags `gs`) is replaced. */
  | { matches: string; replacement: string };
