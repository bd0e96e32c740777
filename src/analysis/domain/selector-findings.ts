/** What the check `dkim_selector` says where a key is the only thing to go by: without a message. */

import { noKey, revokedKey } from '../authentication/dkim-key-failures.ts';
import { BOTH, rsaBeside, strong } from '../authentication/dkim-key-strength.ts';
import { type Finding, fail, info, rfc, warn } from '../check.ts';
import type { SelectorKey } from './selector-keys.ts';

export function missing(found: SelectorKey): Finding {
  return fail(noKey(found, 'rsa', found.texts));
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

/** Of a selector that nobody has named, it is the end of an old key. */
export function revoked(found: SelectorKey): Finding {
  const explanation = revokedKey(found);
  if (found.isKnown) return fail(explanation);
  return info(explanation.title, 'Its p= is empty: the selector is out of use.');
}

export function ed25519(found: SelectorKey, hasRsa: boolean): Finding {
  if (hasRsa)
    return strong(
      found,
      'It is an Ed25519 key, and there is an RSA key beside it for receivers that do not know Ed25519.',
    );
  return warn({
    title: `The DKIM key at ${found.keyName} is an Ed25519 key without an RSA key beside it.`,
    detail: 'Large receivers do not verify Ed25519: to them such mail has no valid signature.',
    fix: rsaBeside(found),
    reference: BOTH,
  });
}
