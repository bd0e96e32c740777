/** Whether the message that carried a report is genuine: SPF or DKIM passes for its From domain. */

import type { Envelope } from '../../analysis/check.ts';
import { boundedResolver, createContext, startDeadline } from '../../analysis/context.ts';
import { dmarcResult } from '../../analysis/dmarc/evaluate.ts';
import { parseMessage } from '../../analysis/mime/parse-message.ts';
import type { Resolver } from '../../net/dns/resolver.ts';

/** `unknown`: DNS did not answer, so it is worth another attempt. */
export type Verification = 'pass' | 'fail' | 'unknown';

export interface Verifications {
  /** SPF or DKIM. */
  any: Verification;
  /** DKIM alone, which TLS reports need (RFC 8460 §3). */
  dkim: Verification;
}

const DEADLINE_MS = 15_000;

export async function verifyMail(
  raw: Uint8Array,
  envelope: Envelope,
  receivedAt: number,
  resolver: Resolver,
): Promise<Verifications> {
  const deadline = startDeadline(DEADLINE_MS);
  try {
    const message = await parseMessage(raw);
    const input = { raw, envelope, receivedAt, kind: 'transactional' as const };
    const context = createContext(input, message, {
      resolver: boundedResolver(resolver, deadline),
    });
    const { identifiers, alignment } = await context.fact(dmarcResult);
    const { aligned, result } = alignment.dkim;
    const dkim =
      aligned && result === 'pass'
        ? 'pass'
        : result === 'temperror' || (result === 'pass' && aligned === null)
          ? 'unknown'
          : 'fail';
    const any =
      identifiers === 'pass'
        ? 'pass'
        : identifiers === 'temperror' || identifiers === null
          ? 'unknown'
          : 'fail';
    return { any, dkim };
  } finally {
    deadline.stop();
  }
}
