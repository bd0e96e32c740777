/** The check `dkim_selector`: is the key of a selector published, valid and strong? */

import { type Check, type Finding, fail, info, rfc, unknown, warn } from '../check.ts';
import {
  explainMissingKey,
  explainRevokedKey,
  explainUnusableKey,
  explainWeakKey,
} from '../dkim/failures.ts';
import {
  addRsaFix,
  DUAL_SIGNING,
  evaluateKeyStrength,
  MIN_RSA_BITS,
  strongKey,
} from '../dkim/key.ts';
import type { FoundKeys, SelectorKey } from '../dkim/selectors.ts';
import { serviceOfSelector } from '../sending-services/services.ts';

/** The common part of the checks for all selectors. */
export const dkimSelector = {
  id: 'dkim_selector',
  category: 'authentication',
  // A revoked key of a selector that the user did not enter is an old one: not scored.
  points: 3,
  label: 'DKIM keys',
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

/** One check for each key; if there are no keys, one check that says so. */
export function dkimSelectorChecks(domain: string, { keys, incomplete }: FoundKeys): Check[] {
  if (keys.length === 0)
    return [{ ...dkimSelector, points: 0, run: () => noKeyFound(domain, incomplete) }];
  return keys.map((key) => ({
    ...dkimSelector,
    points: isOldRevoked(key) ? 0 : dkimSelector.points,
    label: `DKIM key ${key.selector}`,
    run: () => ({ ...withGuide(evaluateKey(key, keys), key), evidence: evidenceOf(key) }),
  }));
}

const isUsableRsa = ({ key }: SelectorKey): boolean =>
  key?.type === 'rsa' && (key.bits ?? 0) >= MIN_RSA_BITS;

const isOldRevoked = ({ isKnown, key }: SelectorKey): boolean => !isKnown && key?.revoked === true;

/** Adds the instructions of the service that usually has this selector. */
function withGuide(finding: Finding, { selector }: SelectorKey): Finding {
  const service = finding.fix && serviceOfSelector(selector);
  if (!service) return finding;
  const { name, guides } = service;
  const guide = { name: `If you sign with ${name}: how to do this`, url: guides.dkim };
  return { ...finding, fix: { ...finding.fix!, guide } };
}

function noKeyFound(domain: string, incomplete: boolean): Finding {
  if (incomplete)
    return unknown(
      `Could not determine whether ${domain} has DKIM keys under common selectors.`,
      'Some DNS lookups failed. Specify the selectors that you sign with.',
      { domain },
    );
  return info(
    `No DKIM key of ${domain} was found under a common selector.`,
    'Your keys may use other selectors, which DNS does not list. To find a selector, look for s= in the DKIM-Signature field of a message.',
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

function evaluateKey(selectorKey: SelectorKey, all: SelectorKey[]): Finding {
  const { selector, keyName, lookupSucceeded, key, records } = selectorKey;
  if (!lookupSucceeded)
    return unknown(
      `Could not look up the DKIM key at ${keyName}.`,
      'The DNS lookup failed. This does not affect your score.',
    );
  if (key === null) return missingKey(selectorKey);
  if (records.length > 1) return multipleKeys(selectorKey);
  if (key.revoked) return revokedKey(selectorKey);
  const { type, bits, testing } = key;
  if (bits === null || (type !== 'rsa' && type !== 'ed25519'))
    return fail(explainUnusableKey(selectorKey, selectorKey.records[0] ?? ''));
  if (type === 'rsa' && bits < MIN_RSA_BITS) return fail(explainWeakKey(selectorKey, bits));
  const accepted = { selector, keyName, type, bits, testing, record: records[0] ?? '' };
  return evaluateKeyStrength(accepted, () => evaluateEd25519(selectorKey, all.some(isUsableRsa)));
}

// Findings about a key alone, without a message.

function missingKey(selectorKey: SelectorKey): Finding {
  return fail(explainMissingKey(selectorKey, 'rsa', selectorKey.texts));
}

function multipleKeys({ keyName, records }: SelectorKey): Finding {
  return warn({
    title: `There are ${records.length} DKIM keys at ${keyName}; only one is allowed.`,
    detail:
      'A mailbox provider may use any of them. If it uses the wrong one, the signature fails.',
    fix: 'Delete all keys except the one that your signer uses. Publish any other key under its own selector.',
    reference: rfc(6376, '3.6.2.2'),
  });
}

/** Informational if the user did not enter the selector: an old key was retired. */
function revokedKey(selectorKey: SelectorKey): Finding {
  const explanation = explainRevokedKey(selectorKey);
  if (selectorKey.isKnown) return fail(explanation);
  return info(explanation.title, 'Its p= is empty: the selector is no longer in use.');
}

function evaluateEd25519(selectorKey: SelectorKey, hasRsa: boolean): Finding {
  if (hasRsa)
    return strongKey(
      selectorKey,
      'It is an Ed25519 key. Mailbox providers that do not verify Ed25519 can use the RSA key.',
    );
  return warn({
    title: `The DKIM key at ${selectorKey.keyName} is an Ed25519 key, and there is no RSA key.`,
    detail:
      'Large mailbox providers do not verify Ed25519. To them, your mail has no valid signature.',
    fix: addRsaFix(selectorKey),
    reference: DUAL_SIGNING,
  });
}
