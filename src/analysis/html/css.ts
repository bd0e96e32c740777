/** Splits style sheets into selectors and declarations (CSS Syntax §5). */

// No library: the lenient parser of postcss copies the rest of a block for each colon without a semicolon
// before it. 400 kB of `a:b a:b …` then take more than half a gigabyte.

interface CssRule {
  selectors: string[];
  /** The text between its braces, without nested rules. */
  block: string;
  /** It is inside an at-rule such as `@media`, so it does not apply to all readers. */
  inAtRule: boolean;
  /** One of those at-rules is about dark mode. */
  inDarkMode: boolean;
}

const GROUP_RULE = /^@(?:media|supports|layer|container|document|-moz-document)\b/i;
const DARK_MODE = /prefers-color-scheme\s{0,9}:\s{0,9}dark/i;
const MAX_SELECTOR_LENGTH = 10_000;

/** Yields all rules in order, and broken ones as email clients read them. Takes linear time. */
export function* readRules(sheet: string): Generator<CssRule> {
  // Old messages hide their styles from clients without CSS support: `<!-- … -->`.
  const css = withoutComments(sheet).replaceAll('<!--', '').replaceAll('-->', '');
  // The number of open at-rules, and the depth of the outermost one about dark mode.
  let openGroups = 0;
  let darkDepth = Number.POSITIVE_INFINITY;
  let start = 0;
  for (let i = indexOfAny(css, 0, '{};'); i < css.length; i = indexOfAny(css, start, '{};')) {
    const prelude = css.slice(start, i).trim();
    start = i + 1;
    if (css[i] === '}') openGroups = Math.max(0, openGroups - 1);
    if (openGroups < darkDepth) darkDepth = Number.POSITIVE_INFINITY;
    if (css[i] !== '{') continue;
    if (GROUP_RULE.test(prelude)) {
      openGroups += 1;
      if (DARK_MODE.test(prelude)) darkDepth = Math.min(darkDepth, openGroups);
      continue;
    }
    const { end, block } = readBlock(css, start);
    start = end;
    if (!prelude.startsWith('@'))
      yield {
        selectors: splitOutside(prelude.slice(0, MAX_SELECTOR_LENGTH), ','),
        block,
        inAtRule: openGroups > 0,
        inDarkMode: openGroups >= darkDepth,
      };
  }
}

/** Reads a block from after its opening brace; `end` is after the closing one. */
function readBlock(css: string, start: number): { end: number; block: string } {
  let block = '';
  let from = start;
  let depth = 0;
  for (let i = indexOfAny(css, start, '{}'); i < css.length; i = indexOfAny(css, i + 1, '{}')) {
    if (css[i] === '{') {
      // A nested rule: its selector stays in the block, but is not read as a declaration.
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

/**
 * The index of the next of these characters outside strings; the length if there is none. A string
 * ends at the end of its line.
 */
function indexOfAny(css: string, start: number, characters: string): number {
  let quote = '';
  for (let i = start; i < css.length; i += 1) {
    const character = css[i]!;
    if (character === '\\') i += 1;
    else if (quote !== '') {
      if (character === quote || character === '\n') quote = '';
    } else if (character === '"' || character === "'") quote = character;
    else if (characters.includes(character)) return i;
  }
  return css.length;
}

// The declarations that decide whether text is visible and readable (CSS Syntax §5), read in linear time.

interface Declaration {
  /** Lower case, without `!important`, at most 300 characters. */
  value: string;
  important: boolean;
  /** Among equally important declarations, the higher rank wins; Infinity for a `style` attribute. */
  rank: number;
}

export type Declarations = Map<string, Declaration>;
export type ReadonlyDeclarations = ReadonlyMap<string, Declaration>;

export const INLINE = Number.POSITIVE_INFINITY;

const RELEVANT_PROPERTIES = new Set([
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
  'font-weight',
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

/** Characters of a `style` attribute that are read. */
const MAX_STYLE_LENGTH = 50_000;

/** The declarations of a `style` attribute, of the properties that matter here. */
export function readStyleAttribute(style: string): ReadonlyDeclarations {
  const declarations: Declarations = new Map();
  readDeclarations(declarations, withoutComments(style.slice(0, MAX_STYLE_LENGTH)), INLINE);
  return declarations;
}

/** Adds the declarations of a block without comments, unless `target` has a stronger one. */
export function readDeclarations(target: Declarations, block: string, rank: number): void {
  for (const declaration of splitOutside(block, ';')) {
    const colon = declaration.indexOf(':');
    if (colon >= 0)
      addDeclaration(target, declaration.slice(0, colon), declaration.slice(colon + 1), rank);
  }
}

function addDeclaration(target: Declarations, name: string, text: string, rank: number): void {
  // Longer than any property name; limits the cost of white space.
  const property = name.slice(-100).trim().toLowerCase();
  if (!RELEVANT_PROPERTIES.has(property)) return;
  const trimmed = text.slice(0, 300).trim().toLowerCase();
  const important = /!\s*important$/.test(trimmed);
  const value = important ? trimmed.slice(0, trimmed.lastIndexOf('!')).trim() : trimmed;
  if (value !== '') setIfStronger(target, property, { value, important, rank });
}

/** Adds the declarations of `from` to `target`, unless `target` has a stronger one. */
export function mergeDeclarations(target: Declarations, from: ReadonlyDeclarations): void {
  for (const [property, declaration] of from) setIfStronger(target, property, declaration);
}

function setIfStronger(target: Declarations, property: string, declaration: Declaration): void {
  const existing = target.get(property);
  if (!existing || isStronger(declaration, existing)) target.set(property, declaration);
}

/** Among equals, the later declaration `a` wins. */
const isStronger = (a: Declaration, b: Declaration): boolean =>
  a.important === b.important ? a.rank >= b.rank : a.important;

/** Splits at separators outside quotes and brackets: `url(data:image/png;base64,…)` is one value. */
function splitOutside(text: string, separator: string): string[] {
  const pieces: string[] = [];
  let start = 0;
  let depth = 0;
  let quote = '';
  for (let i = 0; i < text.length; i += 1) {
    const character = text[i]!;
    if (character === '\\') i += 1;
    else if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === '"' || character === "'") quote = character;
    else if (character === '(') depth += 1;
    else if (character === ')') depth = Math.max(0, depth - 1);
    else if (character === separator && depth === 0) {
      pieces.push(text.slice(start, i));
      start = i + 1;
    }
  }
  pieces.push(text.slice(start));
  return pieces;
}

/** Replaces each comment by a space. */
const withoutComments = (css: string): string => replaceComments(css, () => ' ');

/** Replaces comments by as many spaces, so that positions stay the same. */
export const blankComments = (css: string): string =>
  replaceComments(css, (length) => ' '.repeat(length));

/** An unclosed comment extends to the end. */
function replaceComments(css: string, spaces: (length: number) => string): string {
  let open = css.indexOf('/*');
  if (open < 0) return css;
  let kept = '';
  let from = 0;
  while (open >= 0) {
    const close = css.indexOf('*/', open + 2);
    const end = close < 0 ? css.length : close + 2;
    kept += css.slice(from, open) + spaces(end - open);
    from = end;
    open = css.indexOf('/*', from);
  }
  return kept + css.slice(from);
}
