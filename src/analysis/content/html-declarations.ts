/** The declarations of a style that decide whether text is seen (CSS Syntax §5), read in linear time. */

export interface Declared {
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
export function splitOutside(style: string, at: string): string[] {
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
