/** The signatures of a message as the evidence of a finding, and which of them a finding is about. */

import { isoTime } from '../../lib/clock.ts';
import { addressDomain, organizationalDomain } from '../../lib/domain-names.ts';
import type { Context, Json } from '../check.ts';
import type { DkimOutcome, DkimSignature } from './dkim-outcome.ts';

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
