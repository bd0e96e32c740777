/** The client's address as lists are asked about it. */

import ipaddr from 'ipaddr.js';
import { reverseName } from '../../lib/addresses.ts';
import type { Context } from '../check.ts';
import { publicClient } from '../infrastructure/client.ts';
import type { Subject } from './ask-lists.ts';
import type { BlocklistInUse } from './blocklist.ts';

/** What to ask, and whom; or why nobody is asked, as a sentence. */
type Asking =
  | { address: string; subject: Subject; lists: BlocklistInUse[]; reason?: undefined }
  | { address: null; reason: string };

/** The lists of a kind that cover the client's address. */
export function askingAboutClient(context: Context, kind: 'ip' | 'allow'): Asking {
  const client = publicClient(context);
  if (client.address === null) return { address: null, reason: client.reason };
  const { address } = client;
  if (!isAskable(address))
    return {
      address: null,
      reason: `The client's address, ${address}, is one for documentation: no list is asked about those.`,
    };
  const lists = context.setup.blocklists.filter(({ list }) => list.kind === kind);
  const what = kind === 'ip' ? 'blocklists' : 'allowlists';
  if (lists.length === 0) return { address: null, reason: `No ${what} are switched on.` };
  const covering = lists.filter(({ list }) => list.ipv6 || !address.includes(':'));
  if (covering.length === 0)
    return { address: null, reason: `None of the ${what} that are switched on covers IPv6.` };
  return { address, subject: addressSubject(address), lists: covering };
}

/** Whether lists may be asked about a (normalised) address: a public one, and none for documentation. */
export function isAskable(address: string): boolean {
  return ipaddr.process(address).range() === 'unicast';
}

/** `192.0.2.1` is asked about as `1.2.0.192`, an IPv6 address by its nibbles (RFC 5782 §2.1 and §2.4). */
export function addressSubject(address: string): Subject {
  const question = reverseName(address).replace(/\.(?:in-addr|ip6)\.arpa$/, '');
  return { name: address, question, isAddress: true };
}
