/** What a request to somebody else's web server can be answered with: an answer, or why there is none. */

export interface WebRequest {
  method: 'HEAD' | 'GET';
  /** `http:` or `https:`; anything else is `bad_url`. */
  url: string;
  /** Milliseconds for all of it: name, connection, headers and body. Default 5,000. */
  timeoutMs?: number;
  /** Most octets of the body that are read; what is longer is `too_large`. Default 64 KiB. */
  maxBytes?: number;
}

export type WebFailure =
  | 'timeout'
  /** The name does not exist: NXDOMAIN, or neither A nor AAAA. */
  | 'no_such_name'
  /** The name could not be looked up. */
  | 'dns'
  /** All its addresses are private, loopback or otherwise special: never connected to. */
  | 'forbidden_address'
  | 'connection'
  | 'tls'
  /** What came is no HTTP. */
  | 'protocol'
  | 'too_large'
  | 'bad_url'
  /** The analysis has asked for as much as it may. */
  | 'limit';

export type WebAnswer =
  | {
      status: 'answered';
      code: number;
      /** Names in lower case; several values of one name joined by `, `. */
      headers: Record<string, string>;
      /** Empty for HEAD. */
      body: Uint8Array;
    }
  /** `detail` is half a sentence for people, without addresses of the machine we run on. */
  | { status: 'failed'; reason: WebFailure; detail: string };

/** One request, redirects not followed; never throws. */
export type Web = (request: WebRequest) => Promise<WebAnswer>;

/** A client for where there is no network: the offline mode, and tests that ask nothing. */
export const noWeb: Web = async () => ({
  status: 'failed',
  reason: 'connection',
  detail: 'there is no network',
});
