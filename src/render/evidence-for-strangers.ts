/** What of a check's evidence would hand out the message or act for its reader, and what stays of it. */

import type { Json } from '../analysis/check.ts';
import { hideTokens } from '../analysis/content/link-tokens.ts';
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
  // Whoever opens one of these unsubscribes the reader.
  list_unsubscribe: (evidence) =>
    without(['values'], eachText(['https', 'http', 'mailto'], evidence, hostOnly)),
  one_click: (evidence) => eachText(['https'], evidence, hostOnly),
  unsubscribe_link: (evidence) => eachObject('links', evidence, hrefByHost),
  link_status: (evidence) =>
    eachObject('links', evidence, (link) =>
      // Not asked because it may do something: confirm, sign in, unsubscribe.
      link.status === 'not_asked' ? hrefByHost(link) : link,
    ),
  // Loading it says that the reader opened the message.
  tracking_pixel: (evidence) => eachText(['found'], evidence, hostOnly),
  attachments: (evidence) => without(['files'], evidence),
  message_size: (evidence) =>
    eachObject('largest_parts', evidence, (part) => without(['filename'], part)),
  hidden_text: (evidence) => eachObject('hidden', evidence, (each) => without(['text'], each)),
  text_matches_html: (evidence) => without(['only_in_html', 'only_in_text'], evidence),
};

/** Of a check by its id; what is not known here stays as it is. */
export function evidenceForStrangers(id: string, evidence: Evidence): Evidence {
  return Object.hasOwn(CUTS, id) ? CUTS[id]!(evidence) : evidence;
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

const hrefByHost: Cut = (link) => eachText(['href'], link, hostOnly);

/** `https://shop.example/…`; `mailto:…@shop.example`. */
export function hostOnly(address: string): string {
  const url = URL.parse(address);
  if (url?.host) return `${url.protocol}//${url.host}/…`;
  const isMailbox = url?.protocol === 'mailto:' && url.pathname.includes('@');
  return isMailbox ? `mailto:${withoutMailbox(url.pathname)}` : '…';
}

/** `…@shop.example`; what holds no mailbox stays. */
function withoutMailbox(address: string): string {
  const at = address.lastIndexOf('@');
  return at < 0 ? address : `…${address.slice(at)}`;
}
