/** The check `dkim_coverage`: does the signature cover the important fields and the whole body? */

import {
  type Check,
  type Context,
  type Finding,
  fail,
  pass,
  rfc,
  skipped,
  warn,
} from '../check.ts';
import {
  type DkimOutcome,
  type DkimSignature,
  fromDomainFirst,
  PUBLIC_SIGNATURES,
  signatureEvidence,
} from '../dkim/outcome.ts';
import { dkimResult } from '../dkim/verify.ts';
import { forwarding } from '../forwarding/forwarding.ts';
import { fields, type Message } from '../mime/message.ts';

/** Fields that readers and replies depend on (RFC 6376 §5.4.1), if the message has them. */
const BASIC = ['from', 'to', 'subject', 'date', 'message-id'];

/** RFC 8058 §4 requires both to be signed. */
const UNSUBSCRIBE = ['list-unsubscribe', 'list-unsubscribe-post'];

const NAMES: Record<string, string> = {
  from: 'From',
  to: 'To',
  subject: 'Subject',
  date: 'Date',
  'message-id': 'Message-ID',
  'list-unsubscribe': 'List-Unsubscribe',
  'list-unsubscribe-post': 'List-Unsubscribe-Post',
};

/** Evaluates the valid signature that covers the most; if none is valid, the best of all. */
export const dkimCoverage: Check = {
  id: 'dkim_coverage',
  category: 'authentication',
  points: 2,
  label: 'DKIM coverage',
  issueTitle: 'A DKIM signature is incomplete or has expired',
  reference: rfc(6376, '5.4.1'),
  publicEvidence: { ...PUBLIC_SIGNATURES, judged: 'shown', signed: 'shown', not_signed: 'shown' },
  async run(context) {
    const gaps = await context.fact(coverageGaps);
    if (!gaps)
      return {
        ...skipped('DKIM coverage was not checked.', 'Your message has no DKIM signature.'),
        dependsOn: ['dkim'],
      };
    return { about: gaps.signature.domain, ...evaluate(gaps, await context.fact(dkimResult)) };
  },
};

/** The evaluated signature, and the fields of the message that it does not sign. */
interface CoverageGaps {
  signature: DkimSignature;
  /** Names in lower case. */
  missing: string[];
  /** Whether a basic field is missing: the signer's whole list is then too short. */
  basic: boolean;
}

/** A fact: use `context.fact(coverageGaps)`. Null without a signature. */
export async function coverageGaps(context: Context): Promise<CoverageGaps | null> {
  const { signatures } = await context.fact(dkimResult);
  const passing = signatures.filter(({ result }) => result === 'pass');
  // A list adds its own fields after the author has signed.
  const names = context.fact(forwarding).kind === 'list' ? BASIC : [...BASIC, ...UNSUBSCRIBE];
  const candidates = fromDomainFirst(context, passing.length > 0 ? passing : signatures).map(
    (signature) => ({ signature, missing: unsignedNames(signature, context.message, names) }),
  );
  const best = candidates.toSorted((a, b) => a.missing.length - b.missing.length)[0];
  return best ? { ...best, basic: best.missing.some((name) => BASIC.includes(name)) } : null;
}

function unsignedNames(signature: DkimSignature, message: Message, names: string[]): string[] {
  return names.filter(
    (name) => fields(message, name).length > 0 && !signature.headers.includes(name),
  );
}

function evaluate({ signature, missing, basic }: CoverageGaps, outcome: DkimOutcome): Finding {
  const evidence = {
    ...signatureEvidence(outcome),
    judged: signature.keyName,
    signed: signature.headers,
    not_signed: missing,
  };
  if (missing.length > 0) {
    // In marketing mail, `one_click_signed` reports unsigned unsubscribe fields.
    const dependsOn = !basic && outcome.result === 'pass' ? ['one_click_signed'] : undefined;
    return { ...unsignedFields(signature, missing, basic), evidence, dependsOn };
  }
  if (signature.bodyLengthLimit !== null) return { ...partialBody(signature), evidence };
  const expired = outcome.signatures.find((candidate) => candidate.cause === 'expired');
  // If no signature is valid, the check `dkim` reports the expiry.
  if (expired && outcome.result === 'pass')
    return { ...expiredSignature(expired), evidence, about: expired.domain };
  return pass(
    'Your DKIM signature covers all important parts of the message.',
    'It signs the whole body and every important header field.',
    evidence,
  );
}

/** Only warns if just the List-Unsubscribe fields are missing: `one_click_signed` counts these too. */
function unsignedFields(signature: DkimSignature, missing: string[], basic: boolean): Finding {
  const names = missing.map((name) => NAMES[name]).join(', ');
  return (basic ? fail : warn)({
    title: `Your DKIM signature does not cover ${names}.`,
    detail:
      'Anyone who relays the message can change or add unsigned fields, and the signature stays valid.',
    fix: `Configure the DKIM signer of ${signature.domain} to sign ${names} too: list ${missing.length === 1 ? 'it' : 'them'} in h=.`,
  });
}

function partialBody({
  domain,
  bodyLengthLimit,
  unsignedBodyBytes: underSized,
}: DkimSignature): Finding {
  const unsignedNote = underSized
    ? ` The last ${underSized} bytes of your message are not signed.`
    : '';
  return warn({
    title: `Your DKIM signature covers only the first ${bodyLengthLimit} bytes of the body (l=).`,
    detail: `Anyone can add text after that, and the signature stays valid. Gmail and others distrust such signatures.${unsignedNote}`,
    fix: `Configure the DKIM signer of ${domain} to omit l=.`,
    reference: rfc(6376, '8.2'),
  });
}

function expiredSignature({ domain, keyName, reason }: DkimSignature): Finding {
  return warn({
    title: `A DKIM signature by ${domain} expired before the message arrived.`,
    detail: `The signature with the key at ${keyName} does not count: ${reason}. Another signature is valid.`,
    fix: `Configure the DKIM signer of ${domain} to omit x= or to set it at least seven days after signing.`,
    reference: rfc(6376, '3.5'),
  });
}
