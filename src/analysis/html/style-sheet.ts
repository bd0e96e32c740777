/** Finds what the `style` elements of a message declare for an element, as far as it can be determined. */

import {
  type Declarations,
  mergeDeclarations,
  type ReadonlyDeclarations,
  readDeclarations,
  readRules,
} from './css.ts';
import { type Attributes, tokenizeHtml } from './tokens.ts';
import { BACKGROUNDS } from './visibility.ts';

/** The content of a `style` element. `conditional`: it does not apply to all readers. */
export interface StyleElement {
  css: string;
  /** Its attribute `media`; empty if the style applies to all readers. */
  media: string;
  conditional: boolean;
}

export interface Styles {
  /** Declared for all readers by rules with simple selectors. */
  certain: ReadonlyDeclarations;
  /** Possibly declared: the selectors have combinators or attributes, which are not matched. */
  possible: ReadonlyDeclarations;
  /** Declared for some readers: in `@media`, on `:hover`, by a checked checkbox. */
  conditional: ReadonlyDeclarations;
}

export interface StyleSheet {
  /** Usually returns the same object for elements with the same tag, id and classes. */
  stylesOf(tag: string, attributes: Attributes): Styles;
  /** Whether all rules are known. */
  complete: boolean;
  /** The work limit is exceeded: the last result may be incomplete. */
  isOverLimit(): boolean;
}

/** Style sheets of ordinary mail use less than a tenth of these limits. */
const MAX_CSS = 500_000;
const MAX_SELECTORS = 20_000;
const MAX_DECLARATIONS = 200_000;
/** Rules per key that need more than the key to match. */
const MAX_COMPOUNDS = 100;
/** Names compared and declarations merged, over all elements. */
const MAX_WORK = 2_000_000;
/** Cached combinations of tag, id and classes, and their length in characters. */
const MAX_CACHED = 5000;
const MAX_CACHED_LENGTH = 500;

interface Entry {
  compound: Compound;
  /** The key alone decides whether the rule matches. */
  isSingle: boolean;
  declarations: Declarations;
}

type Index = Map<string, Entry[]>;

interface Indexes {
  certain: Index;
  possible: Index;
  conditional: Index;
}

const NO_DECLARATIONS: ReadonlyDeclarations = new Map();
const UNSTYLED: Styles = {
  certain: NO_DECLARATIONS,
  possible: NO_DECLARATIONS,
  conditional: NO_DECLARATIONS,
};

/** Reads broken CSS too. Rules beyond the limits are dropped, so that they hide no text. */
export function readStyleSheet(elements: StyleElement[]): StyleSheet {
  const { indexes, complete } = indexRules(elements);
  const { certain, possible, conditional } = indexes;
  const isEmpty = certain.size + possible.size + conditional.size === 0;
  const cache = new Map<string, Styles>();
  let work = MAX_WORK;
  const findIn = (index: Index, element: ElementNames, keys: string[]) => {
    const matched: Declarations = new Map();
    for (const key of index.size === 0 ? [] : keys)
      for (const { compound, isSingle, declarations } of index.get(key) ?? []) {
        work -= isSingle ? 1 : 1 + compound.ids.length + compound.classes.length;
        if (work < 0) return NO_DECLARATIONS;
        if (!isSingle && !matches(compound, element)) continue;
        work -= declarations.size;
        mergeDeclarations(matched, declarations);
      }
    return matched;
  };
  const find = (element: ElementNames): Styles => {
    const keys = keysOf(element);
    work -= keys.length;
    return {
      certain: findIn(certain, element, keys),
      possible: findIn(possible, element, keys),
      conditional: findIn(conditional, element, keys),
    };
  };
  return {
    stylesOf(tag, attributes) {
      if (isEmpty) return UNSTYLED;
      const id = attributes.get('id') ?? '';
      const key = `${tag} ${id.length} ${id} ${attributes.get('class') ?? ''}`;
      const cached = cache.get(key);
      if (cached) return cached;
      const styles = find(namesOf(tag, attributes));
      if (cache.size < MAX_CACHED && key.length <= MAX_CACHED_LENGTH) cache.set(key, styles);
      return styles;
    },
    complete,
    isOverLimit: () => work < 0,
  };
}

