/**
 * Reads the HTML of a message once, for all checks that need it.
 *
 * Only the tokenizer of htmlparser2 is used: its parser takes quadratic time for nested tags, and
 * css-tree runs out of memory on hostile style sheets.
 */

import { type Context, type Finding, skipped, unknown } from '../check.ts';
import { senderPart } from '../quotes/sender-part.ts';
import { hasVisibleText, type TextSink, textSink } from '../text.ts';
import { type ComputedStyle, computedStyleReader } from './computed-style.ts';
import { type ReadonlyDeclarations, readStyleAttribute } from './css.ts';
import { BLOCKS, createStructureWatch, openElements } from './elements.ts';
import { collectLinks, type HtmlLink } from './links.ts';
import { readStyleSheet, type StyleElement, styleElements } from './style-sheet.ts';
import { type Attributes, type TokenHandler, tokenizeHtml } from './tokens.ts';
import { readLength } from './visibility.ts';

export interface HtmlImage {
  /** As written: `cid:…`, `data:…` (truncated to 100 characters) or a remote URL. */
  src: string;
  /** null if the attribute is missing; empty for decoration. */
  alt: string | null;
  /** Pixels according to its attributes or style; null if neither states them. */
  width: number | null;
  height: number | null;
  /** Not visible: hidden itself, or inside a hidden element. */
  hidden: boolean;
  /** The link around it; null if there is none in `links`. */
  link: HtmlLink | null;
}

export interface HiddenText {
  text: string;
  /** How it is hidden: `display:none`, `font-size:0`, `transparent text`, … */
  how: string;
  /** It comes before all visible text, so email clients show it as a preview. */
  preheader: boolean;
}

export interface HtmlFacts {
  /** The HTML exceeds a limit and was not read in full. */
  truncated: boolean;
  /** The visible text, white space collapsed. */
  text: string;
  /**
   * What a preview takes of the visible content: text and alt texts in order, the first 1,000 characters.
   * `startsWithAlt`: it starts with an alt text.
   */
  opening: { text: string; startsWithAlt: boolean };
  links: HtmlLink[];
  images: HtmlImage[];
  /** Distinct URLs of background images, by attribute or `style`; lower case, at most 200 characters each. */
  backgrounds: string[];
  hidden: HiddenText[];
  /**
   * Counts of elements and attributes that run or load something: `script`, `form`, `meta refresh`,
   * `onclick` (`on…` for unknown names).
   */
  active: Record<string, number>;
  /** Markup mistakes that change what readers see, as sentences. */
  structure: string[];
  /** Counts by element name (`table`) and by attribute name (`a[target]`). */
  elements: Record<string, number>;
  attributes: Record<string, number>;
  /** The contents of `style` elements, joined; those with an attribute `media` in an `@media`. */
  styleSheet: string;
  /** Distinct `style` attributes, at most 1,000. */
  inlineStyles: string[];
}

/**
 * A fact: call `context.fact(htmlFacts)`. What the sender wrote, without quoted messages. null if the
 * message has no HTML.
 */
export function htmlFacts(context: Context): HtmlFacts | null {
  const { html } = context.fact(senderPart);
  return html === null ? null : scanHtml(html);
}

/** A fact: the same with quoted messages, for what holds for the message as a whole. */
export function wholeHtmlFacts(context: Context): HtmlFacts | null {
  const { html } = context.message;
  return html === null || html === context.fact(senderPart).html
    ? context.fact(htmlFacts)
    : scanHtml(html);
}

// Shared by the checks on HTML: whether there is HTML, and whether it was read in full.

/**
 * The finding of `evaluate`, or why there is no HTML. If the HTML was not read in full, findings that
 * the rest could change become `unknown`: a pass, and those that `evaluate` marks as `open`.
 */
