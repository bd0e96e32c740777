/** Walks the HTML once in the order in which a screen reader reads it. */

import { type ComputedStyle, computedStyleReader } from '../../analysis/html/computed-style.ts';
import { BLOCKS, openElements } from '../../analysis/html/elements.ts';
import { scanHtml } from '../../analysis/html/facts.ts';
import { readStyleSheet, styleElements } from '../../analysis/html/style-sheet.ts';
import { type Attributes, tokenizeHtml } from '../../analysis/html/tokens.ts';
import { collapseSpace, type TextSink, textSink, withoutControls } from '../../analysis/text.ts';
import type { ProblemList } from './accessibility-problems.ts';
import { neededContrast } from './contrast.ts';
import { fontReader } from './font.ts';
import { openPlace, type Place } from './read-elements.ts';
import { collectItems, MAX_ITEM_TEXT, type ReadItem } from './read-items.ts';

export interface VisibleText {
  text: string;
  line: number;
  /** 0xRRGGBB; null if unknown. */
  color: number | null;
  background: number | null;
  /** In pixels; null if unknown. */
  size: number | null;
  /** The contrast that text of its size and weight needs; null if these are unknown. */
  needed: number | null;
}

interface Reading {
  items: ReadItem[];
  language: string | null;
  title: string | null;
  /** It has an `html` or `head` element, unlike the HTML of most personal mail. */
  hasDocument: boolean;
  decorativeImages: number;
  truncated: boolean;
}

const MAX_HTML = 2_000_000;
const MAX_TITLE = 200;
/** Characters of text from which headings help. */
const LONG_TEXT = 1500;

/** Reports problems of language, headings, links, images and tables, and passes on each piece of visible text. */
export function readInOrder(
  html: string,
  problems: ProblemList,
  onVisibleText: (text: VisibleText) => void,
): Reading {
  const source = html.slice(0, MAX_HTML);
  const sheet = readStyleSheet(styleElements(source));
  const styles = computedStyleReader(sheet);
  const fonts = fontReader(sheet);
  const facts = scanHtml(source);
  const out = collectItems(problems);
  const lines = lineCounter(source);
  const closers = new Map<number, () => void>();
  const counts = { images: 0, links: 0, characters: 0 };
  const reading = {
    language: null as string | null,
    title: null as TextSink | null,
    hasDocument: false,
  };
  const elements = openElements<Place>(
    {
      style: styles.document,
      font: fonts.document,
      isSilent: false,
      isTitle: false,
      heading: null,
      link: null,
      table: null,
      list: null,
    },
    {
      closed(_name, position) {
        closers.get(position)?.();
        closers.delete(position);
      },
      misplaced() {},
      ignoredEnd() {},
    },
  );
  const isForeign = () => elements.isOpen('svg') || elements.isOpen('math');
  const separate = (name: string) => {
    if (BLOCKS.has(name)) out.endRun();
    else if (name === 'br') out.space();
  };

  const isComplete = tokenizeHtml(
    source,
    {
      open(name, attributes, selfClosing, at) {
        separate(name);
        if (name === 'html' || name === 'head') reading.hasDocument = true;
        if (out.isEmpty()) reading.language ??= languageOf(attributes);
        const line = lines.at(at);
        let place: Place | null = null;
        const make = (parent: Place) => {
          place = {
            ...parent,
            style: styles.styleOf(parent.style, name, attributes),
            isTitle: name === 'title' && reading.title === null && !isForeign(),
          };
          place.font = fonts.fontOf(parent, place.style, name, attributes);
          place.isSilent = parent.isSilent || isSilent(place.style, attributes);
          return place;
        };
        if (!elements.open(name, make, selfClosing && isForeign()) || place === null) return;
        const opened = openPlace(place, name, attributes, line, { out, problems, facts, counts });
        const isPushed = elements.depth() > 0 && elements.top() === place;
        if (opened && isPushed) closers.set(elements.depth() - 1, opened);
        else opened?.();
        if ((place as Place).isTitle) reading.title = textSink(MAX_TITLE);
      },
      close(name) {
        separate(name);
        elements.close(name);
      },
      text(piece, at) {
        const place = elements.top();
        if (place.isTitle) reading.title?.add(piece);
        if (place.isSilent || place.style.hasNoText) return;
        const line = lines.at(at) + newlinesBeforeText(piece);
        if (!out.text(piece, place, line)) return;
        counts.characters += piece.trim().length;
        const visible = visibleText(piece, place, line, isForeign());
        if (visible) onVisibleText(visible);
      },
      broken() {},
      isForeign,
      isDone: styles.isOverLimit,
    },
    html.length <= MAX_HTML,
  );
  for (const closer of [...closers.values()].reverse()) closer();
  const { items, isFull } = out.end();
  if (counts.characters > LONG_TEXT && !items.some(({ headingLevel }) => headingLevel !== null))
    problems.add({
      kind: 'headings',
      key: 'no headings',
      line: 1,
      text: '',
      detail: () =>
        'The text has no headings, so people cannot jump between its sections. Use h1 to h6 for the titles.',
    });
  return {
    items,
    language: reading.language,
    title: reading.title === null ? null : withoutControls(reading.title.value()) || null,
    hasDocument: reading.hasDocument,
    decorativeImages: facts.images.filter((image) => !image.hidden && image.alt?.trim() === '')
      .length,
    truncated: isFull || !isComplete || html.length > MAX_HTML,
  };
}

function languageOf(attributes: Attributes): string | null {
  const value = (attributes.get('lang') ?? attributes.get('xml:lang') ?? '').trim();
  return value === '' ? null : withoutControls(value.slice(0, 40));
}

/** Hidden from screen readers too, unlike text without size, off the screen, or without color. */
const SILENT = new Set(['display:none', 'the “hidden” attribute']);

const isSilent = (style: ComputedStyle, attributes: Attributes): boolean =>
  style.invisible ||
  (style.boxHiddenBy !== null && SILENT.has(style.boxHiddenBy)) ||
  attributes.get('aria-hidden')?.trim().toLowerCase() === 'true';

const newlinesBeforeText = (piece: string): number =>
  /^\s/.test(piece) ? piece.slice(0, piece.search(/\S/)).split('\n').length - 1 : 0;

function visibleText(
  piece: string,
  { style, font }: Place,
  line: number,
  isForeign: boolean,
): VisibleText | null {
  if (style.textHiddenBy !== null) return null;
  const isKnown = !style.partial && !font.isFaded && !isForeign;
  const color = isKnown && typeof style.color === 'number' ? style.color : null;
  const background = isKnown && typeof style.background === 'number' ? style.background : null;
  return {
    text: withoutControls(collapseSpace(piece.slice(0, 4 * MAX_ITEM_TEXT)).trim()),
    line,
    color,
    background,
    size: font.size,
    needed: neededContrast(font.size, font.bold),
  };
}

/** Counts lines up to an offset. Offsets rise, so all calls together take linear time. */
function lineCounter(html: string) {
  let line = 1;
  let next = html.indexOf('\n');
  return {
    at(offset: number): number {
      while (next >= 0 && next < offset) {
        line += 1;
        next = html.indexOf('\n', next + 1);
      }
      return line;
    },
  };
}
