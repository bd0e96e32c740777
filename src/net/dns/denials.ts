/** Recognizes a resolver that denies every name, such as one without a connection to the internet. */

import type { DnsAnswer, Resolver } from './resolver.ts';

/** Each resolver of the public internet finds it. */
export const KNOWN = { name: 'com', type: 'NS' } as const;

export const isDenial = ({ status }: DnsAnswer): boolean =>
  status === 'nxdomain' || status === 'nodata';

/**
 * The same resolver, except that nothing is absent if it denies even a name that exists: then it is unknown. That is
 * asked once, after the first denial.
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