export function evaluateHtml(
  context: Context,
  notChecked: string,
  evaluate: (facts: HtmlFacts) => Finding & { mayChange?: boolean },
  read: typeof htmlFacts = htmlFacts,
): Finding {
  const facts = context.fact(read);
  const unreadReason = unreadHtml(context);
  if (facts) {
    const { mayChange: open = false, ...finding } = evaluate(facts);
    const isFinal = !open && finding.status !== 'pass' && finding.status !== 'skipped';
    return unreadReason === null || isFinal ? finding : unknown(notChecked, unreadReason);
  }
  return unreadReason === null
    ? skipped('Your message has no HTML.', 'Not checked: the message has no HTML part.')
    : unknown(notChecked, unreadReason);
}

/** Why the HTML was not read in full, as sentences; null if it was. */
function unreadHtml(context: Context): string | null {
  const { exceededLimits } = context.message;
  if (exceededLimits.length > 0)
    return `Your message has ${exceededLimits.join('; ')}. The rest may change the result.`;
  return context.fact(htmlFacts)?.truncated
    ? 'Your HTML is too long or complex to read in full. The rest may change the result.'
    : null;
}

// Collects all facts in one pass, in linear time and limited memory.

/** Characters of HTML that are read. */
const MAX_HTML = 5_000_000;
const MAX_TEXT = 1_000_000;
const MAX_OPENING = 1000;
const MAX_IMAGES = 1000;
const MAX_BACKGROUNDS = 1000;
const MAX_STYLES = 1000;
const MAX_STYLE_LENGTH = 10_000;

/** Reads the HTML of a message. Never throws. */
export function scanHtml(html: string): HtmlFacts {
  const exceedsLimit = html.length > MAX_HTML;
  const source = exceedsLimit ? html.slice(0, MAX_HTML) : html;
  const styles = styleElements(source);
  const scan = createScan(styles);
  const truncated = !tokenizeHtml(source, handlerOf(scan), !exceedsLimit) || exceedsLimit;
  if (!truncated) scan.links.leave(-1);
  scan.links.close();
  return {
    truncated,
    text: scan.text.value(),
    opening: scan.opening.value(),
    links: scan.links.links,
    images: scan.images,
    backgrounds: [...scan.backgrounds],
    hidden: scan.hidden.end(),
    ...scan.counts.values(),
    structure: scan.structure.problems(!truncated && scan.elements.isOpen('table')),
    styleSheet: styles
      .map(({ css, media }) => (media === '' ? css : `@media ${media}{${css}}`))
      .join('\n')
      .slice(0, MAX_TEXT),
    inlineStyles: [...scan.inlineStyles],
  };
}

type Scan = ReturnType<typeof createScan>;

function createScan(styles: StyleElement[]) {
  const structure = createStructureWatch();
  const links = collectLinks(structure);
  const styleReader = computedStyleReader(readStyleSheet(styles));
  return {
    structure,
    links,
    elements: openElements<ComputedStyle>(styleReader.document, {
      ...structure,
      closed(name, position, scope, byEndTag) {
        links.leave(position);
        structure.closed(name, position, scope, byEndTag);
      },
    }),
    styleReader,
    hidden: collectHidden(),
    counts: countElements(),
    text: textSink(MAX_TEXT),
    opening: collectOpening(),
    images: [] as HtmlImage[],
    backgrounds: new Set<string>(),
    inlineStyles: new Set<string>(),
  };
}

function handlerOf(scan: Scan): TokenHandler {
  const { elements, links, hidden } = scan;
  const isForeign = () => elements.isOpen('svg') || elements.isOpen('math');
  const separateBlocks = (name: string) => {
    if (!BLOCKS.has(name) && name !== 'br') return;
    scan.text.space();
    scan.opening.space();
    links.space();
    hidden.space();
  };
  return {
    open(name, attributes, selfClosing) {
      scan.counts.add(name, attributes);
      const style = attributes.get('style');
      if (style && scan.inlineStyles.size < MAX_STYLES)
        scan.inlineStyles.add(style.slice(0, MAX_STYLE_LENGTH));
      separateBlocks(name);
      let computed = scan.styleReader.document;
      const make = (parent: ComputedStyle) => {
        computed = scan.styleReader.styleOf(parent, name, attributes);
        return computed;
      };
      if (!elements.open(name, make, selfClosing && isForeign())) return;
      if (name === 'a' || name === 'area') links.open(name, attributes, elements.scope());
      if (name === 'img') addImage(scan, attributes, computed);
      addBackgrounds(scan, attributes, computed);
    },
    close(name) {
      separateBlocks(name);
      if (name === 'a') links.close();
      elements.close(name);
    },
    text: (piece) => addText(scan, piece),
    broken: scan.structure.broken,
    isForeign,
    isDone: scan.styleReader.isOverLimit,
  };
}

