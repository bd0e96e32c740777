/** Says for each cause that keeps a DKIM signature from counting what happened and what to change. */

import { isoTime } from '../../lib/clock.ts';
import { type Fix, type Reference, rfc } from '../check.ts';
import type { DkimCause, DkimSignature } from './outcome.ts';

// Says of a DKIM key that is missing, revoked, unreadable or too weak what to publish in its place.

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

type KeyType = 'rsa' | 'ed25519';

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

type Explain = (signature: DkimSignature) => Explanation;

/** Who signed, for sentences. */
const signer = ({ domain }: DkimSignature): string => domain || 'an unnamed domain';

/** The type of key that the signature's algorithm needs. */
const keyTypeOf = ({ algorithm }: DkimSignature): KeyType =>
  algorithm.startsWith('ed25519') ? 'ed25519' : 'rsa';

/** For a signature that failed, not for one whose key could not be looked up. */
export function explainFailure(signature: DkimSignature): Explanation {
  const explain = signature.cause ? EXPLANATIONS[signature.cause] : undefined;
  return (explain ?? malformed)(signature);
}

const bodyChanged: Explain = (signature) => ({
  title: `The body was changed after it was signed: the signature of ${signer(signature)} no longer matches it.`,
  detail:
    'The signature carries a hash of the body (bh=), and the body that arrived has another one. Something between the signer and here rewrote it: a footer or disclaimer, link tracking, a virus scanner, or a gateway that changes the encoding.',
  fix: `Sign as the last step before the message leaves: move footers, link rewriting and scanning before the signer of ${signer(signature)}, or turn them off for signed mail. Sign with c=relaxed/relaxed so that changes of white space do no harm.`,
  reference: rfc(6376, '6.1.3'),
});

const headerChanged: Explain = (signature) => ({
  title: `A signed header field was changed after the message was signed by ${signer(signature)}.`,
  detail: `The published key is the right one and the body is intact, but one of the signed fields (${signature.headers.join(', ')}) is not as it was signed. A gateway that rewrites From, Subject or Message-ID does this.`,
  fix: `Sign as the last step before the message leaves, after everything that rewrites header fields, and use c=relaxed/relaxed. Leave fields that relays change (Received, Return-Path) out of h=.`,
  reference: rfc(6376, '6.1.3'),
});

const wrongKey: Explain = (signature) => ({
  title: `The message was signed with another key than the one published at ${signature.keyName}.`,
  detail:
    'The public key in the DNS does not belong to the private key that made the signature. This happens when a key was changed on one side only.',
  fix: keyRecordFix(
    `Publish the public key that belongs to the key your signer uses now, or configure the signer for the key of selector ${signature.selector}.`,
    signature.keyName,
    keyTypeOf(signature),
  ),
  reference: rfc(6376, '6.1.3'),
});

const badSignature: Explain = (signature) => ({
  title: `The signature of ${signer(signature)} does not verify: a signed header field was changed, or the published key is the wrong one.`,
  detail: `The body is intact. An ${signature.algorithm} signature does not show which of the two it is.`,
  fix: keyRecordFix(
    `Compare the record with the public key that your signer shows for selector ${signature.selector}. If they are the same, something rewrites header fields after signing: sign as the last step.`,
    signature.keyName,
    keyTypeOf(signature),
  ),
  reference: rfc(6376, '6.1.3'),
});

const expired: Explain = (signature) => ({
  title: `The signature of ${signer(signature)} had expired before the message was received.`,
  detail: `The signature is otherwise right, but it says that it is valid only until ${signature.expiresAt === null ? 'then' : isoTime(signature.expiresAt)} (x=). The message was under way for longer than that, or the signer's clock is wrong.`,
  fix: 'Configure the signer to leave x= out or to set it at least seven days after signing, as long as mail may wait in a queue, and check the clock of the signing machine.',
  reference: rfc(6376, '3.5'),
});

const malformed: Explain = (signature) => ({
  title: `The DKIM-Signature field of ${signer(signature)} cannot be processed.`,
  detail: `Receivers ignore it: ${signature.reason ?? 'it is malformed'}.`,
  fix: 'Configure the signer to write v=1, a=rsa-sha256, d=, s=, h= with at least From, bh= and b=, and c=relaxed/relaxed.',
  reference: rfc(6376, '3.5'),
});

const sha1: Explain = (signature) => ({
  title: `The message is signed with SHA-1 (${signature.algorithm}), which receivers must not accept.`,
  detail:
    'SHA-1 has been broken; since RFC 8301 verifiers must not take such a signature as valid. The key itself can stay.',
  fix: `Configure the signer of ${signer(signature)} for a=rsa-sha256.`,
  reference: rfc(8301, '3.1'),
});

const EXPLANATIONS: Partial<Record<DkimCause, Explain>> = {
  body_changed: bodyChanged,
  header_changed: headerChanged,
  wrong_key: wrongKey,
  bad_signature: badSignature,
  expired,
  no_key: (signature) => noKey(signature, keyTypeOf(signature)),
  revoked: revokedKey,
  unusable_key: (signature) => unusableKey(signature, keyTypeOf(signature), signature.reason),
  weak_key: (signature) => weakKey(signature, signature.bits),
  sha1,
  malformed,
};
