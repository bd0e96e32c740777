/** Explains each cause of a DKIM failure: what happened and how to fix it. */

import { formatUtcTime } from '../../lib/clock.ts';
import { type Fix, type Reference, rfc } from '../check.ts';
import { serviceOfKey } from '../sending-services/services.ts';
import {
  holdsPrivateKey,
  type KeyFault,
  keyFaults,
  readKeyRecord,
  resemblesKey,
} from './key-record.ts';
import { type DkimCause, type DkimSignature, isEd25519 } from './outcome.ts';
import { repairedKey } from './repair-key.ts';

/** A finding without its status. */
export interface Explanation {
  title: string;
  detail: string;
  fix: Fix | string;
  reference?: Reference;
}

/** Where a key is published. */
export interface KeyLocation {
  selector: string;
  /** `s1._domainkey.example.com`. */
  keyName: string;
}

type KeyType = 'rsa' | 'ed25519';

export const NEW_KEY_ADVICE =
  'Generate a 2048-bit RSA key and publish it under a new selector, such as the one shown. Then configure your mail server or email service to sign with it.';

/** A key record to publish, with a placeholder for the key, which only the signer knows. */
export function keyRecordFix(text: string, keyName: string, type: KeyType = 'rsa'): Fix {
  const value = `v=DKIM1; k=${type}; p=<the public key in base64>`;
  return { text, record: { type: 'TXT', name: keyName, value } };
}

const RSA_TOO =
  'Also sign with a 2048-bit RSA key: Gmail and Microsoft do not verify Ed25519 signatures.';

/** The explanation of a broken signature; repairing one with Ed25519 alone would not be enough. */
export function explainRepair(signature: DkimSignature): Explanation {
  const explanation = explainFailure(signature);
  if (!isEd25519(signature)) return explanation;
  const { text, ...rest } =
    typeof explanation.fix === 'string' ? { text: explanation.fix } : explanation.fix;
  return { ...explanation, fix: { ...rest, text: `${text} ${RSA_TOO}` } };
}

/** What the repair as explained fixes beside the signature. */
export const alsoRepaired = (signature: DkimSignature): string[] =>
  isEd25519(signature) ? ['dkim_key'] : [];

/** The name of the key record for another selector of the same domain. */
export function siblingName({ selector, keyName }: KeyLocation, otherSelector: string): string {
  return `${otherSelector}${keyName.slice(selector.length)}`;
}

/** The name for a new key. The old key must stay while mail signed with it is in transit. */
export function nextKeyName(location: KeyLocation): string {
  return siblingName(location, `${location.selector}-2`);
}

/** `texts`: the TXT records found instead. */
export function explainMissingKey(
  { selector, keyName }: KeyLocation,
  type: KeyType = 'rsa',
  texts: string[] = [],
): Explanation {
  const [other] = texts;
  const found =
    other === undefined
      ? ''
      : ` The TXT record that answers there is of another kind: “${other.slice(0, 100)}”. A wildcard record (*.${keyName.slice(keyName.indexOf('_domainkey.') + '_domainkey.'.length)}) answers like this for every name without records of its own.`;
  return {
    title: `No DKIM key is published at ${keyName}.`,
    detail: `Mailbox providers look up the public key there, so they cannot verify signatures with this selector.${found}`,
    fix: keyRecordFix(
      `Publish the public key that your mail server or email service shows for selector ${selector}.${other === undefined ? '' : ' The new record replaces the answer of a wildcard at this name.'}`,
      keyName,
      type,
    ),
    reference: rfc(6376, '3.6.2.1'),
  };
}

/** A CNAME record that leads to no key. */
export function explainDeadAlias(
  { keyName }: KeyLocation,
  target: string,
  domain: string,
): Explanation {
  const service = serviceOfKey(target);
  const aim = `If you no longer sign with ${service?.name ?? 'it'}, delete the record.`;
  const step =
    service?.id === 'microsoft_365'
      ? `In the Microsoft Defender portal, turn on signing for ${domain} under Email authentication settings. Microsoft 365 then publishes the key. If the portal shows another target for the record, correct it first.`
      : service
        ? `In ${service.name}, open the DKIM settings of ${domain} and finish the setup or verify the domain there. If it shows another target for the record, correct it first.`
        : 'Ask the service that the record points to for the right target, and correct the record at your DNS provider.';
  return {
    title: `The CNAME record at ${keyName} points to a name without a DKIM key.`,
    detail: `The target ${target} has no key, so mailbox providers cannot verify signatures with this selector.`,
    fix: {
      text: `${step} ${aim}`,
      guide: service && { name: `How to do this in ${service.name}`, url: service.guides.dkim },
    },
    reference: rfc(6376, '3.6.2.1'),
  };
}

