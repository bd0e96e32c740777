/** CNAME records at the names of DKIM keys that lead to no key. */

import { organizationalDomain } from '../../lib/domain-names.ts';
import { type Resolver, recordsOf } from '../../net/dns/resolver.ts';
import { aliasChain } from '../dns/alias.ts';
import { isFromWildcard } from '../dns/wildcard.ts';
import { selectorsOf } from '../sending-services/service.ts';
import { SENDING_SERVICES, serviceOfKey } from '../sending-services/services.ts';
import { resemblesKey } from './key-record.ts';

/** Where the CNAME record at the name of a key leads in the end; null if there is none, or only a wildcard. */
export async function aliasAt(resolver: Resolver, keyName: string): Promise<string | null> {
  const target = (await aliasChain(keyName, resolver)).at(-1);
  return target === undefined || (await isFromWildcard(keyName, 'CNAME', resolver)) ? null : target;
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

/** A host name, as a form shows it for a CNAME record. */
const TYPED_TARGET = /^\W{0,3}(?:CNAME\s+)?((?:[\w-]+\.){2,}[a-z][\w-]*)\W{0,3}$/i;

/** The host with a key that somebody entered as the text of a TXT record, instead of as the target of a CNAME record. */
export async function typedAlias(resolver: Resolver, texts: string[]): Promise<string | null> {
  const target = TYPED_TARGET.exec(texts.length === 1 ? texts[0]! : '')?.[1]?.toLowerCase();
  if (target === undefined) return null;
  return (recordsOf(await resolver(target, 'TXT')) ?? []).some(resemblesKey) ? target : null;
}
