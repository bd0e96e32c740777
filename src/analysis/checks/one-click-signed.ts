/** `one_click_signed`: nobody on the way can put in or change where the unsubscribe button leads. */

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
import { type DkimSignature, PUBLIC_SIGNATURES, signatureEvidence } from '../dkim/outcome.ts';
import { dkimResult } from '../dkim/verify.ts';
import { dmarcDiscovery } from '../dmarc/discovery.ts';
import { alignmentOf } from '../dmarc/evaluate.ts';
import { unlessMarketing } from '../kind.ts';
import { fields, type Message } from '../mime/message.ts';
import { coverageGaps } from './dkim-coverage.ts';

const NOT_CHECKED = 'It was not looked at whether one-click unsubscribe is signed.';
const NOT_KNOWN = 'It is not known whether one-click unsubscribe is signed.';

const NAMES = new Map([
  ['list-unsubscribe', 'List-Unsubscribe'],
  ['list-unsubscribe-post', 'List-Unsubscribe-Post'],
]);

/** RFC 8058 §4: one valid signature has both fields in its h=; here it must be aligned too. */
export const oneClickSigned: Check = {
  id: 'one_click_signed',
  category: 'compliance',
  points: 2,
  label: 'One-click unsubscribe signed',
  issueTitle: 'One-click unsubscribe is not covered by DKIM',
  reference: rfc(8058, '4'),
  dependsOn: ['one_click', 'dkim', 'dkim_alignment'],
  publicEvidence: { ...PUBLIC_SIGNATURES },
  async run(context) {
    const other = unlessMarketing(context, NOT_CHECKED);
    if (other) return other;
    if ([...NAMES.keys()].some((name) => fields(context.message, name).length === 0))
      return skipped(NOT_CHECKED, 'Not both fields are there to be signed: see one_click.');
    const outcome = await context.fact(dkimResult);
    const evidence = signatureEvidence(outcome);
    if (outcome.result === null)
      return skipped(NOT_CHECKED, 'Nothing may be asked in the offline mode.');
    const { status, fromDomain } = await context.fact(dmarcDiscovery);
    if (status === 'no_author' || fromDomain === null)
      return skipped(NOT_CHECKED, 'There is no From domain for a signature to belong to.');
    if (outcome.result === 'temperror')
      return unknown(NOT_KNOWN, `No signature could be verified: ${outcome.reason}.`, evidence);
    const valid = outcome.signatures.filter(({ result }) => result === 'pass');
    const finding =
      valid.length === 0
        ? withoutValid(context.message, outcome.signatures)
        : await judge(context, valid);
    return { ...finding, evidence };
  },
};

/** The fields that a signature leaves out; each must be in h= as often as it is in the message. */
function unsigned(message: Message, { headers }: DkimSignature): string[] {
  return [...NAMES.keys()].filter(
    (name) => headers.filter((signed) => signed === name).length < fields(message, name).length,
  );
}

/** What `dkim` tells of; this one would pass with it, where a signature names the fields. */
function withoutValid(message: Message, signatures: DkimSignature[]): Finding {
  const sameCause =
    signatures.length === 0 || signatures.some((each) => unsigned(message, each).length === 0);
  return { ...unsignedFields([...NAMES.keys()]), dependsOn: sameCause ? ['dkim'] : undefined };
}

async function judge(context: Context, valid: DkimSignature[]): Promise<Finding> {
  const { message } = context;
  const alignments = await Promise.all(
    valid.map(({ domain }) => alignmentOf(context, domain, 'dkim')),
  );
  const covering = (aligned: boolean | null) =>
    valid.find(
      (each, index) =>
        alignments[index]?.aligned === aligned && unsigned(message, each).length === 0,
    );
  const good = covering(true);
  if (good)
    return pass(
      `Your one-click unsubscribe is signed by ${good.domain}.`,
      'Both fields are under a valid DKIM signature that belongs to the From domain.',
    );
  if (covering(null))
    return unknown(NOT_KNOWN, 'Whether the signature belongs to the From domain is not known.');
  const own = valid.filter((_, index) => alignments[index]?.aligned);
  if (own.length === 0)
    return {
      ...unsignedFields([...NAMES.keys()]),
      // What `dkim_alignment` tells of.
      dependsOn: covering(false) ? ['dkim_alignment'] : undefined,
    };
  const missing = own
    .map((each) => unsigned(message, each))
    .toSorted((a, b) => a.length - b.length)[0]!;
  const gaps = await context.fact(coverageGaps);
  // The signer's list of fields is too short on the whole: `dkim_coverage` tells of these too.
  const sameCause = gaps?.basic && missing.every((name) => gaps.missing.includes(name));
  return { ...unsignedFields(missing), dependsOn: sameCause ? ['dkim_coverage'] : undefined };
}

function unsignedFields(missing: string[]): Finding {
  const names = missing.map((name) => NAMES.get(name)).join(' and ');
  return fail({
    title: `No valid signature of your own covers ${names}.`,
    detail:
      'Anyone on the way could then change where the unsubscribe button leads, so mail programs offer one-click unsubscribe only where both fields are signed.',
    fix: 'Configure the DKIM signer of your own domain to sign List-Unsubscribe and List-Unsubscribe-Post, that is to list both in h=; they must be added before the message is signed.',
  });
}
