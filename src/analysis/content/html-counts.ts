/** Counts what elements and attributes HTML is made of, and those of them that run or load something. */

import type { Attributes } from './html-tokens.ts';

interface ElementCounts {
  add(name: string, attributes: Attributes): void;
  values(): {
    elements: Record<string, number>;
    attributes: Record<string, number>;
    active: Record<string, number>;
  };
}

/** Different names that are kept of each. */
const MAX_NAMES = 1000;
const MAX_NAME = 100;

export function countElements(): ElementCounts {
  const elements = counter();
  const attributes = counter();
  const active = counter();
  return {
    add(name, given) {
      elements.add(name);
      for (const attribute of given.keys())
        attributes.add(`${name}[${attribute}]`.slice(0, MAX_NAME));
      for (const found of activeOf(name, given)) active.add(found);
    },
    values: () => ({
      elements: elements.values(),
      attributes: attributes.values(),
      active: active.values(),
    }),
  };
}

function counter() {
  const counts = new Map<string, number>();
  return {
    add(name: string) {
      const count = counts.get(name);
      if (count !== undefined || counts.size < MAX_NAMES) counts.set(name, (count ?? 0) + 1);
    },
    values: () => Object.fromEntries(counts),
  };
}

const ACTIVE = new Set(
  'applet bgsound embed form frame frameset iframe object portal script'.split(' '),
);
/** Event handlers, by how their names begin: attributes such as `once` are none. */
const HANDLER =
  /^on(?:abort|after|animation|before|begin|blur|can|change|click|close|context|copy|cut|dbl|drag|drop|ended|error|focus|form|hash|input|invalid|key|load|message|mouse|offline|online|page|paste|pause|play|pointer|pop|progress|readystate|reset|resize|scroll|search|seek|select|storage|submit|toggle|touch|transition|unload|wheel)[a-z]*$/;
const ADDRESSES = ['href', 'src', 'action', 'formaction', 'xlink:href', 'data'];
/** Scripts that are data: Gmail reads offers and actions from JSON-LD. */
const DATA = /^application\/(?:ld\+)?json\b/i;

function activeOf(name: string, attributes: Attributes): string[] {
  const found: string[] = [];
  const value = (attribute: string) => attributes.get(attribute) ?? '';
  if (ACTIVE.has(name) && !(name === 'script' && DATA.test(value('type').trim()))) found.push(name);
  // Without an address it only says where links open.
  if (name === 'base' && attributes.has('href')) found.push('base');
  if (name === 'meta' && /^\s*refresh\s*$/i.test(value('http-equiv'))) found.push('meta refresh');
  for (const attribute of attributes.keys())
    if (attribute.startsWith('on') && HANDLER.test(attribute)) found.push(attribute);
  for (const attribute of ADDRESSES) {
    // Links have a check of their own, `link_scheme`.
    if (attribute === 'href' && (name === 'a' || name === 'area')) continue;
    if (!attributes.has(attribute)) continue;
    const scheme = SCRIPT_ADDRESS.exec(schemeOf(value(attribute)))?.[1];
    if (scheme) found.push(`${scheme}:`);
  }
  return found;
}

const SCRIPT_ADDRESS = /^(javascript|vbscript|data:text\/html)\b/;

/** As the URL standard reads it: white space and control characters before and within do not count. */
const schemeOf = (address: string): string =>
  address
    .slice(0, 200)
    .replace(/[\0- ]+/g, '')
    .toLowerCase();
