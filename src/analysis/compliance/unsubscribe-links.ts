/** The links of the body by which a reader can unsubscribe, told by their words; none is ever called. */

import type { Context } from '../check.ts';
import { saysNothing, showsAddress } from '../content/link-generic-text.ts';
import { type MessageLink, messageLinks } from '../content/links.ts';
import { leadsToUnsubscribing, leavesMail, speaksOfUnsubscribing } from './unsubscribe-words.ts';

const OPENABLE = new Set(['http', 'https', 'mailto']);

// A longer text is a whole paragraph in a link, which speaks of this and that.
const LONGEST_LINK_TEXT = 300;

// Characters of HTML before a link that shows its own address: "Unsubscribe: https://…".
const JUST_BEFORE = 40;

/** A fact: ask for it by `context.fact(unsubscribeLinks)`. In the order of the message. */
export function unsubscribeLinks(context: Context): MessageLink[] {
  return context.fact(unsubscribeCandidates).filter(({ scheme }) => OPENABLE.has(scheme));
}

/**
 * A fact: those that lead nowhere included, such as an address with an unfilled placeholder. The
 * HTML and the text part are looked at each for itself: a reader sees one of them.
 */
export function unsubscribeCandidates(context: Context): MessageLink[] {
  const links = context.fact(messageLinks);
  const html = links.filter(({ source }) => source === 'html');
  const said = html.filter(saysIt);
  return [
    ...(said.length > 0 ? said : besideWords(html)),
    ...links.filter((link) => link.source === 'text' && saysItInText(link)),
  ];
}

/** Whether it is mail that the link offers to leave, and no session, account or event. */
export function offersToLeaveMail(link: MessageLink): boolean {
  const { source, text, label, href, before, after } = link;
  const around = source === 'text' ? lineAround(link) : `${before} ${after}`;
  return leavesMail(`${text ?? ''} ${label}`, href, around);
}

const saysIt = ({ text, label, href }: MessageLink): boolean =>
  leadsToUnsubscribing(href) ||
  ((text ?? '').length <= LONGEST_LINK_TEXT && speaksOfUnsubscribing(`${text} ${label}`));

/** On a line with such a word, or alone on the line below one. */
const saysItInText = (link: MessageLink): boolean =>
  leadsToUnsubscribing(link.href) || speaksOfUnsubscribing(lineAround(link));

/** The line without the link itself; with the line above it where the link stands alone. */
function lineAround(link: MessageLink): string {
  const above = link.before.split('\n');
  const before = above.pop() ?? '';
  const after = link.after.split('\n', 1)[0] ?? '';
  const alone = !/[\p{L}\p{N}]/u.test(before + after);
  const previous = alone ? (above.findLast((line) => line.trim() !== '') ?? '') : '';
  return `${previous} ${before} ${after}`;
}

/**
 * A "click here" in a sentence with such a word. Which one of several it is cannot be told for
 * sure, so the last is taken: that is where mail has it.
 */
function besideWords(links: MessageLink[]): MessageLink[] {
  const last = links.findLast(({ text, before, after }) => {
    if (text === null) return false;
    if (showsAddress(text)) return speaksOfUnsubscribing(before.slice(-JUST_BEFORE));
    return saysNothing(text) && speaksOfUnsubscribing(`${before} ${text} ${after}`);
  });
  return last ? [last] : [];
}
