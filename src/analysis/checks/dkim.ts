/** The check `dkim`: at least one signature of the message is valid. */

import { addressDomain } from '../../lib/domain-names.ts';
import { formatDuration } from '../../lib/durations.ts';
import {
  type Check,
  type Context,
  type Finding,
  type Fix,
  fail,
  pass,
  rfc,
  skipped,
  unknown,
  warn,
} from '../check.ts';
import { explainFailure, keyRecordFix } from '../dkim/failures.ts';
import { repairedKeyRecord } from '../dkim/key.ts';
import {
  type DkimOutcome,
  type DkimSignature,
  ownFirst,
  PUBLIC_SIGNATURES,
  signatureEvidence,
} from '../dkim/outcome.ts';
import { MAX_SIGNATURES } from '../dkim/signature.ts';
import { dkimResult } from '../dkim/verify.ts';
import { parseTagList } from '../dns/tag-list.ts';

/** RFC 6376, with the rules of RFC 8301 on algorithms and key lengths; results as in RFC 8601 §2.7.1. */
export const dkim: Check = {
  id: 'dkim',
  category: 'authentication',
  points: 10,
  label: 'DKIM signature',
  issueTitle: 'No DKIM signature that all receivers accept',
  reference: rfc(6376),
  publicEvidence: { ...PUBLIC_SIGNATURES },
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

// What a valid signature departs from the standard in, and what exactly to change for it.

interface DkimFlaw {
  /** The end of a sentence, without a full stop. */
  text: string;
  /** Receivers that go by the standard do not accept such a signature. */
  isRefused: boolean;
  fix: Fix;
}

/** RFC 6376 §3.5 lets verifiers ignore what was signed in the future; clocks differ by less. */
const FAR_AHEAD_MS = 60 * 60_000;

/** The gravest first. `receivedAt` in milliseconds. */
function flawsOf(signature: DkimSignature, receivedAt: number): DkimFlaw[] {
  const flaws = signature.warnings.map((warning) => flawOf(warning, signature, receivedAt));
  return flaws.sort((a, b) => Number(b.isRefused) - Number(a.isRefused));
}

function flawOf(warning: string, signature: DkimSignature, receivedAt: number): DkimFlaw {
  if (warning === 'signed-in-the-future') return ahead(signature, receivedAt);
  if (warning.startsWith('key-')) return keyFlaw(warning, signature);
  const tag = /^missing-(\w+)$/.exec(warning)?.[1];
  const known = FIELD_FLAWS[warning];
  const [text, fix] = tag
    ? [`the required tag ${tag}= is missing`, `write the tag ${tag}=`]
    : (known ?? [warning, 'write its DKIM-Signature field as RFC 6376 has it']);
  return {
    text,
    isRefused: tag !== undefined || REFUSED.has(warning),
    fix: { text: `Configure the signer of ${signature.domain} to ${fix}.` },
  };
}

/** What is wrong in the DKIM-Signature field, and what to configure the signer to. */
const FIELD_FLAWS: Record<string, [text: string, fix: string]> = {
  'tag-syntax': [
    'the tags of the DKIM-Signature field are not well formed',
    'write each tag once, its name in lower case, with one semicolon between two, and t=, x= and l= as plain numbers',
  ],
  'invalid-v': ['its version is not v=1', 'write v=1'],
  'query-method': ['its q= names no known way to the key', 'leave q= out or write q=dns/txt'],
  'identity-domain': [
    'the domain of i= is not at or below d=, or the key forbids subdomains (t=s)',
    'leave i= out or write the domain of d= in it',
  ],
  'invalid-expiration': [
    'its x= is not later than its t=',
    'leave x= out or set it at least seven days after t=',
  ],
};

/** RFC 6376 §6.1.1: such a field must be ignored. */
const REFUSED = new Set(['invalid-v', 'query-method', 'identity-domain']);

function ahead({ signedAt, domain }: DkimSignature, receivedAt: number): DkimFlaw {
  const early = (signedAt ?? receivedAt) - receivedAt;
  const by = formatDuration(early);
  return {
    text: `its time of signing (t=) lies ${by} in the future`,
    isRefused: early >= FAR_AHEAD_MS,
    fix: {
      text: `Set the clock of the machine that signs for ${domain}, which is ${by} ahead, and keep it right by NTP.`,
    },
  };
}

/** A fault of the key record is fixed in the key record. */
function keyFlaw(warning: string, { keyName, keyRecord, keyType }: DkimSignature): DkimFlaw {
  const { text, fix } = KEY_FLAWS[warning] ?? KEY_SYNTAX;
  const value = repairedKeyRecord(keyRecord ?? '', keyType ?? 'rsa');
  return {
    text,
    isRefused: isRefusedKey(warning, keyRecord ?? ''),
    fix: {
      text: `${fix} in the key record at ${keyName}.`,
      record: { type: 'TXT', name: keyName, value },
    },
  };
}

/** A record of another version is discarded (§3.6.1), as is a key of another type than declared. */
function isRefusedKey(warning: string, record: string): boolean {
  if (warning === 'key-v-syntax') return parseTagList(record).get('v') !== 'DKIM1';
  return warning === 'key-type-inferred';
}

const KEY_SYNTAX = {
  text: 'the tags of the key record are not well formed',
  fix: 'Write each tag once, with one semicolon between two,',
};

const KEY_FLAWS: Record<string, { text: string; fix: string }> = {
  'key-type-inferred': {
    text: 'the key record does not declare its type',
    fix: 'Write k=ed25519',
  },
  'key-v-syntax': {
    text: 'the key record does not begin with v=DKIM1',
    fix: 'Write v=DKIM1 at the very beginning',
  },
};
