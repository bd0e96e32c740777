/** The result of verifying a message's DKIM signatures, shared by the DKIM checks. */

import type { DKIMVerifyResult } from 'mailauth';
import { isoTime } from '../../lib/clock.ts';
import { addressDomain, ownerOf } from '../../lib/domain-names.ts';
import type { AuthResult } from '../auth-results.ts';
import type { Context, Json } from '../check.ts';
import type { PublicEvidence } from '../public-evidence.ts';

/** Why a signature does not pass. */
export type DkimCause =
  | 'body_changed'
  | 'header_changed'
  | 'wrong_key'
  /** The algorithm does not show whether the key is wrong or the header was changed. */
  | 'bad_signature'
  | 'expired'
  | 'no_key'
  /** Several TXT records at the name of the key. */
  | 'several_keys'
  | 'revoked'
  | 'unusable_key'
  | 'weak_key'
  | 'sha1'
  | 'malformed'
  | 'dns_failure';

export interface DkimSignature {
  /** mailauth's id of the signature (the SHA-256 of its value), or `signature-3` without one. */
  id: string;
  /** `d=` in lower case. Empty if missing, as are `selector` and `algorithm`. */
  domain: string;
  selector: string;
  /** `i=`, or `@d` without one (RFC 6376 §3.5). */
  identity: string;
  /** `a=` in lower case: `rsa-sha256`. */
  algorithm: string;
  /** Header and body; `simple/simple` by default (RFC 6376 §3.5). */
  canonicalization: string;
  /** The length of the published key; null without a readable key. */
  bits: number | null;
  /** null if the signature was not verified, as in offline mode. */
  result: AuthResult | null;
  cause: DkimCause | null;
  /** The cause in plain language, without a final period; null for `pass`. */
  reason: string | null;
  /** The names in `h=`, in lower case, with repetitions. */
  headers: string[];
  /** `l=` in bytes. */
  bodyLengthLimit: number | null;
  /** Bytes of the body that `l=` leaves unsigned; null if the whole body is signed. */
  unsignedBodyBytes: number | null;
  /** Milliseconds since the Unix epoch. */
  signedAt: number | null;
  expiresAt: number | null;
  /** `x=` had passed when the message was received. */
  expired: boolean;
  /** The key record has `t=y`. */
  testing: boolean;
  /** The DNS name of the key: `s1._domainkey.example.com`. */
  keyName: string;
  /** The text of the key record; null if there is none or it was not looked up. */
  keyRecord: string | null;
  /** All TXT records at `keyName`, of which `keyRecord` is the first. */
  keyTexts: string[];
  /** `rsa`, `ed25519` or another type from the record; null without a key record. */
  keyType: string | null;
  /** What a strict verifier would not accept: mailauth's codes, and `signed-in-the-future`. */
  warnings: string[];
}

export interface DkimOutcome {
  /** RFC 8601 §2.7.1; null if not verified. */
  result: AuthResult | null;
  /** Why the result is not `pass`, without a final period. */
  reason: string | null;
  /** In the order of the message, without the ignored ones. */
  signatures: DkimSignature[];
  mailauthResult: DKIMVerifyResult | null;
  /** How many signatures were not verified because they exceed the limits. */
  ignoredCount: number;
  /**
   * Of those, the ones beyond the number of signatures that are verified, any of which may be valid.
   * `isOwn`: at least one is by the From domain.
   */
  overLimit: { count: number; isOwn: boolean };
}

/** One entry for each signature, in the order of the message, and how many were ignored. */
export function signatureEvidence(outcome: DkimOutcome): { [key: string]: Json } {
  const evidence: { [key: string]: Json } = { signatures: outcome.signatures.map(toJson) };
  if (outcome.ignoredCount > 0) evidence.signatures_not_looked_at = outcome.ignoredCount;
  return evidence;
}

function toJson(signature: DkimSignature): Json {
  const entry: { [key: string]: Json } = {
    domain: signature.domain,
    selector: signature.selector,
    algorithm: signature.algorithm,
    bits: signature.bits,
    result: signature.result,
    reason: signature.reason,
  };
  if (signature.expiresAt !== null) entry.expires = isoTime(signature.expiresAt);
  if (signature.bodyLengthLimit !== null) entry.body_length_limit = signature.bodyLengthLimit;
  if (signature.warnings.length > 0) entry.warnings = signature.warnings;
  return entry;
}

/** The public part of `signatureEvidence`. */
export const PUBLIC_SIGNATURES: PublicEvidence = {
  signatures: {
    domain: 'shown',
    selector: 'shown',
    algorithm: 'shown',
    bits: 'shown',
    result: 'shown',
    reason: 'shown',
    expires: 'shown',
    body_length_limit: 'shown',
    warnings: 'shown',
  },
  signatures_not_looked_at: 'shown',
};

/** Whether signature and From have the same organizational domain, whatever alignment DMARC requires. */
export const isFromDomainSignature = (context: Context, { domain }: DkimSignature): boolean =>
  isOfFromDomain(context, domain);

/** Whether a signing domain and From have the same organizational domain. */
export function isOfFromDomain({ message }: Context, domain: string): boolean {
  const from = addressDomain(message.from[0]?.address ?? '');
  if (from === null || domain === '') return false;
  return from === domain || ownerOf(from) === ownerOf(domain);
}

/** Whether the From domain's organization signs with a key that `dkim_key` evaluates; the signature may be broken. */
export const hasOwnKey = (context: Context, signatures: DkimSignature[]): boolean =>
  signatures.some(
    (signature) =>
      isFromDomainSignature(context, signature) &&
      (signature.bits !== null || signature.cause === 'revoked' || signature.cause === 'sha1'),
  );

/** RSA first, because large mailbox providers do not verify Ed25519. */
export const rsaFirst = (signatures: DkimSignature[]): DkimSignature[] =>
  signatures.toSorted((a, b) => Number(isEd25519(a)) - Number(isEd25519(b)));

export const isEd25519 = ({ algorithm }: DkimSignature): boolean => algorithm === 'ed25519-sha256';

/** Signatures of the From domain first, otherwise in the order of the message. */
export function fromDomainFirst(context: Context, signatures: DkimSignature[]): DkimSignature[] {
  const ownSignatures = signatures.filter((signature) => isFromDomainSignature(context, signature));
  return [
    ...ownSignatures,
    ...signatures.filter((signature) => !ownSignatures.includes(signature)),
  ];
}
