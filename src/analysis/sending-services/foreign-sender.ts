/**
 * Mail whose From domain belongs to a known company. Either a service put its own domain there in place of its
 * customer's, or a vendor sends in its own name. The reader can publish nothing for that domain.
 */

import { addressDomain, isRegistrable, normalizeDomain, ownerOf } from '../../lib/domain-names.ts';
import { type Check, type Context, type Finding, type Fix, info } from '../check.ts';
import { dmarcResult } from '../dmarc/evaluate.ts';
import { fromDomain, fullHostName } from '../dns/names.ts';
import { entryAddress, listEntries } from '../mime/mailbox-list.ts';
import { fieldValue } from '../mime/message.ts';
import { freemailProvider } from './freemail.ts';
import { deliveringService } from './identify.ts';
import { foreignOwner, isVerified, knownOwner, ownDomainFix } from './ownership.ts';
import { hasSuffix, type SendingService } from './service.ts';
import { canReplaceFrom, serviceOfDomain } from './services.ts';
import { type Vendor, vendorOf } from './vendors.ts';

interface Sender {
  /** The From domain. */
  domain: string;
  /** The domain of the customer's own address, if the message names one. */
  customer: string | null;
}

export type ForeignSender =
  | (Sender & { role: 'vendor'; company: Vendor })
  | (Sender & { role: 'service'; company: SendingService });

/**
 * A fact: the company that sent the message from a domain of its own; null for any other message. Anyone can write a
 * company's domain into From, so the message must be authenticated. Offline, that is unknown, and From is believed.
 */
export async function foreignSender(context: Context): Promise<ForeignSender | null> {
  const domain = fromDomain(context);
  if (domain === null || freemailProvider(domain) !== null || isVerified(context, domain))
    return null;
  const vendor = vendorOf(domain);
  const service = serviceOfDomain(domain) ?? (await replacingService(context, domain));
  if (!vendor && !(service && canReplaceFrom(service))) return null;
  if (!context.offline && (await context.fact(dmarcResult)).identifiers !== 'pass') return null;
  const sender = { domain, customer: customerDomain(context, domain) };
  if (vendor) return { ...sender, role: 'vendor', company: vendor };
  return service ? { ...sender, role: 'service', company: service } : null;
}

/**
 * The service that delivered a message with another domain in the local part of From: `news=shop.example@…`. Anyone can
 * choose such an address at a domain of their own, so Reply-To or the display name must name that domain too.
 */
async function replacingService(context: Context, domain: string): Promise<SendingService | null> {
  const encoded = normalizeDomain(localPart(context).split('=')[1] ?? '');
  if (encoded === null || !isOfCustomer(encoded, domain)) return null;
  if (!namedDomains(context).includes(encoded)) return null;
  const found = await context.fact(deliveringService);
  return found?.isCertain ? found.service : null;
}

const localPart = ({ message }: Context): string => {
  const { address = '' } = message.from[0] ?? {};
  return address.slice(0, Math.max(address.lastIndexOf('@'), 0)).slice(0, MAX_FIELD);
};

// The customer's own domain, which the company keeps in Reply-To, or writes into the local part of From.

/** Bounds the work on a hostile field. */
const MAX_FIELD = 1000;

function customerDomain(context: Context, domain: string): string | null {
  const local = localPart(context);
  const [replyTo, displayed] = namedDomains(context);
  const candidates = [
    // `news=shop.example@…`
    local.split('=')[1],
    replyTo,
    // `shop-gmail.com@…`. Where another domain would begin after hyphens is open.
    freemailAtEnd(local),
    displayed,
  ];
  for (const candidate of candidates) {
    const found = candidate ? normalizeDomain(candidate) : null;
    if (found !== null && isOfCustomer(found, domain)) return found;
  }
  return null;
}

/** The domains of Reply-To, and of an address as display name. */
function namedDomains({ message }: Context): (string | null)[] {
  const { name = '' } = message.from[0] ?? {};
  const replyTo = listEntries((fieldValue(message, 'reply-to') ?? '').slice(0, MAX_FIELD))[0] ?? '';
  return [addressDomain(entryAddress(replyTo)), ADDRESS.test(name) ? addressDomain(name) : null];
}

function freemailAtEnd(local: string): string | null {
  const domain = AFTER_HYPHEN.exec(local)?.[1]?.toLowerCase() ?? '';
  return freemailProvider(domain) === null ? null : domain;
}

const AFTER_HYPHEN = /-([a-z]{2,20}(?:\.[a-z]{2,5}){1,2})$/i;
const ADDRESS = /^[^\s@]{1,64}@[^\s@]{1,250}$/;

/** Another address of the company, or one of a second service, says nothing about the customer. */
const isOfCustomer = (found: string, from: string): boolean =>
  fullHostName(found) !== null &&
  isRegistrable(found) &&
  (foreignOwner(found) === null || freemailProvider(found) !== null) &&
  !hasSuffix(found, [ownerOf(from)]);

// Findings that only the company can act on.

/** What the customer of a vendor writes or attaches. All else is the vendor's: header, template, servers. */
const WRITTEN_BY_CUSTOMER = new Set(
  'from reply_to subject subject_style attachments message_size merge_tags image_alt link_blocklists link_text link_host link_scheme link_shorteners link_status spamassassin rspamd'.split(
    ' ',
  ),
);

/** Warnings that break a provider's rule, so they stay warnings whoever can fix them. */
export const BREAKS_RULE = new Set(['return_path', 'hidden_text', 'one_click', 'unsubscribe_link']);

/**
 * The finding without advice that its reader cannot follow. A problem of someone else's records is information; if
 * mail fails because of it, it stays a failure, and the fix says who can act.
 */
export async function withoutForeignAdvice(
  check: Check,
  finding: Finding,
  context: Context,
): Promise<Finding> {
  if (!finding.fix) return finding;
  const domain = finding.about ?? (await check.about?.(context)) ?? null;
  const owner = domain === null || isVerified(context, domain) ? null : knownOwner(domain);
  if (domain !== null && owner !== null) return ofOwner(check, finding, { domain, owner, context });
  const sender = await context.fact(foreignSender);
  if (sender?.role !== 'vendor' || WRITTEN_BY_CUSTOMER.has(check.id)) return finding;
  const { name } = sender.company;
  const { status, title, detail, evidence, fix: _, ...rest } = finding;
  return status === 'fail' || BREAKS_RULE.has(check.id)
    ? { ...finding, fix: { text: `Only ${name} can change this. Contact its support.` } }
    : { ...rest, ...info(title, `${detail} Only ${name} can change this.`, evidence) };
}

function ofOwner(
  { id, label }: Check,
  finding: Finding,
  { domain, owner, context }: { domain: string; owner: string; context: Context },
): Finding {
  if (finding.status === 'fail' || (finding.status === 'warn' && BREAKS_RULE.has(id)))
    return { ...finding, fix: ownerFix(domain, owner, fromDomain(context)) };
  return info(
    `${label}: ${domain} belongs to ${owner}.`,
    `Only ${owner} can change this, so there is nothing for you to do.`,
    finding.evidence,
  );
}

function ownerFix(domain: string, owner: string, from: string | null): Fix {
  const isFrom = from !== null && ownerOf(from) === ownerOf(domain);
  return (
    (isFrom ? ownDomainFix(domain) : null) ?? {
      text: `Only ${owner} can change this, because ${domain} belongs to ${owner}. Contact its support.`,
    }
  );
}
