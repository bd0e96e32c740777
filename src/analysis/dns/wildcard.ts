/** Answers of wildcards (RFC 4592): nobody published them for the name, and a record of its own wins over them. */

import { derivedToken } from '../../lib/crypto.ts';
import { ownerOf } from '../../lib/domain-names.ts';
import {
  type DnsAnswer,
  type RecordType,
  type Resolver,
  recordsOf,
} from '../../net/dns/resolver.ts';

/** A name beside this one that nobody published. Names with the same parent have the same, so that answers are cached. */
function siblingOf(name: string): string {
  const parent = name.slice(name.indexOf('.') + 1);
  return `${derivedToken(parent, 16)}.${parent}`;
}

/**
 * Whether any name beside this one gets the same answer. False if there is no answer, or if it is not known. It costs a
 * question, so ask only where an answer was found and matters.
 */
export async function isFromWildcard(
  name: string,
  type: RecordType,
  resolver: Resolver,
): Promise<boolean> {
  const own = await resolver(name, type);
  return own.status === 'found' && isSame(own, await resolver(siblingOf(name), type));
}

const isSame = (a: DnsAnswer, b: DnsAnswer): boolean =>
  a.status === b.status &&
  a.status !== 'error' &&
  JSON.stringify(recordsOf(a)?.toSorted()) === JSON.stringify(recordsOf(b)?.toSorted());

const HOST_TYPES: RecordType[] = ['A', 'AAAA', 'MX', 'TXT'];

/**
 * The types that the host of a record has by a wildcard, which ends there with the first record at the name or below it
 * (RFC 4592 §2.2.1). A host with any other answer than a name beside it has records of its own.
 */
export async function lostTypes(recordName: string, resolver: Resolver): Promise<RecordType[]> {
  const host = hostOf(recordName);
  if (host === ownerOf(host)) return [];
  const sibling = siblingOf(host);
  if ((await resolver(sibling, 'A')).status === 'nxdomain') return [];
  const answers = await Promise.all(
    HOST_TYPES.map((type) => Promise.all([resolver(host, type), resolver(sibling, type)])),
  );
  if (!answers.every(([own, other]) => isSame(own, other))) return [];
  return HOST_TYPES.filter((_, index) => answers[index]![0].status === 'found');
}

/** The name without labels such as `_dmarc` or `s1._domainkey`. */
export function hostOf(recordName: string): string {
  const labels = recordName.split('.');
  return labels.slice(labels.findLastIndex((label) => label.startsWith('_')) + 1).join('.');
}
