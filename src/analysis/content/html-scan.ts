/** Goes through HTML once and notes what the checks want to know, in linear time and bounded memory. */

import { countElements } from './html-counts.ts';
import { BLOCKS, openElements, VOID } from './html-elements.ts';
import type { HtmlFacts, HtmlImage } from './html-facts.ts';
import { collectHidden } from './html-hidden-text.ts';
import { readImage } from './html-images.ts';
import { collectLinks } from './html-links.ts';
import { type Look, lookReader, PLAIN } from './html-look.ts';
import { watchStructure } from './html-structure.ts';
import { readStyleSheet, type StyleElement } from './html-style-sheet.ts';
import { isVisible, textSink } from './html-text.ts';
import { type Attributes, type TokenHandler, tokenizeHtml } from './html-tokens.ts';

/** As much of a message's HTML as is looked at, in characters. */
const MAX_HTML = 5_000_000;
const MAX_TEXT = 1_000_000;
const MAX_IMAGES = 1000;
const MAX_STYLES = 1000;
const MAX_STYLE_LENGTH = 10_000;

/** What is in the HTML of a message; never throws. */
export function scanHtml(html: string): HtmlFacts {
  const truncated = html.length > MAX_HTML;
  const seen = truncated ? html.slice(0, MAX_HTML) : html;
  const styles = styleElements(seen);
  const scan = createScan(styles);
  tokenizeHtml(seen, scan.handler, !truncated);
  return { truncated, ...scan.facts() };
}

function createScan(styles: StyleElement[]) {
  const lookOf = lookReader(readStyleSheet(styles));
  const structure = watchStructure();
  const links = collectLinks(structure);
  const hidden = collectHidden();
  const counts = countElements();
  const text = textSink(MAX_TEXT);
  const images: HtmlImage[] = [];
  const inlineStyles = new Set<string>();
  const elements = openElements<Look>(PLAIN, {
    ...structure,
    closed(name, place, scope, byEndTag) {
      links.leave(place);
      structure.closed(name, place, scope, byEndTag);
    },
  });
  const space = () => {
    text.space();
    links.space();
    hidden.space();
  };
  const image = (attributes: Attributes, look: Look) => {
    const unseen = look.box !== null || look.invisible || look.silent;
    const found = readImage(attributes, { hidden: unseen, linked: links.isOpen() });
    if (!unseen) {
      links.image(found.alt);
      const pixel = (found.width ?? 3) <= 2 || (found.height ?? 3) <= 2;
      if (!pixel) structure.shown('An image', elements.scope(), elements.isBetweenCells());
    }
    if (images.length < MAX_IMAGES) images.push(found);
  };
  const handler: TokenHandler = {
    open(name, attributes, selfClosing) {
      counts.add(name, attributes);
      const style = attributes.get('style');
      if (style && inlineStyles.size < MAX_STYLES) inlineStyles.add(style.slice(0, MAX_STYLE_LENGTH));
      if (BLOCKS.has(name) || name === 'br') space();
      let look = PLAIN;
      const make = (parent: Look) => {
        look = lookOf(parent, name, attributes);
        return look;
      };
      const foreign = elements.isOpen('svg') || elements.isOpen('math');
      if (!elements.open(name, make, selfClosing && foreign)) return;
      if (name === 'a' || name === 'area') links.open(name, attributes, elements.scope());
      if (name === 'img') image(attributes, look);
    },
    close(name) {
      if (BLOCKS.has(name) || name === 'br') space();
      if (name === 'a') links.close();
      if (!VOID.has(name)) elements.close(name);
    },
    text(piece) {
      const look = elements.top();
      if (look.hides !== null) return hidden.add(piece, look);
      if (look.silent) {
        if (!isSource(elements)) links.text(piece);
        return;
      }
      ...
    },
    broken: structure.broken,
    isForeign: () => elements.isOpen('svg') || elements.isOpen('math'),
  };
}
