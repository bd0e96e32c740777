/** Requests to the API of Cloudflare (v4), and its errors in words for administrators. */

import * as v from 'valibot';
import { quoted } from '../../net/account-error.ts';
import { overloadError } from '../../net/oauth/token-endpoint.ts';
import { DnsServerError, type ServerContext } from '../server.ts';

export const CLOUDFLARE_URL = 'https://api.cloudflare.com/client/v4';
const TIMEOUT_MS = 20_000;
const MAX_BYTES = 2 * 1024 * 1024;
/** The most that the list of zones allows. */
const PAGE_SIZE = 50;
/** More than a set of records, or the zones of an account, ever has. */
const MAX_PAGES = 200;

const Answer = v.object({
  success: v.boolean(),
  errors: v.nullish(v.array(v.object({ code: v.number(), message: v.string() }))),
  result: v.unknown(),
  result_info: v.nullish(v.object({ total_pages: v.optional(v.number()) })),
});

/** A record is not there, there already, or in conflict with another: the zone is no longer as it was read. */
const CONFLICTS = [81044, 81053, 81054, 81057, 81058];
/** The header with the token is not well-formed. */
const INVALID_HEADER = 6003;

export interface CloudflareApi {
  /** All items of a list. */
  list<T>(
    path: string,
    query: Record<string, string>,
    item: v.GenericSchema<unknown, T>,
  ): Promise<T[]>;
  post(path: string, body: unknown): Promise<void>;
}

/** Its functions reject with a DnsServerError. */
export function cloudflareApi(
  token: string,
  { web, signal }: Pick<ServerContext, 'web' | 'signal'>,
): CloudflareApi {
  async function send(method: 'GET' | 'POST', path: string, body?: unknown) {
    const mayHaveChanged = method === 'POST';
    const result = await web({
      method,
      url: `${CLOUDFLARE_URL}${path}`,
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json',
        'user-agent': 'deliverability',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal && { signal }),
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
    });
    if (result.status === 'failed')
      throw new DnsServerError(
        result.reason === 'timeout' ? 'timeout' : 'unreachable',
        `The request to Cloudflare failed: ${result.detail}.`,
        { mayHaveChanged },
      );
    const { code } = result;
    if (code === 429) throw rateLimited(result);
    const answer = v.safeParse(Answer, parsed(result.body));
    if (answer.success && answer.output.success && code < 300) return answer.output;
    const errors = (answer.success ? answer.output.errors : null) ?? [];
    throw refusal(code, errors, token, mayHaveChanged);
  }

  return {
    async list(path, query, item) {
      const items = [];
      for (let page = 1; page <= MAX_PAGES; page += 1) {
        const search = new URLSearchParams({
          ...query,
          per_page: String(PAGE_SIZE),
          page: String(page),
        });
        const { result, result_info } = await send('GET', `${path}?${search}`);
        const list = v.safeParse(v.array(item), result);
        if (!list.success) throw invalidResponse(false);
        items.push(...list.output);
        if (page >= (result_info?.total_pages ?? 1)) return items;
      }
      throw new DnsServerError('bad_response', 'Cloudflare lists more records than expected.');
    },
    post: async (path, body) => {
      await send('POST', path, body);
    },
  };
}

const invalidResponse = (mayHaveChanged: boolean): DnsServerError =>
  new DnsServerError('bad_response', 'Cloudflare sent an invalid response.', { mayHaveChanged });

function rateLimited(result: { code: number; headers: Record<string, string> }): DnsServerError {
  const { retryAfterMs } = overloadError('Cloudflare', result);
  return new DnsServerError(
    'rate_limited',
    'Cloudflare is rate-limiting this token. Try again in five minutes.',
    { retryAfterMs },
  );
}

/** Undefined if it is not JSON. */
function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    return undefined;
  }
}

function refusal(
  code: number,
  errors: { code: number; message: string }[],
  token: string,
  mayHaveChanged: boolean,
): DnsServerError {
  const codes = errors.map((error) => error.code);
  // A server may repeat what it was sent.
  const said = quoted(errors[0]?.message.replaceAll(token, '…'));
  if (code === 401 || codes.includes(INVALID_HEADER))
    return new DnsServerError(
      'bad_credentials',
      `Cloudflare rejects the API token. It may be revoked, expired, or limited to other IP addresses.${said}`,
    );
  if (code === 403)
    return new DnsServerError(
      'refused',
      `The API token has no permission for this. It needs Zone.Zone:Read and Zone.DNS:Edit for the zone.${said}`,
    );
  if (codes.some((one) => CONFLICTS.includes(one)))
    return new DnsServerError(
      'changed',
      `The records have changed at Cloudflare since the plan was made. Nothing was written. Make a new plan.${said}`,
    );
  if (code >= 500)
    return new DnsServerError(
      'server_failed',
      `Cloudflare is unavailable (HTTP ${code}). Try again later.`,
      { mayHaveChanged },
    );
  if (code >= 400)
    return new DnsServerError(
      'invalid_record',
      `Cloudflare rejects the request (HTTP ${code}).${said}`,
    );
  return invalidResponse(mayHaveChanged);
}
