/** Creates the context that all checks of one analysis share, and limits its network requests. */

import { KNOWN, withoutFalseDenials } from '../net/dns/denials.ts';
import type { AskDns } from '../net/dns/reply.ts';
import { DNS_FAILURES, type DnsAnswer, type Resolver } from '../net/dns/resolver.ts';
import type { WebFailureReason } from '../net/guarded-connection.ts';
import { offlineWebClient, type WebClient, type WebResult } from '../net/http/web.ts';
import type { AnalysisInput, Context, Setup } from './check.ts';
import type { Message } from './mime/message.ts';
import { readTemplate } from './templates/template.ts';

interface ContextOptions {
  resolver: Resolver;
  web?: WebClient;
  askDns?: AskDns | null;
  setup?: Setup;
  offline?: boolean;
  lineInFile?: Context['lineInFile'];
}

export function createContext(
  input: AnalysisInput,
  message: Message,
  {
    resolver,
    web = offlineWebClient,
    askDns = null,
    setup = NO_SETUP,
    offline = false,
    lineInFile,
  }: ContextOptions,
): Context {
  const template = input.isTemplate ? readTemplate(message) : null;
  const checkedResolver = withCache(withoutFalseDenials(resolver));
  const facts = new Map<unknown, unknown>();
  const context: Context = {
    ...input,
    message: template?.message ?? message,
    template,
    resolver: checkedResolver,
    web: withoutFalseAbsence(web, checkedResolver),
    askDns,
    setup,
    offline,
    lineInFile: lineInFile ?? ((line) => line),
    fact<T>(compute: (context: Context) => T): T {
      if (!facts.has(compute)) facts.set(compute, compute(context));
      return facts.get(compute) as T;
    },
  };
  return context;
}

/** Sends each lookup only once per analysis, because several checks make the same ones. */
function withCache(resolver: Resolver): Resolver {
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

/** The same client, except that a host name is not absent if the resolver denies even a name that exists. */
function withoutFalseAbsence(web: WebClient, resolver: Resolver): WebClient {
  return async (request) => {
    const result = await web(request);
    if (result.status !== 'failed' || result.reason !== 'no_such_name') return result;
    const known = await resolver(KNOWN.name, KNOWN.type);
    return known.status === 'error' && known.reason === 'denies'
      ? failed('dns', DNS_FAILURES.denies)
      : result;
  };
}

// The limits of one analysis: its deadline, DNS queries and HTTP requests.

/** More than any ordinary message needs. */
const MAX_QUERIES = 400;
/** Redirects included. */
const MAX_REQUESTS = 120;

export interface Deadline {
  /** Resolves at the deadline. */
  passed: Promise<void>;
  stop(): void;
}

export function startDeadline(ms: number): Deadline {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  return { passed: promise, stop: () => clearTimeout(timer) };
}

/** Limits a resolver to the deadline and to `MAX_QUERIES`. Lookups beyond either limit return an error. */
export function boundedResolver(resolver: Resolver, deadline: Deadline): Resolver {
  const timedOut = deadline.passed.then((): DnsAnswer => ({ status: 'error', reason: 'timeout' }));
  let queries = 0;
  let isExpired = false;
  void deadline.passed.then(() => {
    isExpired = true;
  });
  return (name, type) => {
    if (isExpired) return timedOut;
    queries += 1;
    if (queries > MAX_QUERIES) return Promise.resolve({ status: 'error', reason: 'limit' });
    return Promise.race([resolver(name, type), timedOut]);
  };
}

/** Limits an HTTP client to the deadline and to `MAX_REQUESTS`. Requests beyond either limit fail. */
export function boundedWeb(web: WebClient, deadline: Deadline): WebClient {
  const timedOut = deadline.passed.then(() =>
    failed('timeout', 'the analysis reached its time limit'),
  );
  let requests = 0;
  let isExpired = false;
  void deadline.passed.then(() => {
    isExpired = true;
  });
  return (request) => {
    if (isExpired) return timedOut;
    requests += 1;
    if (requests > MAX_REQUESTS)
      return Promise.resolve(failed('limit', 'the analysis made too many requests'));
    return Promise.race([web(request), timedOut]);
  };
}

const failed = (reason: WebFailureReason, detail: string): WebResult => ({
  status: 'failed',
  reason,
  detail,
});

/** No blocklists, no spam filters, no link checks. */
export const NO_SETUP: Setup = {
  blocklists: [],
  spamd: null,
  rspamd: null,
  checkLinks: false,
  domains: {},
  ownSenderOf: [],
};
