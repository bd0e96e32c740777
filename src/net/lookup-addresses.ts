/** The addresses of a host name, or why there are none, before a signal comes. */

import { isIP } from 'node:net';
import type { DnsAnswer, Resolver } from './resolver.ts';

/** No honest name has more. */
const MAX_ADDRESSES = 50;

export type HostAddresses =
  /** IPv4 first: not every machine has a way to IPv6. */
  | { kind: 'found'; addresses: string[] }
  /** Neither A nor AAAA. */
  | { kind: 'none' }
  /** One of the two questions was not answered, and the other gave no address. */
  | { kind: 'unknown' }
  | { kind: 'late' };

/** Both questions are asked at once. An address as `host` stands for itself. */
export async function lookUpAddresses(
  resolver: Resolver,
  host: string,
  signal: AbortSignal,
): Promise<HostAddresses> {
  if (isIP(host) !== 0) return { kind: 'found', addresses: [host] };
  const answers = await beforeSignal(
    Promise.all([resolver(host, 'A'), resolver(host, 'AAAA')]),
    signal,
  );
  if (answers === null) return { kind: 'late' };
  const addresses = [...new Set(answers.flatMap(recordsIn))].slice(0, MAX_ADDRESSES);
  if (addresses.length > 0) return { kind: 'found', addresses };
  return { kind: answers.some(({ status }) => status === 'error') ? 'unknown' : 'none' };
}

function recordsIn(answer: DnsAnswer): string[] {
  return answer.status === 'found' ? answer.records : [];
}

function beforeSignal<T>(work: Promise<T>, signal: AbortSignal): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const giveUp = () => resolve(null);
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}
