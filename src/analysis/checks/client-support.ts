/** `client_support`: which HTML and CSS of the message large mail programs lack. */

import { type Check, type Context, type Finding, info, skipped } from '../check.ts';
import { CLIENT_SUPPORT_UPDATED, CLIENTS, FEATURES } from '../html/client-support.generated.ts';
import { withoutComments } from '../html/css.ts';
import { type HtmlFacts, htmlFacts } from '../html/facts.ts';

const FEATURES_SHOWN = 20;

/**
 * Tells no points: that Outlook has no rounded corners harms nobody. Features that all the programs
 * have, or have in part, are not in the table.
 */
export const clientSupport: Check = {
  id: 'client_support',
  category: 'content',
  points: 0,
  label: 'Support in mail programs',
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
      return skipped('There is no HTML to look at.', 'Your message is plain text.');
    const { signs, truncated } = signsOf(context, facts);
    const lacking = FEATURES.filter(([, , wanted]) => wanted.some((sign) => signs.has(sign)));
    return describe(lacking, truncated);
  },
};

type Feature = (typeof FEATURES)[number];

const KNOWN_SIGNS = new Set(FEATURES.flatMap(([, , signs]) => signs));

/** The signs of the table that are in the message. */
function signsOf({ message }: Context, facts: HtmlFacts) {
  const signs = new Set<string>();
  const add = (sign: string) => void (KNOWN_SIGNS.has(sign) && signs.add(sign));
  for (const name of Object.keys(facts.elements)) add(`<${name}>`);
  for (const name of Object.keys(facts.attributes)) add(name.slice(name.indexOf('[')));
  for (const { href } of facts.links) if (/^#./.test(href)) add('link #');
  const types = new Map(message.parts.map(({ contentId, type }) => [contentId, type]));
  for (const { src } of facts.images) add(`image ${imageFormat(src, types)}`);
  const more = cssSigns(facts.styleSheet, facts.inlineStyles, add);
  return { signs, truncated: more || facts.truncated };
}

const FORMATS: Record<string, string> = {
  'svg+xml': 'svg',
  'x-icon': 'ico',
  'vnd.microsoft.icon': 'ico',
  tif: 'tiff',
};

/** By the type of the part that `cid:` names, or by the ending of the address. */
function imageFormat(src: string, types: Map<string | null, string>): string {
  if (/^data:[^,]*;base64/i.test(src)) return 'base64';
  const type = /^cid:/i.test(src) ? types.get(src.slice(4).trim()) : undefined;
  const ending = /\.([a-z0-9]{2,5})(?:[?#]|$)/i.exec(src.slice(0, 2000))?.[1];
  const format = type?.startsWith('image/') ? type.slice(6) : (ending?.toLowerCase() ?? '');
  return FORMATS[format] ?? format;
}

const withLevel = (levels: string, wanted: string): string[] =>
  CLIENTS.filter((_, i) => levels[i] === wanted);

function describe(lacking: Feature[], truncated: boolean): Finding {
  const evidence = { data_of: CLIENT_SUPPORT_UPDATED, clients: CLIENTS };
  const rest = truncated ? ' There is more HTML or CSS than is looked at.' : '';
  if (lacking.length === 0)
    return info(
      'The large mail programs have all the HTML and CSS that your message uses.',
      `As far as the tests of Can I email know them.${rest}`,
      evidence,
    );
  const worst = lacking.toSorted(([, , , a], [, , , b]) => weight(b) - weight(a));
  const [, title, , levels] = worst[0]!;
  const one = lacking.length === 1;
  return info(
    `Your message uses ${lacking.length} HTML or CSS feature${one ? '' : 's'} that not all large mail programs have.`,
    `Where one is missing, your message is shown without it, so look whether it reads well all the same. ${one ? 'It is' : 'Missing in most of them:'} ${title} (not in ${withLevel(levels, 'n').join(', ')}).${rest}`,
    {
      ...evidence,
      features_used: lacking.length,
      features: worst.slice(0, FEATURES_SHOWN).map(toEvidence),
    },
  );
}

/** By how many programs lack it, then by how many have it in part. */
const weight = (levels: string): number =>
  withLevel(levels, 'n').length * 100 + withLevel(levels, 'a').length;

const toEvidence = ([slug, title, , levels]: Feature) => ({
  feature: title,
  missing_in: withLevel(levels, 'n'),
  partly_in: withLevel(levels, 'a'),
  url: `https://www.caniemail.com/features/${slug}/`,
});

// Signs of what style sheets and `style` attributes use, as the table of what mail programs lack names them.

/** As much CSS as is looked at, in characters; and of one selector or value. */
const MAX_CSS = 500_000;
const MAX_PIECE = 2000;

/** `property`, `property:word`, `word x`, `function()`, `unit x`, `@rule`, `:pseudo`, `selector x`, … */
type AddSign = (sign: string) => void;

/** Whether there was more than is looked at. */
export function cssSigns(styleSheet: string, inlineStyles: string[], add: AddSign): boolean {
  let left = MAX_CSS;
  for (const style of [styleSheet, ...inlineStyles]) {
    if (left <= 0) return true;
    readSheet(style.slice(0, left), style !== styleSheet, add);
    left -= style.length;
  }
  return left < 0;
}

/** Linear, and without a tree: how deep it is nested costs nothing. `inRule`: declarations alone. */
function readSheet(css: string, inRule: boolean, add: AddSign): void {
  const open: ('at' | 'keyframes' | 'rule')[] = inRule ? ['rule'] : [];
  let rules = open.length;
  for (const { text, end } of pieces(withoutComments(css))) {
    const piece = text
      .slice(0, MAX_PIECE)
      .replace(/<!--|-->/g, '')
      .trim();
    if (end !== '{') {
      if (piece.startsWith('@')) atRule(piece, add);
      else declaration(piece, add);
      if (end === '}' && open.pop() === 'rule') rules -= 1;
      continue;
    }
    if (piece.startsWith('@')) {
      atRule(piece, add);
      open.push(/^@[a-z-]*keyframes\b/i.test(piece) ? 'keyframes' : 'at');
      continue;
    }
    if (open.at(-1) !== 'keyframes') selector(piece, add);
    if (rules > 0) add('selector nested');
    open.push('rule');
    rules += 1;
  }
}

/** Cut at braces and semicolons that are in no string and, for semicolons, in no brackets. */
function* pieces(css: string): Generator<{ text: string; end: string }> {
  let start = 0;
  let brackets = 0;
  let quote = '';
  for (let i = 0; i < css.length; i += 1) {
    const sign = css[i]!;
    if (sign === '\\') i += 1;
    else if (quote !== '') {
      if (sign === quote || sign === '\n') quote = '';
    } else if (sign === '"' || sign === "'") quote = sign;
    else if (sign === '(') brackets += 1;
    else if (sign === ')') brackets = Math.max(0, brackets - 1);
    else if (sign === '{' || sign === '}' || (sign === ';' && brackets === 0)) {
      yield { text: css.slice(start, i), end: sign };
      start = i + 1;
      brackets = 0;
    }
  }
  yield { text: css.slice(start), end: '' };
}

const withoutPrefix = (name: string): string => name.replace(/^-(?:webkit|moz|ms|o)-/, '');

function atRule(text: string, add: AddSign): void {
  const piece = text.toLowerCase();
  const name = withoutPrefix(/^@([a-z-]{1,40})/.exec(piece)?.[1] ?? '');
  add(`@${name}`);
  if (name === 'media')
    for (const [, feature] of piece.matchAll(/\(\s*([a-z-]{2,40})/g))
      add(`@media(${withoutPrefix(feature!)})`);
}

function declaration(text: string, add: AddSign): void {
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
  for (const [, called] of value.matchAll(/([a-z][a-z-]{0,30}|-[a-z-]{2,30})\(/g))
    add(`${withoutPrefix(called!)}()`);
  for (const [, unit] of value.matchAll(/(?<![\w#.-])(?:\d+(?:\.\d+)?|\.\d+)([a-z]{1,5}|%)/g))
    add(`unit ${unit}`);
  for (const [word] of value.matchAll(/[a-z][a-z-]{1,30}/g)) {
    add(`word ${word}`);
    add(`${property}:${word}`);
  }
}

/** Pseudo-elements that may be written with one colon. */
const OLD_ELEMENTS = new Set(['before', 'after', 'first-line', 'first-letter']);

function selector(text: string, add: AddSign): void {
  const bare = text
    .toLowerCase()
    .replace(/"[^"]*"|'[^']*'/g, '')
    .replace(/\[[^\]]*\]?/g, '[]');
  for (const [, colons, name] of bare.matchAll(/(::?)([a-z-]{2,40})/g))
    add(`${OLD_ELEMENTS.has(name!) ? '::' : colons}${name}`);
  // What is in brackets is not the selector of an element: `:nth-child(2n+1)`.
  const outer = bare.replace(/\([^()]*\)?/g, '');
  for (const sign of ['[]', '>', '+', '~', '*']) if (outer.includes(sign)) add(`selector ${sign}`);
  if (/\.[\w-]{1,100}\.[\w-]/.test(outer)) add('selector .a.b');
}
