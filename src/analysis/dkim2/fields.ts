/**
 * Reads the Message-Instance and DKIM2-Signature fields (draft-ietf-dkim-dkim2-spec-06 §7 and §8).
 */

import { normalizeDomain } from '../../lib/domain-names.ts';
import { fields, type HeaderField, type Message } from '../mime/message.ts';

export interface MessageInstance {
  field: HeaderField;
  /** `m=` */
  number: number;
  hashes: { algorithm: string; header: string; body: string }[];
  /** Whether it has recipes for an earlier version of the message. */
  hasRecipes: boolean;
}

export interface Dkim2Signature {
  field: HeaderField;
  /** `i=` */
  number: number;
  /** `m=` */
  instance: number;
  /** Milliseconds since the Unix epoch. */
  signedAt: number;
  domain: string;
  /** Without angle brackets; null with `nd=`. */
  mailFrom: string | null;
  recipients: string[];
  nextDomain: string | null;
  values: { selector: string; algorithm: string; signature: string }[];
}

export interface Dkim2Fields {
  /** In ascending order. */
  instances: MessageInstance[];
  signatures: Dkim2Signature[];
}

/** The fields in order, or why the message cannot be verified (§11.2), as a clause. */
export function readDkim2Fields(message: Message): Dkim2Fields | string {
  const instances: MessageInstance[] = [];
  for (const field of fields(message, 'message-instance')) {
    const read = readInstance(field);
    if (typeof read === 'string') return `a Message-Instance field ${read}`;
    instances.push(read);
  }
  const signatures: Dkim2Signature[] = [];
  for (const field of fields(message, 'dkim2-signature')) {
    const read = readSignature(field);
    if (typeof read === 'string') return `a DKIM2-Signature field ${read}`;
    signatures.push(read);
  }
  instances.sort((a, b) => a.number - b.number);
  signatures.sort((a, b) => a.number - b.number);
  return sequenceProblem(instances, signatures) ?? { instances, signatures };
}

function sequenceProblem(instances: MessageInstance[], signatures: Dkim2Signature[]) {
  const isSequence = (items: { number: number }[]) =>
    items.every(({ number }, index) => number === index + 1);
  if (instances.length === 0) return 'it has no Message-Instance field';
  if (!isSequence(instances)) return 'the numbers (m=) of its Message-Instance fields have gaps';
  if (!isSequence(signatures)) return 'the numbers (i=) of its DKIM2-Signature fields have gaps';
  const highest = Math.max(...signatures.map(({ instance }) => instance));
  if (highest > instances.length) return `the Message-Instance field m=${highest} is missing`;
  if (highest < instances.length)
    return `the Message-Instance field m=${highest + 1} is not signed`;
  const isAscending = signatures.every(
    ({ instance }, index) => index === 0 || instance >= signatures[index - 1]!.instance,
  );
  return isAscending ? null : 'a later signature covers an earlier Message-Instance field';
}

/** Tag names are not case-sensitive and occur once. Unknown tags are ignored. */
function readTags(value: string): Map<string, string> | string {
  const tags = new Map<string, string>();
  const parts = value.split(';').map((part) => part.trim());
  if (parts.at(-1) === '') parts.pop();
  for (const part of parts) {
    const [, name, text] = /^([A-Za-z][A-Za-z0-9_]*)\s*=\s*([\s\S]*)$/.exec(part) ?? [];
    if (name === undefined) return 'is not a list of tags';
    if (tags.has(name.toLowerCase())) return `has the tag ${name}= twice`;
    tags.set(name.toLowerCase(), text!);
  }
  return tags;
}

const missingTag = (tags: Map<string, string>, required: string[]): string | null => {
  const missing = required.find((tag) => !tags.get(tag));
  return missing === undefined ? null : `has no ${missing}=`;
};

const numberIn = (text: string | undefined): number =>
  text !== undefined && /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN;

const withoutSpace = (text: string): string => text.replace(/\s+/g, '');

function readInstance(field: HeaderField): MessageInstance | string {
  const tags = readTags(field.value);
  if (typeof tags === 'string') return tags;
  const missing = missingTag(tags, ['m', 'h']);
  if (missing) return missing;
  const number = numberIn(tags.get('m'));
  if (!(number > 0)) return 'has an invalid number (m=)';
  const hashes = withoutSpace(tags.get('h')!)
    .split(',')
    .map((set) => {
      const [algorithm = '', header = '', body = ''] = set.split(':');
      return { algorithm: algorithm.toLowerCase(), header, body };
    });
  if (hashes.some(({ header, body }) => header === '' || body === '')) return 'has an invalid h=';
  const algorithms = hashes.map(({ algorithm }) => algorithm);
  if (new Set(algorithms).size < algorithms.length) return 'has a hash algorithm twice';
  return { field, number, hashes, hasRecipes: Boolean(tags.get('r')) };
}

function readSignature(field: HeaderField): Dkim2Signature | string {
  const tags = readTags(field.value);
  if (typeof tags === 'string') return tags;
  const missing = missingTag(tags, ['i', 'm', 't', 'd', 's']);
  if (missing) return missing;
  const number = numberIn(tags.get('i'));
  const instance = numberIn(tags.get('m'));
  if (!(number > 0) || !(instance > 0)) return 'has an invalid number (i= or m=)';
  if (!/^\d{1,12}$/.test(tags.get('t')!)) return 'has an invalid time (t=)';
  const domain = normalizeDomain(tags.get('d')!);
  if (domain === null) return 'has an invalid domain (d=)';
  const isImaginaryHop = tags.has('nd');
  if (isImaginaryHop && (tags.has('mf') || tags.has('rt'))) return 'has nd= next to mf= or rt=';
  if (!isImaginaryHop && !(tags.has('mf') && tags.has('rt')))
    return 'has neither nd= nor mf= and rt=';
  if ((tags.get('n') ?? '').length > 64) return 'has a nonce (n=) of more than 64 characters';
  const values = withoutSpace(tags.get('s')!)
    .split(',')
    .map((set) => {
      const [selector = '', algorithm = '', signature = ''] = set.split(':');
      return { selector: selector.toLowerCase(), algorithm: algorithm.toLowerCase(), signature };
    });
  const problem = valuesProblem(values);
  if (problem) return problem;
  return {
    field,
    number,
    instance,
    signedAt: Number(tags.get('t')) * 1000,
    domain,
    mailFrom: isImaginaryHop ? null : pathIn(tags.get('mf')!),
    recipients: (tags.get('rt') ?? '').split(',').map(pathIn),
    nextDomain: isImaginaryHop ? normalizeDomain(tags.get('nd')!) : null,
    values,
  };
}

/** §8.9: each selector once, each algorithm at most twice. */
function valuesProblem(values: Dkim2Signature['values']): string | null {
  if (values.some(({ selector, signature }) => selector === '' || signature === ''))
    return 'has an invalid s=';
  if (new Set(values.map(({ selector }) => selector)).size < values.length)
    return 'has a selector twice';
  const groups = Object.values(Object.groupBy(values, ({ algorithm }) => algorithm));
  return groups.some((group) => group!.length > 2) ? 'has more signatures than allowed' : null;
}

/** A path in base64, without its angle brackets. */
const pathIn = (text: string): string =>
  Buffer.from(withoutSpace(text), 'base64')
    .toString('utf8')
    .replace(/^<(.*)>$/s, '$1');
