/** How a check declares which parts of its evidence a public report shows. */

/**
 * How a value is shown; for a list, how each item is shown. Whatever the kind, URLs, mailboxes and
 * concealed values are removed from the result. `report/redact.ts` implements each kind.
 *
 * Where sentences quote a value that is not public, the quote is found and replaced. A check should
 * quote no more than it must, because the search does not find:
 * - values of fewer than four characters, or of fewer than eight inside a longer word;
 * - part of a value, unless it is the beginning and has at least 24 characters;
 * - values written differently, except for case, white space and percent-encoding;
 * - anything that is not in the evidence. Put what a sentence quotes into the evidence, or declare it
 *   in `publicTexts`.
 * A value that equals a common word also removes that word.
 *
 * - `shown`: unchanged.
 * - `host`: a URL reduced to its scheme and host.
 * - `mailbox-domain`: a mailbox reduced to its domain.
 * - `token-free`: long random values reduced to their first characters.
 * - `our-page`: the URL of a page that this program chose, not the message. Kept in full, including
 *   in every text of the report.
 * - `file-extension`: a file name reduced to its extension.
 * - `archive-member`: a phrase about a file in an archive, with the name reduced to its extension.
 * - `field-name`: the name of a header field, shown if it is a standard one.
 * - `engine-text`: text from a spam filter, without addresses and file names.
 * - `as-parent`: a nested object with the same rules as the object that contains it.
 * - `left-out`: removed, also from sentences that quote it.
 * - `unquoted`: removed. No sentence of the check quotes it, so sentences are not searched for it. The
 *   sentences may contain the same words.
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

/** For a value, an object, or each object of a list. */
export type PublicRule = PublicKind | PublicEvidence;

/**
 * The public keys of an object. Unlisted keys are removed, and so are values without the declared
 * shape. `*` matches any key: use it only if keys cannot contain text of the message. The empty key
 * is for a text that can replace the object.
 */
export interface PublicEvidence {
  [key: string]: PublicRule;
}

/** An exception to how non-public values are removed from the sentences of a check. */
export type PublicText =
  /**
   * `phrase` is part of a title, with values of an object from the evidence list `list` in braces. If
   * the title contains it, those values are replaced there and nowhere else.
   */
  | { list: string; phrase: string }
  /** Text that matches the regular expression (flags `gs`) is replaced. */
  | { matches: string; replacement: string };
