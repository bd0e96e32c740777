/** The check `dkim_key`: is the key of the signature strong, valid and not in test mode? */

import {
  type Check,
  type Context,
  type Finding,
  fail,
  offline,
  rfc,
  skipped,
  unknown,
  warn,
} from '../check.ts';
import { explainFailure, nextKeyName } from '../dkim/failures.ts';
import {
  addRsaFix,
  DUAL_SIGNING,
  evaluateKeyStrength,
  MIN_RSA_BITS,
  strongKey,
} from '../dkim/key.ts';
import {
  type DkimCause,
  type DkimSignature,
  fromDomainFirst,
  isEd25519,
  isFromDomainSignature,
  PUBLIC_SIGNATURES,
  signatureEvidence,
} from '../dkim/outcome.ts';
import { dkimResult } from '../dkim/verify.ts';
import { reliesOnEd25519 } from '../dmarc/evaluate.ts';
import { serviceKeyFix } from '../sending-services/signing-steps.ts';
import { reportedSignature } from './dkim-alignment.ts';

/**
 * Evaluates the From domain's own signatures, or all if there are none; the worst counts. If only Ed25519 signatures are
 * valid, one of them is reported.
 */
export const dkimKey: Check = {
  id: 'dkim_key',
  category: 'authentication',
  points: 3,
  label: 'DKIM key',
  issueTitle: 'The DKIM key is weak, revoked or not widely accepted',
  reference: rfc(8301, '3.2'),
  // A key that fails here makes the signature fail too.
  fixedBy: [['dkim']],
  publicEvidence: { only_ed25519: 'shown', ...PUBLIC_SIGNATURES },
  async run(context) {
    const outcome = await context.fact(dkimResult);
    if (outcome.signatures.length === 0)
      return {
        ...skipped('The DKIM key was not checked.', 'Your message has no DKIM signature.'),
        dependsOn: ['dkim'],
      };
    if (outcome.result === null) return offline('The DKIM key was not checked.');
    const ownSignatures = outcome.signatures.filter((signature) =>
      isFromDomainSignature(context, signature),
    );
    const relevant = ownSignatures.length > 0 ? ownSignatures : outcome.signatures;
    const isOnlyBasis = await context.fact(reliesOnEd25519);
    const reported = await context.fact(reportedSignature);
    const signatures = { relevant, isOnlyBasis, reported };
    const unseen = unseenSignature(context, outcome.signatures);
    const finding = unseen ? evaluateKey(unseen, signatures) : worstFinding(signatures);
    const evidence = { ...signatureEvidence(outcome), ...finding.evidence };
    const { fix: general } = finding;
    // The fix proposes a new key beside the one of this signature.
    const replaced = relevant.find((signature) => nextKeyName(signature) === general?.record?.name);
    if (!general || !replaced) return { ...finding, evidence };
    const fix = await serviceKeyFix(context, replaced, general);
    return { ...finding, fix, evidence };
  },
};

/** A valid Ed25519 signature, if there is no other: most providers see no DKIM then, which matters more than any key. */
function unseenSignature(context: Context, signatures: DkimSignature[]): DkimSignature | undefined {
  const valid = signatures.filter(({ result }) => result === 'pass');
  const isOpen = signatures.some(({ result }) => result === 'temperror');
  return valid.every(isEd25519) && !isOpen ? fromDomainFirst(context, valid)[0] : undefined;
}

interface Signatures {
  relevant: DkimSignature[];
  isOnlyBasis: boolean;
  /** The one that `dkim_alignment` reports: its repair fixes the key too, so that is not a second problem. */
  reported: DkimSignature | undefined;
}

const SEVERITY: Finding['status'][] = ['fail', 'warn', 'error', 'pass', 'skipped'];

function worstFinding(signatures: Signatures): Finding {
  const findings = signatures.relevant.map((signature): Finding => {
    const finding = evaluateKey(signature, signatures);
    // That providers do not verify Ed25519 is no flaw of the key.
    return finding.evidence?.only_ed25519 ? finding : { ...finding, about: signature.domain };
  });
  for (const status of SEVERITY) {
    const finding = findings.find((candidate) => candidate.status === status);
    if (finding) return finding;
  }
  throw new Error('no signature to evaluate');
}