export function explainRevokedKey(location: KeyLocation): Explanation {
  return {
    title: `The DKIM key at ${location.keyName} has been revoked.`,
    detail: 'Its p= is empty, so mailbox providers ignore signatures with this selector.',
    fix: keyRecordFix(
      'If you still sign with this selector, publish a new key under a new selector, such as the one shown. Then configure your mail server or email service to sign with it.',
      nextKeyName(location),
    ),
    reference: rfc(6376, '3.6.1'),
  };
}

/** `texts`: as published. `reason`: why our verifier cannot use them, if known. */
export function explainUnusableKey(
  location: KeyLocation,
  texts: string[],
  type: KeyType = 'rsa',
  reason: string | null = null,
): Explanation {
  const record = texts.find(resemblesKey) ?? texts[0] ?? '';
  const [fault, ...others] = keyFaults(record, readKeyRecord(record, null));
  const name = `The DKIM key record at ${location.keyName}`;
  if (!fault)
    return {
      title: `${name} is invalid.`,
      detail: `Mailbox providers cannot read a key from it${reason === null ? '' : `: ${reason}`}. Common causes are a missing part and a wrong key type (k=).`,
      fix: repairFix(location, texts, type),
      reference: rfc(6376, '3.6.1'),
    };
  return {
    title: `${name} ${fault.text}.`,
    detail: `${effectOf(fault)}${others.length > 0 ? ` The record also ${others.map(({ text }) => text).join(', and ')}.` : ''}`,
    fix: repairFix(location, texts, type),
    reference: rfc(6376, '3.6.1'),
  };
}

const effectOf = ({ isTolerated }: KeyFault): string =>
  isTolerated
    ? 'Strict mailbox providers discard this record, so signatures with this selector pass at only some providers.'
    : 'Mailbox providers cannot use the key, so signatures with this selector fail.';

/** The same key in a valid record, if that is certain. */
function repairFix({ selector, keyName }: KeyLocation, texts: string[], type: KeyType): Fix {
  if (texts.some(holdsPrivateKey))
    return {
      text: `Delete the record: everyone can read this private key, and sign as you with it. Create a new key pair for selector ${selector} in your mail server or email service, and publish only its public key.`,
    };
  const value = repairedKey(texts);
  if (value === null)
    return keyRecordFix(
      `Replace the record with the complete one that your mail server or email service shows for selector ${selector}.`,
      keyName,
      type,
    );
  const what = texts.length > 1 ? `the ${texts.length} records` : 'the record';
  const isTest = texts.some((text) => /(?:^|\W)t=(?:s:)?y/i.test(text));
  const note = isTest
    ? ' It leaves out t=y, with which mailbox providers may treat mail as unsigned.'
    : '';
  return {
    text: `Replace ${what} with this one, which has the same key in a valid record.${note}`,
    record: { type: 'TXT', name: keyName, value },
  };
}

/** RFC 6376 §3.6.2.2: with several records, the result is undefined. */
export function explainSeveralRecords(location: KeyLocation, texts: string[]): Explanation {
  const { keyName, selector } = location;
  const reference = rfc(6376, '3.6.2.2');
  const exposed = texts.filter(holdsPrivateKey);
  if (exposed.length > 0) return explainUnusableKey(location, exposed);
  if (repairedKey(texts) !== null)
    return {
      title: `The DKIM key at ${keyName} is split into ${texts.length} records.`,
      detail:
        'One record must hold the whole key. It can consist of several strings, but they belong to the same record.',
      fix: repairFix(location, texts, 'rsa'),
      reference,
    };
  const others = texts.filter((text) => !resemblesKey(text));
  const isBeside = others.length > 0 && others.length === texts.length - 1;
  return {
    title: isBeside
      ? `Other TXT records are published beside the DKIM key at ${keyName}; only the key is allowed there.`
      : `There are ${texts.length} DKIM keys at ${keyName}; only one is allowed.`,
    detail:
      'Mailbox providers may use any of the records or reject the signature (permerror), so DKIM passes or fails at random.',
    fix: isBeside
      ? `Delete every TXT record at ${keyName} that is not the key, such as “${others[0]!.slice(0, 100)}”.`
      : `Delete all records at ${keyName} except one: the key that your mail server or email service shows for selector ${selector}. Publish a second key under a selector of its own.`,
    reference,
  };
}

/** RFC 8301 §3.2: verifiers must not accept the key. `bits` is null if unknown. */
export function explainWeakKey(location: KeyLocation, bits: number | null): Explanation {
  return {
    title: `The DKIM key at ${location.keyName} has ${bits === null ? 'too few' : `only ${bits}`} bits, so mailbox providers do not accept its signatures.`,
    detail: 'A key of fewer than 1024 bits is cheap to break, so verifiers must not accept it.',
    fix: keyRecordFix(NEW_KEY_ADVICE, nextKeyName(location)),
    reference: rfc(8301, '3.2'),
  };
}

type Explain = (signature: DkimSignature) => Explanation;

