/** The check `dkim_alignment`: does a valid signature align with the From domain? */

import {
  type Check,
  type Context,
  type Finding,
  fail,
  offline,
  pass,
  rfc,
  skipped,
  unknown,
} from '../check.ts';
import { alsoRepaired, type Explanation, explainRepair, keyRecordFix } from '../dkim/failures.ts';
import {
  type DkimOutcome,
  type DkimSignature,
  hasOwnKey,
  PUBLIC_SIGNATURES,
  rsaFirst,
  signatureEvidence,
} from '../dkim/outcome.ts';
import { dkimResult } from '../dkim/verify.ts';
import { type DmarcDiscovery, dmarcDiscovery } from '../dmarc/discovery.ts';
import { type Alignment, alignmentOf, alignsWithRecord } from '../dmarc/evaluate.ts';
import { separatedByPsd } from '../dmarc/organization.ts';
import { dmarcFix, repairedRecord, withTag } from '../dmarc/record.ts';
import { explainChangedCopy, explainForwarderSignature } from '../forwarding/explain.ts';
import { signingFix } from '../sending-services/signing-steps.ts';
import { dmarcFixUnlessProposed } from './dmarc-policy.ts';

/** RFC 9989 §4.4.1: `d=` of any valid signature, relaxed, or strict if the record has `adkim=s`. */
export const dkimAlignment: Check = {
  id: 'dkim_alignment',
  category: 'authentication',
  points: 3,
  label: 'DKIM alignment',
  issueTitle: 'DKIM is not aligned with the From domain',
  reference: rfc(9989, '4.4.1'),
  dependsOn: ['dkim'],
  publicEvidence: { from_domain: 'shown', mode: 'shown', aligned: 'shown', ...PUBLIC_SIGNATURES },
  async run(context) {
    const outcome = await context.fact(dkimResult);
    const discovery = await context.fact(dmarcDiscovery);
    const notComparable = preconditionFinding(outcome, discovery);
    if (notComparable) return notComparable;
    const passing = outcome.signatures.filter(({ result }) => result === 'pass');
    // If none is valid, compare all: the finding then says which would count once fixed.
    const compared = passing.length > 0 ? passing : outcome.signatures;
    const domains = [...new Set(compared.map(({ domain }) => domain))];
    const alignments = await Promise.all(
      domains.map((domain) => alignmentOf(context, domain, 'dkim')),
    );
    const finding = await evaluate(context, outcome, discovery, alignments);
    const evidence = {
      from_domain: discovery.fromDomain,
      mode: alignments[0]?.mode ?? 'relaxed',
      aligned: alignments.flatMap(({ domain, aligned }) => (aligned ? [domain] : [])),
      ...signatureEvidence(outcome),
    };
    return { ...finding, evidence };
  },
};

function preconditionFinding(outcome: DkimOutcome, discovery: DmarcDiscovery): Finding | null {
  const { result, reason } = outcome;
  if (result === null) return offline('DKIM alignment was not checked.');
  if (discovery.status === 'no_author' || discovery.fromDomain === null)
    return skipped(
      'DKIM alignment was not checked.',
      discovery.reason ?? 'The From field has no domain.',
    );
  if (result === 'temperror')
    return unknown(
      'Could not determine DKIM alignment.',
      `Could not verify any signature: ${reason}.`,
    );
  if (outcome.signatures.length === 0)
    return skipped('DKIM alignment was not checked.', 'Your message has no DKIM signature.');
  return null;
}

/** A fact: the broken signature that this check reports; undefined if it reports something else. */
export async function reportedSignature(context: Context): Promise<DkimSignature | undefined> {
  const outcome = await context.fact(dkimResult);
  if (outcome.result !== 'pass') return undefined;
  const passing = outcome.signatures.filter(({ result }) => result === 'pass');
  const alignments = await Promise.all(
    passing.map(({ domain }) => alignmentOf(context, domain, 'dkim')),
  );
  return alignments.some(({ aligned }) => aligned !== false)
    ? undefined
    : alignedFailure(context, outcome);
}

