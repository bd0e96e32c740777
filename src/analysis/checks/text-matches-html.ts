/** `text_matches_html`: the text part says the same as the HTML. */

import { type Check, type Finding, pass, rfc, skipped, unknown, warn } from '../check.ts';
import { type HtmlFacts, judgeHtml } from '../html/facts.ts';
import type { Message } from '../mime/message.ts';
import { distinctWords, isVisible } from '../text.ts';

/** The share of words in common below which it warns. */
const MIN_SHARE = 0.5;
/** Distinct words that the HTML must show to be compared. */
const MIN_WORDS = 10;

/** As much of each is compared, in characters. */
const MAX_TEXT = 300_000;

/**
 * Looked at both ways: how much of what the HTML shows is in the text, and how much of the text is in
 * the HTML, where the alternative texts of images and the preview count too, for text parts that are
 * made out of the HTML have them.
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
    judgeHtml(context, 'The text part and the HTML could not be compared.', (facts) =>
      compare(context.message, facts),
    ),
};

const NOT_COMPARED = 'The text part and the HTML were not compared.';

function compare({ text }: Message, facts: HtmlFacts): Finding & { open?: boolean } {
  if (!isVisible(text ?? ''))
    return skipped(NOT_COMPARED, 'The message has no text part, or an empty one: see text_part.');
  const shown = distinctWords(facts.text);
  if (shown.size < MIN_WORDS)
    return skipped(NOT_COMPARED, `The HTML has hardly any text to compare: ${shown.size} words.`);
  const written = distinctWords(text!.slice(0, MAX_TEXT));
  const known = new Set([...shown, ...distinctWords(besides(facts))]);
  const shownInText = share(shown, written);
  const textInHtml = share(written, known);
  const evidence = {
    html_words: shown.size,
    text_words: written.size,
    share_of_html_in_text: round(shownInText),
    share_of_text_in_html: round(textInHtml),
    only_in_html: examples(shown, written),
    only_in_text: examples(written, known),
  };
  if (Math.min(shownInText, textInHtml) >= MIN_SHARE)
    return pass(
      'Your text part says the same as your HTML.',
      'Filters compare the two, and readers of either get the same message.',
      evidence,
    );
  if (text!.length > MAX_TEXT || facts.text.length > MAX_TEXT)
    return unknown(NOT_COMPARED, 'They are longer than what is compared, and begin differently.');
  const missing = shownInText <= textInHtml;
  return {
    ...warn({
      title: missing
        ? `Your text part has only ${percent(shownInText)} of the words of your HTML.`
        : `Only ${percent(textInHtml)} of the words of your text part are in your HTML.`,
      detail:
        'The two are meant to be the same message in two forms. Filters count it when they differ, since spam shows one text to them and another one to readers.',
      fix: 'Make the text part out of the HTML, or send the same content in both.',
      evidence,
    }),
    // What of the HTML was not looked at may be just what is missing.
    open: true,
  };
}

const besides = ({ images, hidden, links }: HtmlFacts): string =>
  [
    ...images.map(({ alt }) => alt ?? ''),
    ...hidden.map(({ text }) => text),
    ...links.map(({ text }) => text),
  ]
    .join(' ')
    .slice(0, MAX_TEXT);

/** Of the words of `a`, how many are in `b`, from 0 to 1; of no words, all are. */
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