const signer = ({ domain }: DkimSignature): string => domain || 'an unnamed domain';

/** The key type that the signature's algorithm needs. */
const keyTypeOf = ({ algorithm }: DkimSignature): KeyType =>
  algorithm.startsWith('ed25519') ? 'ed25519' : 'rsa';

/** Explains a failed signature. Not for signatures whose key lookup failed. */
export function explainFailure(signature: DkimSignature): Explanation {
  const explain = signature.cause ? EXPLANATIONS[signature.cause] : undefined;
  return (explain ?? malformed)(signature);
}

const bodyChanged: Explain = (signature) => ({
  title: `The body was changed after ${signer(signature)} signed the message, so the signature does not match.`,
  detail:
    'The hash of the received body differs from the signed hash (bh=). Something rewrote the body after signing: a footer or disclaimer, link tracking, a virus scanner, or a gateway that changes the encoding.',
  fix: `Sign as the last step before the message leaves. Run footers, link rewriting and scanning before ${signer(signature)} signs, or turn them off for signed mail. Sign with c=relaxed/relaxed so that white space changes do not break the signature.`,
  reference: rfc(6376, '6.1.3'),
});

const headerChanged: Explain = (signature) => ({
  title: `A signed header field was changed after ${signer(signature)} signed the message.`,
  detail: `The published key is correct and the body is unchanged. One of the signed fields was changed: ${signature.headers.join(', ')}. Gateways that rewrite From, Subject or Message-ID cause this.`,
  fix: `Sign as the last step before the message leaves, after everything that rewrites header fields. Use c=relaxed/relaxed, and remove fields that relays change (Received, Return-Path) from h=.`,
  reference: rfc(6376, '6.1.3'),
});

const wrongKey: Explain = (signature) => ({
  title: `The message was signed with a different key than the one published at ${signature.keyName}.`,
  detail:
    'The public key in your DNS does not match the private key that signed the message. This happens when only one of the two was replaced.',
  fix: keyRecordFix(
    `Publish the public key that your mail server or email service shows for selector ${signature.selector}, or configure it to sign with the published key.`,
    signature.keyName,
    keyTypeOf(signature),
  ),
  reference: rfc(6376, '6.1.3'),
});

const badSignature: Explain = (signature) => ({
  title: `The DKIM signature by ${signer(signature)} does not verify: a signed header field was changed, or the published key is wrong.`,
  detail: `The body is unchanged. With ${signature.algorithm}, a failed signature does not show which of the two is the cause.`,
  fix: keyRecordFix(
    `Compare the record with the public key that your mail server or email service shows for selector ${signature.selector}. If they match, something rewrites header fields after signing: sign as the last step.`,
    signature.keyName,
    keyTypeOf(signature),
  ),
  reference: rfc(6376, '6.1.3'),
});

const expired: Explain = (signature) => ({
  title: `The DKIM signature by ${signer(signature)} expired before the message arrived.`,
  detail: `The signature is otherwise valid, but it expired${signature.expiresAt === null ? '' : ` on ${formatUtcTime(signature.expiresAt)}`} (x=). The message took longer than that to arrive, or the clock of the signing server is wrong.`,
  fix: 'Remove x= from the signature or set it at least seven days after signing, because mail can wait in a queue for that long. Check the clock of the signing server.',
  reference: rfc(6376, '3.5'),
});

const malformed: Explain = (signature) => ({
  title: `The DKIM-Signature field of ${signer(signature)} is invalid.`,
  detail: `Mailbox providers ignore it: ${signature.reason ?? 'it is malformed'}.`,
  fix: 'Configure your mail server or email service to write v=1, a=rsa-sha256, c=relaxed/relaxed, d=, s=, bh=, b= and h= with at least From.',
  reference: rfc(6376, '3.5'),
});

const sha1: Explain = (signature) => ({
  title: `The message is signed with SHA-1 (${signature.algorithm}), which mailbox providers must not accept.`,
  detail: 'SHA-1 is broken, and RFC 8301 forbids verifiers to accept it. You can keep your key.',
  fix: `Configure the DKIM signer of ${signer(signature)} to use a=rsa-sha256.`,
  reference: rfc(8301, '3.1'),
});

const EXPLANATIONS: Partial<Record<DkimCause, Explain>> = {
  body_changed: bodyChanged,
  header_changed: headerChanged,
  wrong_key: wrongKey,
  bad_signature: badSignature,
  expired,
  no_key: (signature) => explainMissingKey(signature, keyTypeOf(signature), signature.keyTexts),
  several_keys: (signature) => explainSeveralRecords(signature, signature.keyTexts),
  revoked: explainRevokedKey,
  unusable_key: (signature) =>
    explainUnusableKey(signature, signature.keyTexts, keyTypeOf(signature), signature.reason),
  weak_key: (signature) => explainWeakKey(signature, signature.bits),
  sha1,
  malformed,
};
