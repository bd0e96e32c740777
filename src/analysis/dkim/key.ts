/** Reads a DKIM key record (RFC 6376 §3.6.1): type and length of the key, its flags; and corrects it. */

import { createPublicKey, type KeyObject } from 'node:crypto';
import { type Finding, type Fix, pass, rfc, warn } from '../check.ts';
import { parseColonList, parseTagList } from '../dns/tag-list.ts';
import { type KeyPlace, keyRecordFix, NEW_KEY, nextKeyName, siblingName } from './failures.ts';

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
function withoutTestFlag(record: string): string {
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

// What is said of a DKIM key that receivers accept, of a signature or of a selector alike.

/** Verifiers must refuse less (RFC 8301 §3.2); the same section asks signers for the second. */
export const LEAST_RSA_BITS = 1024;
const GOOD_RSA_BITS = 2048;

interface AcceptedKey extends KeyPlace {
  /** `rsa`, with at least `LEAST_RSA_BITS`, or `ed25519`. */
  type: string;
  bits: number;
  testing: boolean;
  /** The text of the key record. */
  record: string;
}

/** `ed25519`: the finding on such a key, which hangs on what is beside it. */
export function judgeStrength(key: AcceptedKey, ed25519: () => Finding): Finding {
  if (key.testing) return inTestMode(key);
  if (key.type === 'ed25519') return ed25519();
  if (key.bits < GOOD_RSA_BITS) return short(key);
  return strong(key, `It is an RSA key of ${key.bits} bits; 2048 or more are recommended.`);
}

/** `detail`: why. */
export function strong({ keyName }: KeyPlace, detail: string): Finding {
  return pass(`The DKIM key at ${keyName} is strong.`, detail);
}

function inTestMode({ keyName, record }: AcceptedKey): Finding {
  return warn({
    title: `The DKIM key at ${keyName} says that the domain is only testing DKIM.`,
    detail: 'It has the flag t=y. Receivers may treat such mail as if it were not signed at all.',
    fix: {
      text: 'Publish the record without the flag t=y.',
      record: { type: 'TXT', name: keyName, value: withoutTestFlag(record) },
    },
    reference: rfc(6376, '3.6.1'),
  });
}

function short(key: AcceptedKey): Finding {
  return warn({
    title: `The DKIM key at ${key.keyName} has ${key.bits} bits; 2048 are recommended.`,
    detail: 'Receivers still accept RSA keys from 1024 bits on, but signers should use 2048.',
    fix: keyRecordFix(
      `${NEW_KEY} Remove the old record a week later, when nothing signed by it is under way.`,
      nextKeyName(key),
    ),
    reference: rfc(8301, '3.2'),
  });
}

/** Signing with both is how RFC 8463 §6 has receivers follow that do not know Ed25519 yet. */
export const BOTH = rfc(8463, '6');

/** For an Ed25519 key with nothing beside it. */
export function rsaBeside(key: KeyPlace): Fix {
  return keyRecordFix(
    'Let your signer add an RSA signature of 2048 bits beside the Ed25519 one, with a selector of its own such as the one shown.',
    siblingName(key, 'rsa'),
  );
}
