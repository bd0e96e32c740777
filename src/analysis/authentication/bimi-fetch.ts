/** Fetches what a BIMI record points to: the logo, and the certificate for it. */

import type { Web, WebFailure } from '../../net/web.ts';

/** Twice what a logo may have, and far above any certificate with its chain. */
const MAX_BYTES = 64 * 1024;

/** `problem`: why receivers cannot have it either. `open`: why it could not be found out. Sentences. */
type Fetched =
  | { body: Uint8Array; problem?: undefined; open?: undefined }
  | { body: null; problem: string; open?: undefined }
  | { body: null; problem?: undefined; open: string };

/** Failures that say something about the address itself; the others may be gone the next minute. */
const LASTING: Partial<Record<WebFailure, string>> = {
  no_such_name: 'the name of its server does not exist',
  forbidden_address: 'its server has no public address',
  tls: 'its server has no certificate that is valid for it',
  protocol: 'what answers there is no web server',
  too_large: 'it is larger than 64 KiB',
  bad_url: 'the address is not a valid one',
};

/** `what` begins a sentence: "The logo". One request, redirects not followed. */
export async function fetchBimiFile(web: Web, url: string, what: string): Promise<Fetched> {
  const answer = await web({ method: 'GET', url, maxBytes: MAX_BYTES });
  if (answer.status === 'failed') {
    const lasting = LASTING[answer.reason];
    if (lasting) return { body: null, problem: `${what} cannot be fetched: ${lasting}.` };
    return { body: null, open: `${what} could not be fetched: ${answer.detail}.` };
  }
  const { code, body } = answer;
  if (code === 200) return { body };
  if (code >= 300 && code < 400)
    return {
      body: null,
      problem: `${what} is not at its address: the server answers with a redirect (${code}), which not every receiver follows.`,
    };
  // A server that is overloaded, or that turns away programs it does not know, serves others.
  if (code === 401 || code === 403 || code === 429 || code >= 500)
    return { body: null, open: `${what} could not be fetched: the server answers ${code}.` };
  return { body: null, problem: `${what} cannot be fetched: the server answers ${code}.` };
}
