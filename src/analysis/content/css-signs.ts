/** Signs of what style sheets and `style` attributes use, as the table of what mail programs lack names them. */

import { withoutComments } from './html-declarations.ts';

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
