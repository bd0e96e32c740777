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
import type { DkimOutcome, DkimSignature } from './dkim-outcome.ts';
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
    const evidence = signatureEvidence(outcome);
    if (outcome.result === null)
      return skipped(
        'The DKIM signatures were not verified.',
        'Their keys are in the DNS, and nothing may be asked in the offline mode.',
      );
    if (outcome.result === 'none') return unsigned(context, evidence);
    const signature = ownFirst(context, outcome.signatures).find(
      ({ result }) => result === outcome.result,
    );
    // Every result but `none` is that of a signature, unless all of them were left out.
    if (!signature) return allIgnored(outcome, evidence);
    if (outcome.result === 'temperror')
      return unknown(
        'Your DKIM signature could not be verified.',
        `Whether it is valid is unknown: ${signature.reason}.`,
        evidence,
      );
    if (outcome.result !== 'pass') return fail({ ...explainFailure(signature), evidence });
    return passed(outcome.signatures, signature, evidence);
  },
};

function unsigned(context: Context, evidence: Finding['evidence']): Finding {
  const domain = addressDomain(context.message.from[0]?.address ?? '') ?? 'example.com';
  return fail({
    title: 'Your message has no DKIM signature.',
    detail:
      'Without a signature receivers cannot tell your mail from a forgery once it has been forwarded. Gmail, Yahoo and Microsoft ask bulk senders for one.',
    fix: {
      text: `Switch on DKIM signing for ${domain} in your mail server or sending service, and publish the key that it shows, here for a selector named s1.`,
      record: {
        type: 'TXT',
        name: `s1._domainkey.${domain}`,
        value: 'v=DKIM1; k=rsa; p=<the public key in base64>',
      },
    },
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

function passed(
  all: DkimSignature[],
  signature: DkimSignature,
  evidence: Finding['evidence'],
): Finding {
  const passing = all.filter(({ result }) => result === 'pass');
  if (passing.every(({ warnings }) => warnings.length > 0))
    return warn({
      title: `The DKIM signature of ${signature.domain} is valid, but not every receiver will accept it.`,
      detail: `It departs from the standard in what lenient receivers overlook: ${signature.warnings.map(wordsFor).join('; ')}.`,
      fix: `Correct this in the configuration of the signer, or in the key record at ${signature.keyName}.`,
      evidence,
    });
  const others = all.length - passing.length;
  const note = others === 0 ? '' : ` ${others} of the ${all.length} signatures looked at did not.`;
  return pass(
    `Your message has a valid DKIM signature of ${signature.domain}.`,
    `The signature by ${signature.keyName} verifies.${note}`,
    evidence,
  );
}

const WARNING_WORDS: Record<string, string> = {
  'tag-syntax': 'the tags of the DKIM-Signature field are not well formed',
  'invalid-v': 'its version is not v=1',
  'query-method': 'its q= names no known way to the key',
  'identity-domain': 'the domain of i= is not at or below d=, or the key forbids subdomains (t=s)',
  'invalid-expiration': 'its x= is not later than its t=',
  'key-syntax': 'the tags of the key record are not well formed',
  'key-v-syntax': 'the key record does not begin with v=DKIM1',
  'key-type-inferred': 'the key record does not declare its type (k=ed25519)',
  'signed-in-the-future':
    'its time of signing lies in the future: the clock of the signer is ahead',
};

function wordsFor(warning: string): string {
  if (warning.startsWith('missing-')) return `the required tag ${warning.slice(8)}= is missing`;
  return WARNING_WORDS[warning] ?? warning;
}
