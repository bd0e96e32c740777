/** The check `dkim_selector`: is the key of a selector published, valid and strong? */

import { type Resolver, recordsOf } from '../../net/dns/resolver.ts';
import {
  type Check,
  type Context,
  type Finding,
  fail,
  info,
  rfc,
  unknown,
  warn,
} from '../check.ts';
import {
  explainDeadAlias,
  explainMissingKey,
  explainRevokedKey,
  explainSeveralRecords,
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
import { holdsPrivateKey, keyFaults, resemblesKey } from '../dkim/key-record.ts';
import type { FoundKeys, SelectorKey } from '../dkim/selectors.ts';
import { explainAppended, explainRepeated, meantName, repeatedZone } from '../dns/appended-zone.ts';
import type { SendingService } from '../sending-services/service.ts';
import { GATEWAYS, serviceOfSelector } from '../sending-services/services.ts';
import { dkimGuide, signingSteps } from '../sending-services/signing-steps.ts';
import { isSpfRecord } from '../spf/record.ts';

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
export function dkimSelectorChecks(domain: string, found: FoundKeys): Check[] {
  const { keys, noneExists } = found;
  if (keys.length === 0 && noneExists)
    return [{ ...dkimSelector, run: (context) => noKeyExists(context, domain, found) }];
  if (keys.length === 0)
    return [{ ...dkimSelector, points: 0, run: () => noKeyFound(domain, found) }];
  return keys.map((key) => ({
    ...dkimSelector,
    points: isOldRevoked(key) ? 0 : dkimSelector.points,
    label: `DKIM key ${key.selector}`,
    run: async ({ resolver }) => {
      const finding = (await misnamed(key, domain, resolver)) ?? evaluateKey(key, keys, domain);
      return { ...withGuide(finding, key), evidence: evidenceOf(key) };
    },
  }));
}

const isUsableRsa = ({ key }: SelectorKey): boolean =>
  key?.type === 'rsa' && (key.bits ?? 0) >= MIN_RSA_BITS;

const isOldRevoked = ({ isKnown, key }: SelectorKey): boolean => !isKnown && key?.revoked === true;

/** Adds the instructions of the service that usually has this selector. */
function withGuide(finding: Finding, { selector }: SelectorKey): Finding {
  const service = finding.fix && !finding.fix.guide && serviceOfSelector(selector);
  if (!service) return finding;
  const { name, guides } = service;
  const guide = { name: `If you sign with ${name}: how to do this`, url: guides.dkim };
  return { ...finding, fix: { ...finding.fix!, guide } };
}

/** How the domain would sign depends on the services that it uses. */
async function noKeyExists(
  context: Context,
  domain: string,
  { services }: FoundKeys,
): Promise<Finding> {
  const evidence = { domain };
  const reason = await whyNoneIsNeeded(context, domain);
  if (reason !== null) return info(`${domain} has no DKIM key.`, reason, evidence);
  const [service, ...others] = services.map((one) => one.service).toSorted(gatewaysLast);
  const steps = service
    ? { ...signingSteps(service, domain), guide: dkimGuide(service) }
    : {
        text: `Turn on DKIM signing for ${domain} in your mail server or email service, and publish the record that it shows.`,
      };
  const more =
    others.length > 0
      ? ` Do the same in each other service that sends your mail, such as ${others[0]!.name}.`
      : '';
  return fail({
    title: `${domain} has no DKIM key, so no DKIM signature of the domain can pass.`,
    detail: `The name _domainkey.${domain} does not exist in DNS, so there is no key below it (RFC 8020). Services may still sign with their own domain, which does not count for DMARC.`,
    fix: { ...steps, text: `${steps.text}${more}` },
    evidence,
    reference: NAME_DOES_NOT_EXIST,
  });
}

const NAME_DOES_NOT_EXIST = rfc(8020, '2');

/** Behind a gateway, the service that hosts the mailboxes signs. */
const gatewaysLast = (a: SendingService, b: SendingService): number =>
  Number(GATEWAYS.includes(a)) - Number(GATEWAYS.includes(b));

async function whyNoneIsNeeded({ resolver }: Context, domain: string): Promise<string | null> {
  const records = (recordsOf(await resolver(domain, 'TXT')) ?? []).filter(isSpfRecord);
  if (records.length === 1 && /^v=spf1 +-all *$/i.test(records[0]!))
    return 'Its SPF record allows no server to send, so it needs none.';
  const [target] = recordsOf(await resolver(domain, 'CNAME')) ?? [];
  return target === undefined
    ? null
    : `It is an alias of ${target}. Sending services use such aliases for the envelope sender, which needs no DKIM key.`;
}

function noKeyFound(domain: string, { incomplete }: FoundKeys): Finding {
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

function evaluateKey(selectorKey: SelectorKey, all: SelectorKey[], domain: string): Finding {
  const { selector, keyName, isKnown, lookupSucceeded, key, texts, records } = selectorKey;
  if (!lookupSucceeded)
    return unknown(
      `Could not look up the DKIM key at ${keyName}.`,
      'The DNS lookup failed. This does not affect your score.',
    );
  if (selectorKey.alias !== null)
    return fail(explainDeadAlias(selectorKey, selectorKey.alias, domain));
  if (key === null) return fail(explainMissingKey(selectorKey, 'rsa', texts));
  if (texts.length > 1) return fail(explainSeveralRecords(selectorKey, texts));
  if (key.revoked) return revokedKey(selectorKey);
  const { type, bits, testing } = key;
  const record = records[0] ?? '';
  if (type === 'rsa' && bits !== null && bits < MIN_RSA_BITS)
    return fail(explainWeakKey(selectorKey, bits));
  if (!isKnown && /(?:^|;)\s*s\s*=\s*tlsrpt\s*(?:;|$)/i.test(record))
    return reportsKey(selectorKey);
  if (bits === null || (type !== 'rsa' && type !== 'ed25519') || keyFaults(record, key).length > 0)
    return fail(explainUnusableKey(selectorKey, texts));
  const accepted = { selector, keyName, type, bits, testing, record };
  return evaluateKeyStrength(accepted, () => evaluateEd25519(selectorKey, all.some(isUsableRsa)));
}

/**
 * The finding on a key that was entered wrongly: an alias as text, or a name to which a DNS panel appended the domain. That
 * name is the target of an alias, or the one of a known key.
 */
async function misnamed(
  { selector, keyName, alias, typedAlias, isKnown, lookupSucceeded, texts }: SelectorKey,
  domain: string,
  resolver: Resolver,
): Promise<Finding | null> {
  if (typedAlias !== null)
    return fail({
      title: `The DKIM record at ${keyName} is a TXT record, where a CNAME record was meant.`,
      detail: `Its text is ${typedAlias}, the name at which the key is published. Mailbox providers expect the key itself in a TXT record, so they find none.`,
      fix: {
        text: `Delete the TXT record at ${keyName}, and create this CNAME record there.`,
        record: { type: 'CNAME', name: keyName, value: typedAlias },
      },
    });
  if (alias !== null) {
    const meant = await meantName(alias, domain, ['TXT'], resolver);
    if (meant === null) return null;
    return fail({
      title: `The CNAME record at ${keyName} points to a name without a DKIM key.`,
      detail: `The target ${alias} has no key, so mailbox providers cannot verify signatures with this selector.`,
      fix: {
        text: explainAppended(alias, meant),
        record: { type: 'CNAME', name: keyName, value: meant },
      },
      reference: rfc(1035, '5.1'),
    });
  }
  if (!isKnown || !lookupSucceeded || texts.length > 0) return null;
  const repeated = await repeatedZone(keyName, domain, resemblesKey, resolver);
  const [value] = repeated?.texts ?? [];
  if (!repeated || value === undefined) return null;
  if (holdsPrivateKey(value))
    return fail(explainUnusableKey({ selector, keyName: repeated.name }, [value]));
  return fail({
    title: `The DKIM key of ${domain} is published at the wrong name.`,
    detail: explainRepeated(keyName, repeated.name, domain),
    fix: {
      text: `Move the record to ${keyName}.`,
      record: { type: 'TXT', name: keyName, value },
    },
    reference: rfc(1035, '5.1'),
  });
}

// Findings about a key alone, without a message.

/** RFC 8460 §3: reports about TLS can be signed with a key of their own. */
const reportsKey = ({ keyName }: SelectorKey): Finding =>
  info(
    `The DKIM key at ${keyName} is for TLS reports only (s=tlsrpt).`,
    'It is not used for mail.',
  );

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
