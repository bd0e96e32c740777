/** The check `dkim_key`: the key behind the signature is strong, in force, and not in test mode. */

import { type Check, type Finding, fail, pass, rfc, skipped, unknown, warn } from '../check.ts';
import { isOwnSignature, signatureEvidence } from './dkim-evidence.ts';
import { explainFailure } from './dkim-failures.ts';
import { keyRecordFix, nextKeyName } from './dkim-key-failures.ts';
import type { DkimCause, DkimSignature } from './dkim-outcome.ts';
import { dkimResult } from './verify-dkim.ts';

/** Verifiers must refuse less, RFC 8301 §3.2; the same section asks signers for the second. */
const LEAST_RSA_BITS = 1024;
const GOOD_RSA_BITS = 2048;

/** Judges the From domain's own signatures, or all where there are none of those; the worst counts. */
export const dkimKey: Check = {
  id: 'dkim_key',
  category: 'authentication',
  points: 3,
  label: 'DKIM key',
  reference: rfc(8301, '3.2'),
  // Whatever fails here keeps that signature from passing too.
  curedBy: [['dkim']],
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
  if (signature.testing) return testMode(signature);
  if (keyType === 'ed25519') return ed25519(signature, all);
  if (bits < GOOD_RSA_BITS) return shortKey(signature);
  return pass(
    `Your DKIM key at ${keyName} is strong.`,
    `It is an RSA key of ${bits} bits; 2048 or more are recommended.`,
  );
}

/** A key or an algorithm that receivers must not accept: it may be what `dkim` fails for too. */
function condemned(signature: DkimSignature, cause: DkimCause): Finding {
  const finding = fail(explainFailure({ ...signature, cause }));
  return signature.cause === cause ? { ...finding, dependsOn: ['dkim'] } : finding;
}

function testMode({ keyName, keyRecord }: DkimSignature): Finding {
  const value = (keyRecord ?? '').replace(/;?\s*t\s*=[^;]*/i, '');
  return warn({
    title: `Your DKIM key at ${keyName} says that the domain is only testing DKIM.`,
    detail:
      'The record has the flag t=y. Receivers may treat such mail as if it were not signed at all.',
    fix: {
      text: 'Publish the record without the flag t=y.',
      record: { type: 'TXT', name: keyName, value },
    },
    reference: rfc(6376, '3.6.1'),
  });
}

function shortKey(signature: DkimSignature): Finding {
  return warn({
    title: `Your DKIM key at ${signature.keyName} has ${signature.bits} bits; 2048 are recommended.`,
    detail: 'Receivers still accept RSA keys from 1024 bits on, but signers should use 2048.',
    fix: keyRecordFix(
      'Make a new RSA key of 2048 bits, publish it under a new selector such as the one shown, configure the signer for it, and remove the old record a week later.',
      nextKeyName(signature),
    ),
  });
}

/** RFC 8463 asks signers to sign with both, because few receivers verify Ed25519 yet. */
function ed25519(signature: DkimSignature, all: DkimSignature[]): Finding {
  const hasRsa = all.some(
    ({ keyType, bits, algorithm }) =>
      keyType === 'rsa' && algorithm === 'rsa-sha256' && (bits ?? 0) >= LEAST_RSA_BITS,
  );
  if (hasRsa)
    return pass(
      `Your DKIM key at ${signature.keyName} is strong.`,
      'It is an Ed25519 key, and there is an RSA signature beside it for receivers that do not know Ed25519.',
    );
  return warn({
    title: 'Your message is signed with Ed25519 alone, which large receivers do not verify.',
    detail: 'To them the message has no valid signature. The Ed25519 signature itself is fine.',
    fix: keyRecordFix(
      'Let your signer add an RSA signature of 2048 bits beside the Ed25519 one, with a selector of its own such as the one shown.',
      `rsa._domainkey.${signature.domain}`,
    ),
    reference: rfc(8463, '3'),
  });
}
