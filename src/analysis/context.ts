/** Makes what every check is given, out of the input, the parsed message and a resolver. */

import type { DnsAnswer, Resolver } from '../net/dns/resolver.ts';
import type { WebFailure } from '../net/guarded-connection.ts';
import { noWeb, type Web, type WebAnswer } from '../net/http/web.ts';
import type { AnalysisInput, Context, Setup } from './check.ts';
import type { Message } from './mime/message.ts';

interface Surroundings {
  resolver: Resolver;
  web?: Web;
  setup?: Setup;
  offline?: boolean;
}

export function createContext(
  input: AnalysisInput,
  message: Message,
  { resolver, web = noWeb, setup = NO_SETUP, offline = false }: Surroundings,
): Context {
  const facts = new Map<unknown, unknown>();
  const context: Context = {
    ...input,
    message,
    resolver: askingOnce(resolver),
    web,
    setup,
    offline,
    fact<T>(make: (context: Context) => T): T {
      if (!facts.has(make)) facts.set(make, make(context));
      return facts.get(make) as T;
    },
  };
  return context;
}

/** Checks ask without regard to each other: the same question is asked once in an analysis. */
function askingOnce(resolver: Resolver): Resolver {
  const answers = new Map<string, ReturnType<Resolver>>();
  return (name, type) => {
    const key = `${type} ${name.toLowerCase()}`;
    let answer = answers.get(key);
    if (!answer) {
      answer = resolver(name, type);
      answers.set(key, answer);
    }
    return answer;
  };
}

// The bounds of one analysis: its deadline, and how much it may ask.

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

/** Nothing configured: no lists, no engines, no links asked. */
export const NO_SETUP: Setup = { blocklists: [], spamd: null, rspamd: null, checkLinks: false };
