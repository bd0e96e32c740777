/** The check `dkim_selector`: is the key of a selector published, in force and strong? */

import { type Check, type Finding, fail, info, rfc, unknown, warn } from '../check.ts';
import { noKey, revokedKey, unusableKey, weakKey } from '../dkim/failures.ts';
import { BOTH, judgeStrength, LEAST_RSA_BITS, rsaBeside, strong } from '../dkim/key.ts';
import type { FoundKeys, SelectorKey } from '../dkim/selectors.ts';

/** What its checks have in common, whichever selectors there are. */
export const dkimSelector = {
  id: 'dkim_selector',
  category: 'authentication',
  issueTitle: 'A DKIM key is missing, revoked or weak',
  reference: rfc(6376, '3.6.1'),
  publicEvidence: {
    domain: 'shown',
    selector: 'shown',
    name: 'shown',
    known: 'shown',
    records: 'shown',
    type: 'shown',
    bits: 'shown',
  },
} as const;

/** A check for each key; where there is none to look at, one that says so. */
export function dkimSelectorChecks(domain: string, { keys, incomplete }: FoundKeys): Check[] {
  if (keys.length === 0)
    return [
      { ...dkimSelector, points: 0, label: 'DKIM keys', run: () => noneFound(domain, incomplete) },
    ];
  return keys.map((key) => ({
    ...dkimSelector,
    // A revoked key that nobody has named is an old one: nothing to be scored.
    points: isForgotten(key) ? 0 : 3,
    label: `DKIM key ${key.selector}`,
    run: () => ({ ...judgeKey(key, keys), evidence: evidenceOf(key) }),
  }));
}

const isUsableRsa = ({ key }: SelectorKey): boolean =>
  key?.type === 'rsa' && (key.bits ?? 0) >= LEAST_RSA_BITS;

const isForgotten = ({ isKnown, key }: SelectorKey): boolean => !isKnown && key?.revoked === true;

function noneFound(domain: string, incomplete: boolean): Finding {
  if (incomplete)
    return unknown(
      `Whether ${domain} has DKIM keys under common selectors could not be found out.`,
      'The DNS did not answer for some of them. Name the selectors that you sign with.',
      { domain },
    );
  return info(
    `No DKIM key of ${domain} was found under a common selector.`,
    'Its keys may be published under others: the DNS does not list them. The selector stands in the DKIM-Signature field of a message, after s=.',
    { domain },
  );
}

function evidenceOf({ selector, keyName, isKnown, texts, key }: SelectorKey) {
  return {
    selector,
    name: keyName,
    known: isKnown,
    records: texts.map((text) => text.slice(0, 1000)),
    type: key?.type.slice(0, 40) ?? null,
    bits: key?.bits ?? null,
  };
}

function judgeKey(found: SelectorKey, all: SelectorKey[]): Finding {
  const { selector, keyName, answered, key, records } = found;
  if (!answered)
    return unknown(
      `The DKIM key at ${keyName} could not be looked up.`,
      'The DNS did not answer. This is not counted against you.',
    );
  if (key === null) return missing(found);
  if (records.length > 1) return several(found);
  if (key.revoked) return revoked(found);
  const { type, bits, testing } = key;
  if (bits === null || (type !== 'rsa' && type !== 'ed25519')) return fail(unusableKey(found));
  if (type === 'rsa' && bits < LEAST_RSA_BITS) return fail(weakKey(found, bits));
  const accepted = { selector, keyName, type, bits, testing, record: records[0] ?? '' };
  return judgeStrength(accepted, () => ed25519(found, all.some(isUsableRsa)));
}

// What the check `dkim_selector` says where a key is the only thing to go by: without a message.

function missing(found: SelectorKey): Finding {
  return fail(noKey(found, 'rsa', found.texts));
}

function several({ keyName, records }: SelectorKey): Finding {
  return warn({
    title: `There are ${records.length} DKIM keys at ${keyName}; only one may be.`,
    detail:
      'Which of them a receiver takes is left to chance, and with another the signature fails.',
    fix: 'Delete all of them but the one that your signer uses; a further key needs a selector of its own.',
    reference: rfc(6376, '3.6.2.2'),
  });
}

/** Of a selector that nobody has named, it is the end of an old key. */
function revoked(found: SelectorKey): Finding {
  const explanation = revokedKey(found);
  if (found.isKnown) return fail(explanation);
  return info(explanation.title, 'Its p= is empty: the selector is out of use.');
}

function ed25519(found: SelectorKey, hasRsa: boolean): Finding {
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