function addText(scan: Scan, piece: string): void {
  const { hidden, links, text } = scan;
  const style = scan.elements.top();
  if (style.hasNoText) return;
  if (style.textHiddenBy !== null) {
    hidden.add(piece, style);
    return;
  }
  links.text(piece);
  if (style.partial) return;
  text.add(piece);
  scan.opening.text(piece);
  if (!hasVisibleText(piece)) return;
  hidden.visibleText();
  reportVisible(scan, () => `“${piece.slice(0, 100).trim().slice(0, 60)}”`);
}

function addImage(scan: Scan, attributes: Attributes, style: ComputedStyle): void {
  const isHidden = style.boxHiddenBy !== null || style.invisible || style.hasNoText;
  const image = readImage(attributes, isHidden || style.partial, scan.links.current());
  if (!isHidden) scan.links.image(image.alt);
  if (!image.hidden) scan.opening.alt(image.alt);
  if (!image.hidden && !isTiny(image)) reportVisible(scan, () => 'An image');
  if (scan.images.length < MAX_IMAGES) scan.images.push(image);
}

function addBackgrounds({ backgrounds }: Scan, attributes: Attributes, style: ComputedStyle): void {
  if (backgrounds.size >= MAX_BACKGROUNDS) return;
  if (style.boxHiddenBy !== null || style.invisible || style.hasNoText || style.partial) return;
  for (const url of readBackgroundImages(attributes)) backgrounds.add(url);
}

const reportVisible = ({ structure, elements }: Scan, describe: () => string): void =>
  structure.visibleContent(elements.scope(), elements.isBetweenCells() ? describe() : null);

// Counts elements and attributes, and those that run or load something.

interface ElementCounts {
  add(name: string, attributes: Attributes): void;
  values(): {
    elements: Record<string, number>;
    attributes: Record<string, number>;
    active: Record<string, number>;
  };
}

/** Distinct names per count. */
const MAX_NAMES = 1000;
const MAX_NAME_LENGTH = 100;

function countElements(): ElementCounts {
  const elements = counter();
  const attributes = counter();
  const active = counter();
  return {
    add(name, elementAttributes) {
      elements.add(name);
      for (const attribute of elementAttributes.keys())
        attributes.add(`${name}[${attribute}]`.slice(0, MAX_NAME_LENGTH));
      for (const activeName of activeOf(name, elementAttributes)) active.add(activeName);
    },
    values: () => ({
      elements: elements.values(),
      attributes: attributes.values(),
      active: active.values(),
    }),
  };
}

function counter() {
  const counts = new Map<string, number>();
  return {
    add(name: string) {
      const count = counts.get(name);
      if (count !== undefined || counts.size < MAX_NAMES) counts.set(name, (count ?? 0) + 1);
    },
    values: () => Object.fromEntries(counts),
  };
}

const ACTIVE_ELEMENTS = new Set(
  'applet bgsound embed form frame frameset iframe object portal script'.split(' '),
);
/** Attribute names that start like an event handler, unlike `once`. */
const HANDLER =
  /^on(?:abort|after|animation|before|begin|blur|can|change|click|close|context|copy|cut|dbl|drag|drop|ended|error|focus|form|hash|input|invalid|key|load|message|mouse|offline|online|page|paste|pause|play|pointer|pop|progress|readystate|reset|resize|scroll|search|seek|select|storage|submit|toggle|touch|transition|unload|wheel)[a-z]*$/;
