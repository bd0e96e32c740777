/**
 * Checks the form of ARC sets before any key is looked up (RFC 8617 §5.2). mailauth reads them
 * leniently. It accepts some chains that other verifiers reject.
 */

import { fields, type HeaderField, type Message } from '../mime/message.ts';

/** RFC 8617 §4.2.1. */
export const MAX_INSTANCE = 50;

const FIELDS = ['arc-seal', 'arc-message-signature', 'arc-authentication-results'] as const;
type FieldName = (typeof FIELDS)[number];

const LABELS: Record<FieldName, string> = {
  'arc-seal': 'ARC-Seal',
  'arc-message-signature': 'ARC-Message-Signature',
  'arc-authentication-results': 'ARC-Authentication-Results',
};

/** RFC 8617 §4.1.2 and §4.1.3. `i` is read first. */
const REQUIRED: Record<Exclude<FieldName, 'arc-authentication-results'>, string[]> = {
  'arc-seal': ['a', 'b', 'cv', 'd', 's'],
  'arc-message-signature': ['a', 'b', 'bh', 'd', 'h', 's'],
};

const INSTANCE = /^(?:[1-9]|[1-4]\d|50)$/;
const ALGORITHM = /^(?:rsa|ed25519)-sha256$/;
const BASE64 = /^(?:[A-Za-z0-9+/][ \t]*)+(?:=[ \t]*){0,2}$/;
const DOMAIN = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)+$/i;
const SELECTOR = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/i;
const CANONICALIZATION = /^(?:simple|relaxed)(?:\/(?:simple|relaxed))?$/;

interface SetField {
  name: FieldName;
  instance: number;
  tags: Map<string, string>;
}

/** Why the chain is invalid, as a clause without a final period; null if its form is valid. */
export function arcProblem(message: Message): string | null {
  const sets: SetField[] = [];
  for (const name of FIELDS)
    for (const field of fields(message, name)) {
      const read = readField(name, field);
      if (typeof read === 'string') return read;
      sets.push(read);
    }
  return chainProblem(sets);
}

function chainProblem(sets: SetField[]): string | null {
  const last = Math.max(0, ...sets.map(({ instance }) => instance));
  for (let instance = 1; instance <= last; instance++)
    for (const name of FIELDS) {
      const found = sets.filter((set) => set.name === name && set.instance === instance);
      if (found.length === 0)
        return `the set i=${instance} of ${last} has no ${LABELS[name]} field`;
      if (found.length > 1) return `two ${LABELS[name]} fields have i=${instance}`;
      const problem = tagProblem(found[0]!);
      if (problem) return `the ${LABELS[name]} field i=${instance} ${problem}`;
    }
  return null;
}

// One field.

function readField(name: FieldName, { value }: HeaderField): SetField | string {
  if (name === 'arc-authentication-results') return readResults(name, value);
  const tags = readTags(value);
  if (typeof tags === 'string') return `an ${LABELS[name]} field ${tags}`;
  const instance = tags.get('i');
  if (instance === undefined || !INSTANCE.test(instance)) return badInstance(name, instance);
  return { name, instance: Number(instance), tags };
}

/** RFC 8617 §4.1.1: `i=` comes first. Comments may stand around it. */
function readResults(name: FieldName, value: string): SetField | string {
  const comment = '(?:\\s|\\([^()\\\\]{0,200}\\))*';
  const match = new RegExp(`^${comment}i${comment}=${comment}(\\d{1,3})${comment};`).exec(value);
  if (!match || !INSTANCE.test(match[1]!)) return badInstance(name, match?.[1]);
  return { name, instance: Number(match[1]), tags: new Map() };
}

const badInstance = (name: FieldName, instance: string | undefined): string =>
  instance === undefined
    ? `an ${LABELS[name]} field has no instance (i=)`
    : `an ${LABELS[name]} field has the instance i=${instance.slice(0, 20)}, not 1 to ${MAX_INSTANCE}`;

/** RFC 6376 §3.2: names are case-sensitive and occur once. */
function readTags(value: string): Map<string, string> | string {
  const tags = new Map<string, string>();
  const parts = value.split(';');
  if (parts.at(-1)?.trim() === '') parts.pop();
  for (const part of parts) {
    const match = /^\s*([A-Za-z][A-Za-z0-9_]*)\s*=([\s\S]*)$/.exec(part);
    if (!match) return 'is not a list of tags';
    const [, tag = '', text = ''] = match;
    if (tags.has(tag)) return `has the tag ${tag}= twice`;
    tags.set(tag, text.trim());
  }
  return tags;
}

function tagProblem({ name, instance, tags }: SetField): string | null {
  if (name === 'arc-authentication-results') return null;
  const missing = REQUIRED[name].find((tag) => !tags.has(tag) || tags.get(tag) === '');
  if (missing !== undefined) return `has no ${missing}=`;
  const value = (tag: string) => tags.get(tag) ?? '';
  if (!ALGORITHM.test(value('a'))) return 'has an algorithm (a=) that ARC does not allow';
  if (!BASE64.test(value('b'))) return 'has a signature (b=) that is not base64';
  if (!DOMAIN.test(value('d'))) return 'has an invalid domain (d=)';
  if (!SELECTOR.test(value('s'))) return 'has an invalid selector (s=)';
  if (tags.has('t') && !/^\d{1,12}$/.test(value('t'))) return 'has an invalid time (t=)';
  return name === 'arc-seal' ? sealProblem(instance, tags) : signatureProblem(tags);
}

/** Step 3.C: the first seal has cv=none, all others cv=pass. A seal with cv=fail ends the chain. */
function sealProblem(instance: number, tags: Map<string, string>): string | null {
  if (tags.has('h')) return 'has h=, which a seal must not have';
  const status = tags.get('cv')!.toLowerCase();
  if (status === 'fail') return 'says that the chain failed before (cv=fail)';
  const expected = instance === 1 ? 'none' : 'pass';
  return status === expected ? null : `has cv=${status.slice(0, 20)} instead of cv=${expected}`;
}

function signatureProblem(tags: Map<string, string>): string | null {
  if (!BASE64.test(tags.get('bh')!)) return 'has a body hash (bh=) that is not base64';
  const canonicalization = tags.get('c');
  if (canonicalization !== undefined && !CANONICALIZATION.test(canonicalization))
    return 'has an unknown canonicalization (c=)';
  const signed = tags
    .get('h')!
    .split(':')
    .map((header) => header.trim().toLowerCase());
  if (signed.includes('arc-seal')) return 'signs ARC-Seal (h=), which it must not';
  return signed.includes('from') ? null : 'does not sign From (h=)';
}
