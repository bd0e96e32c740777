/** The rules of a style sheet, as far as to tell selectors from declarations (CSS Syntax §5). */

// Why not a library: postcss with its lenient parser copies the rest of a block for each colon in it
// that follows no semicolon, so that 400 kB of `a:b a:b …` need more than half a gigabyte.

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

// The declarations of a style that decide whether text is seen (CSS Syntax §5), read in linear time.

interface Declared {
  /** Lower case, without `!important`, at most 300 characters. */
  value: string;
  important: boolean;
  /** The higher wins among equally important ones; that of a `style` attribute is Infinity. */
  rank: number;
}

export type Declarations = Map<string, Declared>;
export type ReadonlyDeclarations = ReadonlyMap<string, Declared>;

export const INLINE = Number.POSITIVE_INFINITY;

const RELEVANT = new Set([
  '-webkit-background-clip',
  '-webkit-text-fill-color',
  'background',
  'background-clip',
  'background-color',
  'background-image',
  'clip',
  'clip-path',
  'color',
  'display',
  'filter',
  'font',
  'font-size',
  'height',
  'left',
  'margin-left',
  'margin-top',
  'max-height',
  'max-width',
  'mix-blend-mode',
  'opacity',
  'overflow',
  'overflow-x',
  'overflow-y',
  'padding',
  'padding-bottom',
  'padding-left',
  'padding-right',
  'padding-top',
  'position',
  'right',
  'text-indent',
  'top',
  'transform',
  'visibility',
  'width',
]);

/** More than this of one `style` attribute is not looked at. */
const MAX_STYLE = 50_000;

/** What a `style` attribute declares of the properties that matter here. */
export function readStyleAttribute(style: string): ReadonlyDeclarations {
  const found: Declarations = new Map();
  readDeclarations(found, withoutComments(style.slice(0, MAX_STYLE)), INLINE);
  return found;
}

/** Adds what a block without comments declares, where it matters and nothing stronger is there. */
export function readDeclarations(to: Declarations, block: string, rank: number): void {
  for (const declaration of splitOutside(block, ';')) {
    const colon = declaration.indexOf(':');
    if (colon >= 0) declare(to, declaration.slice(0, colon), declaration.slice(colon + 1), rank);
  }
}

function declare(to: Declarations, name: string, text: string, rank: number): void {
  // Longer than any, so that much white space costs little.
  const property = name.slice(-100).trim().toLowerCase();
  if (!RELEVANT.has(property)) return;
  const whole = text.slice(0, 300).trim().toLowerCase();
  const important = /!\s*important$/.test(whole);
  const value = important ? whole.slice(0, whole.lastIndexOf('!')).trim() : whole;
  if (value !== '') put(to, property, { value, important, rank });
}

/** All of `from` into `to`, each where it is the stronger one. */
export function mergeDeclarations(to: Declarations, from: ReadonlyDeclarations): void {
  for (const [property, declared] of from) put(to, property, declared);
}

function put(to: Declarations, property: string, declared: Declared): void {
  const there = to.get(property);
  if (!there || isStronger(declared, there)) to.set(property, declared);
}

/** Of equals the later one wins, which is `a`. */
const isStronger = (a: Declared, b: Declared): boolean =>
  a.important === b.important ? a.rank >= b.rank : a.important;

/** Cut at a sign outside of quotes and brackets: `url(data:image/png;base64,…)` is one value. */
function splitOutside(style: string, at: string): string[] {
  const found: string[] = [];
  let start = 0;
  let depth = 0;
  let quote = '';
  for (let i = 0; i < style.length; i += 1) {
    const sign = style[i]!;
    if (sign === '\\') i += 1;
    else if (quote !== '') quote = sign === quote ? '' : quote;
    else if (sign === '"' || sign === "'") quote = sign;
    else if (sign === '(') depth += 1;
    else if (sign === ')') depth = Math.max(0, depth - 1);
    else if (sign === at && depth === 0) {
      found.push(style.slice(start, i));
      start = i + 1;
    }
  }
  found.push(style.slice(start));
  return found;
}

/** An unclosed comment reaches to the end. */
export function withoutComments(css: string): string {
  let open = css.indexOf('/*');
  if (open < 0) return css;
  let rest = '';
  let from = 0;
  while (open >= 0) {
    rest += `${css.slice(from, open)} `;
    const close = css.indexOf('*/', open + 2);
    if (close < 0) return rest;
    from = close + 2;
    open = css.indexOf('/*', from);
  }
  return rest + css.slice(from);
}
