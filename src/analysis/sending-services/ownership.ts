/** Where the reader of a report can publish DNS records, so that a fix proposes no others. */

import { normalizeDomain, ownedDomain, ownerOf, withParents } from '../../lib/domain-names.ts';
import type { Context, Fix } from '../check.ts';
import {
  containsAddress,
  fromDomain,
  fullHostName,
  isLocalName,
  mailFromDomain,
  publicClient,
} from '../dns/names.ts';
import { hostOf } from '../dns/wildcard.ts';
import { freemailProvider, platformSuffix } from './freemail.ts';
import { hasSuffix } from './service.ts';
import { serviceOfDomain } from './services.ts';
import { vendorOf } from './vendors.ts';

/** The company that owns a domain at which its users and customers cannot publish records; null if none is known. */
export function knownOwner(domain: string): string | null {
  const company =
    freemailProvider(domain) ?? (vendorOf(domain) ?? serviceOfDomain(domain))?.name ?? null;
  if (company !== null) return company;
  const suffix = platformSuffix(domain);
  return suffix === null ? null : `the operator of ${suffix}`;
}

/** The owner of a domain at which a sender cannot publish records; null if the sender may own it. */
export function foreignOwner(domain: string): string | null {
  if (isLocalName(domain)) return 'a private network';
  return knownOwner(domain) ?? (ownedDomain(domain) === null ? 'a domain registry' : null);
}

/** Whether the team has verified the domain, so that it is the reader's, whoever owns it as a rule. */
export const isVerified = ({ setup }: Context, domain: string): boolean =>
  withParents(domain).some(
    (name) => Object.hasOwn(setup.domains, name) && setup.domains[name]!.isVerified,
  );

/** The fix for mail from an address at a domain of someone else; null if the domain may be the sender's. */
export function ownDomainFix(domain: string): Fix | null {
  const owner = foreignOwner(domain);
  return owner === null ? null : { text: ownDomainAdvice(domain, owner) };
}

function ownDomainAdvice(domain: string, owner: string): string {
  if (isLocalName(domain))
    return `Send from an address at a domain of your own that is in public DNS. ${domain} is a name for private networks: nobody can look it up, and you cannot publish records for it. In Postfix, set myorigin.`;
  const advice =
    platformSuffix(domain) === 'onmicrosoft.com'
      ? 'Add a custom domain to Microsoft 365, and send from an address at that domain.'
      : 'Send from an address at a domain of your own.';
  return `${advice} ${domain} belongs to ${owner}, so you cannot publish its DNS records or sign mail for it.`;
}

/** A fact: the domains below which the sender can publish: those of From, MAIL FROM and HELO. */
export function publishableDomains(context: Context): string[] {
  const { helo } = context.envelope;
  const from = fromDomain(context);
  const names = [from, mailFromDomain(context), helo === null ? null : hostOfSender(context, helo)];
  const owned = names.flatMap((name) => {
    const isForeign = name === null || (foreignOwner(name) !== null && !isVerified(context, name));
    return isForeign ? [] : (ownedDomain(name) ?? []);
  });
  return [...new Set(owned)];
}

/** The HELO name; null for a generic one, which an access provider or data center gave to the address. */
function hostOfSender(context: Context, helo: string): string | null {
  const name = fullHostName(helo);
  const { address } = publicClient(context);
  return name !== null && address !== null && containsAddress(name, address) ? null : name;
}

export const canPublish = (context: Context, name: string): boolean =>
  hasSuffix(name.toLowerCase(), context.fact(publishableDomains));

/** The consent of a DMARC report destination: its fix says who must publish it. */
const REPORT_CONSENT = /\._report\._dmarc\./i;

/**
 * The fix if the sender can carry it out. For a record of someone else it says so instead, and names the
 * alternative. A PTR record is set by the provider of the address, whatever its name.
 */
export function publishableFix(fix: Fix, context: Context): Fix {
  const { record } = fix;
  if (!record || record.type === 'PTR' || REPORT_CONSENT.test(record.name)) return fix;
  if (canPublish(context, record.name)) return fix;
  const from = fromDomain(context);
  const host = hostOf(record.name);
  const domain = normalizeDomain(host) ?? host;
  if (from !== null && hasSuffix(domain, [ownerOf(from)])) {
    const own = ownDomainFix(from);
    if (own) return own;
  }
  const owner = ownerOf(domain);
  return {
    ...(fix.guide && { guide: fix.guide }),
    text: `Only the owner of ${owner} can change this record. Ask them to do so, or sign and send with a domain of your own.`,
  };
}

/**
 * A host name to propose for the sending server: its HELO name if it is fully qualified, not generic, and not a
 * known company's. Otherwise, `mail.` plus the sender's domain.
 */
export function proposedName(context: Context): string {
  return knownName(context) ?? 'mail.example.com';
}

/** The same, or null if the sender has no domain of its own. */
export function knownName(context: Context): string | null {
  const { helo } = context.envelope;
  // Mailbox providers distrust generic names.
  const heloName = helo === null ? null : hostOfSender(context, helo);
  if (heloName !== null && foreignOwner(heloName) === null) return heloName;
  const names = [fromDomain(context), mailFromDomain(context)];
  const domain = names.find((name) => name !== null && foreignOwner(name) === null) ?? null;
  return domain === null ? null : `mail.${ownerOf(domain)}`;
}
