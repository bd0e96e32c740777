/** CSS selectors as far as they can be matched without a tree: one element alone, no combinators. */

import type { Attributes } from './html-tokens.ts';

export interface Compound {
  /** `''` and `*` are any. */
  tag: string;
  ids: string[];
  classes: string[];
}

/** What selectors see of an element; names in lower case, as mail without a DOCTYPE matches them. */
export interface Named {
  tag: string;
  id: string;
  classes: ReadonlySet<string>;
}

const SIMPLE = /^(?:[a-z][\w-]*|\*)?(?:[.#][\w-]+)*$/;
const MAX_CLASSES = 50;
/** Of one selector; more are not matched. */
const MAX_NAMES = 10;

/** The selector where it is nothing but a tag, classes and ids; null for all others. */
export function readCompound(selector: string): Compound | null {
  const text = selector.trim().toLowerCase();
  if (text === '' || text.length > 500 || !SIMPLE.test(text)) return null;
  return text.split(/[.#]/).length > MAX_NAMES ? null : namesIn(text);
}

/**
 * Of a selector that cannot be matched alone, the element that it is about, perhaps with less names
 * than it has: what is after its last combinator, without pseudo-classes; `[class~="x"]`, which old responsive mail uses, is `.x`.
 */
export function readSubject(selector: string): Compound {
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
export const isForDarkMode = (selector: string): boolean => selector.includes('[data-ogs');

/** Whether it depends on what the reader does, or on the program: `:hover`, `[data-ogsc]`. */
export const isConditional = (selector: string): boolean =>
  selector.includes(':') || isForDarkMode(selector) || selector.includes('[owa');

export function namesOf(tag: string, attributes: Attributes): Named {
  const classes = attributes.get('class') ?? '';
  return {
    tag,
    id: (attributes.get('id') ?? '').slice(0, 500).trim().toLowerCase(),
    classes: new Set(classes.slice(0, 5000).toLowerCase().match(/\S+/g)?.slice(0, MAX_CLASSES)),
  };
}

/** The tag, the ids and the classes under which something about an element may be kept. */
export function keysOf({ tag, id, classes }: Named): string[] {
  return ['*', tag, ...(id === '' ? [] : [`#${id}`]), ...[...classes].map((name) => `.${name}`)];
}

/** The one key under which a compound is found; the rarest kind of name that it has. */
export function keyOf({ tag, ids, classes }: Compound): string {
  if (ids.length > 0) return `#${ids[0]}`;
  if (classes.length > 0) return `.${classes[0]}`;
  return tag === '' ? '*' : tag;
}

export const matches = ({ tag, ids, classes }: Compound, named: Named): boolean =>
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
