/** The check `dkim`: does the message have a valid DKIM signature? */

import { addressDomain } from '../../lib/domain-names.ts';
import { formatDuration } from '../../lib/durations.ts';
import {
  type Check,
  type Context,
  type Finding,
  type Fix,
  fail,
  offline,
  pass,
  rfc,
  skipped,
  unknown,
  warn,
} from '../check.ts';
import { aliasAt } from '../dkim/aliases.ts';
import { alsoRepaired, explainDeadAlias, explainRepair, keyRecordFix } from '../dkim/failures.ts';
import { keyFaults } from '../dkim/key-record.ts';
import {
  type DkimCause,
  type DkimOutcome,
  type DkimSignature,
  fromDomainFirst,
  isFromDomainSignature,
  PUBLIC_SIGNATURES,
  rsaFirst,
  signatureEvidence,
} from '../dkim/outcome.ts';
import { repairedKey } from '../dkim/repair-key.ts';
import { MAX_SIGNATURES } from '../dkim/signature.ts';
import { dkimResult } from '../dkim/verify.ts';
import { explainChangedCopy } from '../forwarding/explain.ts';
import { fields } from '../mime/message.ts';
import { PUBLIC_RECEIVER_RESULT, withReceiverResult } from '../receipt/receiver-result.ts';
import { serviceKeyFix, signingFix } from '../sending-services/signing-steps.ts';

/** RFC 6376, with the rules of RFC 8301 on algorithms and key lengths; results as in RFC 8601 §2.7.1. */
export const dkim: Check = {
  id: 'dkim',
  category: 'authentication',
  points: 10,
  label: 'DKIM signature',
  issueTitle: 'No DKIM signature that all mailbox providers accept',
  reference: rfc(6376),
  publicEvidence: { ...PUBLIC_SIGNATURES, ...PUBLIC_RECEIVER_RESULT },
  async run(context) {
    const outcome = await context.fact(dkimResult);
    if (outcome.result === null) return offline('The DKIM signatures were not verified.');
    const finding = await evaluate(context, outcome, signatureEvidence(outcome));
    return withReceiverResult(context, 'dkim', outcome.result, {
      ...finding,
      detail: `${finding.detail}${ignoredNote(outcome)}`,
    });
  },
};

async function evaluate(
  context: Context,
  outcome: DkimOutcome,
  evidence: Finding['evidence'],
): Promise<Finding> {
  const { result, signatures } = outcome;
  if (result === 'none' && isUnsent(context))
    return skipped(
      'DKIM was not checked.',
      'No mail server has received this file yet, and servers sign a message when they send it.',
    );
  if (result === 'none') return unsignedFinding(context, evidence);
  const deciding = fromDomainFirst(context, signatures).filter(
    (signature) => signature.result === result,
  );
  const signature = result === 'pass' ? deciding[0] : mostUseful(context, deciding);
  // Every result except `none` belongs to a signature, unless all of them were ignored.
  if (!signature) return allIgnoredFinding(outcome, evidence);
  if (result === 'temperror')
    return unknown(
      'Could not verify your DKIM signature.',
      `Reason: ${signature.reason}.`,
      evidence,
    );
  if (result !== 'pass' && outcome.overLimit.count > 0)
    return { ...unknown(...beyondLimit(outcome), evidence), isPermanent: true };
  if (result !== 'pass') {
    const changed = await explainChangedCopy(context, signature);
    if (changed) return fail({ ...changed, fix: asFix(changed.fix), evidence });
    const dead = await deadAlias(context, signature);
    if (dead) return { ...fail({ ...dead, evidence }), alsoFixes: alsoRepaired(signature) };
    const explained = explainRepair(signature);
    const general = asFix(explained.fix);
    const fix = KEY_CAUSES.has(signature.cause)
      ? await serviceKeyFix(context, signature, general)
      : general;
    return { ...fail({ ...explained, fix, evidence }), alsoFixes: alsoRepaired(signature) };
  }
  return validFinding(deciding, signatures.length - deciding.length, context.receivedAt, evidence);
}

/** A record cannot be published beside a CNAME record: its target must get the key. */
async function deadAlias({ resolver }: Context, signature: DkimSignature) {
  const { cause, keyTexts, keyName, domain } = signature;
  const target = cause === 'no_key' && keyTexts.length === 0 && (await aliasAt(resolver, keyName));
  return target ? explainDeadAlias(signature, target, domain) : null;
}

