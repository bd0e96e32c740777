/** What the receiver of a saved message saw, next to what the same check finds today. */

import { formatUtcTime } from '../../lib/clock.ts';
import type { AuthResult } from '../auth-results.ts';
import type { Context, Finding } from '../check.ts';
import type { FileReceipt } from './file-receipt.ts';
import type { ReceiverResults } from './results.ts';

/** The public part of the evidence that `withReceiverResult` adds. */
export const PUBLIC_RECEIVER_RESULT = { receiver_result: 'shown' } as const;

const LABELS = { spf: 'SPF', dkim: 'DKIM', dmarc: 'DMARC' };

/** Says both if they differ. `result` is today's; null if it is not known. */
export function withReceiverResult(
  { envelope }: Context,
  method: keyof ReceiverResults,
  result: AuthResult | null,
  finding: Finding,
): Finding {
  const seen = envelope.file?.results?.[method];
  if (!envelope.file || seen === undefined || (seen === 'pass') === (result === 'pass'))
    return finding;
  return {
    ...finding,
    detail: `${receiverSentence(envelope.file, method, seen)}${today(result)} ${finding.detail}`,
    evidence: { ...finding.evidence, receiver_result: seen },
  };
}

/** "Gmail saw SPF pass on 20 Nov 2026" without a period. A server has no name here, because reports can be public. */
function receiverSentence(
  { provider, at }: FileReceipt,
  method: keyof ReceiverResults,
  seen: AuthResult,
): string {
  const name = provider ?? 'The receiving server';
  const day = at === null ? '' : ` on ${formatUtcTime(Date.parse(at)).replace(/,.*$/, '')}`;
  const what = LABELS[method];
  return seen === 'pass' || seen === 'fail'
    ? `${name} saw ${what} ${seen}${day}`
    : `${name} saw the ${what} result “${seen}”${day}`;
}

function today(result: AuthResult | null): string {
  if (result === null || result === 'temperror') return '.';
  return result === 'pass' ? '; today it passes.' : '; today it does not pass.';
}
