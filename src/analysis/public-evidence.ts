/** The vocabulary in which a check declares what people outside of the team see of its findings. */

/**
 * How one value is shown; of a list, each of its items. Whatever the kind, URLs, mailboxes and what
 * the report conceals are cut from what is shown. `report/redact.ts` implements each kind once.
 *
 * - `shown`: as it is.
 * - `host`: of a URL its scheme and host.
 * - `mailbox-domain`: of a mailbox its domain.
 * - `token-free`: long random values cut to their first characters.
 * - `our-page`: a page that this program names, not the message: whole, here and in all texts.
 * - `file-extension`: of a file name its extension.
 * - `archive-member`: half a sentence on a file in an archive, the file by its extension.
 * - `engine-text`: what a spam engine says of a message, without addresses and names of files.
 * - `as-parent`: an object with the rules of the object that it is in.
 * - `left-out`: not at all; nor where a sentence of the finding quotes it.
 * - `unquoted`: not at all; no sentence of the check quotes it, so that words that it has in common
 *   with them stay.
 * - `file-name`: as `unquoted`; a name that no engine tells either.
 */
export type PublicKind =
  | 'shown'
  | 'host'
  | 'mailbox-domain'
  | 'token-free'
  | 'our-page'
  | 'file-extension'
  | 'archive-member'
  | 'engine-text'
  | 'as-parent'
  | 'left-out'
  | 'unquoted'
  | 'file-name';

/** For a value, or for an object or each object of a list. */
export type PublicRule = PublicKind | PublicEvidence;

/**
 * The keys of an object that others see. What is not named is left out, and so is whatever has not
 * the declared shape. `*` stands for every key: for objects whose keys are no text of the message.
 * The empty key is for a text that may stand in the place of the object.
 */
export interface PublicEvidence {
  [key: string]: PublicRule;
}

/** Where the sentences of a check quote what is not shown as it is, other than anywhere. */
export type PublicText =
  /**
   * For the list of objects under the key `list`: `phrase` with the values of one of them in its
   * braces. Where a title has it, the values of that list are looked for nowhere else: they may be
   * words that the check writes itself.
   */
  | { list: string; phrase: string }
  /** What matches the regular expression (flag `s`) in any sentence of the finding is told as `told`. */
  | { matches: string; told: string };
