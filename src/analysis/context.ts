/** Makes what every check is given, out of the input, the parsed message and a resolver. */

import type { Resolver } from '../net/resolver.ts';
import { noWeb, type Web } from '../net/web.ts';
import type { AnalysisInput, Context } from './check.ts';
import type { Message } from './message.ts';
import { NO_SETUP, type Setup } from './setup.ts';

export interface Surroundings {
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
