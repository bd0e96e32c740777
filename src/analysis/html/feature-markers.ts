/**
 * The features of HTML and CSS that a message uses, named as in the table of client support. The check
 * `client_support` reports them, and the preview removes those that a client lacks.
 */

import { FEATURES } from './client-support.generated.ts';
import { blankComments } from './css.ts';

export const KNOWN_MARKERS: ReadonlySet<string> = new Set(
  FEATURES.flatMap(([, , markers]) => markers),
);
const markersWithPrefix = (prefix: string): Set<string> =>
  new Set(
    [...KNOWN_MARKERS]
      .filter((marker) => marker.startsWith(prefix))
      .map((marker) => marker.slice(prefix.length)),
  );
// Most words and units of CSS are in no marker, so none is made for them.
const KNOWN_WORDS = markersWithPrefix('word ');
const KNOWN_UNITS = markersWithPrefix('unit ');
/** The properties of markers such as `display:flex`. */
const PROPERTIES_WITH_WORD = new Set([...KNOWN_MARKERS].map((marker) => marker.split(':')[0]!));

// Markers of HTML.

export const elementMarker = (name: string): string => `<${name}>`;
export const attributeMarker = (name: string): string => `[${name}]`;

export const ANCHOR_MARKER = 'link #';
/** A link to a place in the message. */
export const isAnchorLink = (href: string): boolean => /^#./.test(href);

const FORMATS: Record<string, string> = {
  'svg+xml': 'svg',
  'x-icon': 'ico',
  'vnd.microsoft.icon': 'ico',
  tif: 'tiff',
};

