/** The bounds of one analysis: its deadline, and how much it may ask. */

import type { DnsAnswer, Resolver } from '../net/resolver.ts';
import type { Web, WebAnswer, WebFailure } from '../net/web.ts';

/** More questions than any honest message needs; a hostile one gets no further. */
const MAX_QUESTIONS = 400;
/** Likewise of requests, redirects included. */
const MAX_REQUESTS = 120;

/** What a race with the deadline ends in when the deadline wins. */
export const LATE = Symbol('late');

export interface Deadline {
  /** Resolves when the time is up. */
  passed: Promise<typeof LATE>;
  stop(): void;
}

export function startDeadline(ms: number): Deadline {
  const { promise, resolve } = Promise.withResolvers<typeof LATE>();
  const timer = setTimeout(resolve, ms, LATE);
  return { passed: promise, stop: () => clearTimeout(timer) };
}

/** The resolver of one analysis: no answer after the deadline, no more questions than the limit. */
export function boundedResolver(resolver: Resolver, deadline: Deadline): Resolver {
  const late = deadline.passed.then((): DnsAnswer => ({ status: 'error', reason: 'timeout' }));
  let asked = 0;
  let over = false;
  void deadline.passed.then(() => {
    over = true;
  });
  return (name, type) => {
    if (over) return late;
    asked += 1;
    if (asked > MAX_QUESTIONS) return Promise.resolve({ status: 'error', reason: 'limit' });
    return Promise.race([resolver(name, type), late]);
  };
}

/** The client of one analysis: likewise. */
export function boundedWeb(web: Web, deadline: Deadline): Web {
  const late = deadline.passed.then(() => unanswered('timeout', 'the time of the analysis is up'));
  let asked = 0;
  let over = false;
  void deadline.passed.then(() => {
    over = true;
  });
  return (request) => {
    if (over) return late;
    asked += 1;
    if (asked > MAX_REQUESTS)
      return Promise.resolve(unanswered('limit', 'too many addresses had been asked'));
    return Promise.race([web(request), late]);
  };
}

const unanswered = (reason: WebFailure, detail: string): WebAnswer => ({
  status: 'failed',
  reason,
  detail,
});
