/** What stands in an e-mail that the service sends, before it is text or HTML. */

import { printable } from '../lib/log.ts';

/** A thing to do: what is wrong (or nothing), what to do, and what to publish in the DNS for it. */
export interface MailStep {
  title: string;
  text: string;
  record: { type: string; name: string; value: string } | null;
}

/** A paragraph, facts as pairs of a label and its value, or what to do, in its order. */
type MailBlock =
  | string
  | { facts: [label: string, value: string][] }
  | { heading: string; steps: MailStep[] };

export interface MailContent {
  /** What kind of news it is, by a sign, a word and a colour; none where it is no such news. */
  badge?: { tone: 'fail' | 'pass' | 'unknown'; word: string };
  /** The heading: what has happened, or what is to be done. */
  title: string;
  /** What mail programs show beside the subject; no repetition of it. */
  preheader: string;
  /** Plain text: whatever it holds is escaped. */
  blocks: MailBlock[];
  /** The one thing to do; `url` is http or https. */
  button?: { label: string; url: string };
  /** Why somebody gets this mail. */
  footer: string;
}

/** One line of visible characters: names and subjects come from strangers. */
export const plain = (text: string): string => printable(text.replace(/\s+/g, ' ')).trim();