async function evaluate(
  context: Context,
  outcome: DkimOutcome,
  discovery: DmarcDiscovery,
  alignments: Alignment[],
): Promise<Finding> {
  const from = discovery.fromDomain ?? '';
  const aligned = alignments.find((alignment) => alignment.aligned);
  if (aligned)
    return pass(
      'Your DKIM signature is aligned with the From domain.',
      `The signature by ${aligned.domain} aligns with ${from} (${aligned.mode} alignment).`,
    );
  if (alignments.some((alignment) => alignment.aligned === null))
    return unknown(
      'Could not determine DKIM alignment.',
      'The DMARC record of the From domain sets the alignment mode, but its DNS lookup failed.',
    );
  const broken = await alignedFailure(context, outcome);
  if (broken?.result === 'temperror')
    return unknown(
      'Could not determine DKIM alignment.',
      `Could not verify the signature by ${broken.domain}: ${broken.reason}.`,
    );
  if (broken) {
    const changed = await explainChangedCopy(context, broken);
    const finding = fail(
      explainBrokenSignature(changed ?? explainRepair(broken), from, alignments),
    );
    return changed ? finding : { ...finding, alsoFixes: alsoRepaired(broken) };
  }
  const signers = alignments.map(({ domain }) => domain ?? '');
  const forwarder = explainForwarderSignature(context, signers, from);
  if (forwarder) return fail(forwarder);
  const finding = fail(await explainUnaligned(context, discovery, from, alignments));
  // The new signature is then the one that the other checks evaluate.
  return hasOwnKey(context, outcome.signatures)
    ? finding
    : { ...finding, alsoFixes: ['dkim', 'dkim_key'] };
}

/** A signature by an aligned domain that does not verify: the one to fix. With RSA, if there are several. */
async function alignedFailure(
  context: Context,
  { signatures }: DkimOutcome,
): Promise<DkimSignature | undefined> {
  const failing = signatures.filter(({ result }) => result !== 'pass');
  const comparisons = await Promise.all(
    failing.map(({ domain }) => alignmentOf(context, domain, 'dkim')),
  );
  const aligned = failing.filter((_, index) => comparisons[index]?.aligned);
  return aligned.find(({ result }) => result === 'temperror') ?? rsaFirst(aligned)[0];
}

function explainBrokenSignature(
  explanation: Explanation,
  from: string,
  alignments: Alignment[],
): Explanation {
  const others = alignments.map(({ domain }) => domain).join(', ');
  return {
    ...explanation,
    detail: `${explanation.detail} The valid signature is by ${others}, which DMARC does not count for ${from}.`,
  };
}

async function explainUnaligned(
  context: Context,
  discovery: DmarcDiscovery,
  from: string,
  alignments: Alignment[],
): Promise<Explanation> {
  const [first] = alignments;
  const signer = first?.domain ?? '';
  const strict = first?.mode === 'strict';
  const { record, recordDomain } = discovery;
  const explanation = {
    title: `Your message is signed by ${alignments.map(({ domain }) => domain).join(' and ')}, not by ${from}.`,
    detail: strict
      ? 'The signature is valid, but DMARC does not count it. Your DMARC record has adkim=s: the signing domain (d=) must be exactly the From domain.'
      : 'The signature is valid, but DMARC does not count it. The signing domain (d=) must belong to the same organization as the From domain.',
  };
  if (strict && record !== null && recordDomain !== null) {
    const relaxed = withTag(repairedRecord(record), 'adkim', 'r');
    if (await alignsWithRecord(context, signer, relaxed)) {
      const text = `Sign with d=${from}, or publish the DMARC record with adkim=r so that ${signer} counts too.`;
      const fix = await dmarcFixUnlessProposed(context, dmarcFix(text, recordDomain, relaxed));
      return { ...explanation, fix };
    }
  }
  const separated = await separatedByPsd(context, signer);
  if (separated)
    return {
      ...explanation,
      detail: `The signature is valid, but DMARC does not count it. ${separated.why}`,
      fix: await dmarcFixUnlessProposed(context, separated.fix),
    };
  return {
    ...explanation,
    fix: await signingFix(
      context,
      from,
      keyRecordFix(
        `In the service that signs as ${signer}, set up signing with your own domain (often called domain authentication or custom DKIM). Publish the key that it shows. The record shown here assumes the selector s1. After that, the service signs with d=${from}.`,
        `s1._domainkey.${from}`,
      ),
    ),
  };
}
