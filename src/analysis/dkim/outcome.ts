/** What the verification of a message's DKIM signatures found: the shapes that its checks share. */

import type { DKIMVerifyResult } from 'mailauth';
import { isoTime } from '../../lib/clock.ts';
import { addressDomain, organizationalDomain } from '../../lib/domain-names.ts';
import type { Context, Json } from '../check.ts';
import type { PublicEvidence } from '../public-evidence.ts';
import type { AuthResult } from '../result.ts';

/** The one thing that keeps a signature from counting. */
export type DkimCause =
  | 'body_changed'
  | 'header_changed'
  | 'wrong_key'
  /** Does not verify; with this algorithm it cannot be told whether key or header is to blame. */
  | 'bad_signature'
  | 'expired'
  | 'no_key'
  | 'revoked'
  | 'unusable_key'
  | 'weak_key'
  | 'sha1'
  | 'malformed'
  | 'dns_failure';

export interface DkimSignature {
  /** mailauth's id of the signature, the SHA-256 of its value; `signature-3` where it has none. */
  id: string;
  /** `d=` in lower case; empty where it is missing, as are selector and algorithm. */
  domain: string;
  selector: string;
  /** `i=`; `@d` where it is not given (RFC 6376 §3.5). */
  identity: string;
  /** `a=` in lower case: `rsa-sha256`. */
  algorithm: string;
  /** Header and body, `simple/simple` where not given (RFC 6376 §3.5). */
  canonicalization: string;
  /** The length of the published key; null where there is none that can be read. */
  bits: number | null;
  /** null where it was not verified, as in the offline mode. */
  result: AuthResult | null;
  cause: DkimCause | null;
  /** The cause in words, without a final stop; null for `pass`. */
  reason: string | null;
  /** The names that `h=` lists, in lower case, once for each time that they are listed. */
  headers: string[];
  /** `l=` in octets. */
  bodyLengthLimit: number | null;
  /** Octets of the body that `l=` leaves unsigned; null without `l=`, or where it leaves none. */
  underSized: number | null;
  /** Milliseconds since 1970. */
  signedAt: number | null;
  expiresAt: number | null;
  /** `x=` was past when the message was received. */
  expired: boolean;
  /** The key record has `t=y`. */
  testing: boolean;
  /** Where the key is published: `s1._domainkey.example.com`. */
  keyName: string;
  /** The text of the key record; null where there is none or it was not asked for. */
  keyRecord: string | null;
  /** `rsa`, `ed25519` or what else the record says; null as for `bits`. */
  keyType: string | null;
  /** What a strict verifier would not accept, in mailauth's words, and `signed-in-the-future`. */
  warnings: string[];
}

export interface DkimOutcome {
  /** RFC 8601 §2.7.1; null is "not asked". */
  result: AuthResult | null;
  /** Why it is not `pass`, without a final stop. */
  reason: string | null;
  /** In the order of the message, the ignored ones left out. */
  signatures: DkimSignature[];
  verified: DKIMVerifyResult | null;
  /** How many signatures were not looked at because the message has more than the limit. */
  ignored: number;
}

// The signatures of a message as the evidence of a finding, and which of them a finding is about.

/** One line for each signature, in the order of the message, and how many were left out. */
export function signatureEvidence(outcome: DkimOutcome): { [key: string]: Json } {
  const evidence: { [key: string]: Json } = { signatures: outcome.signatures.map(toJson) };
  if (outcome.ignored > 0) evidence.signatures_not_looked_at = outcome.ignored;
  return evidence;
}

function toJson(signature: DkimSignature): Json {
  const line: { [key: string]: Json } = {
    domain: signature.domain,
    selector: signature.selector,
    algorithm: signature.algorithm,
    bits: signature.bits,
    result: signature.result,
    reason: signature.reason,
  };
  if (signature.expiresAt !== null) line.expires = isoTime(signature.expiresAt);
  if (signature.bodyLengthLimit !== null) line.body_length_limit = signature.bodyLengthLimit;
  if (signature.warnings.length > 0) line.warnings = signature.warnings;
  return line;
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

/** Whether a signature is the From domain's own: by organisational domain, whatever DMARC asks for. */
export function isOwnSignature(context: Context, signature: DkimSignature): boolean {
  const from = addressDomain(context.message.from[0]?.address ?? '');
  if (from === null || signature.domain === '') return false;
  return (
    (organizationalDomain(from) ?? from) ===
    (organizationalDomain(signature.domain) ?? signature.domain)
  );
}

/** Those of the From domain first, otherwise in the order of the message. */
export function ownFirst(context: Context, signatures: DkimSignature[]): DkimSignature[] {
  const own = signatures.filter((signature) => isOwnSignature(context, signature));
  return [...own, ...signatures.filter((signature) => !own.includes(signature))];
}
