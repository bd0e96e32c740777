/** Fetches the MTA-STS policy of a domain as senders do (RFC 8461 §3.3). */

import type { WebFailure } from '../../net/web.ts';
import type { Context } from '../check.ts';

const MAX_BYTES = 64 * 1024;

export function stsPolicyUrl(domain: string): string {
  return `https://mta-sts.${domain}/.well-known/mta-sts.txt`;
}

/** `problem`: what keeps every sender from it. `open`: why it could not be found out. Sentences. */
type FetchedPolicy =
  | { text: string; contentType: string; problem?: undefined; open?: undefined }
  | { text: null; problem: string; open?: undefined }
  | { text: null; problem?: undefined; open: string };

const LASTING: Partial<Record<WebFailure, (domain: string) => string>> = {
  no_such_name: (domain) => `The name mta-sts.${domain} does not exist.`,
  forbidden_address: (domain) => `mta-sts.${domain} has no public address.`,
  tls: (domain) => `mta-sts.${domain} has no certificate that is valid for it.`,
  protocol: (domain) => `What answers at mta-sts.${domain} is no web server.`,
  too_large: () => 'The policy is larger than 64 KiB.',
};

/** One request, redirects not followed: senders must not follow them either. */
export async function fetchStsPolicy({ web }: Context, domain: string): Promise<FetchedPolicy> {
  const answer = await web({ method: 'GET', url: stsPolicyUrl(domain), maxBytes: MAX_BYTES });
  if (answer.status === 'failed') {
    const lasting = LASTING[answer.reason];
    if (lasting) return { text: null, problem: lasting(domain) };
    return { text: null, open: `The policy could not be fetched: ${answer.detail}.` };
  }
  const { code, headers, body } = answer;
  if (code === 200)
    return {
      text: Buffer.from(body).toString('utf8'),
      contentType: headers['content-type'] ?? '',
    };
  if (code >= 300 && code < 400)
    return {
      text: null,
      problem: `The server of the policy answers with a redirect (${code}), which senders do not follow.`,
    };
  // A server in trouble serves again another day.
  if (code === 429 || code >= 500)
    return { text: null, open: `The server of the policy answers ${code}.` };
  return { text: null, problem: `The server of the policy answers ${code} instead of 200.` };
}
