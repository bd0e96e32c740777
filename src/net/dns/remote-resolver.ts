/** DNS lookups of a thread, which the main thread makes: it has the shared cache and the limits. */

import { type AskDns, type DnsQuestion, type DnsReply, NO_REPLY } from './reply.ts';
import type { DnsAnswer, RecordType, Resolver } from './resolver.ts';

/** From the thread. */
export interface LookupRequest {
  type: 'lookup';
  lookup: number;
  name: string;
  record: RecordType;
  /** A question of `AskDns`. */
  to?: DnsQuestion['to'];
}

/** To the thread. */
export interface LookupAnswer {
  type: 'answer';
  lookup: number;
  answer: DnsAnswer | DnsReply;
}

interface RemoteDns {
  resolver: Resolver;
  askDns: AskDns;
  settle(answer: LookupAnswer): void;
}

/** In the thread: functions that send requests, and the function that passes them the answers. */
export function remoteResolver(send: (request: LookupRequest) => void): RemoteDns {
  const pending = new Map<number, (answer: LookupAnswer['answer']) => void>();
  let lastId = 0;
  const request = <T extends LookupAnswer['answer']>(
    question: Omit<LookupRequest, 'type' | 'lookup'>,
  ): Promise<T> =>
    new Promise((resolve) => {
      lastId += 1;
      // The main thread answers each request with what its kind asks for.
      pending.set(lastId, resolve as (answer: LookupAnswer['answer']) => void);
      send({ type: 'lookup', lookup: lastId, ...question });
    });
  return {
    resolver: (name, record) => request<DnsAnswer>({ name, record }),
    askDns: ({ name, type, to }) => request<DnsReply>({ name, record: type, to }),
    settle({ lookup, answer }) {
      pending.get(lookup)?.(answer);
      pending.delete(lookup);
    },
  };
}

/** In the main thread: answers a request. */
export function answerLookup(
  { lookup, name, record, to }: LookupRequest,
  resolver: Resolver,
  send: (answer: LookupAnswer) => void,
  askDns: AskDns | null = null,
): void {
  const asked =
    to === undefined
      ? resolver(name, record)
      : (askDns?.({ name, type: record, to }) ??
        Promise.resolve<DnsReply>({ ...NO_REPLY, failure: 'disabled' }));
  void asked.then((answer) => send({ type: 'answer', lookup, answer }));
}
