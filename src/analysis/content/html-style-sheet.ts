/** What the `style` elements of a message say about an element, as far as it can be known. */

import { readRules } from './html-css-rules.ts';
import {
  type Declarations,
  mergeDeclarations,
  type ReadonlyDeclarations,
  readDeclarations,
} from './html-declarations.ts';
import { BACKGROUNDS } from './html-paint.ts';
import {
  type Compound,
  isConditional,
  isForDarkMode,
  keyOf,
  keysOf,
  matches,
  type Named,
  namesOf,
  readCompound,
  readSubject,
} from './html-selectors.ts';
import type { Attributes } from './html-tokens.ts';

/** The content of one `style` element, and whether it holds for every reader. */
export interface StyleElement {
  css: string;
  conditional: boolean;
}

export interface Styles {
  /** What rules with simple selectors declare for every reader. */
  certain: ReadonlyDeclarations;
  /** What rules may declare whose selectors have combinators or attributes: they are not matched. */
  possible: ReadonlyDeclarations;
  /** What rules declare for some readers: in `@media`, on `:hover`, by a checkbox that is ticked. */
  conditional: ReadonlyDeclarations;
}

export interface StyleSheet {
  /** The same object for elements of the same names, mostly. */
  of(tag: string, attributes: Attributes): Styles;
  /** Whether all rules are known. */
  complete: boolean;
  /** The work went beyond what is done for one message: what was told last is not all. */
  isSpent(): boolean;
}

/** Style sheets of honest mail have less than a tenth of these. */
const MAX_CSS = 500_000;
const MAX_SELECTORS = 20_000;
const MAX_DECLARATIONS = 200_000;
/** Rules for one key that need more than the key to match. */
const MAX_COMPOUNDS = 100;
/** Names compared and declarations merged, for all elements together. */
const MAX_WORK = 2_000_000;
/** Elements by their names whose styles are remembered, and characters of these names. */
const MAX_REMEMBERED = 5000;
const MAX_REMEMBERED_LENGTH = 500;

interface Entry {
  compound: Compound;
  /** The key alone decides. */
  single: boolean;
  declarations: Declarations;
}

type Index = Map<string, Entry[]>;

interface Indexes {
  certain: Index;
  possible: Index;
  conditional: Index;
}

const NOTHING: ReadonlyDeclarations = new Map();
const UNSTYLED: Styles = { certain: NOTHING, possible: NOTHING, conditional: NOTHING };

/** Reads broken CSS too; what is beyond the limits is left out, which hides nothing. */
export function readStyleSheet(elements: StyleElement[]): StyleSheet {
  const { indexes, complete } = indexRules(elements);
  const { certain, possible, conditional } = indexes;
  const isEmpty = certain.size + possible.size + conditional.size === 0;
  const known = new Map<string, Styles>();
  let work = MAX_WORK;
  const within = (index: Index, element: Named, keys: string[]) => {
    const found: Declarations = new Map();
    for (const key of index.size === 0 ? [] : keys)
      for (const { compound, single, declarations } of index.get(key) ?? []) {
        work -= single ? 1 : 1 + compound.ids.length + compound.classes.length;
        if (work < 0) return NOTHING;
        if (!single && !matches(compound, element)) continue;
        work -= declarations.size;
        mergeDeclarations(found, declarations);
      }
    return found;
  };
  const find = (element: Named): Styles => {
    const keys = keysOf(element);
    work -= keys.length;
    return {
      certain: within(certain, element, keys),
      possible: within(possible, element, keys),
      conditional: within(conditional, element, keys),
    };
  };
  return {
    of(tag, attributes) {
      if (isEmpty) return UNSTYLED;
      const id = attributes.get('id') ?? '';
      const key = `${tag} ${id.length} ${id} ${attributes.get('class') ?? ''}`;
      const there = known.get(key);
      if (there) return there;
      const styles = find(namesOf(tag, attributes));
      if (known.size < MAX_REMEMBERED && key.length <= MAX_REMEMBERED_LENGTH)
        known.set(key, styles);
      return styles;
    },
    complete,
    isSpent: () => work < 0,
  };
}

function indexRules(elements: StyleElement[]): { indexes: Indexes; complete: boolean } {
  const indexes: Indexes = { certain: new Map(), possible: new Map(), conditional: new Map() };
  let selectors = 0;
  let declared = 0;
  let complete = true;
  let left = MAX_CSS;
  for (const { css, conditional: depends } of elements) {
    for (const rule of readRules(css.slice(0, left))) {
      const all: Declarations = new Map();
      readDeclarations(all, rule.block, 0);
      for (const selector of all.size > 0 ? rule.selectors : []) {
        const isDark = rule.dark || isForDarkMode(selector);
        const declarations = isDark ? withoutBackgrounds(all) : all;
        selectors += 1;
        declared += declarations.size;
        if (selectors > MAX_SELECTORS || declared > MAX_DECLARATIONS)
          return { indexes, complete: false };
        const compound = readCompound(selector);
        const always = !rule.inside && !depends && !isConditional(selector);
        const kind = !always ? 'conditional' : compound ? 'certain' : 'possible';
        const about = compound ?? readSubject(selector);
        if (!add(indexes[kind], about, declarations, selectors)) complete = false;
      }
    }
    if (css.length > left) return { indexes, complete: false };
    left -= css.length;
  }
  return { indexes, complete };
}

/** What is behind a text in dark mode says nothing of how it is seen in light mode. */
const withoutBackgrounds = (all: Declarations): Declarations =>
  new Map([...all].filter(([property]) => !BACKGROUNDS.includes(property)));

/** False where there is no more space. */
function add(index: Index, compound: Compound, from: Declarations, order: number): boolean {
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
    if (entries.length >= MAX_COMPOUNDS) return false;
    entries.push({ compound, single, declarations });
  } else if (first?.single) mergeDeclarations(first.declarations, declarations);
  else entries.unshift({ compound, single, declarations });
  return true;
}
