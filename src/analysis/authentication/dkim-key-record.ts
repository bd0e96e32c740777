/** Reads a DKIM key record (RFC 6376 §3.6.1): type and length of the key, its flags; and corrects it. */

import { createPublicKey, type KeyObject } from 'node:crypto';
import { parseColonList, parseTagList } from './tag-list.ts';

export interface DkimKey {
  /** The key's real type where it can be read, else what `k=` declares (`rsa` by default). */
  type: string;
  /** The length of the modulus for RSA, 256 for Ed25519; null where the key cannot be read. */
  bits: number | null;
  publicKey: KeyObject | null;
  /** An empty `p=`. */
  revoked: boolean;
  /** `t=y`. */
  testing: boolean;
}

/**
 * Never throws: a key that cannot be read has no bits. `proven` is what a valid signature has shown
 * of the key already: it is then not read again, which costs as much as verifying.
 */
export function readKeyRecord(
  record: string,
  proven: Pick<DkimKey, 'type' | 'bits'> | null,
): DkimKey {
  const tags = parseTagList(record);
  const data = tags.get('p')?.replace(/\s+/g, '');
  const publicKey = data && !proven ? readPublicKey(Buffer.from(data, 'base64')) : null;
  const declared = tags.get('k')?.toLowerCase() ?? 'rsa';
  return {
    type: proven?.type ?? publicKey?.asymmetricKeyType ?? declared,
    bits: proven?.bits ?? (publicKey ? bitsOf(publicKey) : null),
    publicKey,
    revoked: data === '',
    testing: parseColonList(tags.get('t')).includes('y'),
  };
}

/** The record without its flag `t=y`; any other flag stays. */
export function withoutTestFlag(record: string): string {
  const parts = record.split(';').map((part) => part.trim());
  return parts
    .flatMap((part) => (/^t\s*=/i.test(part) ? restOfFlags(part) : part || []))
    .join('; ');
}

function restOfFlags(part: string): string | [] {
  const flags = parseColonList(part.slice(part.indexOf('=') + 1)).filter((flag) => flag !== 'y');
  return flags.length > 0 ? `t=${flags.join(':')}` : [];
}

/** The record with its version first and each tag once; with a type that is not the default declared. */
export function repairedKeyRecord(record: string, type: string): string {
  const tags = parseTagList(record);
  if (type !== 'rsa') tags.set('k', type);
  const rest = [...tags].filter(([name]) => name !== 'v' && /^[a-z]\w*$/.test(name));
  // The key comes last, as nearly everyone has it.
  rest.sort(([a], [b]) => Number(a === 'p') - Number(b === 'p'));
  const written = rest.map(
    ([name, value]) => `${name}=${name === 'p' ? value.replace(/\s+/g, '') : value}`,
  );
  return ['v=DKIM1', ...written].join('; ');
}

function bitsOf(key: KeyObject): number | null {
  if (key.asymmetricKeyType === 'ed25519') return 256;
  return key.asymmetricKeyDetails?.modulusLength ?? null;
}

/**
 * `p=` holds the bare 32 octets for Ed25519 (RFC 8463 §4), for RSA a SubjectPublicKeyInfo as
 * everyone publishes it, or the bare RSAPublicKey that RFC 6376 names.
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
      // The other form is tried next.
    }
  }
  return null;
}
