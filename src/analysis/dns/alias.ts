/** Records proposed at a name that is an alias: DNS allows no other record beside a CNAME (RFC 1034 §3.6.2). */

import { type Resolver, recordsOf } from '../../net/dns/resolver.ts';
import type { Context, Fix } from '../check.ts';
import { hasSuffix } from '../sending-services/service.ts';
import { SENDING_SERVICES, serviceOfHost, serviceOfSigner } from '../sending-services/services.ts';

const MAX_ALIASES = 8;

/** The names to which a name leads, in order; empty if it is no alias, or if that is unknown. Ends at a loop. */
export async function aliasChain(name: string, resolver: Resolver): Promise<string[]> {
  const chain: string[] = [];
  let current = name.toLowerCase();
  while (chain.length < MAX_ALIASES) {
    const [target] = recordsOf(await resolver(current, 'CNAME')) ?? [];
    const next = target?.toLowerCase().replace(/\.$/, '');
    if (next === undefined || next === name.toLowerCase() || chain.includes(next)) break;
    chain.push(next);
    current = next;
  }
  return chain;
}

/** The fix with what to do about the alias, if its record belongs at the name of one. */
export async function withAlias(fix: Fix, { resolver, offline }: Context): Promise<Fix> {
  const { record } = fix;
  if (!record || record.type === 'CNAME' || record.type === 'PTR' || offline) return fix;
  const chain = await aliasChain(record.name, resolver);
  const target = chain.at(-1);
  if (target === undefined) return fix;
  const owner = serviceAt(target);
  const at = owner === null ? target : `${target}, which belongs to ${owner}`;
  // A host name has other uses, which end with its alias.
  const rest = record.name.split('.').some((label) => label.startsWith('_'))
    ? ''
    : ', together with the other records of its target that you need, such as A and MX';
  const text = `${record.name} is an alias (${[record.name, ...chain].join(' → ')}), and DNS allows no other record beside a CNAME. Either finish the setup at ${at}, so that the record exists there. Or delete the CNAME, and publish this record instead${rest}.`;
  return { ...fix, text };
}

/** The name of the sending service to which a host name belongs; null if it is not known. */
function serviceAt(host: string): string | null {
  const byTarget = SENDING_SERVICES.find(
    ({ dkim }) =>
      dkim.kind === 'cname' &&
      dkim.records.some(([, target]) => hasSuffix(host, [fixedEnd(target)])),
  );
  return (byTarget ?? serviceOfHost(host) ?? serviceOfSigner(host))?.name ?? null;
}

/** The last two labels of a target such as `{selector}.dkim.example.net`. */
const fixedEnd = (target: string): string => target.split('.').slice(-2).join('.');
