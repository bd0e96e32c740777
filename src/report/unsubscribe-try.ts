/** What a request to the unsubscribe link of a message showed, in words. */

import type { State } from '../ui/components.tsx';

/** POST is the one-click request (RFC 8058). GET is what a browser sends. */
export const TRY_METHODS = ['POST', 'GET'] as const;

export interface UnsubscribeTry {
  method: (typeof TRY_METHODS)[number];
  status: 'running' | 'interrupted' | 'finished';
  tries: number;
  requested_at: string;
  /** Null unless it is finished. */
  response: TryResponse | null;
}

export interface TryResponse {
  /** Null without a response. */
  http_status: number | null;
  redirect: string | null;
  /** A clause; null with a response. */
  problem: string | null;
  duration_ms: number;
  /** Null if no certificate was verified. */
  tls_version: string | null;
  certificate_expires_at: string | null;
}

export const MAY_UNSUBSCRIBE =
  'This can really unsubscribe the address to which the message was sent. The request is sent once, and the score does not change.';

/** https://support.google.com/a/answer/81126 and https://support.google.com/a/answer/14229414 */
export const GMAIL_NEEDS =
  'Gmail sends this POST request when a recipient clicks Unsubscribe. DKIM must cover List-Unsubscribe and List-Unsubscribe-Post (RFC 8058 §4). The link must unsubscribe within two days, without a redirect, sign-in or confirmation.';

export function describeTry({ method, status, response }: UnsubscribeTry): [State, string] {
  if (status === 'running') return ['unknown', 'The request is being sent.'];
  if (response === null)
    return [
      'unknown',
      'The service stopped before the response arrived. The request may have been sent, and is not repeated.',
    ];
  const { http_status: code, redirect, problem } = response;
  const isPost = method === 'POST';
  const trouble = isPost ? 'fail' : 'warn';
  if (code === null) return [trouble, `The request failed: ${problem}.`];
  const text = `The link responded with status ${code}`;
  if (code < 300)
    return isPost
      ? ['pass', `${text}. Check that the address gets no more of this mail.`]
      : ['info', `${text}.`];
  if (code >= 400)
    return [trouble, `${text}.${isPost && code === 405 ? ' It must accept POST.' : ''}`];
  const redirected = `${text}, a redirect to ${redirect ?? 'no address'}.`;
  return isPost
    ? ['fail', `${redirected} Senders must not redirect this request (RFC 8058 §3.1).`]
    : ['info', redirected];
}
