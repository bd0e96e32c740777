/** Reads DKIM key records (RFC 6376 §3.6.1, RFC 8301, RFC 8463). */

import type { KeyObject } from 'node:crypto';
import { parseColonList, parseTagList } from '../dns/tag-list.ts';
import { bitsOf, isBase64, isPrivateKey, keyAtStart, readPublicKey } from './public-key.ts';

export interface DkimKey {
  /** The actual type of a readable key, else the type that `k=` declares (`rsa` by default). */
  type: string;
  /** The modulus length for RSA, 256 for Ed25519; null if the key cannot be read. */
  bits: number | null;
  publicKey: KeyObject | null;
  /** An empty `p=`. */
  revoked: boolean;
  /** `t=y`. */
  testing: boolean;
}

/**
 * Never throws: an unreadable key has no bits. `provenKey` is what a valid signature already proves
 * about the key. The key is then not parsed, which would cost as much as verifying a signature.
 */
export function readKeyRecord(
  record: string,
  provenKey: Pick<DkimKey, 'type' | 'bits'> | null,
): DkimKey {
  const tags = parseTagList(record);
  const data = tags.get('p')?.replace(/\s+/g, '');
  const isReadable = data && !provenKey && isBase64(data);
  const publicKey = isReadable ? readPublicKey(Buffer.from(data, 'base64')) : null;
  return {
    type: provenKey?.type ?? publicKey?.asymmetricKeyType ?? declaredType(tags) ?? 'rsa',
    bits: provenKey?.bits ?? (publicKey ? bitsOf(publicKey) : null),
    publicKey,
    revoked: data === '',
    testing: parseColonList(tags.get('t')).includes('y'),
  };
}

const declaredType = (tags: Map<string, string>): string | undefined =>
  tags.get('k')?.toLowerCase().replace(/\s+/g, '');

/** Whether the text was meant as a key, valid or not. Wildcards can return other texts. */
export function resemblesKey(text: string): boolean {
  const version = /^\W{0,4}v\s*=\s*(\w+)/i.exec(withoutMarks(text))?.[1];
  if (version !== undefined) return /^dkim/i.test(version);
  return (
    /(?:^|;)\s*p\s*=|p\s*=\W*M[\w+/]{30}/i.test(text) || isBareKey(text) || holdsPrivateKey(text)
  );
}

const isBareKey = (text: string): boolean =>
  keyAtStart(withoutMarks(text).replace(/\s/g, ''), false) !== null;