/** A draft, or a copy from a Sent folder. */
const isUnsent = ({ envelope, message }: Context): boolean =>
  envelope.file != null && envelope.client_ip === null && fields(message, 'received').length === 0;

/** The causes for which the key must be published again or replaced. */
const KEY_CAUSES = new Set<DkimCause | null>([
  'no_key',
  'revoked',
  'unusable_key',
  'weak_key',
  'wrong_key',
]);

const asFix = (fix: Fix | string): Fix => (typeof fix === 'string' ? { text: fix } : fix);
/** The broken signature whose repair helps most: of the From domain, and with RSA. */
function mostUseful(context: Context, broken: DkimSignature[]): DkimSignature | undefined {
  const own = broken.filter((signature) => isFromDomainSignature(context, signature));
  return rsaFirst(own.length > 0 ? own : broken)[0];
}

async function unsignedFinding(context: Context, evidence: Finding['evidence']): Promise<Finding> {
  const domain = addressDomain(context.message.from[0]?.address ?? '');
  const finding = {
    title: 'Your message has no DKIM signature.',
    detail:
      'Without one, mailbox providers cannot verify that forwarded mail is yours. Gmail, Yahoo and Microsoft require DKIM from bulk senders.',
    evidence,
  };
  if (domain === null)
    return fail({
      ...finding,
      fix: 'First use an address at your own domain in From. Then turn on DKIM signing for that domain in your mail server or email service.',
    });
  return fail({
    ...finding,
    fix: await signingFix(
      context,
      domain,
      keyRecordFix(
        `Turn on DKIM signing for ${domain} in your mail server or email service. Publish the key that it shows. The record shown here assumes the selector s1.`,
        `s1._domainkey.${domain}`,
      ),
    ),
  });
}

function allIgnoredFinding({ reason }: DkimOutcome, evidence: Finding['evidence']): Finding {
  return fail({
    title: 'None of the DKIM signatures could be checked.',
    detail: `They exceed a limit of this service, and mailbox providers have similar limits: ${reason ?? 'the signatures are too long'}.`,
    fix: 'Configure the DKIM signer to add one signature of less than 8 KB.',
    evidence,
  });
}

/** One of the signatures that were not verified may be valid. */
function beyondLimit({ signatures, overLimit }: DkimOutcome): [title: string, detail: string] {
  const total = signatures.length + overLimit.count;
  return [
    `Only ${signatures.length} of ${total} DKIM signatures were checked, and none of them verifies.`,
    'Signatures by the From domain are checked first, then the newest. Mailbox providers have similar limits, so sign each message once or twice.',
  ];
}

/** Warns if every valid signature has a flaw that strict verifiers reject. */
function validFinding(
  passing: DkimSignature[],
  failing: number,
  receivedAt: number | null,
  evidence: Finding['evidence'],
): Finding {
  const candidates = passing.map((signature) => ({
    signature,
    flaws: flawsOf(signature, receivedAt),
  }));
  const accepted = candidates.find(({ flaws }) => !flaws.some(({ isRejected }) => isRejected));
  const { signature, flaws } = accepted ?? candidates[0]!;
  const texts = flaws.map(({ text }) => text).join('; ');
  const fixes = [...new Set(flaws.map(({ fix }) => fix.text))].join(' ');
  if (!accepted)
    return warn({
      title: `The DKIM signature by ${signature.domain} is valid, but not every mailbox provider accepts it.`,
      detail: `It violates the standard, and strict mailbox providers reject it: ${texts}.`,
      fix: { text: fixes, record: flaws.find(({ fix }) => fix.record)?.fix.record },
      evidence,
    });
  const note = flaws.length === 0 ? '' : ` However, it violates the standard: ${texts}. ${fixes}`;
  const others =
    failing === 0
      ? ''
      : ` ${failing} of the ${passing.length + failing} checked signatures did not verify.`;
  return pass(
    `Your message has a valid DKIM signature by ${signature.domain}.`,
    `The signature verifies with the key at ${signature.keyName}.${note}${others}`,
    evidence,
  );
}

function ignoredNote({ ignoredCount: ignored }: DkimOutcome): string {
  if (ignored === 0) return '';
  const subject = ignored === 1 ? '1 more signature was' : `${ignored} more signatures were`;
  return ` ${subject} not checked: the limit is ${MAX_SIGNATURES} signatures of at most 8 KB.`;
}

