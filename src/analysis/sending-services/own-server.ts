/** Whether the sending address is a server of a domain. A message alone proves nothing: anyone can send it. */

import { normalizeAddress } from '../../lib/addresses.ts';
import { ownerOf } from '../../lib/domain-names.ts';
import { parseMx, recordsOf } from '../../net/dns/resolver.ts';
import type { Context } from '../check.ts';
import { dkimResult } from '../dkim/verify.ts';
import { dmarcResult } from '../dmarc/evaluate.ts';
import { confirmedNames, fromDomain, publicClient } from '../dns/names.ts';
import { forwarding } from '../forwarding/forwarding.ts';
import { hasSuffix } from './service.ts';

const MAX_HOSTS = 5;

/**
 * True if the owner of the domain has shown it. The address belongs to the domain or its mail servers, or its reverse
 * name is within the domain and resolves back. Or the message has a valid signature, or the service knows the server.
 */
export async function isOwnServer(context: Context, domain: string): Promise<boolean> {
  const { address } = publicClient(context);
  if (address === null) return false;
  const owner = ownerOf(domain);
  if (context.setup.ownSenderOf.some((name) => hasSuffix(name, [owner]))) return true;
  if (await isSigned(context, owner)) return true;
  if (context.offline) return false;
  const [mailServers, reverseNames] = await Promise.all([
    Promise.all([...new Set([domain, owner])].map((name) => mailServersOf(context, name))),
    context.fact(confirmedNames),
  ]);
  if (reverseNames.some((name) => hasSuffix(name, [owner]))) return true;
  const names = [domain, owner, ...mailServers.flat()];
  const type = address.includes(':') ? 'AAAA' : 'A';
  const answers = await Promise.all(
    [...new Set(names)].map((name) => context.resolver(name, type)),
  );
  return answers.some((answer) =>
    recordsOf(answer)?.some((text) => normalizeAddress(text) === address),
  );
}

async function mailServersOf({ resolver }: Context, domain: string): Promise<string[]> {
  const records = recordsOf(await resolver(domain, 'MX')) ?? [];
  return records.map((text) => parseMx(text).exchange.toLowerCase()).slice(0, MAX_HOSTS);
}

/**
 * A forwarded message has its signature too, but comes from the server of someone else. So may a file, which only
 * claims its address.
 */
async function isSigned(context: Context, owner: string): Promise<boolean> {
  if (context.envelope.file || context.fact(forwarding).kind !== 'direct') return false;
  const { signatures } = await context.fact(dkimResult);
  return signatures.some(({ result, domain }) => result === 'pass' && hasSuffix(domain, [owner]));
}

/** Whether a reverse name is in the domain of an authenticated sender, who then chose it, numbers or not. */
export async function isOwnName(context: Context, name: string): Promise<boolean> {
  const from = fromDomain(context);
  if (from === null || !hasSuffix(name, [ownerOf(from)])) return false;
  return (await context.fact(dmarcResult)).identifiers === 'pass';
}
