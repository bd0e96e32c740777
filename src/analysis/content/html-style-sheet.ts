/** What the `style` elements of a message say about an element, as far as it can be known. */

import type { AtRule, ChildNode, Rule } from 'postcss';
import safeParse from 'postcss-safe-parser';
import { type Declarations, declare, mergeDeclarations } from './html-declarations.ts';
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
  certain(element: Named): Declarations;
  /** What rules may declare whose selectors have combinators or attributes: they are not matched. */
  possible(element: Named): Declarations;
  /** What rules declare for some readers: in `@media`, on `:hover`, by a checkbox that is ticked. */
  conditional(element: Named): Declarations;
}

/** Style sheets of honest mail have less than a tenth of these. */
const MAX_CSS = 500_000;
const MAX_SELECTORS = 20_000;
const MAX_DEPTH = 10;
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

/** Reads broken CSS too; what is beyond the limits is left out, which hides nothing. */
export function readStyleSheet(elements: StyleElement[]): StyleSheet {
  const certain: Index = new Map();
  const possible: Index = new Map();
  const conditional: Index = new Map();
  let selectors = 0;
  let left = MAX_CSS;
  const take = (rule: Rule, always: boolean) => {
    const declarations = relevantOf(rule);
    if (declarations.size === 0) return;
    for (const selector of rule.selectors) {
      selectors += 1;
      if (selectors > MAX_SELECTORS) return;
      const compound = readCompound(selector);
      const depends = !always || isConditional(selector);
      const index = depends ? conditional : compound ? certain : possible;
      add(index, compound ?? readSubject(selector), declarations, selectors);
    }
  };
  for (const { css, conditional: depends } of elements) {
    visitRules(css.slice(0, left), (rule, inside) => take(rule, !inside && !depends));
    left -= Math.min(left, css.length);
  }
  let comparisons = 0;
  const within = (index: Index) => (element: Named) => {
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

function relevantOf(rule: Rule): Declarations {
  const found: Declarations = new Map();
  for (const node of rule.nodes)
    if (node.type === 'decl') {
      const value = node.important ? `${node.value.slice(0, 280)} !important` : node.value;
      declare(found, node.prop, value, 0);
    }
  return found;
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

/** All rules, with whether they are inside of an at-rule such as `@media`. */
function visitRules(css: string, visit: (rule: Rule, inside: boolean) => void): void {
  // Old mail hides its styles from programs that know none: `<!-- … -->`.
  const pending: { nodes: ChildNode[]; depth: number }[] = [
    { nodes: parse(css.replaceAll('<!--', '').replaceAll('-->', '')), depth: 0 },
  ];
  for (let group = pending.shift(); group; group = pending.shift())
    for (const node of group.nodes) {
      if (node.type === 'rule') visit(node, group.depth > 0);
      else if (node.type === 'atrule' && group.depth < MAX_DEPTH && holdsRules(node))
        pending.push({ nodes: node.nodes ?? [], depth: group.depth + 1 });
    }
}

const holdsRules = (node: AtRule): boolean =>
  /^(?:media|supports|layer|container|document|-moz-document)$/i.test(node.name);

function parse(css: string): ChildNode[] {
  try {
    return safeParse(css).nodes as ChildNode[];
  } catch {
    // What even the lenient parser refuses, mail programs do not apply either.
    return [];
  }
}
