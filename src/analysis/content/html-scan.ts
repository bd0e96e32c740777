/** Goes through HTML once and notes what the checks want to know, in linear time and bounded memory. */

import { countElements } from './html-counts.ts';
import { BLOCKS, openElements } from './html-elements.ts';
import type { HtmlFacts, HtmlImage } from './html-facts.ts';
import { collectHidden } from './html-hidden-text.ts';
import { isTiny, readBackgroundImages, readImage } from './html-images.ts';
import { collectLinks } from './html-links.ts';
import { type Look, lookReader } from './html-look.ts';
import { watchStructure } from './html-structure-watch.ts';
import { styleElements } from './html-style-elements.ts';
import { readStyleSheet, type StyleElement } from './html-style-sheet.ts';
import { isVisible, textSink } from './html-text.ts';
import { type Attributes, type TokenHandler, tokenizeHtml } from './html-tokens.ts';

/** As much of a message's HTML as is looked at, in characters. */
const MAX_HTML = 5_000_000;
const MAX_TEXT = 1_000_000;
const MAX_IMAGES = 1000;
const MAX_BACKGROUNDS = 1000;
const MAX_STYLES = 1000;
const MAX_STYLE_LENGTH = 10_000;

/** What is in the HTML of a message; never throws. */
export function scanHtml(html: string): HtmlFacts {
  const cut = html.length > MAX_HTML;
  const seen = cut ? html.slice(0, MAX_HTML) : html;
  const styles = styleElements(seen);
  const scan = createScan(styles);
  const truncated = !tokenizeHtml(seen, handlerOf(scan), !cut) || cut;
  if (!truncated) scan.links.leave(-1);
  scan.links.close();
  return {
    truncated,
    text: scan.text.value(),
    links: scan.links.links,
    images: scan.images,
    backgrounds: [...scan.backgrounds],
    hidden: scan.hidden.end(),
    ...scan.counts.values(),
    structure: scan.structure.problems(!truncated && scan.elements.isOpen('table')),
    styleSheet: styles
      .map(({ css }) => css)
      .join('\n')
      .slice(0, MAX_TEXT),
    inlineStyles: [...scan.inlineStyles],
  };
}

type Scan = ReturnType<typeof createScan>;

function createScan(styles: StyleElement[]) {
  const structure = watchStructure();
  const links = collectLinks(structure);
  const looks = lookReader(readStyleSheet(styles));
  return {
    structure,
    links,
    elements: openElements<Look>(looks.document, {
      ...structure,
      closed(name, place, scope, byEndTag) {
        links.leave(place);
        structure.closed(name, place, scope, byEndTag);
      },
    }),
    looks,
    hidden: collectHidden(),
    counts: countElements(),
    text: textSink(MAX_TEXT),
    images: [] as HtmlImage[],
    backgrounds: new Set<string>(),
    inlineStyles: new Set<string>(),
  };
}

function handlerOf(scan: Scan): TokenHandler {
  const { elements, links, hidden } = scan;
  const isForeign = () => elements.isOpen('svg') || elements.isOpen('math');
  const border = (name: string) => {
    if (!BLOCKS.has(name) && name !== 'br') return;
    for (const { space } of [scan.text, links, hidden]) space();
  };
  return {
    open(name, attributes, selfClosing) {
      scan.counts.add(name, attributes);
      const style = attributes.get('style');
      if (style && scan.inlineStyles.size < MAX_STYLES)
        scan.inlineStyles.add(style.slice(0, MAX_STYLE_LENGTH));
      border(name);
      let look = scan.looks.document;
      const make = (parent: Look) => {
        look = scan.looks.of(parent, name, attributes);
        return look;
      };
      if (!elements.open(name, make, selfClosing && isForeign())) return;
      if (name === 'a' || name === 'area') links.open(name, attributes, elements.scope());
      if (name === 'img') addImage(scan, attributes, look);
      addBackgrounds(scan, attributes, look);
    },
    close(name) {
      border(name);
      if (name === 'a') links.close();
      elements.close(name);
    },
    text: (piece) => addText(scan, piece),
    broken: scan.structure.broken,
    isForeign,
    isDone: scan.looks.isSpent,
  };
}

function addText(scan: Scan, piece: string): void {
  const { hidden, links, text } = scan;
  const look = scan.elements.top();
  if (look.silent) return;
  if (look.hides !== null) {
    hidden.add(piece, look);
    return;
  }
  links.text(piece);
  if (look.partial) return;
  text.add(piece);
  if (!isVisible(piece)) return;
  hidden.visibleText();
  shown(scan, `“${piece.slice(0, 100).trim().slice(0, 60)}”`);
}

function addImage(scan: Scan, attributes: Attributes, look: Look): void {
  const unseen = look.box !== null || look.invisible || look.silent;
  const image = readImage(attributes, unseen || look.partial, scan.links.current());
  if (!unseen) scan.links.image(image.alt);
  if (!image.hidden && !isTiny(image)) shown(scan, 'An image');
  if (scan.images.length < MAX_IMAGES) scan.images.push(image);
}

function addBackgrounds({ backgrounds }: Scan, attributes: Attributes, look: Look): void {
  if (backgrounds.size >= MAX_BACKGROUNDS) return;
  if (look.box !== null || look.invisible || look.silent || look.partial) return;
  for (const address of readBackgroundImages(attributes)) backgrounds.add(address);
}

const shown = ({ structure, elements }: Scan, what: string): void =>
  structure.shown(what, elements.scope(), elements.isBetweenCells());
