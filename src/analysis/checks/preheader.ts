/** `preheader`: the preview text that email clients show next to the subject. */

import { type Check, type Finding, info, skipped } from '../check.ts';
import { evaluateHtml, type HtmlFacts } from '../html/facts.ts';
import { stripFiller } from '../text.ts';

/** Email clients show at most this many characters. */
const MAX_PREVIEW_CHARACTERS = 140;

/** Characters of hidden text that are read; previews show far fewer. */
const MAX_HIDDEN_TEXT = 20_000;
/** The "view in browser" line at the start of many templates, in several languages. */
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
    evaluateHtml(context, 'Could not determine the preview text.', (facts) =>
      describePreview(facts),
    ),
};

function describePreview({ text, hidden }: HtmlFacts): Finding {
  const hiddenText = hidden
    .filter((entry) => entry.preheader)
    .map((entry) => entry.text)
    .join(' ');
  const { text: customPreview, longest } = stripFiller(hiddenText.slice(0, MAX_HIDDEN_TEXT));
  const hasFiller = longest > 20;
  const preview = `${customPreview} ${hasFiller ? '' : text.slice(0, 1000)}`
    .trim()
    .slice(0, MAX_PREVIEW_CHARACTERS);
  if (preview === '')
    return skipped(
      'Your message has no preview text.',
      'The HTML has no text that a preview could show.',
    );
  const evidence = { preview, from: customPreview === '' ? 'text' : 'preheader' };
  const title = `Email clients show “${truncate(preview)}” next to your subject.`;
  if (BROWSER_LINES.some((line) => line.test(preview.slice(0, 100))))
    return info(
      title,
      'This is the link to the web version, which says nothing about your message. Put a preview sentence before it, in a hidden element.',
      evidence,
    );
  if (customPreview === '')
    return info(
      title,
      'This is the start of your text. To choose the preview, add a hidden element with 40 to 100 characters at the start of the HTML.',
      evidence,
    );
  return info(
    title,
    hasFiller
      ? 'This is the hidden preview text at the start of your HTML. The filler after it keeps other text out of the preview.'
      : 'It starts with the hidden preview text of your HTML. If there is space left, the text after it follows.',
    evidence,
  );
}

const truncate = (text: string): string =>
  text.length > 80 ? `${text.slice(0, 80).trimEnd()}…` : text;
