/**
 * The HTML of a message gone through once, for all checks that look at it.
 *
 * Why not a library: htmlparser2's parser (not its tokenizer, which is used here) takes quadratic time
 * for nested tags, and css-tree runs out of memory on hostile style sheets.
 */

import { type Context, type Finding, skipped, unknown } from '../check.ts';
import { isVisible, type TextSink, textSink } from '../text.ts';
import { type ComputedStyle, computedStyleReader } from './computed-style.ts';
import { type ReadonlyDeclarations, readStyleAttribute } from './css.ts';
import { BLOCKS, openElements, watchStructure } from './elements.ts';
import { collectLinks, type HtmlLink } from './links.ts';
import { readStyleSheet, type StyleElement, styleElements } from './style-sheet.ts';
import { type Attributes, type TokenHandler, tokenizeHtml } from './tokens.ts';
import { readLength } from './visibility.ts';

export interface HtmlImage {
  /** As written; `cid:…`, `data:…` (cut to 100 characters) and remote ones. */
  src: string;
  /** null where the attribute is missing; an empty one says "decoration". */
  alt: string | null;
  /** Pixels as its attributes or its style say; null where they do not. */
  width: number | null;
  height: number | null;
  /** Not shown: display:none, or inside of what is hidden. */
  hidden: boolean;
  /** The link that it is in; null where it is in none of those in `links`. */
  link: HtmlLink | null;
}

export interface HiddenText {
  text: string;
  /** `display:none`, `font-size:0`, `same colour as the background`, … */
  how: string;
  /** It comes before all visible text: what a mail program shows as a preview. */
  preheader: boolean;
}

export interface HtmlFacts {
  /** There is more HTML, or more work in it, than is looked at: what is not found here may lie beyond. */
  truncated: boolean;
  /** What a reader sees, white space collapsed, without hidden text. */
  text: string;
  links: HtmlLink[];
  images: HtmlImage[];
  /** Distinct addresses of images shown behind others, by attribute or `style`; lower case, at most 200 characters each. */
  backgrounds: string[];
  hidden: HiddenText[];
  /** Elements and attributes that run or load something: `script`, `form`, `onclick` (`on…` where the name is not a known one), `meta refresh`, … with how often. */
  active: Record<string, number>;
  /** Tags that were never closed or closed in the wrong order so that it changes what is shown: sentences. */
  structure: string[];
  /** What every element and attribute name (`table`, `a[target]`) came how often. */
  elements: Record<string, number>;
  attributes: Record<string, number>;
  /** The contents of `style` elements, joined. */
  styleSheet: string;
  /** Distinct `style` attributes, at most 1,000. */
  inlineStyles: string[];
}

/** A fact: ask for it by `context.fact(htmlFacts)`. Null where the message has no HTML. */
export function htmlFacts({ message }: Context): HtmlFacts | null {
  return message.html === null ? null : scanHtml(message.html);
}

// What the checks on HTML share: whether there is HTML, and what of it was not looked at.

/**
 * What the check says of the facts, or why there are none. What may change when the rest is seen is
 * `unknown` where not all was: a pass, and all that `judge` marks as `open`.
 */
export function judgeHtml(
  context: Context,
  notChecked: string,
  judge: (facts: HtmlFacts) => Finding & { open?: boolean },
): Finding {
  const facts = context.fact(htmlFacts);
  const unseen = unseenHtml(context);
  if (facts) {
    const { open = false, ...finding } = judge(facts);
    const decided = !open && finding.status !== 'pass' && finding.status !== 'skipped';
    return unseen === null || decided ? finding : unknown(notChecked, unseen);
  }
  return unseen === null
    ? skipped('Your message has no HTML.', 'The message has no HTML part.')
    : unknown(notChecked, unseen);
}

/** Why there may be HTML that was not looked at, as a sentence; null where all was. */
function unseenHtml(context: Context): string | null {
  const { limits } = context.message;
  if (limits.length > 0) return `Your message has ${limits.join('; ')}; more may lie beyond that.`;
  return context.fact(htmlFacts)?.truncated
    ? 'Your HTML, or what it is made of, is longer than what is looked at; more may lie beyond that.'
    : null;
}

