/** Says of a DKIM key that is missing, revoked, unreadable or too weak what to publish in its place. */

import { type Fix, type Reference, rfc } from '../check.ts';
import type { DkimSignature } from './dkim-outcome.ts';

/** All of a finding but its status. */
export interface Explanation {
  title: string;
  detail: string;
  fix: Fix | string;
  reference?: Reference;
}

export type Explain = (signature: DkimSignature) => Explanation;

/** Who signed, for sentences. */
export const signer = ({ domain }: DkimSignature): string => domain || 'an unnamed domain';

/** The type of key that the signature's algorithm needs. */
export const keyTypeOf = ({ algorithm }: DkimSignature): 'rsa' | 'ed25519' =>
  algorithm.startsWith('ed25519') ? 'ed25519' : 'rsa';

/** A record to publish; the key in it is what the signer shows, which cannot be known here. */
export function keyRecordFix(text: string, keyName: string, type: 'rsa' | 'ed25519' = 'rsa'): Fix {
  const value = `v=DKIM1; k=${type}; p=<the public key in base64>`;
  return { text, record: { type: 'TXT', name: keyName, value } };
}

/** A place for a new key beside the old one, which must stay while mail signed by it is under way. */
export function nextKeyName({ selector, domain }: DkimSignature): string {
  return `${selector}-2._domainkey.${domain}`;
}

export const noKey: Explain = (signature) => ({
  title: `No DKIM key is published at ${signature.keyName}.`,
  detail:
    'The signature names this place for its public key, and there is no TXT record, so nobody can verify it.',
  fix: keyRecordFix(
    `Publish the public key that your signer shows for selector ${signature.selector} of ${signature.domain}.`,
    signature.keyName,
    keyTypeOf(signature),
  ),
  reference: rfc(6376, '3.6.2.1'),
});

export const revoked: Explain = (signature) => ({
  title: `The DKIM key at ${signature.keyName} has been revoked.`,
  detail:
    'The record is there with an empty p=, which tells every receiver that signatures by this key no longer count. The signer still uses it.',
  fix: keyRecordFix(
    'Configure the signer to use a selector whose key is in force, or publish a new key under a new selector such as the one shown.',
    nextKeyName(signature),
  ),
  reference: rfc(6376, '3.6.1'),
});

export const unusableKey: Explain = (signature) => ({
  title: `The DKIM key record at ${signature.keyName} cannot be used.`,
  detail: `Receivers cannot read the key out of the record: ${signature.reason ?? 'it is malformed'}. Often a part is missing, a quotation mark or space is inside the key, or the type (k=) is another.`,
  fix: keyRecordFix(
    `Replace the record by the one that your signer shows for selector ${signature.selector}, in one piece.`,
    signature.keyName,
    keyTypeOf(signature),
  ),
  reference: rfc(6376, '3.6.1'),
});

export const weakKey: Explain = (signature) => ({
  title: `The DKIM key at ${signature.keyName} has only ${signature.bits ?? 'too few'} bits, so receivers do not accept its signatures.`,
  detail:
    'A key of fewer than 1024 bits can be broken by anyone with a little money; verifiers must not accept it.',
  fix: keyRecordFix(
    'Make a new RSA key of 2048 bits, publish it under a new selector such as the one shown, then configure the signer for it.',
    nextKeyName(signature),
  ),
  reference: rfc(8301, '3.2'),
});

export const sha1: Explain = (signature) => ({
  title: `The message is signed with SHA-1 (${signature.algorithm}), which receivers must not accept.`,
  detail:
    'SHA-1 has been broken; since RFC 8301 verifiers must not take such a signature as valid. The key itself can stay.',
  fix: `Configure the signer of ${signer(signature)} for a=rsa-sha256.`,
  reference: rfc(8301, '3.1'),
});
