/** What of a check's evidence would hand out the message or act for its reader, and what stays of it. */

import type { Json } from '../analysis/check.ts';
import { hideTokens } from '../analysis/content/link-tokens.ts';
import { hostIn } from './addresses-for-strangers.ts';
import { type Evidence, isObject } from './read-evidence.ts';

/** Checks that do nothing but show a part of the message: its beginning, the way that it came. */
export const LEFT_OUT: ReadonlySet<string> = new Set(['preheader', 'received_path']);

type Cut = (evidence: Evidence) => Evidence;

const CUTS: Record<string, Cut> = {
  // Whose envelope sender names the reader (VERP) is not for us to tell.
  spf: (evidence) => without(['explanation'], eachText(['checked'], evidence, withoutMailbox)),
  return_path: (evidence) => eachText(['mail_from'], evidence, withoutMailbox),
  // Answers to such an address are taken for the reader's.
  reply_to: (evidence) => eachText(['reply_to'], evidence, hideTokens),
  // The same addresses stand beside it, one by one.
  list_unsubscribe: (evidence) =>
    without(['values'], eachText(['https', 'http', 'mailto'], evidence, hostIn)),
  one_click: (evidence) => eachText(['https'], evidence, hostIn),
  // Loading it says that the reader opened the message.
  tracking_pixel: (evidence) => eachText(['found'], evidence, hostIn),
  // Whose name the parts before the sender's are is for the sender to know.
  feedback_id: (evidence) => without(['feedback_id'], evidence),
  attachments: (evidence) => without(['files'], evidence),
  message_size: (evidence) =>
    eachObject('largest_parts', evidence, (part) => without(['filename'], part)),
  hidden_text: (evidence) => eachObject('hidden', evidence, (each) => without(['text'], each)),
  unsubscribe_link: (evidence) => eachObject('links', evidence, (link) => without(['text'], link)),
  text_matches_html: (evidence) => without(['only_in_html', 'only_in_text'], evidence),
};

/** Of links and images, whichever check shows them. */
const ADDRESSES = ['href', 'src'];

/** Of a check by its id; of what is not known here, links and images are cut alone. */
export function evidenceForStrangers(id: string, evidence: Evidence): Evidence {
  const cut = Object.hasOwn(CUTS, id) ? CUTS[id]!(evidence) : evidence;
  return linksByHost(cut) as Evidence;
}

function linksByHost(value: Json): Json {
  if (Array.isArray(value)) return value.map(linksByHost);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      typeof inner === 'string' && ADDRESSES.includes(key) ? hostIn(inner) : linksByHost(inner),
    ]),
  );
}

const without = (keys: string[], evidence: Evidence): Evidence =>
  Object.fromEntries(Object.entries(evidence).filter(([key]) => !keys.includes(key)));

/** Applies to the text under these keys, and to each in a list there. */
function eachText(keys: string[], evidence: Evidence, change: (text: string) => string): Evidence {
  const changed = (value: Json): Json =>
    typeof value === 'string' ? change(value) : Array.isArray(value) ? value.map(changed) : value;
  return Object.fromEntries(
    Object.entries(evidence).map(([key, value]) => [
      key,
      keys.includes(key) ? changed(value) : value,
    ]),
  );
}

function eachObject(key: string, evidence: Evidence, change: Cut): Evidence {
  const list = evidence[key];
  if (!Array.isArray(list)) return evidence;
  return { ...evidence, [key]: list.map((item) => (isObject(item) ? change(item) : item)) };
}

/** `…@shop.example`; what holds no mailbox stays. */
function withoutMailbox(address: string): string {
  const at = address.lastIndexOf('@');
  return at < 0 ? address : `…${address.slice(at)}`;
}