/** What does not belong into a record, but into the notation of zone files and key files. */
const MARKS: [RegExp, string][] = [
  [/["\u201c-\u201f\u00ab\u00bb]/g, 'contains quotation marks'],
  [/\\/g, 'contains backslashes'],
  [/^[^=;]*\bTXT\b|\)\s*;[^;=]*$/gi, 'contains part of a zone-file line'],
  [
    /(?<!-)-{2,}\s*(?:BEGIN|END)[A-Z\s]*KEY\s*-{2,}/gi,
    'contains the BEGIN and END lines of a key file (PEM)',
  ],
];

export const withoutMarks = (text: string): string =>
  MARKS.reduce((cleaned, [mark]) => cleaned.replace(mark, ''), text);

/** A violation of the standard for which verifiers discard a key record. */
export interface KeyFault {
  /** Continues the name of the record: "does not begin with v=DKIM1". */
  text: string;
  /** Many verifiers use the key nevertheless, ours among them. */
  isTolerated: boolean;
}

type JudgedKey = Pick<DkimKey, 'type' | 'bits' | 'revoked'>;

/** What is wrong with the record of a key that is not revoked, the most serious first. */
export function keyFaults(record: string, key: JudgedKey): KeyFault[] {
  if (key.revoked) return [];
  // Nothing else about it matters.
  if (holdsPrivateKey(record))
    return [{ text: 'is invalid: it holds a private key', isTolerated: false }];
  const tags = parseTagList(record);
  const refused = refusedFaults(record, tags, key);
  // Notes can contain anything.
  const judged = record.replace(/(^|;)\s*n\s*=[^;]*/gi, '$1');
  const marks = MARKS.flatMap(([mark, text]) => (judged.search(mark) < 0 ? [] : [text]));
  if (marks.length > 0) {
    // What else is wrong shows without them.
    const cleaned = withoutMarks(record);
    const others = keyFaults(cleaned, readKeyRecord(cleaned, key.bits === null ? null : key));
    return [...marks.map((text) => ({ text, isTolerated: refused.length === 0 })), ...others];
  }
  return [
    ...refused.map((text) => ({ text, isTolerated: false })),
    ...toleratedFaults(record, tags, key).map((text) => ({ text, isTolerated: true })),
  ];
}

const refusedFaults = (record: string, tags: Map<string, string>, key: JudgedKey): string[] =>
  [
    key.bits === null && `is invalid: ${unreadable(record, tags)}`,
    wrongVersion(tags.get('v')),
    wrongType(declaredType(tags), key),
    wrongHash(tags.get('h')),
    wrongService(tags.get('s')),
  ].flatMap((text) => text || []);

/** Whether the record shows a private key to everyone: in `p=`, or as the whole text. */
export function holdsPrivateKey(record: string): boolean {
  const text = withoutMarks(record);
  return isPrivateKey(Buffer.from(parseTagList(text).get('p') ?? text.slice(0, 100), 'base64'));
}

function unreadable(record: string, tags: Map<string, string>): string {
  const data = tags.get('p')?.replace(/\s+/g, '');
  const type = declaredType(tags) ?? 'rsa';
  if (data === undefined)
    return /p\s*=/i.test(record)
      ? 'its tags are not separated by semicolons'
      : 'it has no p=, which holds the public key';
  if (!KEY_TYPES.includes(type)) return `k=${type.slice(0, 40)} is not a known key type`;
  return isBase64(data)
    ? 'p= does not hold a complete public key'
    : 'p= has characters that a key cannot contain';
}

const KEY_TYPES = ['rsa', 'ed25519'];

function wrongVersion(version: string | undefined): string | null {
  // Tags that are glued together are another fault.
  if (version === undefined || version.includes('=')) return null;
  if (/^dkim1$/i.test(version.replace(/\s+/g, ''))) return null;
  return `has the version v=${version.slice(0, 40)}, but only v=DKIM1 exists`;
}

function wrongType(declared: string | undefined, { type, bits }: JudgedKey): string | null {
  if (bits === null || declared === undefined || declared === type) return null;
  return `says k=${declared.slice(0, 40)}, but its key is of type ${type}`;
}

/** RFC 6376 §3.6.1 `h=`; RFC 8301 §3.1 forbids SHA-1. */
function wrongHash(value: string | undefined): string | null {
  if (value === undefined || parseColonList(value).includes('sha256')) return null;
  return `allows no signature with SHA-256: its h= is “${value.slice(0, 40)}”`;
}

/** RFC 6376 §3.6.1 `s=`: verifiers of mail must ignore the record. */
function wrongService(value: string | undefined): string | null {
  const services = parseColonList(value);
  if (value === undefined || services.includes('email') || services.includes('*')) return null;
  return `is not for mail: its s= is “${value.slice(0, 40)}”, without email or *`;
}

function toleratedFaults(record: string, tags: Map<string, string>, key: JudgedKey): string[] {
  const parts = record.split(';').map((part) => part.trim());
  const names = parts.flatMap((part) => (part.includes('=') ? [part.split('=')[0]!.trim()] : []));
  const lower = names.map((name) => name.toLowerCase());
  const twice = lower.find((name, index) => lower.indexOf(name) !== index);
  const upper = names.find((name) => /^[A-Z]\w*$/.test(name));
  const nameless = parts.find((part) => part !== '' && !part.includes('='));
  const version = tags.get('v');
  const isRaw = (tags.get('p') ?? '').replace(/[\s=]+/g, '').length < 50;
  return [
    version !== undefined &&
      version !== 'DKIM1' &&
      /^dkim1$/i.test(version) &&
      `says v=${version} instead of v=DKIM1`,
    version !== undefined && lower[0] !== 'v' && 'does not begin with v=DKIM1',
    twice !== undefined && `has the tag ${twice.slice(0, 40)}= twice`,
    upper !== undefined && `writes the tag ${upper.slice(0, 40)}= in upper case`,
    nameless !== undefined && key.bits !== null && `has “${nameless.slice(0, 40)}” without a tag`,
    key.type === 'ed25519' && declaredType(tags) === undefined && 'lacks k=ed25519',
    key.type === 'ed25519' &&
      key.bits !== null &&
      !isRaw &&
      'has its Ed25519 key in the form of a key file',
  ].flatMap((text) => text || []);
}
