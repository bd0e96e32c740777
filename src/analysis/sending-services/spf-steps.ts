/** How the owner of a domain lets the server that delivered the message pass SPF, and pass it aligned. */

import { normalizeDomain } from '../../lib/domain-names.ts';
import { recordsOf } from '../../net/dns/resolver.ts';
import type { Context, Fix } from '../check.ts';
import { fromDomain } from '../dns/names.ts';
import { evaluateSpf, spfIdentity } from '../spf/evaluate.ts';
import { isUsable } from '../spf/examine.ts';
import { MAX_LOOKUPS } from '../spf/problems.ts';
import { isSpfRecord, spfFix, withAddress, withInclude } from '../spf/record.ts';
import { readSpf, resemblesSpf } from '../spf/repair.ts';
import { walkSpf, withPublished } from '../spf/tree.ts';
import { lowered } from '../text.ts';
import { deliveringService, type FoundService, sendingServices } from './identify.ts';
import { isOwnServer } from './own-server.ts';
import { foreignOwner, ownDomainFix } from './ownership.ts';
import { privateMailboxFix } from './private-mailbox.ts';
import { hasSuffix, type SendingService } from './service.ts';
import { SENDING_SERVICES } from './services.ts';
import { condition, spfGuide } from './signing-steps.ts';
import { webHost, webHostFix } from './web-host.ts';

interface Target {
  /** The domain whose SPF record is checked. */
  domain: string;
  /** The sending IP address. */
  clientIp: string;
}

/**
 * The fix for a sending server that the record does not allow. The servers of a sending service have many
 * customers and change, so the fix includes the record of the service. Only other servers are listed. Unless something
 * other than the message shows that the domain uses the server, the fix asks first.
 */
export async function allowSenderFix(
  context: Context,
  { domain, clientIp }: Target,
  texts: { add: string; publish: string },
): Promise<Fix> {
  if (foreignOwner(domain) !== null) return foreignSenderFix(domain);
  // The author cannot publish records at the name of the host.
  const ofHost = domain === context.fact(webHost) && webHostFix(context, fromDomain(context) ?? '');
  if (ofHost) return ofHost;
  const record = await currentRecord(context, domain);
  const similar = record === null ? await similarTextFix(domain, context) : null;
  if (similar) return similar;
  const found = await context.fact(sendingServices);
  const certain = found.filter(({ isCertain }) => isCertain);
  const include = await findInclude(context, { domain, clientIp }, record, certain);
  const isOwn = await isOwnServer(context, domain);
  if (include) {
    const isUsed = isOwn || (await mailboxHost(context, domain)) === include.service;
    return includeFix(domain, record, include, isUsed);
  }
  const likely = certain[0] ?? found[0];
  if (likely) return serviceAdvice({ domain, clientIp }, likely);
  const text = record === null ? texts.publish : texts.add;
  const fix = spfFix(text, domain, withAddress(record, clientIp));
  if (isOwn) return fix;
  return {
    ...fix,
    text: `Is ${clientIp} your server? If not, there is nothing to publish: someone else used ${domain} as the sender. If it is, ${lowered(text)}`,
    caution: onlyIfServer(clientIp),
  };
}

const onlyIfServer = (address: string): string => `Publish it only if ${address} is your server.`;
const onlyIfUsed = (service: string, domain: string): string =>
  `Publish it only if you use ${service} to send as ${domain}.`;

/** The SPF record of the domain itself, as it was meant; null if there is none. */
async function currentRecord(context: Context, domain: string): Promise<string | null> {
  const texts = recordsOf(await context.resolver(domain, 'TXT'))?.filter(resemblesSpf) ?? [];
  return texts.length === 0 ? null : (readSpf(texts).record ?? texts.find(isSpfRecord) ?? null);
}

const foreignSenderFix = (domain: string): Fix => ({
  text: `Use an envelope sender (MAIL FROM) at a domain of your own. ${domain} belongs to ${foreignOwner(domain)}, so you cannot change its SPF record.`,
});

interface Include {
  service: SendingService;
  name: string;
  /** With the include, the record exceeds the limit of DNS lookups. */
  exceedsLimit: boolean;
}

