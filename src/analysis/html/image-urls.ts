/** Finds the images on web servers that the HTML of a message shows: `img`, backgrounds, and CSS. */

import { isTrackingPixel, scanHtml } from './facts.ts';
import { type Attributes, tokenizeHtml } from './tokens.ts';

export interface WantedImage {
  /** As `imageUrlOf` returns it. */
  url: string;
  isTrackingPixel: boolean;
}

/** Longer ones are cut by what reads the HTML. */
const MAX_URL_LENGTH = 3999;
/** More images than any real message has. */
const MAX_IMAGES = 300;

/**
 * The URL to request for an address as the message has it, without its fragment; null if it is not on a web server.
 * Clients have no base for relative addresses, and read `//` as https.
 */
export function imageUrlOf(address: string): string | null {
  const text = address.trim();
  if (text.length > MAX_URL_LENGTH || !/^(?:https?:)?[/\\]{2}/i.test(text)) return null;
  const url = URL.parse(text, 'https://relative.invalid/');
  if (!url || !/^https?:$/.test(url.protocol)) return null;
  url.hash = '';
  return url.href;
}

/** Each URL once, in the order of the HTML: images first. One that is a tracking pixel anywhere is one everywhere. */
export function wantedImages(html: string): WantedImage[] {
  const facts = scanHtml(html);
  const found = new Map<string, WantedImage>();
  const add = (address: string, isPixel: boolean) => {
    const url = imageUrlOf(address);
    if (url === null) return;
    const known = found.get(url);
    if (known) known.isTrackingPixel ||= isPixel;
    else if (found.size < MAX_IMAGES) found.set(url, { url, isTrackingPixel: isPixel });
  };
  for (const image of facts.images) add(image.src, isTrackingPixel(image));
  for (const { address, isPixel } of otherAddresses(html)) add(address, isPixel);
  for (const css of [...facts.inlineStyles, facts.styleSheet])
    for (const address of urlsIn(css)) add(address, false);
  return [...found.values()];
}

interface Address {
  address: string;
  isPixel: boolean;
}

/** Those in `background`, and in the `srcset` of images that have no `src`. */
function otherAddresses(html: string): Address[] {
  const found: Address[] = [];
  const add = (address: string | null, isPixel: boolean) => {
    if (address && found.length < MAX_IMAGES) found.push({ address, isPixel });
  };
  tokenizeHtml(
    html,
    {
      open(name, attributes) {
        add(attributes.get('background') ?? null, false);
        if (name === 'img' && !attributes.get('src')?.trim())
          add(bestCandidate(attributes.get('srcset') ?? ''), hasPixelSize(attributes));
      },
      close() {},
      text() {},
      broken() {},
      isForeign: () => false,
    },
    true,
  );
  return found;
}

const hasPixelSize = (attributes: Attributes): boolean =>
  ['width', 'height'].every((side) => /^\s*[0-2](?:px)?\s*$/i.test(attributes.get(side) ?? ''));

/** The largest image of a `srcset`: a preview may be shown at any density (WHATWG HTML §4.8.4.2.1). */
export function bestCandidate(srcset: string): string | null {
  let best: string | null = null;
  let bestSize = -1;
  for (const candidate of srcset.slice(0, 20_000).split(/,\s+|,$/)) {
    const [address, descriptor = '1x'] = candidate.trim().split(/\s+/);
    const size = Number.parseFloat(descriptor);
    if (!address || !(size > bestSize)) continue;
    best = address;
    bestSize = size;
  }
  return best;
}

const CSS_URL =
  /url\(\s{0,20}(?:"([^"\\]{1,4000})"|'([^'\\]{1,4000})'|([^\s"'()\\]{1,4000}))\s{0,20}\)/gi;
/** What comes before the URL of a font or another style sheet. */
const NOT_IMAGE = /^\s*(?:src\s*:|@import|@namespace)/i;
const MAX_DECLARATION_LENGTH = 500;

function* urlsIn(css: string): Generator<string> {
  for (const { index, 1: double, 2: single, 3: plain } of css.matchAll(CSS_URL)) {
    const before = css.slice(Math.max(0, index - MAX_DECLARATION_LENGTH), index);
    const start = Math.max(...[';', '{', '}'].map((end) => before.lastIndexOf(end))) + 1;
    if (!NOT_IMAGE.test(before.slice(start))) yield (double ?? single ?? plain)!;
  }
}
