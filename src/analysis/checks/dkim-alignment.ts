/** The check `dkim_alignment`: a valid signature is by the domain that the reader sees in From. */

import { organizationalDomain } from '../../lib/domain-names.ts';
import {
  type Check,
  type Context,
  type Finding,
  fail,
  pass,
  rfc,
  skipped,
  unknown,
} from '../check.ts';
import { type Explanation, explainFailure, keyRecordFix } from '../dkim/failures.ts';
import {
  type DkimOutcome,
  type DkimSignature,
  PUBLIC_SIGNATURES,
  signatureEvidence,
} from '../dkim/outcome.ts';
import { dkimResult } from '../dkim/verify.ts';
import { type DmarcDiscovery, dmarcDiscovery } from '../dmarc/discovery.ts';
import { type Alignment, alignmentOf } from '../dmarc/evaluate.ts';

/** RFC 9989 §4.4.1: `d=` of any one valid signature, relaxed or by the record's `adkim` strict. */
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
    const without = withoutSignature(outcome, discovery);
    if (without) return without;
    const passing = outcome.signatures.filter(({ result }) => result === 'pass');
    // Where none is valid, this tells what would count once they are.
    const compared = passing.length > 0 ? passing : outcome.signatures;
    const domains = [...new Set(compared.map(({ domain }) => domain))];
    const alignments = await Promise.all(
      domains.map((domain) => alignmentOf(context, domain, 'dkim')),
    );
    const finding = await judge(context, outcome, discovery, alignments);
    const evidence = {
      from_domain: discovery.fromDomain,
      mode: alignments[0]?.mode ?? 'relaxed',
      aligned: alignments.flatMap(({ domain, aligned }) => (aligned ? [domain] : [])),
      ...signatureEvidence(outcome),
    };
    return { ...finding, evidence };
  },
};

/** The findings for which there is nothing to compare. */
function withoutSignature(outcome: DkimOutcome, discovery: DmarcDiscovery): Finding | null {
  const { result, reason } = outcome;
  if (result === null)
    return skipped('DKIM alignment was not checked.', 'Nothing may be asked in the offline mode.');
  if (discovery.status === 'no_author' || discovery.fromDomain === null)
    return skipped(
      'There is no From domain to align with.',
      discovery.reason ?? 'The From field names no domain.',
    );
  if (result === 'temperror')
    return unknown('DKIM alignment is not known.', `No signature could be verified: ${reason}.`);
  if (outcome.signatures.length === 0)
    return skipped('There is no signature to compare.', 'The message is not signed.');
  return null;
}

async function judge(
  context: Context,
  outcome: DkimOutcome,
  discovery: DmarcDiscovery,
  alignments: Alignment[],
): Promise<Finding> {
  const from = discovery.fromDomain ?? '';
  const aligned = alignments.find((each) => each.aligned);
  if (aligned)
    return pass(
      'Your DKIM signature is aligned with the From domain.',
      `The signature by ${aligned.domain} counts for ${from} (${aligned.mode} alignment).`,
    );
  if (alignments.some((each) => each.aligned === null))
    return unknown(
      'DKIM alignment is not known.',
      'The DMARC record of the From domain, which says how to compare, could not be looked up.',
    );
  const own = await alignedFailure(context, outcome);
  if (own?.result === 'temperror')
    return unknown(
      'DKIM alignment is not known.',
      `It is not known whether it verifies: ${own.reason}.`,
    );
  if (own) return fail(ownIsBroken(own, from, alignments));
  return fail(unaligned(discovery, from, alignments));
}

/** A signature by an aligned domain that does not verify: then that one is to be mended. */
async function alignedFailure(
  context: Context,
  { signatures }: DkimOutcome,
): Promise<DkimSignature | undefined> {
  const failing = signatures.filter(({ result }) => result !== 'pass');
  const comparisons = await Promise.all(
    failing.map(({ domain }) => alignmentOf(context, domain, 'dkim')),
  );
  const own = failing.filter((_, index) => comparisons[index]?.aligned);
  return own.find(({ result }) => result === 'temperror') ?? own[0];
}

function ownIsBroken(own: DkimSignature, from: string, alignments: Alignment[]): Explanation {
  const explanation = explainFailure(own);
  const others = alignments.map(({ domain }) => domain).join(', ');
  return {
    ...explanation,
    detail: `${explanation.detail} The valid signature is by ${others}, which does not count for ${from} in DMARC.`,
  };
}

function unaligned(discovery: DmarcDiscovery, from: string, alignments: Alignment[]): Explanation {
  const [first] = alignments;
  const signer = first?.domain ?? '';
  const strict = first?.mode === 'strict';
  const related = organizationalDomain(signer) === organizationalDomain(from);
  const { record, recordDomain } = discovery;
  const explanation = {
    title: `The message is signed by ${alignments.map(({ domain }) => domain).join(' and ')}, not by ${from}.`,
    detail: `The signature is valid, but DMARC counts it only where its domain (d=) belongs to the domain in From${strict ? '; your record asks for the very same name (adkim=s)' : ''}.`,
  };
  if (strict && related && record !== null && recordDomain !== null)
    return {
      ...explanation,
      fix: {
        text: `Sign with d=${from}, or publish the DMARC record without adkim=s, so that ${signer} counts too.`,
        record: {
          type: 'TXT',
          name: `_dmarc.${recordDomain}`,
          value: record.replace(/\s*adkim\s*=\s*s\s*;?/i, '').replace(/;\s*$/, ''),
        },
      },
    };
  return {
    ...explanation,
    fix: keyRecordFix(
      `In the service that signs as ${signer}, set up signing by your own domain (often called domain authentication or custom DKIM), and publish the key that it shows, here for a selector named s1. Its signatures then carry d=${from}.`,
      `s1._domainkey.${from}`,
    ),
  };
}
