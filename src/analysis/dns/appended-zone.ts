/**
 * Names to which a DNS panel added its zone: `smtp.google.com` without a final dot becomes `smtp.google.com.example.com`
 * (RFC 1035 §5.1).
 */

import { isRegistrable, organizationalDomain, ownerOf } from '../../lib/domain-names.ts';
import { type RecordType, type Resolver, recordsOf } from '../../net/dns/resolver.ts';
import { isFromWildcard } from './wildcard.ts';

/**
 * The name without the zone of `domain`, if it is a full name then; else null. `mx.de.example.com` can be meant as it is,
 * so the rest has three labels, or is in the zone itself.
 */
export function withoutZone(name: string, domain: string): string | null {
  for (const zone of new Set([domain, ownerOf(domain)])) {
    if (!name.endsWith(`.${zone}`)) continue;
    const rest = name.slice(0, -(zone.length + 1));
    if (rest === zone || rest.endsWith(`.${zone}`)) return rest;
    const isFull = isRegistrable(rest) && organizationalDomain(rest) !== null;
    if (isFull && rest.split('.').length > 2) return rest;
  }
  return null;
}

/**
 * The name that was meant, if only that one has a record of these types. Null if the name is right, or if that is not
 * known. `isMissing`: the name is known to have none.
 */
export async function meantName(
  name: string,
  domain: string,
  types: RecordType[],
  resolver: Resolver,
  isMissing = false,
): Promise<string | null> {
  const meant = withoutZone(name, domain);
  if (meant === null || (!isMissing && (await has(name, types, resolver)) !== false)) return null;
  return (await has(meant, types, resolver)) ? meant : null;
}

/** Whether the name has such records by itself; null if that is not known. */
async function has(name: string, types: RecordType[], resolver: Resolver): Promise<boolean | null> {
  const found = await Promise.all(
    types.map(async (type) => {
      const records = recordsOf(await resolver(name, type));
      if (!records || records.length === 0) return records && false;
      return !(await isFromWildcard(name, type, resolver));
    }),
  );
  return found.includes(true) ? true : found.includes(null) ? null : false;
}

/** What happened, and how to enter the name, as sentences. */
export const explainAppended = (name: string, meant: string): string =>
  `Your DNS panel appended your domain to ${meant}, so the record points to ${name}. Enter "${meant}." with a dot at the end. If the panel rejects the dot, ask its support how to enter a full name.`;

/**
 * A record at a name that has the domain twice, such as `_dmarc.example.com.example.com`, and its texts. Null if there is
 * none. Names below a name that does not exist cannot exist (RFC 8020), so that one question answers for all of them.
 */
export async function repeatedZone(
  name: string,
  domain: string,
  isMeant: (text: string) => boolean,
  resolver: Resolver,
  type: RecordType = 'TXT',
): Promise<{ name: string; texts: string[] } | null> {
  const zone = ownerOf(domain);
  if ((await resolver(`${zone}.${zone}`, 'TXT')).status === 'nxdomain') return null;
  const repeated = `${name}.${zone}`;
  const texts = (recordsOf(await resolver(repeated, type)) ?? []).filter(isMeant);
  return texts.length === 0 ? null : { name: repeated, texts };
}

/** What to enter instead. */
export const explainRepeated = (name: string, repeated: string, domain: string): string => {
  const zone = ownerOf(domain);
  return `The record is at ${repeated}, where nobody looks for it: your DNS panel appends ${zone} to each name. Enter only "${name.slice(0, -(zone.length + 1))}" as the name, so that the record is at ${name}.`;
};