/** Known event names. Any other name may contain text of the message and is counted as `on…`. */
const EVENTS = new Set(
  [
    'abort afterprint afterscriptexecute animationcancel animationend animationiteration',
    'animationstart beforecopy beforecut beforeinput beforematch beforepaste beforeprint',
    'beforescriptexecute beforetoggle beforeunload begin blur cancel canplay canplaythrough',
    'change click close contextlost contextmenu contextrestored copy cut dblclick drag dragend',
    'dragenter dragexit dragleave dragover dragstart drop ended error focus focusin focusout',
    'formdata formchange forminput hashchange input invalid keydown keypress keyup load',
    'loadeddata loadedmetadata loadend loadstart message messageerror mousedown mouseenter',
    'mouseleave mousemove mouseout mouseover mouseup mousewheel offline online pagehide',
    'pagereveal pageshow pageswap paste pause play playing pointercancel pointerdown pointerenter',
    'pointerleave pointermove pointerout pointerover pointerrawupdate pointerup popstate progress',
    'readystatechange reset resize scroll scrollend scrollsnapchange scrollsnapchanging search',
    'seeked seeking select selectionchange selectstart storage submit toggle touchcancel touchend',
    'touchmove touchstart transitioncancel transitionend transitionrun transitionstart unload',
    'wheel',
  ]
    .join(' ')
    .split(' '),
);
const URL_ATTRIBUTES = ['href', 'src', 'action', 'formaction', 'xlink:href', 'data'];
/** Data blocks, not scripts: Gmail reads offers and actions from JSON-LD. */
const DATA_TYPE = /^application\/(?:ld\+)?json\b/i;

function activeOf(name: string, attributes: Attributes): string[] {
  const found: string[] = [];
  const value = (attribute: string) => attributes.get(attribute) ?? '';
  if (ACTIVE_ELEMENTS.has(name) && !(name === 'script' && DATA_TYPE.test(value('type').trim())))
    found.push(name);
  // Without `href`, it only sets where links open.
  if (name === 'base' && attributes.has('href')) found.push('base');
  if (name === 'meta' && /^\s*refresh\s*$/i.test(value('http-equiv'))) found.push('meta refresh');
  for (const attribute of attributes.keys())
    if (attribute.startsWith('on') && HANDLER.test(attribute))
      found.push(EVENTS.has(attribute.slice(2)) ? attribute : 'on…');
  for (const attribute of URL_ATTRIBUTES) {
    // The check `link_scheme` covers links.
    if (attribute === 'href' && (name === 'a' || name === 'area')) continue;
    if (!attributes.has(attribute)) continue;
    const scheme = SCRIPT_URL.exec(schemeOf(value(attribute)))?.[1];
    if (scheme) found.push(`${scheme}:`);
  }
  return found;
}

const SCRIPT_URL = /^(javascript|vbscript|data:text\/html)\b/;

/** The start of a URL as the URL standard reads it, without white space and control characters. */
const schemeOf = (url: string): string =>
  url
    .slice(0, 200)
    .replace(/[\0- ]+/g, '')
    .toLowerCase();

// Collects images.

/** Characters kept of a `data:` URL. */
const MAX_DATA_SRC = 100;
const MAX_SRC = 4000;
const MAX_ALT = 2000;

