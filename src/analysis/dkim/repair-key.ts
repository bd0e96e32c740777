/** Repairs damaged DKIM key records: what is readable is kept, and nothing is invented (RFC 6376 §3.6.1). */

import type { KeyObject } from 'node:crypto';
import { parseColonList } from '../dns/tag-list.ts';
import { keyFaults, readKeyRecord, withoutMarks } from './key-record.ts';
import { keyAtStart, keyData } from './public-key.ts';

/** With more texts, too many orders would have to be tried. */
const MAX_TEXTS = 3;

/**
 * The record as it must be written: the same key, and the other tags that can be read. Null if that is not certain, or if no
 * verifier accepts the key. `texts`: all that is published at the name; several may be the parts of one.
 */
export function repairedKey(texts: string[]): string | null {
  if (texts.length > MAX_TEXTS) return null;
  const found = new Set(
    permutations(texts)
      .flatMap((parts) => readParts(parts) ?? [])
      .map(({ key, tags }) => recordOf(key, tags)),
  );
  const [record, ...others] = found;
  if (record === undefined || others.length > 0) return null;
  const key = readKeyRecord(record, null);
  const isAccepted = key.type === 'ed25519' || (key.bits ?? 0) >= 1024;
  return isAccepted && keyFaults(record, key).length === 0 ? record : null;
}

const permutations = (items: string[]): string[][] =>
  items.length < 2
    ? [items]
    : items.flatMap((first, index) =>
        permutations(items.toSpliced(index, 1)).map((rest) => [first, ...rest]),
      );

interface ReadParts {
  key: KeyObject;
  /** Without `v`, `k` and `p`. */
  tags: Map<string, string>;
}

function readParts(parts: string[]): ReadParts | null {
  // A whole key beside other texts is not one of several parts.
  if (parts.length > 1 && parts.some((part) => readParts([part]))) return null;
  for (const text of clean(parts.join(''))) {
    const found = findKey(text);
    if (found === 'several') return null;
    const tags = found && readTags(found.before, found.after);
    if (found && tags) return { key: found.key, tags };
  }
  return null;
}

/** The text in forms from which more and more is removed that may separate the parts of a key. */
function clean(written: string): string[] {
  const line = written.replace(/[\u200b-\u200d\ufeff]/g, '');
  // A backslash with a letter stands for a line break, or escapes nothing.
  return [line, line.replace(/\\[rn]/g, '')].flatMap((form) => {
    const text = withoutMarks(form).replace(/[\s()'\u2018\u2019]/g, '');
    const head = text.search(/v=dkim1/i);
    const rotated = head > 0 ? [`${text.slice(head)}${text.slice(0, head)}`] : [];
    return [text, ...rotated].flatMap((whole) => [whole, joined(whole)]);
  });
}

/** Without what separates the parts of a key. */
function joined(text: string): string {
  const start = text.search(/M[I-P]/);
  return start < 0
    ? text
    : `${text.slice(0, start)}${text.slice(start).replace(/[;,]?p=|[;,]/gi, '')}`;
}

interface FoundKey {
  key: KeyObject;
  before: string;
  after: string;
}

/** Behind each `p=`; without any, a key by itself. */
function findKey(text: string): FoundKey | 'several' | null {
  const tagged = [...text.matchAll(/p=/gi)].map(({ index }) => [index, index + 2] as const);
  const bare = [...text.matchAll(/M[I-P]/g)].map(({ index }) => [index, index] as const);
  const found = (tagged.length > 0 ? tagged : bare).flatMap(([index, start]): FoundKey[] => {
    const key = keyAtStart(text.slice(start), tagged.length > 0);
    if (!key) return [];
    const end = start + key.length;
    // A repeated key is not another one.
    const after = text.slice(end).replaceAll(`p=${text.slice(start, end)}`, '');
    return [{ key: key.key, before: text.slice(0, index), after }];
  });
  const [first] = found;
  if (!first) return null;
  return new Set(found.map(({ key }) => keyData(key))).size > 1 ? 'several' : first;
}

/** A tag whose values are known shows where it ends, also without a semicolon. */
const KNOWN_TAGS =
  /^(?:v=?dkim1|k=?(?:rsa|ed25519)|(h)=((?:sha1|sha256|\*)(?::(?:sha1|sha256|\*))*)|(s)=((?:email|tlsrpt|\*)(?::(?:email|tlsrpt|\*))*)|(t)=([ys](?::[ys])*)|p=$)/i;

/** The tags beside the key; null if a part of the text is unreadable. */
function readTags(before: string, after: string): Map<string, string> | null {
  const tags = new Map<string, string>();
  const add = (name: string, value: string) => {
    const list = new Set([...parseColonList(tags.get(name)), ...parseColonList(value)]);
    tags.set(name, [...list].join(':'));
  };
  for (const part of `${before};${after}`.split(/[;,|]/)) {
    for (let rest = part; rest !== ''; ) {
      // A wrong version or type says nothing beside a key that can be read.
      const known = /^[vk]=[\w.-]*$/i.exec(rest) ?? KNOWN_TAGS.exec(rest);
      if (known) {
        const [whole, ...groups] = known;
        const [name, value] = groups.filter((group) => group !== undefined);
        if (name !== undefined) add(name.toLowerCase(), value!);
        rest = rest.slice(whole.length);
        continue;
      }
      const [, name = '', value = ''] = /^([a-z]\w*)=([^=]*)$/i.exec(rest) ?? [];
      if (name === '') return null;
      const tag = name.toLowerCase();
      if (tag === 'h' || tag === 's' || tag === 't') add(tag, value);
      else if (tag === 'p') return null;
      else if (!tags.has(tag)) tags.set(tag, value);
      rest = '';
    }
  }
  return tags;
}

/** RFC 8301 §3.1 forbids SHA-1. Providers may treat mail with `t=y` as unsigned. */
function recordOf(key: KeyObject, tags: Map<string, string>): string {
  const lists: Record<string, (values: string[]) => string[]> = {
    h: (values) => (values.includes('sha256') ? values : ['sha256']),
    s: (values) => {
      const known = values.filter((value) => /^(?:email|tlsrpt|\*)$/.test(value));
      return known.includes('email') || known.includes('*') ? known : [...known, 'email'];
    },
    t: (values) => values.filter((value) => value !== 'y'),
  };
  const others = [...tags].flatMap(([name, value]) => {
    const rewrite = lists[name];
    const text = rewrite ? rewrite(parseColonList(value)).join(':') : value;
    return text === '' ? [] : [`${name}=${text}`];
  });
  return ['v=DKIM1', `k=${key.asymmetricKeyType}`, ...others, `p=${keyData(key)}`].join('; ');
}
