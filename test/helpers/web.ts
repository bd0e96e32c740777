/** A web in memory: the responses to the guarded client, by URL. */

import type { WebFailureReason } from '../../src/net/guarded-connection.ts';
import type { WebClient, WebResult } from '../../src/net/http/web.ts';

export interface Page {
  code?: number;
  type?: string;
  body?: string | Uint8Array;
}

/** A page or a failure per URL; other URLs respond with 404. */
export function webOf(pages: Record<string, Page | WebFailureReason>): WebClient {
  return async ({ url, method, maxBytes = 64 * 1024 }): Promise<WebResult> => {
    const page = pages[url];
    if (typeof page === 'string')
      return { status: 'failed', reason: page, detail: 'it failed (test)' };
    const body = Buffer.from(page?.body ?? '');
    if (body.length > maxBytes)
      return { status: 'failed', reason: 'too_large', detail: 'it is too large' };
    return {
      status: 'answered',
      code: page ? (page.code ?? 200) : 404,
      headers: { 'content-type': page?.type ?? 'text/plain' },
      body: method === 'HEAD' ? new Uint8Array() : body,
    };
  };
}
