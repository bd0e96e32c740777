/** `client_support`: HTML and CSS in the message that major email clients do not support. */

import { type Check, type Context, type Finding, info, skipped } from '../check.ts';
import { CLIENT_SUPPORT_UPDATED, CLIENTS, FEATURES } from '../html/client-support.generated.ts';
import { withoutComments } from '../html/css.ts';
import { type HtmlFacts, htmlFacts } from '../html/facts.ts';

const MAX_SHOWN = 20;

/**
 * Scores no points: most gaps are cosmetic, such as square corners. The table omits features
 * that every client supports at least in part.
 */
export const clientSupport: Check = {
  id: 'client_support',
  category: 'content',
  points: 0,
  label: 'Email client support',
  reference: { name: 'Can I email', url: 'https://www.caniemail.com/' },
  publicEvidence: {
    data_of: 'shown',
    clients: 'shown',
    features_used: 'shown',
    features: { feature: 'shown', missing_in: 'shown', partly_in: 'shown', url: 'our-page' },
  },
  run(context) {
    const facts = context.fact(htmlFacts);
    if (facts === null)
      return skipped('Your message has no HTML.', 'Not checked: the message has no HTML part.');
    const { markers, truncated } = collectMarkers(context, facts);
    const unsupported = FEATURES.filter(([, , featureMarkers]) =>
      featureMarkers.some((marker) => markers.has(marker)),
    );
    return evaluateFeatures(unsupported, truncated);
  },
};

type Feature = (typeof FEATURES)[number];

const KNOWN_MARKERS = new Set(FEATURES.flatMap(([, , markers]) => markers));
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

