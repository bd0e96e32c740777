/** Mail that a device or program sends directly over the internet access line of a home or office. */

import { queryLists } from '../blocklists/query.ts';
import { planClientQuery } from '../blocklists/subjects.ts';
import type { Context } from '../check.ts';
import { clientPtr, fullHostName, publicClient, usableNames } from '../dns/names.ts';
import { deliveringService } from '../sending-services/identify.ts';
import { isOwnName } from '../sending-services/own-server.ts';
import { device } from './devices.ts';
import { kindOfName } from './line-names.ts';

export interface AccessLine {
  address: string;
  /** The reverse name; null if there is none. */
  name: string | null;
  /** "Konica Minolta printer"; null if nothing shows one. */
  device: string | null;
  /** Whether it is known to be a line: a device in an office can be on an address of its own. */
  isLine: boolean;
  /** What shows the line, as clauses. */
  evidence: string[];
}

/** A fact: the line; null for servers, and where too little is known. */
export async function accessLine(context: Context): Promise<AccessLine | null> {
  const { address } = publicClient(context);
  if (context.offline || address === null) return null;
  if ((await context.fact(deliveringService))?.isCertain) return null;
  const answer = await context.fact(clientPtr);
  if (answer === null || answer.status === 'error') return null;
  const names = usableNames(answer);
  const kinds = new Set(
    await Promise.all(
      names.map(async (one) =>
        (await isOwnName(context, one)) ? 'own' : kindOfName(one, address),
      ),
    ),
  );
  if (kinds.has('own') || kinds.has('rented')) return null;
  const [name = null] = names;
  const { helo } = context.envelope;
  const isDeviceName = helo !== null && fullHostName(helo) === null;
  const found = context.fact(device);
  const isListed = await context.fact(isInPolicyList);
  const signs = [isDeviceName, found !== null, isListed].filter(Boolean).length;
  // A server has a full name in HELO, also where its address has no reverse name, or a generic one.
  const needed = kinds.has('line') ? 0 : kinds.has('unknown') ? 1 : 2;
  if (signs < needed) return null;
  return {
    address,
    name,
    device: found,
    isLine: kinds.has('line') || isListed,
    evidence: [
      ...(name === null ? [] : [`its reverse name is ${name}`]),
      ...(isDeviceName ? [`it announces “${printable(helo)}” in HELO`] : []),
      ...(isListed ? ['a policy list says that it should not send mail directly'] : []),
    ],
  };
}

const printable = (helo: string): string => helo.slice(0, 60).replace(/[^\x20-\x7e]/g, '?');

/** Spamhaus: the operator of the network, or Spamhaus, says that the address should not send mail directly. */
const POLICY_CODES = ['127.0.0.10', '127.0.0.11'];

/** A fact. The blocklist check makes the same queries, so this adds none. */
async function isInPolicyList(context: Context): Promise<boolean> {
  const query = planClientQuery(context, 'ip');
  if (query.address === null) return false;
  const lists = query.lists.filter(({ list }) => list.zone.includes('spamhaus'));
  const outcomes = await queryLists(context.resolver, lists, [query.subject]);
  return outcomes.some(
    ({ status, codes }) => status === 'listed' && codes.some((code) => POLICY_CODES.includes(code)),
  );
}