// Goes through HTML once and notes what the checks want to know, in linear time and bounded memory.

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
  const looks = computedStyleReader(readStyleSheet(styles));
  return {
    structure,
    links,
    elements: openElements<ComputedStyle>(looks.document, {
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
      const make = (parent: ComputedStyle) => {
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

function addImage(scan: Scan, attributes: Attributes, look: ComputedStyle): void {
  const unseen = look.box !== null || look.invisible || look.silent;
  const image = readImage(attributes, unseen || look.partial, scan.links.current());
  if (!unseen) scan.links.image(image.alt);
  if (!image.hidden && !isTiny(image)) shown(scan, 'An image');
  if (scan.images.length < MAX_IMAGES) scan.images.push(image);
}

function addBackgrounds({ backgrounds }: Scan, attributes: Attributes, look: ComputedStyle): void {
  if (backgrounds.size >= MAX_BACKGROUNDS) return;
  if (look.box !== null || look.invisible || look.silent || look.partial) return;
  for (const address of readBackgroundImages(attributes)) backgrounds.add(address);
}

const shown = ({ structure, elements }: Scan, what: string): void =>
  structure.shown(what, elements.scope(), elements.isBetweenCells());

// Counts what elements and attributes HTML is made of, and those of them that run or load something.

interface ElementCounts {
  add(name: string, attributes: Attributes): void;
  values(): {
    elements: Record<string, number>;
    attributes: Record<string, number>;
    active: Record<string, number>;
  };
}

/** Different names that are kept of each. */
const MAX_NAMES = 1000;
const MAX_NAME = 100;

function countElements(): ElementCounts {
  const elements = counter();
  const attributes = counter();
  const active = counter();
  return {
    add(name, given) {
      elements.add(name);
      for (const attribute of given.keys())
        attributes.add(`${name}[${attribute}]`.slice(0, MAX_NAME));
      for (const found of activeOf(name, given)) active.add(found);
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

const ACTIVE = new Set(
  'applet bgsound embed form frame frameset iframe object portal script'.split(' '),
);
/** What looks like an event handler, by how its name begins: attributes such as `once` do not. */
const HANDLER =
  /^on(?:abort|after|animation|before|begin|blur|can|change|click|close|context|copy|cut|dbl|drag|drop|ended|error|focus|form|hash|input|invalid|key|load|message|mouse|offline|online|page|paste|pause|play|pointer|pop|progress|readystate|reset|resize|scroll|search|seek|select|storage|submit|toggle|touch|transition|unload|wheel)[a-z]*$/;
/** Their names without `on`. Any other name may hold text of the message and is counted as `on…`. */
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
const ADDRESSES = ['href', 'src', 'action', 'formaction', 'xlink:href', 'data'];
/** Scripts that are data: Gmail reads offers and actions from JSON-LD. */
const DATA = /^application\/(?:ld\+)?json\b/i;

function activeOf(name: string, attributes: Attributes): string[] {
  const found: string[] = [];
  const value = (attribute: string) => attributes.get(attribute) ?? '';
  if (ACTIVE.has(name) && !(name === 'script' && DATA.test(value('type').trim()))) found.push(name);
  // Without an address it only says where links open.
  if (name === 'base' && attributes.has('href')) found.push('base');
  if (name === 'meta' && /^\s*refresh\s*$/i.test(value('http-equiv'))) found.push('meta refresh');
  for (const attribute of attributes.keys())
    if (attribute.startsWith('on') && HANDLER.test(attribute))
      found.push(EVENTS.has(attribute.slice(2)) ? attribute : 'on…');
  for (const attribute of ADDRESSES) {
    // Links have a check of their own, `link_scheme`.
    if (attribute === 'href' && (name === 'a' || name === 'area')) continue;
    if (!attributes.has(attribute)) continue;
    const scheme = SCRIPT_ADDRESS.exec(schemeOf(value(attribute)))?.[1];
    if (scheme) found.push(`${scheme}:`);
  }
  return found;
}

const SCRIPT_ADDRESS = /^(javascript|vbscript|data:text\/html)\b/;

/** As the URL standard reads it: white space and control characters before and within do not count. */
const schemeOf = (address: string): string =>
  address
    .slice(0, 200)
    .replace(/[\0- ]+/g, '')
    .toLowerCase();

// Collects the images of HTML while it is read.

/** Of an image that is in the message itself, as much is kept. */
const MAX_DATA = 100;
const MAX_SRC = 4000;
const MAX_ALT = 2000;

/** Characters of the address of a background that are kept. */
export const MAX_BACKGROUND = 200;
const ADDRESS = /url\(\s*["']?([^"')]+)/;

/** The addresses of the images behind an element: by its attribute `background` and by its style. */
function readBackgroundImages(attributes: Attributes): string[] {
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
function readImage(attributes: Attributes, hidden: boolean, link: HtmlLink | null): HtmlImage {
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

// Collects the text that a reader does not see, one entry for what is hidden by one cause.

interface HiddenCollector {
  add(piece: string, look: ComputedStyle): void;
  space(): void;
  /** From now on hidden text comes after visible text. */
  visibleText(): void;
  /** Ends the entry that is open. */
  end(): HiddenText[];
}

const MAX_ENTRIES = 1000;
/** Characters of all entries together. */
const MAX_HIDDEN_TEXT = 1_000_000;

function collectHidden(): HiddenCollector {
  const entries: HiddenText[] = [];
  let left = MAX_HIDDEN_TEXT;
  let preheader = true;
  let open: { cause: object | null; how: string; preheader: boolean; text: TextSink } | null = null;
  const end = () => {
    const text = open?.text.value() ?? '';
    // Filler alone hides nothing; before all text it may be there to make the preview short.
    if (
      open &&
      text !== '' &&
      (open.preheader || isVisible(text)) &&
      entries.length < MAX_ENTRIES
    ) {
      entries.push({ text, how: open.how, preheader: open.preheader });
      left -= text.length;
    }
    open = null;
    return entries;
  };
  return {
    add(piece, { cause, hides }) {
      if (open && open.cause !== cause) end();
      open ??= { cause, how: hides ?? '', preheader, text: textSink(left) };
      open.text.add(piece);
    },
    space: () => open?.text.space(),
    visibleText() {
      preheader = false;
    },
    end,
  };
}
