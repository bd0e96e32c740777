/** What a receiver recorded about SPF, DKIM and DMARC in its Authentication-Results fields (RFC 8601). */

import { isSpfOfHelo } from '../../lib/mail.ts';
import { AUTH_RESULTS, type AuthResult } from '../auth-results.ts';
import { withoutComments } from '../mime/mail-date.ts';

export const RECEIVER_METHODS = ['spf', 'dkim', 'dmarc'] as const;
export type ReceiverResults = Partial<Record<(typeof RECEIVER_METHODS)[number], AuthResult>>;

const MAX_LENGTH = 4000;
const RESULT = /^(spf|dkim|dmarc)(?:\s*\/\s*\d+)?\s*=\s*([a-z]{1,20})\b/i;

/** The server that recorded the results, in lower case; empty in the fields of Microsoft, which name none. */
export function authservId(value: string): string {
  const [first = ''] = withoutComments(value.slice(0, MAX_LENGTH)).trim().split(/[\s;]/, 1);
  return first.includes('=') ? '' : first.toLowerCase();
}

/** The result of each method. Of several DKIM signatures, one that passes counts. */
export function readResults(values: string[]): ReceiverResults {
  const found: ReceiverResults = {};
  for (const value of values)
    for (const text of segments(value)) {
      const [, name, written] = RESULT.exec(text) ?? [];
      const method = RECEIVER_METHODS.find((each) => each === name?.toLowerCase());
      const result = AUTH_RESULTS.find((each) => each === written?.toLowerCase());
      if (!method || !result || (method === 'spf' && isSpfOfHelo(text))) continue;
      if (found[method] === undefined || (method === 'dkim' && result === 'pass'))
        found[method] = result;
    }
  return found;
}

/** The results without comments and quoted text, which hold what the sender wrote. */
const segments = (value: string): string[] =>
  withoutComments(value.slice(0, MAX_LENGTH).replace(/"[^"]*"?/g, ''))
    .split(';')
    .map((text) => text.trim());

/** The whole address behind `smtp.mailfrom`; null if the field names the domain alone. */
export function recordedMailFrom(value: string): string | null {
  const text = withoutComments(value.slice(0, MAX_LENGTH));
  return /\bsmtp\.mailfrom\s*=\s*"?([^\s;"<>]{1,64}@[^\s;"<>]{1,255})/i.exec(text)?.[1] ?? null;
}
