/** Reads the public key of a DKIM key record, in the forms in which keys are published. */

import { createPublicKey, type KeyObject } from 'node:crypto';

/** Base64 as verifiers read it: other characters make the record unusable (RFC 6376 §3.6.1). Padding can be missing. */
export const isBase64 = (text: string): boolean =>
  /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.replace(/=+$/, '').length % 4 !== 1;

/** RFC 8463 §4. */
export const ED25519_BYTES = 32;
const ED25519_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** Private keys begin with their version: RFC 5958 §2, RFC 8017 A.1.2. No public key begins with a small number. */
export function isPrivateKey(data: Buffer): boolean {
  const [tag, length = 0] = data;
  const start = length < 0x80 ? 2 : 2 + (length & 0x7f);
  const version = data.subarray(start, start + 3).toString('hex');
  return tag === 0x30 && (version === '020100' || version === '020101');
}

/**
 * For Ed25519 `p=` holds the raw 32 octets (RFC 8463 §4). For RSA it holds a SubjectPublicKeyInfo, as
 * is customary, or the bare RSAPublicKey of RFC 6376.
 */
export function readPublicKey(data: Buffer): KeyObject | null {
  // From a private key, Node would derive the public one.
  if (isPrivateKey(data)) return null;
  const key = data.length === ED25519_BYTES ? Buffer.concat([ED25519_PREFIX, data]) : data;
  for (const type of ['spki', 'pkcs1'] as const) {
    try {
      return createPublicKey({ key, format: 'der', type });
    } catch {
      // Try the next encoding.
    }
  }
  return null;
}

export function bitsOf(key: KeyObject): number | null {
  if (key.asymmetricKeyType === 'ed25519') return ED25519_BYTES * 8;
  return key.asymmetricKeyDetails?.modulusLength ?? null;
}

/** The data of `p=` in the form that all verifiers read. */
export function keyData(key: KeyObject): string {
  const der = key.export({ type: 'spki', format: 'der' });
  const data = key.asymmetricKeyType === 'ed25519' ? der.subarray(ED25519_PREFIX.length) : der;
  return data.toString('base64');
}

/**
 * The key at the beginning of a text, and how many characters it takes. Null if it is not whole: its structure says how long
 * it is, so a lost or inserted character shows. `allowsRaw`: a text of exactly the length of an Ed25519 key is one.
 */
export function keyAtStart(
  text: string,
  allowsRaw: boolean,
): { key: KeyObject; length: number } | null {
  const run = /^[\w+/-]*/.exec(text)![0].replaceAll('-', '+').replaceAll('_', '/');
  const bytes = derLength(run);
  const structured = bytes === null ? null : keyOf(run, bytes);
  if (structured) return withPadding(text, structured);
  // Nothing in an Ed25519 key shows where it ends.
  const raw = allowsRaw && run.length === RAW_CHARACTERS ? keyOf(run, ED25519_BYTES) : null;
  return raw && withPadding(text, raw);
}

const RAW_CHARACTERS = 43;

function keyOf(base64: string, bytes: number): { key: KeyObject; length: number } | null {
  const length = Math.ceil((bytes * 4) / 3);
  const data = Buffer.from(base64.slice(0, length), 'base64');
  const key = data.length === bytes ? readPublicKey(data) : null;
  return key && isPlausible(key) ? { key, length } : null;
}

const withPadding = (text: string, { key, length }: { key: KeyObject; length: number }) => ({
  key,
  length: length + /^=*/.exec(text.slice(length))![0].length,
});

/** The length that the outer sequence declares (X.690 §8.1.3). */
function derLength(base64: string): number | null {
  const [tag, first = 0, high = 0, low = 0] = Buffer.from(base64.slice(0, 8), 'base64');
  if (tag !== 0x30) return null;
  if (first < 0x80) return first + 2;
  if (first === 0x81) return high + 3;
  return first === 0x82 ? high * 256 + low + 4 : null;
}

/** A key of another structure, or with numbers that no RSA key has, was put together wrongly. */
function isPlausible(key: KeyObject): boolean {
  if (key.asymmetricKeyType === 'ed25519') return true;
  if (key.asymmetricKeyType !== 'rsa') return false;
  const { n = '', e = '' } = key.export({ format: 'jwk' });
  const isOdd = (text: string) => ((Buffer.from(text, 'base64url').at(-1) ?? 0) & 1) === 1;
  return isOdd(n) && isOdd(e) && key.asymmetricKeyDetails!.publicExponent! > 1n;
}
