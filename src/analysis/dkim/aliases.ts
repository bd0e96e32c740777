/** CNAME records at the names of DKIM keys that lead to no key. */

import { organizationalDomain } from '../../lib/domain-names.ts';
import { type Resolver, recordsOf } from '../../net/dns/resolver.ts';
import { aliasChain } from '../dns/alias.ts';
import { selectorsOf } from '../sending-services/service.ts';
import { SENDING_SERVICES, serviceOfKey } from '../sending-services/services.ts';

/** Nobody publishes a key there, so only a wildcard record answers. */
const UNUSED_SELECTOR = 'wildcard-probe-3f9a1c7e';

/** Where the CNAME record at the name of a key leads in the end; null if there is none, or only a wildcard. */
export async function aliasAt(resolver: Resolver, keyName: string): Promise<string | null> {
  const target = (await aliasChain(keyName, resolver)).at(-1);
  if (target === undefined) return null;
  const probe = keyName.replace(/^.*?(?=\._domainkey\.)/, UNUSED_SELECTOR);
  const [general] = recordsOf(await resolver(probe, 'CNAME')) ?? [];
  return general === undefined ? target : null;
}

/** Under these, customers of some service publish a CNAME record. */
export const ALIAS_SELECTORS = new Set(
  SENDING_SERVICES.flatMap((service) =>
    service.dkim.kind === 'cname' ? selectorsOf(service) : [],
  ),
);

/** Who publishes the keys at a target: one name for all selectors of a service. */
export const keyOwner = (target: string): string =>
  serviceOfKey(target)?.id ?? organizationalDomain(target) ?? target;