/** The records of regions that are tried for each service. */
const MAX_TRIED = 4;

/** The first include of these services with which the message would pass SPF; null if there is none. */
async function findInclude(
  context: Context,
  target: Target,
  record: string | null,
  found: FoundService[],
): Promise<Include | null> {
  for (const { service } of found) {
    const names = service.spf.kind === 'include' ? service.spf.includes.slice(0, MAX_TRIED) : [];
    for (const name of names) {
      const effect = await tryRecord(context, target, withInclude(record, name));
      if (effect !== 'fail') return { service, name, exceedsLimit: effect === 'too_many_lookups' };
    }
  }
  return null;
}

/** What the record would do to this message. An unanswered lookup leaves that open, and counts as a pass. */
async function tryRecord(
  context: Context,
  { domain, clientIp }: Target,
  value: string,
): Promise<'pass' | 'fail' | 'too_many_lookups'> {
  const resolver = withPublished(domain, value, context.resolver);
  const { helo } = context.envelope;
  const { result } = await evaluateSpf(spfIdentity(context), clientIp, helo, resolver);
  const { lookups } = await walkSpf(domain, resolver);
  if (lookups > MAX_LOOKUPS) return 'too_many_lookups';
  return result === 'pass' || result === 'temperror' ? 'pass' : 'fail';
}

function includeFix(
  domain: string,
  record: string | null,
  { service, name, exceedsLimit }: Include,
  isUsed: boolean,
): Fix {
  const guide = spfGuide(service);
  if (exceedsLimit)
    return {
      text: `Add include:${name} to the SPF record of ${domain}. First remove includes of services that you no longer use: with this one, the record exceeds the limit of ${MAX_LOOKUPS} DNS lookups.`,
      guide,
    };
  const publish =
    record === null
      ? `Publish this SPF record, and add the other servers and services that send for ${domain}.`
      : `Add include:${name} to your SPF record, as shown.`;
  const question = `Do you use ${service.name} to send as ${domain}? If not, there is nothing to publish. If you do, `;
  const text = `${isUsed ? publish : question + lowered(publish)} The include allows every server of ${service.name}. Do not list its IP addresses: they change, and other customers use them too.`;
  return {
    ...spfFix(text, domain, withInclude(record, name)),
    ...(!isUsed && { caution: onlyIfUsed(service.name, domain) }),
    guide,
  };
}

/** For a service without an include that lets the message pass, or one that is only probable. */
function serviceAdvice({ domain, clientIp }: Target, found: FoundService): Fix {
  const { service, isCertain } = found;
  const otherwise = isCertain
    ? ''
    : ` If ${clientIp} is a server of your own, add its address to the record instead.`;
  return {
    text: `${condition(found)}${spfStep(service, domain)}${otherwise}`,
    guide: spfGuide(service),
  };
}

function spfStep({ name, spf, returnPath }: SendingService, domain: string): string {
  if (spf.kind === 'include')
    return `Add include:${spf.includes[0]} to the SPF record of ${domain}. Check in ${name} that it is the one for your account.`;
  if (spf.kind === 'console')
    return `Add the include that ${name} shows for your account to the SPF record of ${domain}.`;
  return returnPath === null
    ? `Let ${name} use its own envelope sender, which passes SPF. It needs no include in your SPF record.`
    : `In ${name}, set up ${returnPath}. It needs no include in your SPF record.`;
}

export interface KeptSender {
  value: string;
  /** What the record allows beside the change, as a sentence to append. */
  note: string;
  caution?: string;
}

/**
 * The record changed so that the message still passes SPF, if it passes now. Null if only the address of a
 * service's server would achieve that.
 */
export async function keepSender(
  context: Context,
  target: Target,
  record: string,
): Promise<KeptSender | null> {
  const isOwn = await isOwnServer(context, target.domain);
  const found = (await context.fact(sendingServices)).filter(({ isCertain }) => isCertain);
  const include = await findInclude(context, target, record, found);
  if (include && !include.exceedsLimit)
    return {
      value: withInclude(record, include.name),
      note: ` The record shown also includes ${include.name}, because ${include.service.name} sent this message.`,
      ...(!isOwn && { caution: onlyIfUsed(include.service.name, target.domain) }),
    };
  if (found.length > 0) return null;
  return {
    value: withAddress(record, target.clientIp),
    note: ` The record shown also allows ${target.clientIp}, which sent this message.`,
    ...(!isOwn && { caution: onlyIfServer(target.clientIp) }),
  };
}

