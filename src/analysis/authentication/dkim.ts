/** The check `dkim`: at least one signature of the message is valid. */

import { addressDomain } from '../../lib/domain-names.ts';
import {
  type Check,
  type Context,
  type Finding,
  fail,
  pass,
  rfc,
  skipped,
  unknown,
  warn,
} from '../check.ts';
import { ownFirst, signatureEvidence } from './dkim-evidence.ts';
import { explainFailure } from './dkim-failures.ts';
import { flawsOf } from './dkim-flaws.ts';
import { keyRecordFix } from './dkim-key-failures.ts';
import type { DkimOutcome, DkimSignature } from './dkim-outcome.ts';
import { MAX_SIGNATURES } from './signature-fields.ts';
import { dkimResult } from './verify-dkim.ts';

/** RFC 6376, with the rules of RFC 8301 on algorithms and key lengths; results as in RFC 8601 §2.7.1. */
export const dkim: Check = {
  id: 'dkim',
  category: 'authentication',
  points: 10,
  label: 'DKIM signature',
  reference: rfc(6376),
  async run(context) {
    const outcome = await context.fact(dkimResult);
    if (outcome.result === null)
      return skipped(
        'The DKIM signatures were not verified.',
        'Their keys are in the DNS, and nothing may be asked in the offline mode.',
      );
    const finding = judge(context, outcome, signatureEvidence(outcome));
    return { ...finding, detail: `${finding.detail}${notLookedAt(outcome)}` };
  },
};

function judge(context: Context, outcome: DkimOutcome, evidence: Finding['evidence']): Finding {
  const { result, signatures } = outcome;
  if (result === 'none') return unsigned(context, evidence);
  const deciding = ownFirst(context, signatures).filter((each) => each.result === result);
  const signature = deciding[0];
  // Every result but `none` is that of a signature, unless all of them were left out.
  if (!signature) return allIgnored(outcome, evidence);
  if (result === 'temperror')
    return unknown(
      'Your DKIM signature could not be verified.',
      `Whether it is valid is unknown: ${signature.reason}.`,
      evidence,
    );
  if (result !== 'pass') return fail({ ...explainFailure(signature), evidence });
  return passed(deciding, signatures.length - deciding.length, context.receivedAt, evidence);
}

function unsigned(context: Context, evidence: Finding['evidence']): Finding {
  const domain = addressDomain(context.message.from[0]?.address ?? '') ?? 'example.com';
  return fail({
    title: 'Your message has no DKIM signature.',
    detail:
      'Without a signature receivers cannot tell your mail from a forgery once it has been forwarded. Gmail, Yahoo and Microsoft ask bulk senders for one.',
    fix: keyRecordFix(
      `Switch on DKIM signing for ${domain} in your mail server or sending service, and publish the key that it shows, here for a selector named s1.`,
      `s1._domainkey.${domain}`,
    ),
    evidence,
  });
}

function allIgnored({ reason }: DkimOutcome, evidence: Finding['evidence']): Finding {
  return fail({
    title: 'None of the DKIM signatures could be looked at.',
    detail: `Receivers set limits like these too: ${reason ?? 'the signatures are too long'}.`,
    fix: 'Configure the signer for one signature of ordinary size (below 8 KiB).',
    evidence,
  });
}

/** A signature that some receivers must refuse is no use where it is the only one. */
function passed(
  passing: DkimSignature[],
  failing: number,
  receivedAt: number,
  evidence: Finding['evidence'],
): Finding {
  const judged = passing.map((signature) => ({ signature, flaws: flawsOf(signature, receivedAt) }));
  const sound = judged.find(({ flaws }) => !flaws.some(({ isRefused }) => isRefused));
  const { signature, flaws } = sound ?? judged[0]!;
  const texts = flaws.map(({ text }) => text).join('; ');
  const fixes = [...new Set(flaws.map(({ fix }) => fix.text))].join(' ');
  if (!sound)
    return warn({
      title: `The DKIM signature of ${signature.domain} is valid, but not every receiver will accept it.`,
      detail: `It departs from the standard in what lenient receivers overlook: ${texts}.`,
      fix: { text: fixes, record: flaws.find(({ fix }) => fix.record)?.fix.record },
      evidence,
    });
  const note =
    flaws.length === 0 ? '' : ` It departs from the standard, though: ${texts}. ${fixes}`;
  const others =
    failing === 0
      ? ''
      : ` ${failing} of the ${passing.length + failing} signatures looked at did not.`;
  return pass(
    `Your message has a valid DKIM signature of ${signature.domain}.`,
    `The signature by ${signature.keyName} verifies.${note}${others}`,
    evidence,
  );
}

/** What passes the limit is told. */
function notLookedAt({ ignored }: DkimOutcome): string {
  if (ignored === 0) return '';
  const what = ignored === 1 ? '1 more signature was' : `${ignored} more signatures were`;
  return ` ${what} not looked at: the limit is ${MAX_SIGNATURES} signatures of at most 8 KiB.`;
}
