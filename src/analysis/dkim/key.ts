/** Evaluates DKIM keys (RFC 8301, RFC 8463). */

import { type Finding, type Fix, pass, rfc, warn } from '../check.ts';
import { parseColonList } from '../dns/tag-list.ts';
import {
  type KeyLocation,
  keyRecordFix,
  NEW_KEY_ADVICE,
  nextKeyName,
  siblingName,
} from './failures.ts';

/** The record without the flag `t=y`; keeps all other flags. */
function withoutTestFlag(record: string): string {
  const parts = record.split(';').map((part) => part.trim());
  return parts
    .flatMap((part) => (/^t\s*=/i.test(part) ? withoutTestValue(part) : part || []))
    .join('; ');
}

function withoutTestValue(part: string): string | [] {
  const flags = parseColonList(part.slice(part.indexOf('=') + 1)).filter((flag) => flag !== 'y');
  return flags.length > 0 ? `t=${flags.join(':')}` : [];
}

/** RFC 8301 §3.2: verifiers must not accept shorter keys. */
export const MIN_RSA_BITS = 1024;
/** RFC 8301 §3.2: signers should use at least this length. */
const RECOMMENDED_RSA_BITS = 2048;

interface AcceptedKey extends KeyLocation {
  /** `ed25519`, or `rsa` with at least `MIN_RSA_BITS`. */
  type: string;
  bits: number;
  testing: boolean;
  /** The text of the key record. */
  record: string;
}

/** Evaluates an accepted key. The finding for an Ed25519 key depends on other keys. */
export function evaluateKeyStrength(key: AcceptedKey, evaluateEd25519: () => Finding): Finding {
  const ed25519Finding = key.type === 'ed25519' ? evaluateEd25519() : null;
  // That large mailbox providers do not use the key matters more than its test mode.
  if (ed25519Finding && ed25519Finding.status !== 'pass') return ed25519Finding;
  if (key.testing) return inTestMode(key);
  if (ed25519Finding) return ed25519Finding;
  if (key.bits < RECOMMENDED_RSA_BITS) return shortKey(key);
  return strongKey(key, `It is an RSA key with ${key.bits} bits. The recommended minimum is 2048.`);
}

export function strongKey({ keyName }: KeyLocation, detail: string): Finding {
  return pass(`The DKIM key at ${keyName} is strong.`, detail);
}

function inTestMode({ keyName, record }: AcceptedKey): Finding {
  return warn({
    title: `The DKIM key at ${keyName} is in test mode (t=y).`,
    detail: 'Mailbox providers may treat mail signed with it as unsigned.',
    fix: {
      text: 'Publish the record without the t=y flag.',
      record: { type: 'TXT', name: keyName, value: withoutTestFlag(record) },
    },
    reference: rfc(6376, '3.6.1'),
  });
}

function shortKey(key: AcceptedKey): Finding {
  return warn({
    title: `The DKIM key at ${key.keyName} has ${key.bits} bits; 2048 are recommended.`,
    detail:
      'Mailbox providers still accept RSA keys with at least 1024 bits, but signers should use 2048.',
    fix: keyRecordFix(
      `${NEW_KEY_ADVICE} Remove the old record a week later, when no mail signed with it is in transit.`,
      nextKeyName(key),
    ),
    reference: rfc(8301, '3.2'),
  });
}

/** RFC 8463 §6: sign with both algorithms, because not every verifier supports Ed25519. */
export const DUAL_SIGNING = rfc(8463, '6');

/** The fix for an Ed25519 key without an RSA key. */
export function addRsaFix(key: KeyLocation): Fix {
  return keyRecordFix(
    'Keep the Ed25519 signature and add a second one with a 2048-bit RSA key. Publish that key under its own selector, such as the one shown.',
    siblingName(key, 'rsa'),
  );
}