/** A text that names senders, but not so that it could be repaired: a new record would not have them. Null if there is none. */
export async function similarTextFix(domain: string, { resolver }: Context): Promise<Fix | null> {
  const texts = recordsOf(await resolver(domain, 'TXT')) ?? [];
  const similar = texts
    .map((text) => text.slice(0, 4096))
    .filter((text) => NAMES_SENDERS.test(text));
  const [found] = similar;
  if (found === undefined) return null;
  const quoted = `One TXT record of ${domain} looks like an SPF record: "${found.slice(0, 100)}".`;
  const record = similar.length === 1 ? recordBehindName(found, domain) : null;
  if (record !== null && (await isUsable(domain, record, resolver)))
    return spfFix(
      `${quoted} Replace it with this record, which begins with v=spf1 instead of the name of the domain.`,
      domain,
      record,
    );
  return {
    text: `${quoted} Correct it, so that it begins with v=spf1 and a space, and lists the servers that send for your domain.`,
  };
}

/** The whole record after the name of the domain itself, which does not belong in its text; null if there is none. */
function recordBehindName(text: string, domain: string): string | null {
  const written = text.replace(/["'\s]+/g, ' ').trim();
  if (written.slice(0, domain.length).toLowerCase() !== domain) return null;
  const rest = written.slice(domain.length);
  const [separator] = /^\.?(?: ?[=:] ?| )(?=v=spf1 .*(?:all|redirect=))/i.exec(rest) ?? [];
  return separator === undefined ? null : readSpf([rest.slice(separator.length)]).record;
}

const NAMES_SENDERS = /(?:^|[^a-z0-9])spf\s?[=:]?\s?1|=\s?spf\b|(?:^|[\s"])(?:include|ip[46]):/i;

/** The first SPF record of a domain: for the service that hosts its mailboxes, or its mail servers. */
export async function firstRecordFix(context: Context, domain: string): Promise<Fix> {
  const host = await mailboxHost(context, domain);
  if (host?.spf.kind !== 'include')
    return spfFix(
      'Publish a record that lists the servers that send for your domain. This one lists its mail servers.',
      domain,
      'v=spf1 mx ~all',
    );
  const [name] = host.spf.includes;
  return {
    ...spfFix(
      `Publish a record that lists the servers that send for your domain. This one includes those of ${host.name}, which receives its mail.`,
      domain,
      withInclude(null, name!),
    ),
    guide: spfGuide(host),
  };
}

/** The service that receives the mail of a domain, by its MX records. */
export async function mailboxHost(
  context: Context,
  domain: string,
): Promise<SendingService | undefined> {
  const records = recordsOf(await context.resolver(domain, 'MX')) ?? [];
  const names = records.flatMap((text) => normalizeDomain(text.replace(/^\d+\s+/, '')) ?? []);
  return SENDING_SERVICES.find(({ marks }) => names.some((name) => hasSuffix(name, marks.mx)));
}

/** The fix for an envelope sender that does not align with the From domain. */
export async function returnPathFix(context: Context, from: string): Promise<Fix> {
  const other = ownDomainFix(from) ?? privateMailboxFix(context, from) ?? webHostFix(context, from);
  if (other) return other;
  const found = await context.fact(deliveringService);
  if (!found)
    return {
      text: `Use an envelope sender under ${from}. Most email services call this a custom return path or bounce domain.`,
    };
  const { name } = found.service;
  const step =
    returnPathStep(found.service, from) ??
    `Sign with DKIM as ${from}. ${name} may not let you change the envelope sender, and DMARC needs only one of the two.`;
  return { text: `${condition(found)}${step}`, guide: spfGuide(found.service) };
}

/** How the customer of a service gets an envelope sender that aligns; null if the service offers none. */
export const returnPathStep = (
  { name, returnPath }: SendingService,
  from: string,
): string | null =>
  returnPath === null ? null : `In ${name}, set up ${returnPath}, under ${from}.`;
