/** Says of a DKIM key that is missing, revoked, unreadable or too weak what to publish in its place. */

import { type Fix, type Reference, rfc } from '../check.ts';

/** All of a finding but its status. */
export interface Explanation {
  title: string;
  detail: string;
  fix: Fix | string;
  reference?: Reference;
}

/** Where a key is published: a signature names such a place, and so does a selector. */
export interface KeyPlace {
  selector: string;
  /** `s1._domainkey.example.com`. */
  keyName: string;
}

export type KeyType = 'rsa' | 'ed25519';

/** The first words of every advice for a new key. */
export const NEW_KEY =
  'Make a new RSA key of 2048 bits, publish it under a new selector such as the one shown, then configure the signer for it.';

/** A record to publish; the key in it is what the signer shows, which cannot be known here. */
export function keyRecordFix(text: string, keyName: string, type: KeyType = 'rsa'): Fix {
  const value = `v=DKIM1; k=${type}; p=<the public key in base64>`;
  return { text, record: { type: 'TXT', name: keyName, value } };
}

/** The same place under another selector. */
export function siblingName({ selector, keyName }: KeyPlace, other: string): string {
  return `${other}${keyName.slice(selector.length)}`;
}

/** A place for a new key beside the old one, which must stay while mail signed by it is under way. */
export function nextKeyName(place: KeyPlace): string {
  return siblingName(place, `${place.selector}-2`);
}

/** `texts`: what is there instead. */
export function noKey(
  { selector, keyName }: KeyPlace,
  type: KeyType = 'rsa',
  texts: string[] = [],
): Explanation {
  return {
    title:
      texts.length > 0
        ? `The TXT record at ${keyName} is no DKIM key.`
        : `No DKIM key is published at ${keyName}.`,
    detail:
      'Signatures with this selector name this place for their public key: nobody can verify them.',
    fix: keyRecordFix(
      `Publish the public key that your signer shows for selector ${selector}.`,
      keyName,
      type,
    ),
    reference: rfc(6376, '3.6.2.1'),
  };
}

export function revokedKey(place: KeyPlace): Explanation {
  return {
    title: `The DKIM key at ${place.keyName} has been revoked.`,
    detail:
      'Its p= is empty, which tells every receiver that signatures with this selector do not count.',
    fix: keyRecordFix(
      'Where a signer still uses this selector, publish a new key under a new selector such as the one shown and configure the signer for it.',
      nextKeyName(place),
    ),
    reference: rfc(6376, '3.6.1'),
  };
}

/** `reason`: what is wrong with it, where that is known. */
export function unusableKey(
  { selector, keyName }: KeyPlace,
  type: KeyType = 'rsa',
  reason: string | null = null,
): Explanation {
  return {
    title: `The DKIM key record at ${keyName} cannot be used.`,
    detail: `Receivers cannot read a key out of it${reason === null ? '' : `: ${reason}`}. Often a part is missing, a quotation mark or space is inside the key, or the type (k=) is another.`,
    fix: keyRecordFix(
      `Replace the record by the one that your signer shows for selector ${selector}, in one piece.`,
      keyName,
      type,
    ),
    reference: rfc(6376, '3.6.1'),
  };
}

/** RFC 8301 §3.2: verifiers must refuse it. */
export function weakKey(place: KeyPlace, bits: number | null): Explanation {
  return {
    title: `The DKIM key at ${place.keyName} has only ${bits ?? 'too few'} bits, so receivers do not accept its signatures.`,
    detail:
      'A key of fewer than 1024 bits can be broken by anyone with a little money; verifiers must not accept it.',
    fix: keyRecordFix(NEW_KEY, nextKeyName(place)),
    reference: rfc(8301, '3.2'),
  };
}
