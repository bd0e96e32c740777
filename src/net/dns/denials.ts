/** Recognizes a resolver that denies every name, such as one without a connection to the internet. */

import type { DnsAnswer, Resolver } from './resolver.ts';

/** Every resolver with access to the internet finds it. */
export const KNOWN = { name: 'com', type: 'NS' } as const;

export const isDenial = ({ status }: DnsAnswer): boolean =>
  status === 'nxdomain' || status === 'nodata';

/**
 * The same resolver, but if it denies even a name that exists, every denial becomes an error. This is checked once, after
 * the first denial.
 */
export function withoutFalseDenials(resolver: Resolver): Resolver {
  let isFalse: Promise<boolean> | null = null;
  return async (name, type) => {
    const answer = await resolver(name, type);
    if (!isDenial(answer)) return answer;
    isFalse ??= resolver(KNOWN.name, KNOWN.type).then(isDenial);
    return (await isFalse) ? { status: 'error', reason: 'denies' } : answer;
  };
}

/** Whether the resolver finds what every resolver with access to the internet finds. */
export const isWorking = async (resolver: Resolver): Promise<boolean> =>
  (await resolver(KNOWN.name, KNOWN.type)).status === 'found';