function indexRules(elements: StyleElement[]): { indexes: Indexes; complete: boolean } {
  const indexes: Indexes = { certain: new Map(), possible: new Map(), conditional: new Map() };
  let selectorCount = 0;
  let declarationCount = 0;
  let complete = true;
  let remaining = MAX_CSS;
  for (const { css, conditional: isConditionalElement } of elements) {
    for (const rule of readRules(css.slice(0, remaining))) {
      const ruleDeclarations: Declarations = new Map();
      readDeclarations(ruleDeclarations, rule.block, 0);
      for (const selector of ruleDeclarations.size > 0 ? rule.selectors : []) {
        const isDark = rule.inDarkMode || isForDarkMode(selector);
        const declarations = isDark ? withoutBackgrounds(ruleDeclarations) : ruleDeclarations;
        selectorCount += 1;
        declarationCount += declarations.size;
        if (selectorCount > MAX_SELECTORS || declarationCount > MAX_DECLARATIONS)
          return { indexes, complete: false };
        const compound = readCompound(selector);
        const isUnconditional = !rule.inAtRule && !isConditionalElement && !isConditional(selector);
        const kind = !isUnconditional ? 'conditional' : compound ? 'certain' : 'possible';
        const subject = compound ?? readSubject(selector);
        if (!add(indexes[kind], subject, declarations, selectorCount)) complete = false;
      }
    }
    if (css.length > remaining) return { indexes, complete: false };
    remaining -= css.length;
  }
  return { indexes, complete };
}

/** A background in dark mode does not show how text looks in light mode. */
const withoutBackgrounds = (declarations: Declarations): Declarations =>
  new Map([...declarations].filter(([property]) => !BACKGROUNDS.includes(property)));

/** Returns false if the index is full. */
function add(index: Index, compound: Compound, source: Declarations, order: number): boolean {
  const { tag, ids, classes } = compound;
  // By specificity, then by order (CSS Cascade §6).
  const specificity = ids.length * 10_000 + classes.length * 100 + (tag === '' ? 0 : 1);
  const rank = specificity * 1e6 + order;
  const declarations = new Map(
    [...source].map(([name, declared]) => [name, { ...declared, rank }]),
  );
  const key = keyOf(compound);
  const entries = index.get(key) ?? [];
  index.set(key, entries);
  const isSingle = ids.length + classes.length + (tag === '' ? 0 : 1) <= 1;
  const first = entries[0];
  if (!isSingle) {
    if (entries.length >= MAX_COMPOUNDS) return false;
    entries.push({ compound, isSingle, declarations });
  } else if (first?.isSingle) mergeDeclarations(first.declarations, declarations);
  else entries.unshift({ compound, isSingle, declarations });
  return true;
}

// Finds the `style` elements of HTML in a first pass, because they may come after what they style.

const MAX_ELEMENTS = 1000;
const MAX_MEDIA = 500;

/** The attribute `media` of a `style` element; empty if the style applies to all readers. */
export function mediaOf(attributes: Attributes): string {
  const media = (attributes.get('media') ?? '').slice(0, MAX_MEDIA).trim();
  return /^(?:all|screen)?$/i.test(media) ? '' : media;
}

/** In document order, without those in conditional comments, which are only for Outlook. */
export function styleElements(html: string): StyleElement[] {
  const elements: StyleElement[] = [];
  let tagsLeft = 0;
  for (const _ of html.matchAll(/<style/gi)) tagsLeft += 1;
  if (tagsLeft === 0) return elements;
  let pieces: string[] | null = null;
  let foreign = 0;
  tokenizeHtml(html, {
    open(name, attributes, selfClosing) {
      if ((name === 'svg' || name === 'math') && !selfClosing) foreign += 1;
      if (name !== 'style') return;
      tagsLeft -= 1;
      if (elements.length >= MAX_ELEMENTS) return;
      pieces = [];
      const media = mediaOf(attributes);
      elements.push({ css: '', media, conditional: media !== '' });
    },
    close(name) {
      if (name === 'svg' || name === 'math') foreign = Math.max(0, foreign - 1);
      if (pieces && name === 'style') elements.at(-1)!.css = pieces.join('');
      pieces = null;
    },
    text: (piece) => pieces?.push(piece),
    broken() {},
    isForeign: () => foreign > 0,
    // Most messages have all their styles at the start.
    isDone: () => tagsLeft === 0 && pieces === null,
  });
  return elements;
}