/** Characters kept of a background URL. */
export const MAX_BACKGROUND_LENGTH = 200;
const CSS_URL = /url\(\s*["']?([^"')]+)/;

/** The URLs of an element's background images, from its attribute `background` and its style. */
function readBackgroundImages(attributes: Attributes): string[] {
  const attribute = attributes.get('background');
  const style = attributes.get('style') ?? '';
  const hasImage = /url\(/i.test(style) && /background/i.test(style);
  if (attribute === undefined && !hasImage) return [];
  const found = [attribute ?? ''];
  if (hasImage) {
    const declared = readStyleAttribute(style);
    for (const property of ['background', 'background-image'])
      found.push(CSS_URL.exec(declared.get(property)?.value ?? '')?.[1] ?? '');
  }
  return found
    .map((url) => url.trim().slice(0, MAX_BACKGROUND_LENGTH).toLowerCase())
    .filter((url) => url !== '');
}

function readImage(attributes: Attributes, hidden: boolean, link: HtmlLink | null): HtmlImage {
  const src = (attributes.get('src') ?? '').trim();
  const style = readStyleAttribute(attributes.get('style') ?? '');
  return {
    src: src.slice(0, /^data:/i.test(src) ? MAX_DATA_SRC : MAX_SRC),
    alt: attributes.get('alt')?.slice(0, MAX_ALT) ?? null,
    width: sizeOf('width', attributes, style),
    height: sizeOf('height', attributes, style),
    hidden,
    link,
  };
}

/** A spacer or tracking pixel. */
export const isTiny = ({ width, height }: HtmlImage): boolean =>
  (width !== null && width <= 2) || (height !== null && height <= 2);

/** A remote image of at most two pixels in both dimensions, or in one if it is hidden. Most report opens; some are spacers. */
export function isTrackingPixel({ src, width, height, hidden }: HtmlImage): boolean {
  const isSmall = (size: number | null) => size !== null && size <= 2;
  const hasPixelSize = hidden
    ? isSmall(width) || isSmall(height)
    : isSmall(width) && isSmall(height);
  return hasPixelSize && /^(?:https?:)?\/\//i.test(src);
}

function sizeOf(side: 'width' | 'height', attributes: Attributes, style: ReadonlyDeclarations) {
  const attribute = readPixels(attributes.get(side) ?? '');
  const declared = readPixels(style.get(side)?.value ?? '');
  // The attribute wins, unless the style makes the image invisible, like a tracking pixel.
  return declared !== null && (attribute === null || declared <= 2) ? declared : attribute;
}

const readPixels = (text: string): number | null =>
  /^[\d.\s]+(?:px)?\s*$/i.test(text.slice(0, 50)) ? readLength(text.toLowerCase(), 16) : null;

// Collects what a preview shows.

function collectOpening() {
  const sink = textSink(MAX_OPENING);
  let first: 'alt' | 'text' | null = null;
  return {
    text(piece: string) {
      if (first === null && hasVisibleText(piece)) first = 'text';
      sink.add(piece);
    },
    alt(alt: string | null) {
      if (alt === null || !hasVisibleText(alt)) return;
      first ??= 'alt';
      sink.space();
      sink.add(alt);
      sink.space();
    },
    space: sink.space,
    value: () => ({ text: sink.value(), startsWithAlt: first === 'alt' }),
  };
}

// Collects hidden text, one entry per cause.

interface HiddenCollector {
  add(piece: string, style: ComputedStyle): void;
  space(): void;
  /** Visible text was found: later hidden text is not a preheader. */
  visibleText(): void;
  /** Ends the current entry and returns all entries. */
  end(): HiddenText[];
}

const MAX_ENTRIES = 1000;
/** Characters, over all entries. */
const MAX_HIDDEN_TEXT = 1_000_000;

function collectHidden(): HiddenCollector {
  const entries: HiddenText[] = [];
  let remaining = MAX_HIDDEN_TEXT;
  let preheader = true;
  let current: { cause: object | null; how: string; preheader: boolean; text: TextSink } | null =
    null;
  const end = () => {
    const text = current?.text.value() ?? '';
    // Filler alone hides nothing, but in a preheader it may shorten the preview.
    if (
      current &&
      text !== '' &&
      (current.preheader || hasVisibleText(text)) &&
      entries.length < MAX_ENTRIES
    ) {
      entries.push({ text, how: current.how, preheader: current.preheader });
      remaining -= text.length;
    }
    current = null;
    return entries;
  };
  return {
    add(piece, { cause, textHiddenBy }) {
      if (current && current.cause !== cause) end();
      current ??= { cause, how: textHiddenBy ?? '', preheader, text: textSink(remaining) };
      current.text.add(piece);
    },
    space: () => current?.text.space(),
    visibleText() {
      preheader = false;
    },
    end,
  };
}
