/** What the check `dkim_selector` says of a key that is missing, revoked, unusable, weak or on trial. */

import { keyRecordFix } from '../authentication/dkim-key-failures.ts';
import { type Finding, fail, info, pass, rfc, warn } from '../check.ts';
import type { SelectorKey } from './selector-keys.ts';

const NEW_KEY =
  'Make a new RSA key of 2048 bits, publish it under a new selector such as the one shown, then configure the signer for it.';

function newKeyName({ selector, keyName }: SelectorKey): string {
  return `${selector}-2${keyName.slice(selector.length)}`;
}

export function noKey({ selector, keyName, texts }: SelectorKey): Finding {
  return fail({
    title:
      texts.length > 0
        ? `The TXT record at ${keyName} is no DKIM key.`
        : `No DKIM key is published at ${keyName}.`,
    detail: 'Nobody can verify what is signed with this selector.',
    fix: keyRecordFix(
      `Publish the public key that your signer shows for selector ${selector}.`,
      keyName,
    ),
  });
}

export function several({ keyName, records }: SelectorKey): Finding {
  return warn({
    title: `There are ${records.length} DKIM keys at ${keyName}; only one may be.`,
    detail:
      'Which of them a receiver takes is left to chance, and with another the signature fails.',
    fix: 'Delete all of them but the one that your signer uses; a further key needs a selector of its own.',
    reference: rfc(6376, '3.6.2.2'),
  });
}

export function revoked(found: SelectorKey): Finding {
  const title = `The DKIM key at ${found.keyName} has been revoked.`;
  if (!found.isKnown) return info(title, 'Its p= is empty: the selector is out of use.');
  return fail({
    title,
    detail:
      'Its p= is empty, which tells every receiver that signatures with this selector do not count.',
    fix: keyRecordFix(
      'Where a signer still uses this selector, publish a new key under a new one such as the one shown; where none does, it need not be looked at any more.',
      newKeyName(found),
    ),
  });
}

export function unusable({ selector, keyName }: SelectorKey): Finding {
  return fail({
    title: `The DKIM key record at ${keyName} cannot be used.`,
    detail:
      'Receivers cannot read a key out of it. Often a part is missing, a quotation mark or space is inside the key, or the type (k=) is another.',
    fix: keyRecordFix(
      `Replace the record by the one that your signer shows for selector ${selector}, in one piece.`,
      keyName,
    ),
  });
}

export function tooShort(found: SelectorKey, bits: number): Finding {
  return fail({
    title: `The DKIM key at ${found.keyName} has only ${bits} bits, so receivers do not accept its signatures.`,
    detail:
      'A key of fewer than 1024 bits can be broken by anyone with a little money; verifiers must not accept it.',
    fix: keyRecordFix(NEW_KEY, newKeyName(found)),
    reference: rfc(8301, '3.2'),
  });
}

export function short(found: SelectorKey, bits: number): Finding {
  return warn({
    title: `The DKIM key at ${found.keyName} has ${bits} bits; 2048 are recommended.`,
    detail: 'Receivers still accept RSA keys from 1024 bits on, but signers should use 2048.',
    fix: keyRecordFix(NEW_KEY, newKeyName(found)),
    reference: rfc(8301, '3.2'),
  });
}

export function testing({ keyName, records }: SelectorKey): Finding {
  const value = (records[0] ?? '')
    .split(';')
    .filter((part) => !/^\s*t\s*=/i.test(part))
    .join(';');
  return warn({
    title: `The DKIM key at ${keyName} says that the domain is only testing DKIM.`,
    detail: 'It has the flag t=y. Receivers may treat such mail as if it were not signed at all.',
    fix: {
      text: 'Publish the record without the flag t=y.',
      record: { type: 'TXT', name: keyName, value },
    },
  });
}

/** RFC 8463 §3 asks signers to sign with both, because few receivers verify Ed25519 yet. */
export function ed25519({ keyName }: SelectorKey, hasRsa: boolean): Finding {
  if (hasRsa)
    return pass(
      `The DKIM key at ${keyName} is strong.`,
      'It is an Ed25519 key, and there is an RSA key beside it for receivers that do not know Ed25519.',
    );
  const domain = keyName.slice(keyName.indexOf('._domainkey.') + 1);
  return warn({
    title: `The DKIM key at ${keyName} is an Ed25519 key without an RSA key beside it.`,
    detail: 'Large receivers do not verify Ed25519: to them such mail has no valid signature.',
    fix: keyRecordFix(
      'Let your signer add an RSA signature of 2048 bits, with a selector of its own such as the one shown.',
      `rsa.${domain}`,
    ),
    reference: rfc(8463, '3'),
  });
}
