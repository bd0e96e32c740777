/** The preview text that lists of email clients show next to the subject, from the HTML of a message. */

import { stripFiller } from '../text.ts';
import type { HtmlFacts } from './facts.ts';

export interface PreviewText {
  /** At most 1,000 characters; clients cut it. Empty if the HTML has nothing to show. */
  text: string;
  /** The hidden preview text that `text` starts with, without filler; empty if there is none. */
  preheader: string;
  /** Filler after the hidden text keeps all other text out of the preview. */
  hasFiller: boolean;
  /** Where `text` starts: hidden text, the alt text of an image, or visible text. */
  source: 'preheader' | 'alt' | 'text' | 'none';
  /** Where the "view in browser" line stands, if it is at the start of the preview or right after the hidden text. */
  browserLine: 'start' | 'after_preheader' | null;
}

/** Characters of hidden text that are read; previews show far fewer. */
const MAX_HIDDEN_TEXT = 20_000;
const MAX_PREVIEW = 1000;
/** A longer run of invisible characters is filler. */
const MAX_INVISIBLE_RUN = 20;

/**
 * Clients take the text in the order of the HTML, whether it is visible or not, and the alt texts of
 * images. A hidden preview text therefore comes first.
 */
export function previewText({ opening, hidden }: HtmlFacts): PreviewText {
  const hiddenText = hidden
    .filter((entry) => entry.preheader)
    .map((entry) => entry.text)
    .join(' ');
  const { text: preheader, longest } = stripFiller(hiddenText.slice(0, MAX_HIDDEN_TEXT));
  const hasFiller = longest > MAX_INVISIBLE_RUN;
  const rest = hasFiller ? '' : stripFiller(opening.text).text;
  const text = `${preheader} ${rest}`.trim().slice(0, MAX_PREVIEW);
  return {
    text,
    preheader: preheader.slice(0, MAX_PREVIEW),
    hasFiller,
    source: sourceOf(preheader, rest, opening.startsWithAlt),
    browserLine: browserLineIn(preheader, rest),
  };
}

function sourceOf(preheader: string, rest: string, startsWithAlt: boolean): PreviewText['source'] {
  if (preheader !== '') return 'preheader';
  if (rest === '') return 'none';
  return startsWithAlt ? 'alt' : 'text';
}

function browserLineIn(preheader: string, rest: string): PreviewText['browserLine'] {
  if (isBrowserLine(preheader === '' ? rest : preheader)) return 'start';
  // After a longer hidden text, few clients have space for more.
  const isShort = preheader.length < SHORT_PREHEADER;
  return isShort && preheader !== '' && isBrowserLine(rest) ? 'after_preheader' : null;
}

const SHORT_PREHEADER = 100;
/** The characters that are searched: the line stands at the start. */
const MAX_SEARCHED = 100;

/** The "view in browser" line at the start of many templates, in several languages. */
const BROWSER_LINES = [
  /\b(?:view|read|open|trouble|problems?|can.?t see|cannot)\b.{0,60}\b(?:browser|online|web ?page)\b/i,
  /\bweb-? ?version\b|\bonline-? ?version\b|\bim (?:browser|internet)\b/i,
  /\bonline (?:ansehen|anzeigen|lesen|bekijken)\b|\b(?:bekijk|lees)\b.{0,60}\b(?:browser|online)\b/i,
  /\b(?:voir|afficher|consulte[rz]|lire|visualise[rz]|version)\b.{0,60}\b(?:en ligne|navigateur)\b/i,
  /\b(?:ver|vea|abrir|visualizar|veja)\b.{0,60}\b(?:navegador|en línea)\b/i,
  /\b(?:vedi|leggi|visualizza|apri)\b.{0,60}\b(?:browser|online)\b/i,
];

/** Whether the text starts with the link to the web version. */
const isBrowserLine = (text: string): boolean =>
  BROWSER_LINES.some((line) => line.test(text.slice(0, MAX_SEARCHED)));
