/** What a request to the unsubscribe link of a message showed, in words. */

import type { TlsFacts } from '../net/http/web.ts';
import type { State } from '../ui/components.tsx';

export const TRY_METHODS = ['POST', 'GET'] as const;
export type TryMethod = (typeof TRY_METHODS)[number];

export interface TryResult {
  /** The status of the response; null without one. */
  status: number | null;
  /** The target of a redirect, which is not followed. */
  redirect: string | null;
  /** Why there is no response, as a clause. */
  problem: string | null;
  ms: number;
  /** Null if no verified connection was made. */
  tls: TlsFacts | null;
}

export interface UnsubscribeTry {
  method: TryMethod;
  url: string;
  tries: number;
  requestedAt: string;
  state: 'running' | 'interrupted' | 'finished';
  /** Null unless it is finished. */
  result: TryResult | null;
}

/** The tries of a test, for its report. */
export interface ReportedTries {
  /** The page with the details. */
  page: string;
  /** Where the button sends the request. Missing if the reader may not send it. */
  form?: string;
  tries: UnsubscribeTry[];
}

export const MAY_UNSUBSCRIBE =
  'This can really unsubscribe the address to which the message was sent. The request is sent once, without cookies, and the result stays with the test. The score does not change.';

/** https://support.google.com/a/answer/81126 and its questions and answers, https://support.google.com/a/answer/14229414. */
export const GMAIL_NEEDS =
  'Gmail sends the same request when a recipient clicks Unsubscribe. It needs one https address, a DKIM signature that covers List-Unsubscribe and List-Unsubscribe-Post (RFC 8058 §4), and a link that unsubscribes within two days, without a redirect, sign-in or confirmation.';

/** The verdict on a try, as a state and sentences. */
export function describeTry({ method, state, result }: UnsubscribeTry): [State, string] {
  if (state === 'running') return ['unknown', 'The request is being sent.'];
  if (!result)
    return [
      'unknown',
      'The service stopped before the response arrived. The request may have been sent, and is not repeated.',
    ];
  const { status, redirect, problem } = result;
  const isPost = method === 'POST';
  const trouble = isPost ? 'fail' : 'warn';
  if (status === null) return [trouble, `The request failed: ${problem}.`];
  if (status >= 200 && status < 300)
    return isPost
      ? [
          'pass',
          `The link accepted the request with status ${status}. Check that the address gets no more of this mail.`,
        ]
      : ['info', `The link responds to a browser with status ${status}.`];
  if (status >= 300 && status < 400) {
    const target = redirect === null ? 'without a target' : `to ${redirect}`;
    return isPost
      ? [
          'fail',
          `The link redirects ${target} (status ${status}). Senders must not redirect this request (RFC 8058 §3.1), because it may arrive as GET or not at all.`,
        ]
      : ['info', `The link redirects a browser ${target} (status ${status}).`];
  }
  return [
    trouble,
    `The link rejected the request with status ${status}. ${causeOf(status, isPost)}`,
  ];
}

function causeOf(status: number, isPost: boolean): string {
  if (status === 401 || status === 403) return 'It must work without signing in.';
  if (status === 405 && isPost) return 'It must accept POST.';
  if (status >= 500) return 'The server has an error.';
  return isPost
    ? 'It must accept the body "List-Unsubscribe=One-Click" as a form.'
    : 'Recipients who open it see an error.';
}
