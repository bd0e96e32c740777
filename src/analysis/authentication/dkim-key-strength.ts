/** What is said of a DKIM key that receivers accept, of a signature or of a selector alike. */

import { type Finding, type Fix, pass, rfc, warn } from '../check.ts';
import {
  type KeyPlace,
  keyRecordFix,
  NEW_KEY,
  nextKeyName,
  siblingName,
} from './dkim-key-failures.ts';
import { withoutTestFlag } from './dkim-key-record.ts';

/** Verifiers must refuse less (RFC 8301 §3.2); the same section asks signers for the second. */
export const LEAST_RSA_BITS = 1024;
const GOOD_RSA_BITS = 2048;

interface AcceptedKey extends KeyPlace {
  /** `rsa`, with at least `LEAST_RSA_BITS`, or `ed25519`. */
  type: string;
  bits: number;
  testing: boolean;
  /** The text of the key record. */
  record: string;
}

/** `ed25519`: the finding on such a key, which hangs on what is beside it. */
export function judgeStrength(key: AcceptedKey, ed25519: () => Finding): Finding {
  if (key.testing) return inTestMode(key);
  if (key.type === 'ed25519') return ed25519();
  if (key.bits < GOOD_RSA_BITS) return short(key);
  return strong(key, `It is an RSA key of ${key.bits} bits; 2048 or more are recommended.`);
}

/** `detail`: why. */
export function strong({ keyName }: KeyPlace, detail: string): Finding {
  return pass(`The DKIM key at ${keyName} is strong.`, detail);
}

function inTestMode({ keyName, record }: AcceptedKey): Finding {
  return warn({
    title: `The DKIM key at ${keyName} says that the domain is only testing DKIM.`,
    detail: 'It has the flag t=y. Receivers may treat such mail as if it were not signed at all.',
    fix: {
      text: 'Publish the record without the flag t=y.',
      record: { type: 'TXT', name: keyName, value: withoutTestFlag(record) },
    },
    reference: rfc(6376, '3.6.1'),
  });
}

function short(key: AcceptedKey): Finding {
  return warn({
    title: `The DKIM key at ${key.keyName} has ${key.bits} bits; 2048 are recommended.`,
    detail: 'Receivers still accept RSA keys from 1024 bits on, but signers should use 2048.',
    fix: keyRecordFix(
      `${NEW_KEY} Remove the old record a week later, when nothing signed by it is under way.`,
      nextKeyName(key),
    ),
    reference: rfc(8301, '3.2'),
  });
}

/** Signing with both is how RFC 8463 §6 has receivers follow that do not know Ed25519 yet. */
export const BOTH = rfc(8463, '6');

/** For an Ed25519 key with nothing beside it. */
export function rsaBeside(key: KeyPlace): Fix {
  return keyRecordFix(
    'Let your signer add an RSA signature of 2048 bits beside the Ed25519 one, with a selector of its own such as the one shown.',
    siblingName(key, 'rsa'),
  );
}
