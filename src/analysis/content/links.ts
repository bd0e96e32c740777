/** Every link of the message, from its HTML and its text, with the host that it leads to. */

import type { Context } from '../check.ts';

export interface MessageLink {
  /** As written, entities decoded. */
  href: string;
  /** Parsed where it is http or https; null for mailto, tel, and what cannot be read. */
  url: URL | null;
  /** The scheme in lower case without its colon; `''` where there is none (a relative address). */
  scheme: string;
  /** The host in A-labels, or an address as the URL standard reads it (octal and hex spellings too). */
  host: string | null;
  /** The organizational domain of the host; null for an address or a public suffix. */
  domain: string | null;
  /** What a reader sees; null in the text part. */
  text: string | null;
  source: 'html' | 'text';
}

/** A fact: ask for it by `context.fact(messageLinks)`. In the order of the message, HTML first; at most 1,000. */
export function messageLinks(_context: Context): MessageLink[] {
  return [];
}