// CSS selectors that match a single element without its context: no combinators.

interface Compound {
  /** `''` and `*` match any tag. */
  tag: string;
  ids: string[];
  classes: string[];
}

/** The names of an element in lower case, as mail without a DOCTYPE matches them. */
interface ElementNames {
  tag: string;
  id: string;
  classes: ReadonlySet<string>;
}

const SIMPLE = /^(?:[a-z][\w-]*|\*)?(?:[.#][\w-]+)*$/;
const MAX_CLASSES = 50;
/** Names per selector; selectors with more are not matched. */
const MAX_NAMES = 10;

/** Parses a selector that only has a tag, classes and ids; null for all others. */
function readCompound(selector: string): Compound | null {
  const text = selector.trim().toLowerCase();
  if (text === '' || text.length > 500 || !SIMPLE.test(text)) return null;
  return text.split(/[.#]/).length > MAX_NAMES ? null : namesIn(text);
}

/**
 * For a selector that cannot be matched on its own, the element that it selects, perhaps with fewer
 * names: the part after the last combinator, without pseudo-classes. `[class~="x"]`, which old
 * responsive mail uses, counts as `.x`.
 */
function readSubject(selector: string): Compound {
  const text = selector.slice(-500).trim().toLowerCase();
  const simplified = text
    .replace(
      /\[\s*(class|id)\s*[~*^|$]?=\s*["']?([\w-]+)(?![\w-])[^[\]]{0,200}\]/g,
      (_, kind, name) => (kind === 'id' ? `#${name}` : `.${name}`),
    )
    .replace(/\[[^[\]]{0,200}\]|\([^()]{0,200}\)/g, '')
    .replace(/::?[\w-]+/g, '');
  return namesIn(simplified.split(/[\s>+~]+/).findLast((part) => part !== '') ?? '');
}

/** Dark mode in Outlook, which adds an attribute to elements that it recolors. */
const isForDarkMode = (selector: string): boolean => selector.includes('[data-ogs');

/** Whether a selector depends on the reader's actions or email client: `:hover`, `[data-ogsc]`. */
const isConditional = (selector: string): boolean =>
  selector.includes(':') || isForDarkMode(selector) || selector.includes('[owa');

function namesOf(tag: string, attributes: Attributes): ElementNames {
  const classes = attributes.get('class') ?? '';
  return {
    tag,
    id: (attributes.get('id') ?? '').slice(0, 500).trim().toLowerCase(),
    classes: new Set(classes.slice(0, 5000).toLowerCase().match(/\S+/g)?.slice(0, MAX_CLASSES)),
  };
}

/** All index keys of an element. */
function keysOf({ tag, id, classes }: ElementNames): string[] {
  return ['*', tag, ...(id === '' ? [] : [`#${id}`]), ...[...classes].map((name) => `.${name}`)];
}

/** The index key of a compound: the most selective kind of name that it has. */
function keyOf({ tag, ids, classes }: Compound): string {
  if (ids.length > 0) return `#${ids[0]}`;
  if (classes.length > 0) return `.${classes[0]}`;
  return tag === '' ? '*' : tag;
}

const matches = ({ tag, ids, classes }: Compound, element: ElementNames): boolean =>
  (tag === '' || tag === '*' || tag === element.tag) &&
  ids.every((id) => id === element.id) &&
  classes.every((name) => element.classes.has(name));

function namesIn(text: string): Compound {
  const names = (text.match(/[.#][\w-]+/g) ?? []).slice(0, MAX_NAMES);
  const tag = /^[a-z][\w-]*/.exec(text)?.[0] ?? '';
  return {
    tag,
    ids: names.filter((name) => name.startsWith('#')).map((name) => name.slice(1)),
    classes: names.filter((name) => name.startsWith('.')).map((name) => name.slice(1)),
  };
}
