/** The check `dkim_coverage`: the signature covers the fields that matter and the whole body. */

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
  ownFirst,
  PUBLIC_SIGNATURES,
  signatureEvidence,
} from '../dkim/outcome.ts';
import { dkimResult } from '../dkim/verify.ts';
import { fields, type Message } from '../mime/message.ts';

/** What a reader or a reply depends on (RFC 6376 §5.4.1); each only where the message has it. */
const BASIC = ['from', 'to', 'subject', 'date', 'message-id'];

/** RFC 8058 §4 wants both signed. */
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

/** Judges the valid signature that covers most; without a valid one, all of them. */
export const dkimCoverage: Check = {
  id: 'dkim_coverage',
  category: 'authentication',
  points: 2,
  label: 'DKIM coverage',
  issueTitle: 'A DKIM signature leaves parts out, or has expired',
  reference: rfc(6376, '5.4.1'),
  publicEvidence: { ...PUBLIC_SIGNATURES, judged: 'shown', signed: 'shown', not_signed: 'shown' },
  async run(context) {
    const gaps = await context.fact(coverageGaps);
    if (!gaps)
      return skipped(
        'There is nothing that a signature covers.',
        'The message has no DKIM signature.',
      );
    return judge(gaps, await context.fact(dkimResult));
  },
};

/** The signature that is judged, and the fields in the message that it leaves out. */
interface CoverageGaps {
  signature: DkimSignature;
  /** Names in lower case. */
  missing: string[];
  /** One of them is not about unsubscribing: the signer's list is too short on the whole. */
  basic: boolean;
}

/** A fact: ask for it by `context.fact(coverageGaps)`. Null without a signature. */
export async function coverageGaps(context: Context): Promise<CoverageGaps | null> {
  const { signatures } = await context.fact(dkimResult);
  const passing = signatures.filter(({ result }) => result === 'pass');
  const candidates = ownFirst(context, passing.length > 0 ? passing : signatures).map(
    (signature) => ({ signature, missing: leftOut(signature, context.message) }),
  );
  const best = candidates.toSorted((a, b) => a.missing.length - b.missing.length)[0];
  return best ? { ...best, basic: best.missing.some((name) => BASIC.includes(name)) } : null;
}

function leftOut(signature: DkimSignature, message: Message): string[] {
  return [...BASIC, ...UNSUBSCRIBE].filter(
    (name) => fields(message, name).length > 0 && !signature.headers.includes(name),
  );
}

function judge({ signature, missing, basic }: CoverageGaps, outcome: DkimOutcome): Finding {
  const evidence = {
    ...signatureEvidence(outcome),
    judged: signature.keyName,
    signed: signature.headers,
    not_signed: missing,
  };
  if (missing.length > 0) {
    // In marketing mail it is `one_click_signed` that tells of the unsubscribe fields alone.
    const dependsOn = !basic && outcome.result === 'pass' ? ['one_click_signed'] : undefined;
    return { ...unsignedFields(signature, missing, basic), evidence, dependsOn };
  }
  if (signature.bodyLengthLimit !== null) return { ...limitedBody(signature), evidence };
  const expired = outcome.signatures.find((each) => each.cause === 'expired');
  // Where no signature is valid, it is the check `dkim` that names the expiry.
  if (expired && outcome.result === 'pass') return { ...expiredBeside(expired), evidence };
  return pass(
    'Your DKIM signature covers everything that matters.',
    'It signs the whole body and every field that receivers look for.',
    evidence,
  );
}

/** Without the List-Unsubscribe fields it is half as bad: `one_click_signed` counts that too. */
function unsignedFields(signature: DkimSignature, missing: string[], basic: boolean): Finding {
  const names = missing.map((name) => NAMES[name]).join(', ');
  return (basic ? fail : warn)({
    title: `Your DKIM signature does not cover ${names}.`,
    detail:
      'What is not signed can be changed or put in by anyone on the way while the signature stays valid.',
    fix: `Configure the signer of ${signature.domain} to sign ${names} too, that is to list ${missing.length === 1 ? 'it' : 'them'} in h=.`,
  });
}

function limitedBody({ domain, bodyLengthLimit, underSized }: DkimSignature): Finding {
  const rest = underSized ? ` Here ${underSized} octets at the end are not signed.` : '';
  return warn({
    title: `Your DKIM signature covers only the first ${bodyLengthLimit} octets of the body (l=).`,
    detail: `Anyone can add text after that length, and the signature stays valid. Receivers such as Gmail distrust it.${rest}`,
    fix: `Configure the signer of ${domain} to leave l= out.`,
    reference: rfc(6376, '8.2'),
  });
}

function expiredBeside({ domain, keyName, reason }: DkimSignature): Finding {
  return warn({
    title: `One of the DKIM signatures, of ${domain}, had expired before the message was received.`,
    detail: `The signature by ${keyName} does not count: ${reason}. Another signature is valid.`,
    fix: `Configure the signer of ${domain} to leave x= out or to set it at least seven days after signing.`,
    reference: rfc(6376, '3.5'),
  });
}
