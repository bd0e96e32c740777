/** The client's name in the reverse DNS, as a spam engine is told it. */

import type { Context } from '../check.ts';
import { clientPtr, usableNames } from '../infrastructure/client.ts';

/**
 * Null where it has none. Where that could not be found out, what the client says in HELO: an
 * unanswered question must not make an engine count rules for clients without a name.
 */
export async function clientName(context: Context): Promise<string | null> {
  const answer = await context.fact(clientPtr);
  if (answer === null || answer.status === 'error') return context.envelope.helo;
  return usableNames(answer)[0] ?? null;
}
