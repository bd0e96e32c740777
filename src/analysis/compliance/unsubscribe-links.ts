/** The links of the body by which a reader can unsubscribe, told by their words; none is ever called. */

import type { Context } from '../check.ts';
import { htmlFacts } from '../content/html-facts.ts';
import { type MessageLink, messageLinks } from '../content/links.ts';
import { leadsToUnsubscribing, speaksOfUnsubscribing } from './unsubscribe-words.ts';

const OPENABLE = new Set(['http', 'https', 'mailto']);

// A longer text is a whole paragraph in a link, which speaks of this and that.
const LONGEST_LINK_TEXT = 300;

// How far from a link its word may stand: "If you no longer wish to receive this, click here."
const NEARBY = 120;

// Characters of the text part that are looked at on either side of a link, white space included.
const LINE = 400;

// An address in the list of links that the text does not hold costs a search through all of it.
const MISSES_ALLOWED = 20;

/** What a link says that says nothing: `here`, `click here` in the languages of most mail. */
const GENERIC =
  /^(?:please )?(?:click(?: here| this link)?|here|this link|link|hier(?: klicken)?|klicken sie hier|diesen link|cliquez ici|ici|(?:haga|haz) clic aquí|aquí|clicca qui|qui|clique aqui|aqui|klik hier|klicka här|här|klik her|her|kliknij tutaj|tutaj|klikněte zde|zde|нажмите здесь|здесь|こちら|点击这里|这里)[.!]?$/i;

/** A fact: ask for it by `context.fact(unsubscribeLinks)`. In the order of the message. */
export function unsubscribeLinks(context: Context): MessageLink[] {
  return context.fact(unsubscribeCandidates).filter(({ scheme }) => OPENABLE.has(scheme));
}

/** A fact: those that lead nowhere included, such as an address with an unfilled placeholder. */
export function unsubscribeCandidates(context: Context): MessageLink[] {
  const links = context.fact(messageLinks);
  const inText = new Set(besideWordsInText(context, links));
  const found = links.filter((link) => saysIt(link) || inText.has(link));
  return found.length > 0 ? found : besideWordsInHtml(context, links);
}

const saysIt = ({ text, href }: MessageLink): boolean =>
  leadsToUnsubscribing(href) ||
  (text !== null && text.length <= LONGEST_LINK_TEXT && speaksOfUnsubscribing(text));

/** Links of the text part on a line with such a word, or alone on the line below one. */
function besideWordsInText({ message }: Context, links: MessageLink[]): MessageLink[] {
  const text = message.text ?? '';
  const found: MessageLink[] = [];
  let position = 0;
  let misses = 0;
  for (const link of links) {
    if (link.source !== 'text' || link.href === '') continue;
    const at = text.indexOf(link.href, position);
    if (at < 0 && ++misses > MISSES_ALLOWED) break;
    if (at < 0) continue;
    position = at + link.href.length;
    if (speaksOfUnsubscribing(lineAround(text, at, position))) found.push(link);
  }
  return found;
}

/** The line without the link itself; with the line above it where the link stands alone. */
function lineAround(text: string, from: number, to: number): string {
  const above = text.slice(Math.max(0, from - LINE), from).split('\n');
  const before = above.pop() ?? '';
  const after = text.slice(to, to + LINE).split('\n', 1)[0] ?? '';
  const alone = !/[\p{L}\p{N}]/u.test(before + after);
  const previous = alone ? (above.findLast((line) => line.trim() !== '') ?? '') : '';
  return `${previous} ${before} ${after}`;
}

/**
 * A "click here" in a sentence with such a word. Which one of several it is cannot be told from
 * the text, so the last is taken: that is where mail has it.
 */
function besideWordsInHtml(context: Context, links: MessageLink[]): MessageLink[] {
  const text = context.fact(htmlFacts)?.text ?? '';
  const generic = links.filter(({ text }) => text !== null && GENERIC.test(text.trim()));
  const last = generic.findLast((link) => standsBesideWord(text, link.text?.trim() ?? ''));
  return last ? [last] : [];
}

function standsBesideWord(text: string, said: string): boolean {
  const at = text.lastIndexOf(said);
  return (
    at >= 0 &&
    speaksOfUnsubscribing(text.slice(Math.max(0, at - NEARBY), at + said.length + NEARBY))
  );
}
