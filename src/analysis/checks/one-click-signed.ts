/** `one_click_signed`: DKIM protects the one-click unsubscribe fields from changes on the delivery path. */

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
import { type DkimSignature, PUBLIC_SIGNATURES, signatureEvidence } from '../dkim/outcome.ts';
import { dkimResult } from '../dkim/verify.ts';
import { dmarcDiscovery } from '../dmarc/discovery.ts';
import { alignmentOf } from '../dmarc/evaluate.ts';
import { fromDomain } from '../dns/names.ts';
import { skipForwarded } from '../forwarding/explain.ts';
import { skipUnlessMarketing } from '../kind.ts';
import { fields, type Message } from '../mime/message.ts';
import { coverageGaps } from './dkim-coverage.ts';

const NOT_CHECKED = 'The signature of one-click unsubscribe was not checked.';
const UNKNOWN = 'Could not determine whether one-click unsubscribe is signed.';

const FIELD_NAMES = new Map([
  ['list-unsubscribe', 'List-Unsubscribe'],
  ['list-unsubscribe-post', 'List-Unsubscribe-Post'],
]);

/** RFC 8058 §4: one valid signature must list both fields in h=. This check also requires alignment. */
export const oneClickSigned: Check = {
  id: 'one_click_signed',
  category: 'compliance',
  points: 2,
  label: 'One-click unsubscribe signature',
  issueTitle: 'One-click unsubscribe is not covered by DKIM',
  reference: rfc(8058, '4'),
  dependsOn: ['one_click', 'dkim', 'dkim_alignment'],
  dependsOnKind: true,
  publicEvidence: { ...PUBLIC_SIGNATURES },
  about: fromDomain,
  async run(context) {
    const skipFinding =
      skipForwarded(context, NOT_CHECKED) ?? skipUnlessMarketing(context, NOT_CHECKED);
    if (skipFinding) return skipFinding;
    if ([...FIELD_NAMES.keys()].some((name) => fields(context.message, name).length === 0))
      return skipped(
        NOT_CHECKED,
        'Your message lacks one of the two fields. See the finding "One-click unsubscribe".',
      );
    const outcome = await context.fact(dkimResult);
    const evidence = signatureEvidence(outcome);
    if (outcome.result === null) return offline(NOT_CHECKED);
    const { status, fromDomain } = await context.fact(dmarcDiscovery);
    if (status === 'no_author' || fromDomain === null)
      return skipped(NOT_CHECKED, 'The From field has no domain to compare with a signature.');
    if (outcome.result === 'temperror')
      return unknown(UNKNOWN, `Could not verify any signature: ${outcome.reason}.`, evidence);
    const valid = outcome.signatures.filter(({ result }) => result === 'pass');
    const finding =
      valid.length === 0
        ? reportNoneValid(context.message, outcome.signatures)
        : await evaluateSignatures(context, valid);
    return { ...finding, evidence };
  },
};

/** The fields that a signature does not cover. h= must list a field as often as it occurs. */
function uncoveredFields(message: Message, { headers }: DkimSignature): string[] {
  return [...FIELD_NAMES.keys()].filter(
    (name) => headers.filter((field) => field === name).length < fields(message, name).length,
  );
}

/** No signature is valid. `dkim` reports the cause, unless every signature omits one of the fields. */
function reportNoneValid(message: Message, signatures: DkimSignature[]): Finding {
  const sameCause =
    signatures.length === 0 ||
    signatures.some((signature) => uncoveredFields(message, signature).length === 0);
  return {
    ...reportUncovered([...FIELD_NAMES.keys()]),
    dependsOn: sameCause ? ['dkim'] : undefined,
  };
}

async function evaluateSignatures(context: Context, valid: DkimSignature[]): Promise<Finding> {
  const { message } = context;
  const alignments = await Promise.all(
    valid.map(({ domain }) => alignmentOf(context, domain, 'dkim')),
  );
  const covering = (aligned: boolean | null) =>
    valid.find(
      (signature, index) =>
        alignments[index]?.aligned === aligned && uncoveredFields(message, signature).length === 0,
    );
  const complete = covering(true);
  if (complete)
    return pass(
      `One-click unsubscribe is signed by ${complete.domain}.`,
      'A valid DKIM signature that is aligned with the From domain covers both fields.',
    );
  if (covering(null))
    return unknown(
      UNKNOWN,
      'Could not determine whether the signature is aligned with the From domain.',
    );
  const aligned = valid.filter((_, index) => alignments[index]?.aligned);
  if (aligned.length === 0)
    return {
      ...reportUncovered([...FIELD_NAMES.keys()]),
      // `dkim_alignment` reports the cause.
      dependsOn: covering(false) ? ['dkim_alignment'] : undefined,
    };
  const missing = aligned
    .map((signature) => uncoveredFields(message, signature))
    .toSorted((a, b) => a.length - b.length)[0]!;
  const gaps = await context.fact(coverageGaps);
  // The signer omits basic fields as well: `dkim_coverage` reports these fields, too.
  const sameCause = gaps?.basic && missing.every((name) => gaps.missing.includes(name));
  return { ...reportUncovered(missing), dependsOn: sameCause ? ['dkim_coverage'] : undefined };
}

function reportUncovered(missing: string[]): Finding {
  const names = missing.map((name) => FIELD_NAMES.get(name)).join(' and ');
  return fail({
    title: `No valid signature from your domain covers ${names}.`,
    detail:
      'Email clients offer one-click unsubscribe only if both fields are signed. Otherwise anyone on the delivery path could change the address.',
    fix: 'Configure DKIM for your own domain to sign List-Unsubscribe and List-Unsubscribe-Post (list both in h=). Add both fields before the message is signed.',
  });
}
