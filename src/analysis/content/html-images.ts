/** Collects the images of HTML while it is read. */

import { type ReadonlyDeclarations, readStyleAttribute } from './html-declarations.ts';
import type { HtmlImage, HtmlLink } from './html-facts.ts';
import { readLength } from './html-hiding.ts';
import type { Attributes } from './html-tokens.ts';

/** Of an image that is in the message itself, as much is kept. */
const MAX_DATA = 100;
const MAX_SRC = 4000;
const MAX_ALT = 2000;

/** Characters of the address of a background that are kept. */
export const MAX_BACKGROUND = 200;
const ADDRESS = /url\(\s*["']?([^"')]+)/;

/** The addresses of the images behind an element: by its attribute `background` and by its style. */
export function readBackgroundImages(attributes: Attributes): string[] {
  const found = [attributes.get('background') ?? ''];
  const style = attributes.get('style') ?? '';
  if (/background/i.test(style) && /url\(/i.test(style)) {
    const declared = readStyleAttribute(style);
    for (const property of ['background', 'background-image'])
      found.push(ADDRESS.exec(declared.get(property)?.value ?? '')?.[1] ?? '');
  }
  return found
    .map((address) => address.trim().slice(0, MAX_BACKGROUND).toLowerCase())
    .filter((address) => address !== '');
}

/** What an `img` element says of itself; its attributes in pixels, else its style. */
export function readImage(
  attributes: Attributes,
  hidden: boolean,
  link: HtmlLink | null,
): HtmlImage {
  const src = (attributes.get('src') ?? '').trim();
  const style = readStyleAttribute(attributes.get('style') ?? '');
  return {
    src: src.slice(0, /^data:/i.test(src) ? MAX_DATA : MAX_SRC),
    alt: attributes.get('alt')?.slice(0, MAX_ALT) ?? null,
    width: sizeOf('width', attributes, style),
    height: sizeOf('height', attributes, style),
    hidden,
    link,
  };
}

/** A spacer, or one that is only there to be loaded. */
export const isTiny = ({ width, height }: HtmlImage): boolean =>
  (width !== null && width <= 2) || (height !== null && height <= 2);

function sizeOf(side: 'width' | 'height', attributes: Attributes, style: ReadonlyDeclarations) {
  const attribute = readPixels(attributes.get(side) ?? '');
  const declared = readPixels(style.get(side)?.value ?? '');
  // What makes an image invisible wins: a style of 1px on an image of 600 makes it a tracking pixel.
  return declared !== null && (attribute === null || declared <= 2) ? declared : attribute;
}

const readPixels = (text: string): number | null =>
  /^[\d.\s]+(?:px)?\s*$/i.test(text.slice(0, 50)) ? readLength(text.toLowerCase(), 16) : null;
