/** Which services a domain uses, as far as its MX and SPF records show it. */

import { normalizeDomain, organizationalDomain } from '../../lib/domain-names.ts';
import { parseMx, recordsOf } from '../../net/dns/resolver.ts';
import type { Context } from '../check.ts';
import { hasSuffix, type SendingService, selectorsOf } from './service.ts';
import { isMailHost, SENDING_SERVICES, serviceOfDomain, serviceOfHost } from './services.ts';

export interface DomainService {
  service: SendingService;
  /** The customer's number, if the SPF record shows it. */
  account: string | null;
}

/** Those that receive its mail first. Each service once. */
export async function servicesOfDomain(
  { resolver }: Context,
  domain: string,
): Promise<DomainService[]> {
  const included = await includedNames(resolver, domain);
  const found = [
    ...(await receivingServices(resolver, domain)).map((service) => ({ service, account: null })),
    ...included.map((name) => ({ service: serviceOfInclude(name), account: accountIn(name) })),
  ];
  const byId = new Map<string, DomainService>();
  for (const { service, account } of found) {
    if (!service) continue;
    const known = byId.get(service.id);
    byId.set(service.id, { service, account: known?.account ?? account });
  }
  return [...byId.values()];
}

/** More than any domain needs: a hostile one could have thousands. */
const MAX_EXCHANGES = 20;

/** The services to which its mail servers belong, by their names. */
export async function receivingServices(
  resolver: Context['resolver'],
  domain: string,
): Promise<SendingService[]> {
  const texts = recordsOf(await resolver(domain, 'MX')) ?? [];
  const names = texts.slice(0, MAX_EXCHANGES).map((text) => parseMx(text).exchange.toLowerCase());
  return [...new Set(names.flatMap((name) => serviceOfExchange(name) ?? []))];
}

const serviceOfExchange = (name: string): SendingService | undefined =>
  SENDING_SERVICES.find(
    ({ marks }) => hasSuffix(name, marks.mx) || hasSuffix(name, marks.regionalMx),
  ) ?? serviceOfHost(name);

/** All services whose customers include this name, even if several share it. */
export function servicesOfInclude(name: string): SendingService[] {
  const owner = serviceOfDomain(name);
  const sharing = SENDING_SERVICES.filter(
    ({ spf }) => spf.kind === 'include' && spf.includes.includes(name),
  );
  return owner ? [owner, ...sharing] : sharing;
}

/** Some services send through the servers of others. Who includes those usually has its mailboxes there. */
function serviceOfInclude(name: string): SendingService | undefined {
  const owners = SENDING_SERVICES.filter(
    ({ spf }) => spf.kind === 'include' && spf.includes.includes(name),
  );
  return owners.find(isMailHost) ?? owners[0] ?? serviceOfDomain(name);
}

/** `12345.spf01.hubspotemail.net` */
const accountIn = (name: string): string | null => /^(\d+)\./.exec(name)?.[1] ?? null;

/** The names that the SPF record includes, also by records of the same owner. Reads damaged records too. */
export async function includedNames(
  resolver: Context['resolver'],
  domain: string,
  depth = 0,
): Promise<string[]> {
  const texts = recordsOf(await resolver(domain, 'TXT')) ?? [];
  const names = texts
    .filter((text) => /v\s*=\s*spf1/i.test(text))
    .flatMap((text) => [...text.matchAll(/(?:include\s*:|redirect\s*=)\s*([\w.-]+)/gi)])
    .flatMap(([, name = '']) => normalizeDomain(name) ?? []);
  const owner = organizationalDomain(domain);
  const own = names.filter((name) => name !== domain && organizationalDomain(name) === owner);
  if (depth >= MAX_DEPTH) return names;
  const nested = await Promise.all(
    own.slice(0, MAX_OWN).map((name) => includedNames(resolver, name, depth + 1)),
  );
  return [...names, ...nested.flat()];
}

const MAX_DEPTH = 2;
const MAX_OWN = 3;

/** The selectors under which these services have their customers publish a key. */
export const selectorsOfServices = (services: DomainService[]): string[] => [
  ...new Set(
    services.flatMap(({ service, account }) =>
      selectorsOf(service)
        .map((selector) => (account ? selector.replace('<account>', account) : selector))
        .filter((selector) => !selector.includes('<')),
    ),
  ),
];
