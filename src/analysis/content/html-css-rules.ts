/** The rules of a style sheet, as far as to tell selectors from declarations (CSS Syntax §5). */

// Why not a library: postcss with its lenient parser copies the rest of a block for each colon in it
// that follows no semicolon, so that 400 kB of `a:b a:b …` need more than half a gigabyte.

import { splitOutside, withoutComments } from './html-declarations.ts';

interface CssRule {
  selectors: string[];
  /** What is between its braces, without rules nested there. */
  block: string;
  /** It is inside of an at-rule such as `@media`: it does not hold for everybody. */
  inside: boolean;
  /** One of those at-rules is about dark mode. */
  dark: boolean;
}

const GROUP = /^@(?:media|supports|layer|container|document|-moz-document)\b/i;
const DARK = /prefers-color-scheme\s{0,9}:\s{0,9}dark/i;
const MAX_SELECTOR = 10_000;

/** All rules in their order, broken ones as mail programs read them; in linear time. */
export function* readRules(sheet: string): Generator<CssRule> {
  // Old mail hides its styles from programs that know none: `<!-- … -->`.
  const css = withoutComments(sheet).replaceAll('<!--', '').replaceAll('-->', '');
  // How many groups are open, and how many of them with the outermost one about dark mode.
  let groups = 0;
  let darkFrom = Number.POSITIVE_INFINITY;
  let start = 0;
  for (let i = nextSign(css, 0, '{};'); i < css.length; i = nextSign(css, start, '{};')) {
    const prelude = css.slice(start, i).trim();
    start = i + 1;
    if (css[i] === '}') groups = Math.max(0, groups - 1);
    if (groups < darkFrom) darkFrom = Number.POSITIVE_INFINITY;
    if (css[i] !== '{') continue;
    if (GROUP.test(prelude)) {
      groups += 1;
      if (DARK.test(prelude)) darkFrom = Math.min(darkFrom, groups);
      continue;
    }
    const { end, block } = readBlock(css, start);
    start = end;
    if (!prelude.startsWith('@'))
      yield {
        selectors: splitOutside(prelude.slice(0, MAX_SELECTOR), ','),
        block,
        inside: groups > 0,
        dark: groups >= darkFrom,
      };
  }
}

/** From after its brace to after the one that closes it. */
function readBlock(css: string, start: number): { end: number; block: string } {
  let block = '';
  let from = start;
  let depth = 0;
  for (let i = nextSign(css, start, '{}'); i < css.length; i = nextSign(css, i + 1, '{}')) {
    if (css[i] === '{') {
      // A nested rule: its selector stays, which is no declaration.
      if (depth === 0) block += `${css.slice(from, i)};`;
      depth += 1;
    } else if (depth === 0) return { end: i + 1, block: block + css.slice(from, i) };
    else {
      depth -= 1;
      from = i + 1;
    }
  }
  return { end: css.length, block: depth === 0 ? block + css.slice(from) : block };
}

/** The next of these signs outside of strings; the length where there is none. A string ends with its line. */
function nextSign(css: string, start: number, signs: string): number {
  let quote = '';
  for (let i = start; i < css.length; i += 1) {
    const sign = css[i]!;
    if (sign === '\\') i += 1;
    else if (quote !== '') {
      if (sign === quote || sign === '\n') quote = '';
    } else if (sign === '"' || sign === "'") quote = sign;
    else if (signs.includes(sign)) return i;
  }
  return css.length;
}
