/** What a valid signature departs from the standard in, and what exactly to change for it. */

import { formatDuration } from '../../lib/durations.ts';
import type { Fix } from '../check.ts';
import { repairedKeyRecord } from './dkim-key-record.ts';
import type { DkimSignature } from './dkim-outcome.ts';
import { parseTagList } from './tag-list.ts';

export interface DkimFlaw {
  /** The end of a sentence, without a full stop. */
  text: string;
  /** Receivers that go by the standard do not accept such a signature. */
  isRefused: boolean;
  fix: Fix;
}

/** RFC 6376 §3.5 lets verifiers ignore what was signed in the future; clocks differ by less. */
const FAR_AHEAD_MS = 60 * 60_000;

/** The gravest first. `receivedAt` in milliseconds. */
export function flawsOf(signature: DkimSignature, receivedAt: number): DkimFlaw[] {
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

/** What is wrong in the key record is put right in it. */
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