// Violations of the standard in a valid signature, and how to fix them.

interface DkimFlaw {
  /** A clause without a final period. */
  text: string;
  /** Verifiers that follow the standard strictly reject the signature. */
  isRejected: boolean;
  fix: Fix;
}

/** RFC 6376 §3.5 lets verifiers ignore signatures from the future; normal clocks differ by less. */
const MAX_CLOCK_SKEW_MS = 60 * 60_000;

/** The most serious first. `receivedAt` in milliseconds. */
function flawsOf(signature: DkimSignature, receivedAt: number | null): DkimFlaw[] {
  const flaws = signature.warnings
    .filter((warning) => !warning.startsWith('key-'))
    .map((warning) => flawOf(warning, signature, receivedAt));
  return [...flaws, ...keyFlaws(signature)].sort(
    (a, b) => Number(b.isRejected) - Number(a.isRejected),
  );
}

function flawOf(warning: string, signature: DkimSignature, receivedAt: number | null): DkimFlaw {
  if (warning === 'signed-in-the-future') return clockFlaw(signature, receivedAt);
  const tag = /^missing-(\w+)$/.exec(warning)?.[1];
  const fieldFlaw = FIELD_FLAWS[warning];
  const [text, fix] = tag
    ? [`the required tag ${tag}= is missing`, `add the tag ${tag}=`]
    : (fieldFlaw ?? [warning, 'write the DKIM-Signature field as RFC 6376 specifies']);
  return {
    text,
    isRejected: tag !== undefined || REJECTED.has(warning),
    fix: { text: `Configure the DKIM signer of ${signature.domain} to ${fix}.` },
  };
}

/** Problems of the DKIM-Signature field, and what the signer must do instead. */
const FIELD_FLAWS: Record<string, [text: string, fix: string]> = {
  'tag-syntax': [
    'the tags of the DKIM-Signature field are malformed',
    'write each tag once, in lower case, separated by one semicolon, with t=, x= and l= as plain numbers',
  ],
  'invalid-v': ['its version is not v=1', 'write v=1'],
  'query-method': ['its q= has an unknown query method', 'omit q= or write q=dns/txt'],
  'identity-domain': [
    'the domain in i= is not the d= domain or a subdomain of it, or the key forbids subdomains (t=s)',
    'omit i= or use the d= domain in it',
  ],
  'invalid-expiration': [
    'its x= is not later than its t=',
    'omit x= or set it at least seven days after t=',
  ],
};

/** RFC 6376 §6.1.1: verifiers must ignore such a field. */
const REJECTED = new Set(['invalid-v', 'query-method', 'identity-domain']);

function clockFlaw({ signedAt, domain }: DkimSignature, receivedAt: number | null): DkimFlaw {
  const aheadMs = signedAt === null || receivedAt === null ? 0 : signedAt - receivedAt;
  const skew = formatDuration(aheadMs);
  return {
    text: `its signing time (t=) is ${skew} in the future`,
    isRejected: aheadMs >= MAX_CLOCK_SKEW_MS,
    fix: {
      text: `Correct the clock of the server that signs for ${domain}: it is ${skew} ahead. Synchronize it with NTP.`,
    },
  };
}

/** Our verifier tolerates them, but strict ones discard the record (RFC 6376 §6.1.2). */
function keyFlaws({ keyName, keyRecord, keyType, bits, warnings }: DkimSignature): DkimFlaw[] {
  const key = { type: keyType ?? 'rsa', bits, revoked: false };
  const faults = keyRecord === null ? [] : keyFaults(keyRecord, key);
  const flaws = faults.map(({ text }) => ({ text: `the key record ${text}`, isRejected: true }));
  if (flaws.length === 0 && warnings.includes('key-syntax'))
    flaws.push({ text: 'the key record has an empty tag (;;)', isRejected: false });
  const value = flaws.length > 0 ? repairedKey([keyRecord!]) : null;
  const fix: Fix =
    value === null
      ? { text: `Publish the key record at ${keyName} again, as your signer shows it.` }
      : {
          text: `Replace the key record at ${keyName} with this one, which has the same key.`,
          record: { type: 'TXT', name: keyName, value },
        };
  return flaws.map((flaw) => ({ ...flaw, fix }));
}
