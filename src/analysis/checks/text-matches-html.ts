/** `text_matches_html`: the text part has the same content as the HTML. */

import { type Check, type Finding, pass, rfc, skipped, unknown, warn } from '../check.ts';
import { evaluateHtml, type HtmlFacts, wholeHtmlFacts } from '../html/facts.ts';
import { senderPart } from '../quotes/sender-part.ts';
import { distinctWords, hasVisibleText } from '../text.ts';

/** A lower share of common words warns. */
const MIN_SHARE = 0.5;
/** With fewer distinct words, the HTML is not compared. */
const MIN_WORDS = 10;

const COULD_NOT_COMPARE = 'Could not compare the text part and the HTML.';

/** Characters of each part that are compared. */
const MAX_TEXT = 300_000;

/**
 * Compares in both directions: the share of visible HTML words in the text part, and of text words in
 * the HTML. For the latter, alt texts and preview text count too, because text parts generated from
 * HTML include them.
 */
export const textMatchesHtml: Check = {
  id: 'text_matches_html',
  category: 'content',
  points: 2,
  label: 'Text part and HTML',
  issueTitle: 'Text part and HTML differ',
  dependsOn: ['text_part'],
  reference: rfc(2046, '5.1.4'),
  publicEvidence: {
    html_words: 'shown',
    text_words: 'shown',
    share_of_html_in_text: 'shown',
    share_of_text_in_html: 'shown',
    only_in_html: 'unquoted',
    only_in_text: 'unquoted',
  },
  run: (context) =>
    evaluateHtml(context, COULD_NOT_COMPARE, (facts) => {
      const own = context.fact(senderPart);
      const { text } = context.message;
      const whole = own.hasQuotes && context.fact(wholeHtmlFacts);
      if (!whole) return compare(text, facts);
      // A client may quote in only one of them, or so that the quote is recognizable in only one.
      const found = [compare(own.text, facts), compare(text, whole), compare(text, facts)];
      const best = found.find(({ status }) => status === 'pass');
      return best ?? (hasVisibleText(own.text ?? '') ? found[0]! : found[1]!);
    }),
};

const NOT_COMPARED = 'The text part and the HTML were not compared.';

function compare(text: string | null, facts: HtmlFacts): Finding & { open?: boolean } {
  if (!hasVisibleText(text ?? ''))
    return skipped(
      NOT_COMPARED,
      'Your message has no text part, or an empty one. See the finding "Text part".',
    );
  const htmlWords = distinctWords(facts.text);
  if (htmlWords.size < MIN_WORDS)
    return skipped(
      NOT_COMPARED,
      `The HTML has too little text to compare: ${htmlWords.size} words.`,
    );
  const textWords = distinctWords(text!.slice(0, MAX_TEXT));
  const allHtmlWords = distinctWords(secondaryText(facts), new Set(htmlWords));
  const htmlInText = share(htmlWords, textWords);
  const textInHtml = share(textWords, allHtmlWords);
  const evidence = {
    html_words: htmlWords.size,
    text_words: textWords.size,
    share_of_html_in_text: round(htmlInText),
    share_of_text_in_html: round(textInHtml),
    only_in_html: examples(htmlWords, textWords),
    only_in_text: examples(textWords, allHtmlWords),
  };
  if (Math.min(htmlInText, textInHtml) >= MIN_SHARE)
    return pass(
      'Your text part matches your HTML.',
      'Spam filters compare the two, and all recipients get the same content.',
      evidence,
    );
  if (text!.length > MAX_TEXT || facts.text.length > MAX_TEXT)
    return unknown(
      COULD_NOT_COMPARE,
      'They are too long to compare in full, and their beginnings differ.',
    );
  const isTextIncomplete = htmlInText <= textInHtml;
  return {
    ...warn({
      title: isTextIncomplete
        ? `Your text part has only ${percent(htmlInText)} of the words in your HTML.`
        : `Only ${percent(textInHtml)} of the words in your text part are in your HTML.`,
      detail:
        'Both must have the same content. Spam filters penalize differences, because spam shows one text to filters and another to recipients.',
      fix: 'Generate the text part from the HTML, or send the same content in both.',
      evidence,
    }),
    // The unread part of the HTML may contain what is missing.
    open: true,
  };
}

const secondaryText = ({ images, hidden, links }: HtmlFacts): string =>
  [
    ...images.map(({ alt }) => alt ?? ''),
    ...hidden.map(({ text }) => text),
    ...links.map(({ text }) => text),
  ]
    .join(' ')
    .slice(0, MAX_TEXT);

/** The share of the words of `a` that are in `b`, from 0 to 1; 1 if `a` is empty. */
function share(a: Set<string>, b: Set<string>): number {
  let common = 0;
  for (const word of a) if (b.has(word)) common += 1;
  return a.size === 0 ? 1 : common / a.size;
}

const round = (value: number): number => Math.round(value * 100) / 100;
const percent = (value: number): string => `${Math.floor(value * 100)}%`;

function examples(a: Set<string>, b: Set<string>): string[] {
  const found: string[] = [];
  for (const word of a) {
    if (found.length >= 10) break;
    if (!b.has(word)) found.push(word.slice(0, 40));
  }
  return found;
}
