/** What a list or forwarder changed in a message, by its signatures and its text. */

import type { Context } from '../check.ts';
import { type DkimSignature, isFromDomainSignature } from '../dkim/outcome.ts';
import { dkimResult } from '../dkim/verify.ts';
import { type Change, forwarding } from './forwarding.ts';

/** A fact: `context.fact(forwardingChanges)`. A valid signature of the author shows that nothing was changed. */
export async function forwardingChanges(context: Context): Promise<Change[]> {
  const { kind, changed } = context.fact(forwarding);
  if (kind === 'direct') return [];
  const { signatures } = await context.fact(dkimResult);
  const own = signatures.filter((signature) => isFromDomainSignature(context, signature));
  if (own.some(({ result }) => result === 'pass'))
    return changed.filter((change) => change === 'from');
  const shown = own.flatMap((signature) => changesShownBy(signature, changed));
  return [...new Set([...changed, ...shown])];
}

function changesShownBy({ cause }: DkimSignature, changed: Change[]): Change[] {
  if (cause === 'body_changed') return ['body'];
  if (cause !== 'header_changed') return [];
  return changed.includes('subject') ? ['subject'] : ['header'];
}
