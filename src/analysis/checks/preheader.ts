/** `preheader`: what mail programs show of the message beside its subject. */

import { type Check, type Finding, info, skipped } from '../check.ts';
import { type HtmlFacts, judgeHtml } from '../html/facts.ts';
import { withoutFiller } from '../text.ts';

/** Characters that mail programs show of it at most. */
const MAX_PREVIEW_CHARACTERS = 140;

/** More of the hidden text than any preview shows. */
const MAX_OWN = 20_000;
/** The line with which many templates begin, in some languages. */
const BROWSER_LINES = [
  /\b(?:view|read|open|trouble|problems?|can.?t see|cannot)\b.{0,60}\b(?:browser|online|web ?page)\b/i,
  /\bweb-? ?version\b|\bonline-? ?version\b|\bim (?:browser|internet)\b/i,
  /\bonline (?:ansehen|anzeigen|lesen|bekijken)\b|\b(?:bekijk|lees)\b.{0,60}\b(?:browser|online)\b/i,
  /\b(?:voir|afficher|consulte[rz]|lire|visualise[rz]|version)\b.{0,60}\b(?:en ligne|navigateur)\b/i,
  /\b(?:ver|vea|abrir|visualizar|veja)\b.{0,60}\b(?:navegador|en línea)\b/i,
  /\b(?:vedi|leggi|visualizza|apri)\b.{0,60}\b(?:browser|online)\b/i,
];

export const preheader: Check = {
  id: 'preheader',
  category: 'content',
  points: 0,
  label: 'Preview text',
  reference: {
    name: 'Can I email: the hidden attribute',
    url: 'https://www.caniemail.com/features/html-hidden/',
  },
  publicEvidence: null,
  run: (context) =>
    judgeHtml(context, 'The preview text could not be found out.', (facts) => judge(facts)),
};

function judge({ text, hidden }: HtmlFacts): Finding {
  const own = hidden
    .filter((entry) => entry.preheader)
    .map((entry) => entry.text)
    .join(' ');
  const { text: written, longest } = withoutFiller(own.slice(0, MAX_OWN));
  const filled = longest > 20;
  const preview = `${written} ${filled ? '' : text.slice(0, 1000)}`
    .trim()
    .slice(0, MAX_PREVIEW_CHARACTERS);
  if (preview === '')
    return skipped('There is no preview text.', 'The HTML has no text that a preview could show.');
  const evidence = { preview, from: written === '' ? 'text' : 'preheader' };
  const title = `Mail programs show “${cut(preview)}” beside your subject.`;
  if (BROWSER_LINES.some((line) => line.test(preview.slice(0, 100))))
    return info(
      title,
      'That is the link to the web version, which says nothing about your message. Put a sentence for the preview before it, in an element that is not displayed.',
      evidence,
    );
  if (written === '')
    return info(
      title,
      'It is the beginning of your text. A sentence of 40 to 100 characters at the start of the HTML, in an element that is not displayed, would let you choose what is shown.',
      evidence,
    );
  return info(
    title,
    filled
      ? 'It is the text that you have hidden for this at the start of the HTML, with filler after it that keeps the rest out.'
      : 'It begins with the text that you have hidden for this at the start of the HTML; where there is space, the text after it follows.',
    evidence,
  );
}

const cut = (text: string): string => (text.length > 80 ? `${text.slice(0, 80).trimEnd()}…` : text);