/** By the media type of the part that a `cid:` URL names, or the file extension of the URL. */
export function imageMarker(
  src: string,
  typeOfPart: (contentId: string) => string | undefined,
): string {
  if (/^data:[^,]*;base64/i.test(src)) return 'image base64';
  const type = /^cid:/i.test(src) ? typeOfPart(src.slice(4).trim()) : undefined;
  const extension = /\.([a-z0-9]{2,5})(?:[?#]|$)/i.exec(src.slice(0, 2000))?.[1];
  const format = type?.startsWith('image/') ? type.slice(6) : (extension?.toLowerCase() ?? '');
  return `image ${FORMATS[format] ?? format}`;
}

// Markers of the CSS features that style sheets and `style` attributes use.

/** Maximum characters of all CSS, and of one selector or value. */
const MAX_CSS = 500_000;
const MAX_PIECE = 2000;

/** `property`, `property:word`, `word x`, `function()`, `unit x`, `@rule`, `:pseudo`, `selector x`, … */
export type AddMarker = (marker: string) => void;

/** Returns whether the CSS exceeds the limit. */
export function collectCssMarkers(
  styleSheet: string,
  inlineStyles: string[],
  add: AddMarker,
): boolean {
  let remaining = MAX_CSS;
  for (const style of [styleSheet, ...inlineStyles]) {
    if (remaining <= 0) return true;
    for (const part of cssParts(style.slice(0, remaining), style !== styleSheet))
      addPartMarkers(part, add);
    remaining -= style.length;
  }
  return remaining < 0;
}

/**
 * What a style sheet consists of, in order. `block` and `rule` are followed by their content and by a
 * `close`, except at the end of a broken sheet.
 */
export interface CssPart {
  kind: 'declaration' | 'statement' | 'block' | 'rule' | 'close';
  /** A declaration, an at-rule without its block, or a selector. */
  text: string;
  /** The position of the text in the CSS. */
  start: number;
  /** A rule: it is inside another rule. */
  isNested: boolean;
  /** A rule: it is a step of an animation, without a selector. */
  isKeyframe: boolean;
}

/** Runs in linear time and builds no tree. `inRule`: the text contains only declarations. */
export function* cssParts(css: string, inRule: boolean): Generator<CssPart> {
  const open: ('at' | 'keyframes' | 'rule')[] = inRule ? ['rule'] : [];
  let rules = open.length;
  const part = (kind: CssPart['kind'], text: string, start: number): CssPart => ({
    kind,
    text,
    start,
    isNested: kind === 'rule' && rules > 0,
    isKeyframe: kind === 'rule' && open.at(-1) === 'keyframes',
  });
  for (const { text, start, end } of pieces(blankComments(css))) {
    const isAtRule = text.startsWith('@');
    if (end !== '{') {
      if (text !== '') yield part(isAtRule ? 'statement' : 'declaration', text, start);
      if (end === '}') {
        yield part('close', '', start);
        if (open.pop() === 'rule') rules -= 1;
      }
      continue;
    }
    yield part(isAtRule ? 'block' : 'rule', text, start);
    if (isAtRule) open.push(/^@[a-z-]*keyframes\b/i.test(text) ? 'keyframes' : 'at');
    else {
      open.push('rule');
      rules += 1;
    }
  }
}

/** Splits at braces and semicolons outside of strings and, for semicolons, outside of parentheses. */
function* pieces(css: string): Generator<{ text: string; start: number; end: string }> {
  let start = 0;
  let parentheses = 0;
  let quote = '';
  const piece = (i: number, end: string) => {
    // Old messages hide their styles from clients without CSS support: `<!-- … -->`.
    const text = css.slice(start, i).replace(/<!--|-->/g, (mark) => ' '.repeat(mark.length));
    const trimmed = text.trimStart();
    return {
      text: trimmed.trimEnd(),
      start: start + text.length - trimmed.length,
      end,
    };
  };
  for (let i = 0; i < css.length; i += 1) {
    const char = css[i]!;
    if (char === '\\') i += 1;
    else if (quote !== '') {
      if (char === quote || char === '\n') quote = '';
    } else if (char === '"' || char === "'") quote = char;
    else if (char === '(') parentheses += 1;
    else if (char === ')') parentheses = Math.max(0, parentheses - 1);
    else if (char === '{' || char === '}' || (char === ';' && parentheses === 0)) {
      yield piece(i, char);
      start = i + 1;
      parentheses = 0;
    }
  }
  yield piece(css.length, '');
}

/** Adds the markers of the part itself, without those of its content. */
export function addPartMarkers(
  { kind, text, isNested, isKeyframe }: CssPart,
  add: AddMarker,
): void {
  if (kind === 'statement' || kind === 'block') addAtRule(text, add);
  else if (kind === 'declaration') addDeclaration(text, add);
  else if (kind === 'rule') {
    if (!isKeyframe) addSelector(text, add);
    if (isNested) add('selector nested');
  }
}

const withoutPrefix = (name: string): string => name.replace(/^-(?:webkit|moz|ms|o)-/, '');

/** Adds the markers of an at-rule without its block. */
export function addAtRule(text: string, add: AddMarker): void {
  const piece = text.slice(0, MAX_PIECE).toLowerCase();
  const name = withoutPrefix(/^@([a-z-]{1,40})/.exec(piece)?.[1] ?? '');
  add(`@${name}`);
  if (name === 'media')
    for (const [, feature] of piece.matchAll(/\(\s*([a-z-]{2,40})/g))
      add(`@media(${withoutPrefix(feature!)})`);
}

/** The name in lower case, without the prefixes of browsers and of hacks; null if it is not a declaration. */
export function propertyOf(declaration: string): string | null {
  const colon = declaration.indexOf(':');
  if (colon < 1 || colon > 100) return null;
  const name = declaration.slice(0, colon).trim().toLowerCase();
  return /^[*_]?[a-z-][\w-]*$/.test(name) ? withoutPrefix(name.replace(/^[*_]/, '')) : null;
}

function addDeclaration(declaration: string, add: AddMarker): void {
  const text = declaration.slice(0, MAX_PIECE);
  const property = propertyOf(text);
  if (property === null) return;
  add(property.startsWith('--') ? '--*' : property);
  const value = text
    .slice(text.indexOf(':') + 1)
    .toLowerCase()
    .replace(/url\([^)]*\)?/g, ' ')
    .replace(/"[^"]*"|'[^']*'/g, ' ');
  for (const functionName of value.match(/(?:[a-z][a-z-]{0,30}|-[a-z-]{2,30})(?=\()/g) ?? [])
    add(`${withoutPrefix(functionName)}()`);
  for (const length of value.match(LENGTH) ?? []) {
    const unit = length.replace(/^[\d.]+/, '');
    if (KNOWN_UNITS.has(unit)) add(`unit ${unit}`);
  }
  for (const word of value.match(/[a-z][a-z-]{1,30}/g) ?? []) {
    if (KNOWN_WORDS.has(word)) add(`word ${word}`);
    if (PROPERTIES_WITH_WORD.has(property)) add(`${property}:${word}`);
  }
}

const LENGTH = /(?<![\w#.-])(?:\d+(?:\.\d+)?|\.\d+)(?:[a-z]{1,5}|%)/g;

/** Pseudo-elements that CSS also allows with a single colon. */
const LEGACY_PSEUDO_ELEMENTS = new Set(['before', 'after', 'first-line', 'first-letter']);

/** Adds the markers of a selector or of a list of selectors. */
export function addSelector(selector: string, add: AddMarker): void {
  const bare = selector
    .slice(0, MAX_PIECE)
    .toLowerCase()
    .replace(/"[^"]*"|'[^']*'/g, '')
    .replace(/\[[^\]]*\]?/g, '[]');
  for (const [, colons, name] of bare.matchAll(/(::?)([a-z-]{2,40})/g))
    add(`${LEGACY_PSEUDO_ELEMENTS.has(name!) ? '::' : colons}${name}`);
  // Text in parentheses is not an element selector: `:nth-child(2n+1)`.
  const outer = bare.replace(/\([^()]*\)?/g, '');
  for (const token of ['[]', '>', '+', '~', '*'])
    if (outer.includes(token)) add(`selector ${token}`);
  if (/\.[\w-]{1,100}\.[\w-]/.test(outer)) add('selector .a.b');
}
