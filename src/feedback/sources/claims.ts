/**
 * Claims: what shows that a domain uses a sending service, even if no message passes. The SPF record includes the service, the
 * domain has a selector or return path of the service, or the team sent a test through it.
 */

import type { Envelope } from '../../analysis/check.ts';
import { resemblesKey } from '../../analysis/dkim/key-record.ts';
import { isFromWildcard } from '../../analysis/dns/wildcard.ts';
import { type SendingService, selectorsOf } from '../../analysis/sending-services/service.ts';
import {
  SENDING_SERVICES,
  serviceOfKey,
  serviceOfMailFrom,
  serviceOfSelector,
  serviceOfSigner,
} from '../../analysis/sending-services/services.ts';
import {
  includedNames,
  servicesOfInclude,
} from '../../analysis/sending-services/services-of-domain.ts';
import { addressDomain, ownerOf } from '../../lib/domain-names.ts';
import { dayInWords } from '../../lib/format/times.ts';
import { type Resolver, recordsOf } from '../../net/dns/resolver.ts';
import type { Db } from '../../store/open.ts';
import type { DomainRow, TestRow } from '../../store/tables.generated.ts';
import { validSignatures } from './match-tests.ts';

type Domain = Pick<DomainRow, 'id' | 'name'>;

/** A sentence; null if nothing shows it, undefined if lookups failed. */
export type Claim = string | null | undefined;
export type Claims = (key: string) => Promise<Claim>;

/** Returns the claim for the key of a source. Each lookup is made once for all sources. */
export function claimsOf(db: Db, resolver: Resolver, domain: Domain): Claims {
  const found = new Map<string, Promise<Claim>>();
  const tested = once(() => testedServices(db, domain));
  return (key) => {
    const service = SENDING_SERVICES.find(({ id }) => key === `service ${id}`);
    if (!service) return Promise.resolve(null);
    const claim = found.get(key) ?? claimOf(service, domain, resolver, tested);
    found.set(key, claim);
    return claim;
  };
}

const once = <T>(make: () => Promise<T>): (() => Promise<T>) => {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
};

async function claimOf(
  service: SendingService,
  { name }: Domain,
  resolver: Resolver,
  tested: () => Promise<Map<string, string>>,
): Promise<Claim> {
  let hasFailedLookup = false;
  const observed: Resolver = async (at, type) => {
    const answer = await resolver(at, type);
    hasFailedLookup ||= answer.status === 'error';
    return answer;
  };
  const claim =
    (await includeOf(service, name, observed)) ??
    (await selectorOf(service, name, observed)) ??
    (await returnPathOf(service, name, observed)) ??
    (await tested()).get(service.id) ??
    null;
  return claim === null && hasFailedLookup ? undefined : claim;
}

async function includeOf(service: SendingService, domain: string, resolver: Resolver) {
  for (const name of new Set([domain, ownerOf(domain)])) {
    const names = await includedNames(resolver, name);
    const include = names.find((one) => servicesOfInclude(one).includes(service));
    if (include !== undefined) return `The SPF record of ${name} includes ${include}.`;
  }
  return null;
}

/** If many signers use a selector, only the target of its CNAME record identifies the service. */
async function selectorOf(service: SendingService, domain: string, resolver: Resolver) {
  for (const selector of selectorsOf(service)) {
    if (selector.includes('<')) continue;
    const name = `${selector}._domainkey.${domain}`;
    const target = recordsOf(await resolver(name, 'CNAME'))?.[0]?.toLowerCase();
    if (target !== undefined) {
      if (serviceOfKey(target) === service) return `${name} points to ${target}.`;
    } else if (serviceOfSelector(selector) === service) {
      const texts = recordsOf(await resolver(name, 'TXT')) ?? [];
      const isKey = (text: string) => resemblesKey(text) && /(?:^|;)\s*p\s*=\s*[^;\s]/i.test(text);
      if (texts.some(isKey) && !(await isFromWildcard(name, 'TXT', resolver)))
        return `${domain} has a DKIM key at ${selector}, a selector of the service.`;
    }
  }
  return null;
}

async function returnPathOf(service: SendingService, domain: string, resolver: Resolver) {
  if (service.returnPathLabel === undefined) return null;
  const name = `${service.returnPathLabel}.${domain}`;
  const target = recordsOf(await resolver(name, 'CNAME'))?.[0]?.toLowerCase();
  const isOfService =
    target === undefined
      ? (await includedNames(resolver, name)).some((one) =>
          servicesOfInclude(one).includes(service),
        )
      : serviceOfKey(target) === service;
  return isOfService ? `The return path ${name} belongs to the service.` : null;
}

/** Only this many of the newest tests are considered, and the checks of the newest few are read. */
const MAX_TESTS = 200;
const MAX_READ = 20;

/**
 * By the ID of the service. SPF or a DKIM signature must show the service, because anyone can write its header fields. The
 * address of a test is secret. One of an inbox or a monitor is permanent, so strangers may know it.
 */
async function testedServices(db: Db, { id }: Domain): Promise<Map<string, string>> {
  const tests = await db
    .selectFrom('tests')
    .select(['id', 'envelope', 'spf', 'completed_at'])
    .where('domain_id', '=', id)
    .where('livemode', '=', 1)
    .where('status', '=', 'completed')
    .where('inbox_id', 'is', null)
    .where('monitor_id', 'is', null)
    .orderBy('id', 'desc')
    .limit(MAX_TESTS)
    .execute();
  const sent = tests.filter((test) => !envelopeOf(test).file);
  const days = new Map<string, string>();
  const note = (service: SendingService | undefined, day: string) => {
    if (service && !days.has(service.id))
      days.set(service.id, `Your team sent a test through it on ${dayInWords(day)}.`);
  };
  for (const test of sent) {
    const { mail_from } = envelopeOf(test);
    const domain = test.spf === 'pass' && mail_from ? addressDomain(mail_from) : null;
    if (domain !== null) note(serviceOfMailFrom(domain), test.completed_at!.slice(0, 10));
  }
  const newest = sent.slice(0, MAX_READ).map((test) => test.id);
  if (newest.length === 0) return days;
  const read = await db
    .selectFrom('tests')
    .select(['checks', 'completed_at'])
    .where('id', 'in', newest)
    .orderBy('id', 'desc')
    .execute();
  for (const { checks, completed_at } of read)
    for (const { domain } of validSignatures(JSON.parse(checks ?? '[]')))
      note(serviceOfSigner(domain), completed_at!.slice(0, 10));
  return days;
}

const envelopeOf = ({ envelope }: Pick<TestRow, 'envelope'>): Partial<Envelope> =>
  JSON.parse(envelope ?? '{}');

/** Updates the claims of all services, including those without an address that is due. */
export async function refreshClaims(db: Db, { id }: Domain, claims: Claims): Promise<void> {
  const sources = await db
    .selectFrom('feedback_sources')
    .select(['id', 'key', 'claim'])
    .where('domain_id', '=', id)
    .where('key', 'like', 'service %')
    .execute();
  for (const { id: source, key, claim: known } of sources) {
    const claim = await claims(key);
    if (claim === undefined || claim === known) continue;
    await db.updateTable('feedback_sources').set({ claim }).where('id', '=', source).execute();
  }
}
