/** The check `dkim_key`: the key behind the signature is strong, in force, and not in test mode. */

import { type Check, type Finding, fail, rfc, skipped, unknown, warn } from '../check.ts';
import { explainFailure } from '../dkim/failures.ts';
import { BOTH, judgeStrength, LEAST_RSA_BITS, rsaBeside, strong } from '../dkim/key.ts';
import {
  type DkimCause,
  type DkimSignature,
  isOwnSignature,
  PUBLIC_SIGNATURES,
  signatureEvidence,
} from '../dkim/outcome.ts';
import { dkimResult } from '../dkim/verify.ts';

/** Judges the From domain's own signatures, or all where there are none of those; the worst counts. */
export const dkimKey: Check = {
  id: 'dkim_key',
  category: 'authentication',
  points: 3,
  label: 'DKIM key',
  issueTitle: 'The DKIM key cannot be used by all receivers',
  reference: rfc(8301, '3.2'),
  // Whatever fails here keeps that signature from passing too.
  curedBy: [['dkim']],
  publicEvidence: { ...PUBLIC_SIGNATURES },
  async run(context) {
    const outcome = await context.fact(dkimResult);
    if (outcome.signatures.length === 0)
      return skipped('There is no DKIM key to look at.', 'The message has no DKIM signature.');
    if (outcome.result === null)
      return skipped(
        'The DKIM key was not looked at.',
        'Nothing may be asked in the offline mode.',
      );
    const own = outcome.signatures.filter((signature) => isOwnSignature(context, signature));
    const judged = own.length > 0 ? own : outcome.signatures;
    const finding = worst(judged, outcome.signatures);
    return { ...finding, evidence: { ...signatureEvidence(outcome), ...finding.evidence } };
  },
};

const SEVERITY: Finding['status'][] = ['fail', 'warn', 'error', 'pass', 'skipped'];

function worst(judged: DkimSignature[], all: DkimSignature[]): Finding {
  const findings = judged.map((signature) => judgeKey(signature, all));
  for (const status of SEVERITY) {
    const finding = findings.find((candidate) => candidate.status === status);
    if (finding) return finding;
  }
  throw new Error('no signature to judge');
}

function judgeKey(signature: DkimSignature, all: DkimSignature[]): Finding {
  const { keyName, keyType, bits, cause } = signature;
  if (signature.algorithm === 'rsa-sha1') return condemned(signature, 'sha1');
  if (cause === 'revoked') return condemned(signature, 'revoked');
  if (cause === 'dns_failure')
    return unknown('The DKIM key could not be looked up.', `It is unknown: ${signature.reason}.`);
  if (bits === null || (keyType !== 'rsa' && keyType !== 'ed25519'))
    return skipped(
      'There is no DKIM key to look at.',
      `No key can be read at ${keyName}, which the check of the signature names.`,
    );
  if (keyType === 'rsa' && bits < LEAST_RSA_BITS) return condemned(signature, 'weak_key');
  const { selector, testing, keyRecord } = signature;
  const key = { selector, keyName, type: keyType, bits, testing, record: keyRecord ?? '' };
  return judgeStrength(key, () => ed25519(signature, all));
}

/** A key or an algorithm that receivers must not accept: it may be what `dkim` fails for too. */
function condemned(signature: DkimSignature, cause: DkimCause): Finding {
  const finding = fail(explainFailure({ ...signature, cause }));
  return signature.cause === cause ? { ...finding, dependsOn: ['dkim'] } : finding;
}

/**
 * An RSA signature beside it counts where it is valid; where the Ed25519 signature is not valid
 * either, its key is none the worse for what has broken both.
 */
function ed25519(signature: DkimSignature, all: DkimSignature[]): Finding {
  const { result, domain } = signature;
  const beside = all.filter(({ algorithm }) => algorithm === 'rsa-sha256');
  const counts = (rsa: DkimSignature) =>
    rsa.result === 'pass' ||
    (result !== 'pass' && rsa.keyType === 'rsa' && (rsa.bits ?? 0) >= LEAST_RSA_BITS);
  if (beside.some(counts))
    return strong(
      signature,
      'It is an Ed25519 key, and there is an RSA signature beside it for receivers that do not know Ed25519.',
    );
  const open = beside.find((rsa) => rsa.result === 'temperror');
  if (open)
    return unknown(
      'Whether there is a valid RSA signature beside the Ed25519 one could not be found out.',
      `It is unknown: ${open.reason}.`,
    );
  const broken = beside.find((rsa) => rsa.domain === domain) ?? beside[0];
  if (result === 'pass' && broken) return warn(alone(broken));
  return warn({
    title: 'Your message is signed with Ed25519 alone, which large receivers do not verify.',
    detail: 'To them the message has no valid signature. The Ed25519 signature itself is fine.',
    fix: rsaBeside(signature),
    reference: BOTH,
  });
}

function alone(broken: DkimSignature) {
  return {
    title:
      'Only the Ed25519 signature of your message is valid, which large receivers do not verify.',
    detail: `To them the message has no valid signature: the RSA signature beside it, by ${broken.keyName}, does not count, because ${broken.reason}.`,
    fix: explainFailure(broken).fix,
    reference: BOTH,
  };
}
