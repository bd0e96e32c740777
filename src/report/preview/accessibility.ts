/** What a screen reader reads of the HTML, in its order, and what keeps people from reading it. */

import {
  type AccessibilityProblem,
  createProblemList,
  type ProblemList,
} from './accessibility-problems.ts';
import {
  colorDistance,
  contrastRatio,
  hexColor,
  MIN_CONTRAST,
  MIN_CONTRAST_LARGE,
  nearestReadable,
} from './contrast.ts';
import type { ReadItem } from './read-items.ts';
import { readInOrder, type VisibleText } from './reading-order.ts';

export interface AccessibilityView {
  /** As declared (`en`, `de-AT`); null if it is missing. */
  language: string | null;
  title: string | null;
  items: ReadItem[];
  /** By line, at most 100. */
  problems: AccessibilityProblem[];
  /** Images with an empty alt text, which are not read. */
  decorativeImages: number;
  /** Characters of visible text by their contrast. Unknown: over images, or in colors that cannot be determined. */
  contrast: { enough: number; tooLow: number; unknown: number };
  /** The HTML was not read in full, or has more items or problems than are listed. */
  truncated: boolean;
}

/** In pixels; smaller text is hard to read on phones. */
const MIN_FONT_PX = 12;

/** Never throws. Takes linear time. */
export function accessibilityView(html: string): AccessibilityView {
  const problems = createProblemList();
  const contrast = { enough: 0, tooLow: 0, unknown: 0 };
  const reading = readInOrder(html, problems, (text) => {
    contrast[contrastOf(text, problems)] += text.text.length;
    reportSmallText(text, problems);
  });
  const { language, title, hasDocument } = reading;
  if (language === null)
    problems.add({
      kind: 'language',
      key: 'language',
      line: 1,
      text: '',
      detail: () =>
        'No lang attribute states the language, so screen readers may read the text in the wrong one. Add it to the html element.',
    });
  else if (!LANGUAGE.test(language))
    problems.add({
      kind: 'language',
      key: 'language',
      line: 1,
      text: language,
      detail: () =>
        `The lang attribute “${language}” names no language. Use a tag such as “en” or “de-AT”.`,
    });
  if (hasDocument && title === null)
    problems.add({
      kind: 'title',
      key: 'title',
      line: 1,
      text: '',
      detail: () =>
        'The HTML has no title. Screen readers announce it when the message is opened in a browser.',
    });
  const { list, isFull } = problems.end();
  return {
    language,
    title,
    items: reading.items,
    problems: list,
    decorativeImages: reading.decorativeImages,
    contrast,
    truncated: reading.truncated || isFull,
  };
}

/** RFC 5646, without its rarer forms and without the codes for no or any language. */
const LANGUAGE = /^(?!(?:und|mul|mis|zxx)\b)[a-z]{2,8}(?:-[a-z\d]{1,8}){0,5}$/i;

/** Reports a contrast that is too low. Unknown colors are neither enough nor too low. */
function contrastOf(
  { color, background, needed, text, line }: VisibleText,
  problems: ProblemList,
): 'enough' | 'tooLow' | 'unknown' {
  if (color === null || background === null) return 'unknown';
  const ratio = contrastRatio(color, background);
  // If the size is not known, only what no size needs or any size needs is certain.
  if (ratio >= (needed ?? MIN_CONTRAST)) return 'enough';
  if (needed === null && ratio >= MIN_CONTRAST_LARGE) return 'unknown';
  const atLeast = needed ?? MIN_CONTRAST_LARGE;
  const other = nearestReadable(color, background, atLeast);
  const otherBackground = nearestReadable(background, color, atLeast);
  const isTextNearer = colorDistance(color, other) <= colorDistance(background, otherBackground);
  const readable = hexColor(other);
  const readableBackground = hexColor(otherBackground);
  const rounded = Math.floor(ratio * 100) / 100;
  const colors = { color: hexColor(color), background: hexColor(background) };
  problems.add({
    kind: 'contrast',
    key: `contrast ${colors.color} ${colors.background} ${atLeast}`,
    line,
    text,
    detail: () =>
      `The contrast of ${colors.color} on ${colors.background} is ${rounded}:1, and text of this size needs ${atLeast}:1. ${isTextNearer ? `Use ${readable} for the text` : `Use ${readableBackground} for the background`}.`,
    contrast: { ...colors, ratio: rounded, needed: atLeast, readable, readableBackground },
  });
  return 'tooLow';
}

function reportSmallText({ size, text, line }: VisibleText, problems: ProblemList): void {
  if (size === null || size >= MIN_FONT_PX) return;
  const pixels = Math.round(size * 10) / 10;
  problems.add({
    kind: 'font_size',
    key: `font_size ${pixels}`,
    line,
    text,
    detail: () =>
      `The font size is ${pixels} px. Text under ${MIN_FONT_PX} px is hard to read on phones.`,
  });
}
