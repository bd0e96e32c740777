/** What a request with a body to somebody else's web server comes to: its answer, whole or not. */

import type { WebFailure } from './web.ts';

export interface PostRequest {
  /** `https:`; anything else is `bad_url`. */
  url: string;
  /** Names in any case; `host`, `content-length` and `connection` are set for them. */
  headers: Record<string, string>;
  body: string;
}

export interface PostOutcome {
  /** What has come of an answer, even where the rest is missing; null where nothing has. */
  answer: {
    code: number;
    /** Names in lower case; several values of one name joined by `, `. */
    headers: Record<string, string>;
    /** As far as it was read. */
    body: Uint8Array;
  } | null;
  /** Why the answer is not whole; null where it is. `detail` is half a sentence for people. */
  failure: { reason: WebFailure; detail: string } | null;
}

export interface Poster {
  /** Redirects are not followed; never rejects. null where the poster was closed before it ended. */
  post(request: PostRequest): Promise<PostOutcome | null>;
  /** Ends all connections; what is under way resolves with null. */
  close(): void;
}
