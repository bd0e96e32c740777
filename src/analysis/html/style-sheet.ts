/** What the `style` elements of a message say about an element, as far as it can be known. */

import {
  type Declarations,
  mergeDeclarations,
  type ReadonlyDeclarations,
  readDeclarations,
  readRules,
} from './css.ts';
import { type Attributes, tokenizeHtml } from './tokens.ts';
import { BACKGROUNDS } from './visibility.ts';

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

// Finds the `style` elements of HTML before all else is read: they may come after what they style.

const MAX_ELEMENTS = 1000;

/** In their order; those in conditional comments are for Outlook alone and not among them. */
export function styleElements(html: string): StyleElement[] {
  const found: StyleElement[] = [];
  if (!/<style/i.test(html)) return found;
  let pieces: string[] | null = null;
  let foreign = 0;
  tokenizeHtml(html, {
    open(name, attributes, selfClosing) {
      if ((name === 'svg' || name === 'math') && !selfClosing) foreign += 1;
      if (name !== 'style' || found.length >= MAX_ELEMENTS) return;
      pieces = [];
      const media = attributes.get('media') ?? '';
      found.push({ css: '', conditional: !/^\s*(?:all|screen)?\s*$/i.test(media) });
    },
    close(name) {
      if (name === 'svg' || name === 'math') foreign = Math.max(0, foreign - 1);
      if (pieces && name === 'style') found.at(-1)!.css = pieces.join('');
      pieces = null;
    },
    text: (piece) => pieces?.push(piece),
    broken() {},
    isForeign: () => foreign > 0,
  });
  return found;
}

// CSS selectors as far as they can be matched without a tree: one element alone, no combinators.

interface Compound {
  /** `''` and `*` are any. */
  tag: string;
  ids: string[];
  classes: string[];
}

/** What selectors see of an element; names in lower case, as mail without a DOCTYPE matches them. */
interface Named {
  tag: string;
  id: string;
  classes: ReadonlySet<string>;
}

const SIMPLE = /^(?:[a-z][\w-]*|\*)?(?:[.#][\w-]+)*$/;
const MAX_CLASSES = 50;
/** Of one selector; more are not matched. */
const MAX_NAMES = 10;

/** The selector where it is nothing but a tag, classes and ids; null for all others. */
function readCompound(selector: string): Compound | null {
  const text = selector.trim().toLowerCase();
  if (text === '' || text.length > 500 || !SIMPLE.test(text)) return null;
  return text.split(/[.#]/).length > MAX_NAMES ? null : namesIn(text);
}

/**
 * Of a selector that cannot be matched alone, the element that it is about, perhaps with less names
 * than it has: what is after its last combinator, without pseudo-classes; `[class~="x"]`, which old responsive mail uses, is `.x`.
 */
function readSubject(selector: string): Compound {
  const text = selector.slice(-500).trim().toLowerCase();
  const plain = text
    .replace(
      /\[\s*(class|id)\s*[~*^|$]?=\s*["']?([\w-]+)(?![\w-])[^[\]]{0,200}\]/g,
      (_, kind, name) => (kind === 'id' ? `#${name}` : `.${name}`),
    )
    .replace(/\[[^[\]]{0,200}\]|\([^()]{0,200}\)/g, '')
    .replace(/::?[\w-]+/g, '');
  return namesIn(plain.split(/[\s>+~]+/).findLast((part) => part !== '') ?? '');
}

/** Dark mode in Outlook, which puts an attribute on what it has recoloured. */
const isForDarkMode = (selector: string): boolean => selector.includes('[data-ogs');

/** Whether it depends on what the reader does, or on the program: `:hover`, `[data-ogsc]`. */
const isConditional = (selector: string): boolean =>
  selector.includes(':') || isForDarkMode(selector) || selector.includes('[owa');

function namesOf(tag: string, attributes: Attributes): Named {
  const classes = attributes.get('class') ?? '';
  return {
    tag,
    id: (attributes.get('id') ?? '').slice(0, 500).trim().toLowerCase(),
    classes: new Set(classes.slice(0, 5000).toLowerCase().match(/\S+/g)?.slice(0, MAX_CLASSES)),
  };
}

/** The tag, the ids and the classes under which something about an element may be kept. */
function keysOf({ tag, id, classes }: Named): string[] {
  return ['*', tag, ...(id === '' ? [] : [`#${id}`]), ...[...classes].map((name) => `.${name}`)];
}

/** The one key under which a compound is found; the rarest kind of name that it has. */
function keyOf({ tag, ids, classes }: Compound): string {
  if (ids.length > 0) return `#${ids[0]}`;
  if (classes.length > 0) return `.${classes[0]}`;
  return tag === '' ? '*' : tag;
}

const matches = ({ tag, ids, classes }: Compound, named: Named): boolean =>
  (tag === '' || tag === '*' || tag === named.tag) &&
  ids.every((id) => id === named.id) &&
  classes.every((name) => named.classes.has(name));

function namesIn(text: string): Compound {
  const names = (text.match(/[.#][\w-]+/g) ?? []).slice(0, MAX_NAMES);
  const tag = /^[a-z][\w-]*/.exec(text)?.[0] ?? '';
  return {
    tag,
    ids: names.filter((name) => name.startsWith('#')).map((name) => name.slice(1)),
    classes: names.filter((name) => name.startsWith('.')).map((name) => name.slice(1)),
  };
}
