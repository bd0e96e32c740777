/** Makes what every check is given, out of the input, the parsed message and a resolver. */

import type { Resolver } from '../net/resolver.ts';
import type { AnalysisInput, Context } from './check.ts';
import type { Message } from './message.ts';

export function createContext(
  input: AnalysisInput,
  message: Message,
  resolver: Resolver,
  offline = false,
): Context {
  const facts = new Map<unknown, unknown>();
  const context: Context = {
    ...input,
    message,
    resolver,
    offline,
    fact<T>(make: (context: Context) => T): T {
      if (!facts.has(make)) facts.set(make, make(context));
      return facts.get(make) as T;
    },
  };
  return context;
}
