/** DNS lookups of a thread, which the main thread makes: it has the shared cache and the limits. */

import type { DnsAnswer, RecordType, Resolver } from './resolver.ts';

/** From the thread. */
export interface LookupRequest {
  type: 'lookup';
  lookup: number;
  name: string;
  record: RecordType;
}

/** To the thread. */
export interface LookupAnswer {
  type: 'answer';
  lookup: number;
  answer: DnsAnswer;
}

/** In the thread: a resolver that sends requests, and the function that passes it the answers. */
export function remoteResolver(send: (request: LookupRequest) => void): {
  resolver: Resolver;
  settle(answer: LookupAnswer): void;
} {
  const pending = new Map<number, (answer: DnsAnswer) => void>();
  let lastId = 0;
  return {
    resolver: (name, record) =>
      new Promise((resolve) => {
        lastId += 1;
        pending.set(lastId, resolve);
        send({ type: 'lookup', lookup: lastId, name, record });
      }),
    settle({ lookup, answer }) {
      pending.get(lookup)?.(answer);
      pending.delete(lookup);
    },
  };
}

/** In the main thread: answers a request. */
export function answerLookup(
  { lookup, name, record }: LookupRequest,
  resolver: Resolver,
  send: (answer: LookupAnswer) => void,
): void {
  void resolver(name, record).then((answer) => send({ type: 'answer', lookup, answer }));
}
