/**
 * Finds forwarding that left no trace but the delivery path. A server of another organization took the message from the
 * author's server, and sent it here with the author's envelope sender.
 */

import { normalizeAddress, reverseName } from '../../lib/addresses.ts';
import { normalizeDomain, ownerOf } from '../../lib/domain-names.ts';
import { recordsOf } from '../../net/dns/resolver.ts';
import type { Context } from '../check.ts';
import { dmarcResult } from '../dmarc/evaluate.ts';
import { fromDomain, fullHostName } from '../dns/names.ts';
import { fields } from '../mime/message.ts';
import { type Hop, receivedHops } from '../mime/received.ts';
import { sendingServices } from '../sending-services/identify.ts';
import { HOSTING_PROVIDERS } from '../sending-services/services.ts';
import { evaluateSpf, spfIdentity } from '../spf/evaluate.ts';
import { isSameOrganization } from './forwarding.ts';

/**
 * A fact: the organization that passed the message on; null if none is seen. Only for a message with a valid, aligned
 * DKIM signature, so that nobody can turn a spoofed message into a forwarded one with a Received field.
 */
export async function relayedBy(context: Context): Promise<string | null> {
  const helo = fullHostName(context.envelope.helo ?? '');
  const newest = receivedHops(context.message).at(-1);
  if (helo === null || newest === undefined) return null;
  if (isOfAuthor(context, helo) || !(await isSigned(context))) return null;
  const services = await context.fact(sendingServices);
  const certain = services.filter(({ isCertain }) => isCertain);
  // A service that sends for its customers belongs into their records. A web host forwards their mail too.
  if (certain.some(({ service }) => !HOSTING_PROVIDERS.includes(service))) return null;
  const isSeen =
    (await tookFromAuthor(context, newest, helo)) ||
    (certain.length === 0 && (await isMailHost(context, helo)));
  return isSeen ? ownerOf(helo) : null;
}

async function isSigned(context: Context): Promise<boolean> {
  const { dkim } = (await context.fact(dmarcResult)).alignment;
  return dkim.result === 'pass' && dkim.aligned === true;
}

function isOfAuthor(context: Context, host: string): boolean {
  const { domain } = spfIdentity(context);
  return isSameOrganization(host, fromDomain(context)) || isSameOrganization(host, domain);
}

/** Whether the newest Received field is by the organization of the client, from an address that passes SPF. */
async function tookFromAuthor(context: Context, { by }: Hop, helo: string): Promise<boolean> {
  if (!isSameOrganization(fullHostName(by ?? ''), helo)) return false;
  const address = clientOf(fields(context.message, 'received')[0]?.value ?? '');
  if (address === null) return false;
  const { result } = await evaluateSpf(spfIdentity(context), address, null, context.resolver);
  return result === 'pass';
}

/** The address in brackets or parentheses before `by`: `from a.example (b.example [192.0.2.1]) by …`. */
function clientOf(received: string): string | null {
  const from = received.slice(0, 2000).split(/\sby\s/i, 1)[0]!;
  const addresses = [...from.matchAll(/[[(](?:IPv6:)?([0-9a-f.:]{3,45})[\])]/gi)];
  for (const [, text] of addresses) {
    const address = normalizeAddress(text!);
    if (address !== null) return address;
  }
  return null;
}

/**
 * Whether the client is a host of an organization with a mail service of its own, by its HELO and reverse name, that
 * received the message before.
 */
async function isMailHost(context: Context, helo: string): Promise<boolean> {
  const received = receivedHops(context.message).some(
    ({ by }) => normalizeDomain(by ?? '') === normalizeDomain(helo),
  );
  const address = normalizeAddress(context.envelope.client_ip ?? '');
  if (!received || address === null) return false;
  const names = recordsOf(await context.resolver(reverseName(address), 'PTR')) ?? [];
  if (!names.some((name) => isSameOrganization(fullHostName(name), helo))) return false;
  const servers = recordsOf(await context.resolver(ownerOf(helo), 'MX')) ?? [];
  return servers.length > 0 && !servers.includes('0 .');
}