/** The markers of the table that occur in the message. */
function collectMarkers({ message }: Context, facts: HtmlFacts) {
  const markers = new Set<string>();
  const add = (marker: string) => void (KNOWN_MARKERS.has(marker) && markers.add(marker));
  for (const name of Object.keys(facts.elements)) add(`<${name}>`);
  for (const name of Object.keys(facts.attributes)) add(name.slice(name.indexOf('[')));
  for (const { href } of facts.links) if (/^#./.test(href)) add('link #');
  const types = new Map(message.parts.map(({ contentId, type }) => [contentId, type]));
  for (const { src } of facts.images) add(`image ${imageFormat(src, types)}`);
  const isCssTruncated = collectCssMarkers(facts.styleSheet, facts.inlineStyles, add);
  return { markers, truncated: isCssTruncated || facts.truncated };
}

const FORMATS: Record<string, string> = {
  'svg+xml': 'svg',
  'x-icon': 'ico',
  'vnd.microsoft.icon': 'ico',
  tif: 'tiff',
};

/** The media type of the part that a `cid:` URL names, or the file extension of the URL. */
function imageFormat(src: string, types: Map<string | null, string>): string {
  if (/^data:[^,]*;base64/i.test(src)) return 'base64';
  const type = /^cid:/i.test(src) ? types.get(src.slice(4).trim()) : undefined;
  const extension = /\.([a-z0-9]{2,5})(?:[?#]|$)/i.exec(src.slice(0, 2000))?.[1];
  const format = type?.startsWith('image/') ? type.slice(6) : (extension?.toLowerCase() ?? '');
  return FORMATS[format] ?? format;
}

const clientsWithLevel = (levels: string, level: string): string[] =>
  CLIENTS.filter((_, i) => levels[i] === level);

function evaluateFeatures(unsupported: Feature[], truncated: boolean): Finding {
  const evidence = { data_of: CLIENT_SUPPORT_UPDATED, clients: CLIENTS };
  const truncationNote = truncated ? ' Your HTML or CSS is too long to check in full.' : '';
  if (unsupported.length === 0)
    return info(
      'All major email clients support the HTML and CSS in your message.',
      `This is based on test results from Can I email.${truncationNote}`,
      evidence,
    );
  const worst = unsupported.toSorted(([, , , a], [, , , b]) => weight(b) - weight(a));
  const [, title, , levels] = worst[0]!;
  const isSingle = unsupported.length === 1;
  return info(
    `Your message uses ${unsupported.length} HTML or CSS feature${isSingle ? '' : 's'} that not all major email clients support.`,
    `Check that your message still reads well without ${isSingle ? 'it' : 'them'}. ${isSingle ? 'Feature' : 'Least supported feature'}: ${title} (not supported in ${clientsWithLevel(levels, 'n').join(', ')}).${truncationNote}`,
    {
      ...evidence,
      features_used: unsupported.length,
      features: worst.slice(0, MAX_SHOWN).map(toEvidence),
    },
  );
}

/** Sorts by the number of clients without support, then by those with partial support. */
const weight = (levels: string): number =>
  clientsWithLevel(levels, 'n').length * 100 + clientsWithLevel(levels, 'a').length;

const toEvidence = ([slug, title, , levels]: Feature) => ({
  feature: title,
  missing_in: clientsWithLevel(levels, 'n'),
  partly_in: clientsWithLevel(levels, 'a'),
  url: `https://www.caniemail.com/features/${slug}/`,
});

// Markers of the CSS features that style sheets and `style` attributes use, named as in the table.

/** Maximum characters of all CSS, and of one selector or value. */
const MAX_CSS = 500_000;
const MAX_PIECE = 2000;

/** `property`, `property:word`, `word x`, `function()`, `unit x`, `@rule`, `:pseudo`, `selector x`, … */
type AddMarker = (marker: string) => void;

/** Returns whether the CSS exceeds the limit. */
export function collectCssMarkers(
  styleSheet: string,
  inlineStyles: string[],
  add: AddMarker,
): boolean {
  let remaining = MAX_CSS;
  for (const style of [styleSheet, ...inlineStyles]) {
    if (remaining <= 0) return true;
    readSheet(style.slice(0, remaining), style !== styleSheet, add);
    remaining -= style.length;
  }
  return remaining < 0;
}

/** Runs in linear time and builds no tree. `inRule`: the text contains only declarations. */
function readSheet(css: string, inRule: boolean, add: AddMarker): void {
  const open: ('at' | 'keyframes' | 'rule')[] = inRule ? ['rule'] : [];
  let rules = open.length;
  for (const { text, end } of pieces(withoutComments(css))) {
    const piece = text
      .slice(0, MAX_PIECE)
      .replace(/<!--|-->/g, '')
      .trim();
    if (end !== '{') {
      if (piece.startsWith('@')) addAtRule(piece, add);
      else addDeclaration(piece, add);
      if (end === '}' && open.pop() === 'rule') rules -= 1;
      continue;
    }
    if (piece.startsWith('@')) {
      addAtRule(piece, add);
      open.push(/^@[a-z-]*keyframes\b/i.test(piece) ? 'keyframes' : 'at');
      continue;
    }
    if (open.at(-1) !== 'keyframes') addSelector(piece, add);
    if (rules > 0) add('selector nested');
    open.push('rule');
    rules += 1;
  }
}

/** Splits at braces and semicolons outside of strings and, for semicolons, outside of parentheses. */
function* pieces(css: string): Generator<{ text: string; end: string }> {
  let start = 0;
  let parentheses = 0;
  let quote = '';
  for (let i = 0; i < css.length; i += 1) {
    const char = css[i]!;
    if (char === '\\') i += 1;
    else if (quote !== '') {
      if (char === quote || char === '\n') quote = '';
    } else if (char === '"' || char === "'") quote = char;
    else if (char === '(') parentheses += 1;
    else if (char === ')') parentheses = Math.max(0, parentheses - 1);
    else if (char === '{' || char === '}' || (char === ';' && parentheses === 0)) {
      yield { text: css.slice(start, i), end: char };
      start = i + 1;
      parentheses = 0;
    }
  }
  yield { text: css.slice(start), end: '' };
}

const withoutPrefix = (name: string): string => name.replace(/^-(?:webkit|moz|ms|o)-/, '');

function addAtRule(text: string, add: AddMarker): void {
  const piece = text.toLowerCase();
  const name = withoutPrefix(/^@([a-z-]{1,40})/.exec(piece)?.[1] ?? '');
  add(`@${name}`);
  if (name === 'media')
    for (const [, feature] of piece.matchAll(/\(\s*([a-z-]{2,40})/g))
      add(`@media(${withoutPrefix(feature!)})`);
}

function addDeclaration(text: string, add: AddMarker): void {
  const colon = text.indexOf(':');
  if (colon < 1 || colon > 100) return;
  const name = text.slice(0, colon).trim().toLowerCase();
  if (!/^[*_]?[a-z-][\w-]*$/.test(name)) return;
  const property = withoutPrefix(name.replace(/^[*_]/, ''));
  add(name.startsWith('--') ? '--*' : property);
  const value = text
    .slice(colon + 1)
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

function addSelector(text: string, add: AddMarker): void {
  const bare = text
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