function evaluateKey(signature: DkimSignature, signatures: Signatures): Finding {
  const { keyName, keyType, bits, cause } = signature;
  if (signature.algorithm === 'rsa-sha1') return rejectedKey(signature, 'sha1', signatures);
  if (cause === 'revoked') return rejectedKey(signature, 'revoked', signatures);
  if (cause === 'dns_failure')
    return unknown(
      'Could not look up the DKIM key.',
      `The signature could not be verified: ${signature.reason}.`,
    );
  if (bits === null || (keyType !== 'rsa' && keyType !== 'ed25519'))
    return {
      ...skipped(
        'The DKIM key was not checked.',
        `There is no usable key at ${keyName}. See the finding "DKIM signature".`,
      ),
      dependsOn: signature === signatures.reported ? ['dkim', 'dkim_alignment'] : ['dkim'],
    };
  if (keyType === 'rsa' && bits < MIN_RSA_BITS)
    return rejectedKey(signature, 'weak_key', signatures);
  const { selector, testing, keyRecord } = signature;
  const key = { selector, keyName, type: keyType, bits, testing, record: keyRecord ?? '' };
  return evaluateKeyStrength(key, () => evaluateEd25519(signature, signatures));
}

/** A key or algorithm that verifiers must not accept; `dkim` may fail for the same cause. */
function rejectedKey(
  signature: DkimSignature,
  cause: DkimCause,
  { reported }: Signatures,
): Finding {
  const finding = fail(explainFailure({ ...signature, cause }));
  if (signature.cause !== cause) return finding;
  return { ...finding, dependsOn: signature === reported ? ['dkim', 'dkim_alignment'] : ['dkim'] };
}

/**
 * An RSA signature next to the Ed25519 one counts if it is valid, or if both are invalid: the cause
 * that broke both says nothing about the key.
 */
function evaluateEd25519(
  signature: DkimSignature,
  { relevant, isOnlyBasis, reported }: Signatures,
): Finding {
  const { result, domain } = signature;
  const rsaSignatures = relevant.filter(({ algorithm }) => algorithm === 'rsa-sha256');
  const isUsable = (rsa: DkimSignature) =>
    rsa.result === 'pass' ||
    (result !== 'pass' && rsa.keyType === 'rsa' && (rsa.bits ?? 0) >= MIN_RSA_BITS);
  if (rsaSignatures.some(isUsable))
    return strongKey(
      signature,
      'It is an Ed25519 key. Mailbox providers that do not verify Ed25519 can use the RSA signature.',
    );
  const unverified = rsaSignatures.find((rsa) => rsa.result === 'temperror');
  if (unverified)
    return unknown(
      'Could not determine whether the RSA signature is valid.',
      `The RSA signature could not be verified: ${unverified.reason}.`,
    );
  const broken = rsaSignatures.find((rsa) => rsa.domain === domain) ?? rsaSignatures[0];
  // Its repair adds an RSA signature.
  if (result !== 'pass')
    return { ...warn(explainOnlyEd25519(signature)), dependsOn: ['dkim', 'dkim_alignment'] };
  const explanation = broken ? explainBrokenRsa(broken) : explainOnlyEd25519(signature);
  const evidence = { only_ed25519: true };
  const dependsOn = broken && broken === reported ? ['dkim_alignment'] : undefined;
  if (!isOnlyBasis) return { ...warn({ ...explanation, evidence }), dependsOn };
  const detail = `${explanation.detail} SPF does not pass for the From domain either, so DMARC cannot pass at Gmail and Microsoft.`;
  return {
    ...fail({ ...explanation, detail, evidence }),
    dependsOn,
    // A flaw of the Ed25519 signature does not matter beside a valid RSA signature, but not the reverse.
    alsoFixes: ['dkim'],
    fixedBy: [['spf', 'spf_alignment']],
    statusWhenFixed: 'warn',
  };
}

const explainOnlyEd25519 = (signature: DkimSignature) => ({
  title: 'Your message is signed only with Ed25519, which large mailbox providers do not verify.',
  detail: 'To them, your message has no valid signature. The Ed25519 signature itself is fine.',
  fix: addRsaFix(signature),
  reference: DUAL_SIGNING,
});

function explainBrokenRsa(broken: DkimSignature) {
  return {
    title:
      'Only the Ed25519 signature of your message is valid. Large mailbox providers do not verify Ed25519.',
    detail: `To them, your message has no valid signature. The RSA signature with the key at ${broken.keyName} does not count: ${broken.reason}.`,
    fix: explainFailure(broken).fix,
    reference: DUAL_SIGNING,
  };
}
