/** Reads and repairs DKIM key records (RFC 6376 §3.6.1). */

import { createPublicKey, type KeyObject } from 'node:crypto';
import { parseColonList, parseTagList } from '../dns/tag-list.ts';

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
  // Verifiers find no valid tag list in a record with quotation marks, even if Node reads the key.
  const isReadable = data && !provenKey && !QUOTES.test(record);
  const publicKey = isReadable ? readPublicKey(Buffer.from(data, 'base64')) : null;
  const declaredType = tags.get('k')?.toLowerCase() ?? 'rsa';
  return {
    type: provenKey?.type ?? publicKey?.asymmetricKeyType ?? declaredType,
    bits: provenKey?.bits ?? (publicKey ? bitsOf(publicKey) : null),
    publicKey,
    revoked: data === '',
    testing: parseColonList(tags.get('t')).includes('y'),
  };
}

/** RFC 6376 §3.6.1: `p=` is required, the version is optional. Wildcards can return other texts. */
export function isKeyRecord(text: string): boolean {
  const tags = parseTagList(text);
  const version = tags.get('v');
  return tags.has('p') && (version === undefined || version.toUpperCase() === 'DKIM1');
}

/** Whether the text was meant as a key, valid or not. */
export function resemblesKey(text: string): boolean {
  const version = /^\W{0,3}v\s*=\s*(\w+)/i.exec(text)?.[1];
  return version === undefined ? /(?:^|;)\s*p\s*=/i.test(text) : /^dkim/i.test(version);
}

/** Quotation marks belong to the notation of zone files. In the data of a record, they are a mistake. */
const QUOTES = /["\u201c\u201d\u201e]/;

/** The record without the quotation marks in its data; null if it has none, or no readable key without them. */
export function withoutQuotes(record: string): string | null {
  if (!QUOTES.test(record)) return null;
  const repaired = record.replace(new RegExp(QUOTES, 'g'), '').trim();
  const { bits, type } = readKeyRecord(repaired, null);
  return isKeyRecord(repaired) && bits !== null ? repairedKeyRecord(repaired, type) : null;
}

/** The record with the version first and each tag once; adds `k=` for a type other than `rsa`. */
export function repairedKeyRecord(record: string, type: string): string {
  const tags = parseTagList(record);
  if (type !== 'rsa') tags.set('k', type);
  const otherTags = [...tags].filter(([name]) => name !== 'v' && /^[a-z]\w*$/.test(name));
  // The key comes last, by convention.
  otherTags.sort(([a], [b]) => Number(a === 'p') - Number(b === 'p'));
  const parts = otherTags.map(
    ([name, value]) => `${name}=${name === 'p' ? value.replace(/\s+/g, '') : value}`,
  );
  return ['v=DKIM1', ...parts].join('; ');
}

function bitsOf(key: KeyObject): number | null {
  if (key.asymmetricKeyType === 'ed25519') return 256;
  return key.asymmetricKeyDetails?.modulusLength ?? null;
}

/**
 * For Ed25519 `p=` holds the raw 32 octets (RFC 8463 §4). For RSA it holds a SubjectPublicKeyInfo, as
 * is customary, or the bare RSAPublicKey of RFC 6376.
 */
function readPublicKey(data: Buffer): KeyObject | null {
  if (data.length === 32) {
    const prefix = Buffer.from('302a300506032b6570032100', 'hex');
    return createPublicKey({ key: Buffer.concat([prefix, data]), format: 'der', type: 'spki' });
  }
  for (const type of ['spki', 'pkcs1'] as const) {
    try {
      return createPublicKey({ key: data, format: 'der', type });
    } catch {
      // Try the next encoding.
    }
  }
  return null;
}
