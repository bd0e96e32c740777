/** What the `style` elements of a message say about an element, as far as it can be known. */

import { readRules } from './html-css-rules.ts';
import {
  type Declarations,
  mergeDeclarations,
  type ReadonlyDeclarations,
  readDeclarations,
} from './html-declarations.ts';
import {
  type Compound,
  isConditional,
  keyOf,
  keysOf,
  matches,
  type Named,
  readCompound,
  readSubject,
} from './html-selectors.ts';

/** The content of one `style` element, and whether it holds for every reader. */
export interface StyleElement {
  css: string;
  conditional: boolean;
}

export interface StyleSheet {
  /** What rules with simple selectors declare for every reader. */
  certain(element: Named): ReadonlyDeclarations;
  /** What rules may declare whose selectors have combinators or attributes: they are not matched. */
  possible(element: Named): ReadonlyDeclarations;
  /** What rules declare for some readers: in `@media`, on `:hover`, by a checkbox that is ticked. */
  conditional(element: Named): ReadonlyDeclarations;
}

/** Style sheets of honest mail have less than a tenth of these. */
const MAX_CSS = 500_000;
const MAX_SELECTORS = 20_000;
/** Rules for one key that need more than the key to match, and comparisons with them in all. */
const MAX_COMPOUNDS = 100;
const MAX_COMPARISONS = 3_000_000;

interface Entry {
  compound: Compound;
  /** The key alone decides. */
  single: boolean;
  declarations: Declarations;
}

type Index = Map<string, Entry[]>;

const NOTHING: ReadonlyDeclarations = new Map();

/** Reads broken CSS too; what is beyond the limits is left out, which hides nothing. */
export function readStyleSheet(elements: StyleElement[]): StyleSheet {
  const certain: Index = new Map();
  const possible: Index = new Map();
  const conditional: Index = new Map();
  let selectors = 0;
  let left = MAX_CSS;
  for (const { css, conditional: depends } of elements) {
    for (const { selectors: list, block, inside } of readRules(css.slice(0, left))) {
      const declarations: Declarations = new Map();
      readDeclarations(declarations, block, 0);
      for (const selector of declarations.size > 0 ? list : []) {
        if (selectors >= MAX_SELECTORS) break;
        selectors += 1;
        const compound = readCompound(selector);
        const always = !inside && !depends && !isConditional(selector);
        const index = !always ? conditional : compound ? certain : possible;
        add(index, compound ?? readSubject(selector), declarations, selectors);
      }
    }
    left -= Math.min(left, css.length);
  }
  let comparisons = 0;
  const within = (index: Index) => (element: Named) => {
    if (index.size === 0) return NOTHING;
    const found: Declarations = new Map();
    for (const key of keysOf(element))
      for (const { compound, single, declarations } of index.get(key) ?? []) {
        if (!single) comparisons += 1;
        if (single || (comparisons <= MAX_COMPARISONS && matches(compound, element)))
          mergeDeclarations(found, declarations);
      }
    return found;
  };
  return { certain: within(certain), possible: within(possible), conditional: within(conditional) };
}

function add(index: Index, compound: Compound, from: Declarations, order: number): void {
  const { tag, ids, classes } = compound;
  // By specificity, then by place (CSS Cascade §6).
  const specificity = ids.length * 10_000 + classes.length * 100 + (tag === '' ? 0 : 1);
  const rank = specificity * 1e6 + order;
  const declarations = new Map([...from].map(([name, declared]) => [name, { ...declared, rank }]));
  const key = keyOf(compound);
  const entries = index.get(key) ?? [];
  index.set(key, entries);
  const single = ids.length + classes.length + (tag === '' ? 0 : 1) <= 1;
  const first = entries[0];
  if (!single) {
    if (entries.length < MAX_COMPOUNDS) entries.push({ compound, single, declarations });
  } else if (first?.single) mergeDeclarations(first.declarations, declarations);
  else entries.unshift({ compound, single, declarations });
}
