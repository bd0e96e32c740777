/** The result of a run in one sentence. */

import type { Totals } from './outcome.ts';

export function totalsText({ messages, limited, failed, unchecked }: Totals): string {
  const passed = messages - failed - unchecked;
  const parts = [
    `${passed} ${limited ? 'passed' : 'checked'}`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(unchecked > 0 ? [`${unchecked} not checked`] : []),
  ];
  return `${messages} ${messages === 1 ? 'message' : 'messages'}: ${parts.join(', ')}.`;
}
