/**
 * Reads what Microsoft SNDS publishes about IP addresses, within limits of size and time. The REST API with an access token
 * is as public clients of 2026 use it (such as github.com/optipub/outlook-snds-mcp). The older links contain a key. So no
 * error about them quotes a URL or what the server says.
 */

import { AccountError, quoted } from '../account-error.ts';
import type { WebClient } from '../http/web.ts';
import { overloadError, requestError } from '../oauth/token-endpoint.ts';
import { parseData, parseStatus, type SndsAddress, type SndsRange, type SndsRows } from './rows.ts';

export type { FilterResult, SndsAddress, SndsRange, SndsRows } from './rows.ts';

export interface SndsAccess {
  web: WebClient;
  /** Without a slash at the end. If a key is used and it ends with the path of the data, only that form of URLs is used. */
  baseUrl: string;
  /** A secret. */
  access: { key: string } | { accessToken: string };
  /** Ends requests early. */
  signal: AbortSignal;
}

/** Null: there is no data for that day, or the access has expired. SNDS says 404 for both. */
export interface Snds {
  /** A day such as `2026-11-21`. */
  data(day: string): Promise<SndsRows<SndsAddress> | null>;
  status(): Promise<SndsRows<SndsRange> | null>;
}

const REQUEST_TIMEOUT_MS = 30_000;
/** About 18,000 addresses. */
const MAX_RESPONSE_BYTES = 2 * 1024 * 1024;

/** Its operations reject with an AccountError; with `sign_in_failed` if the access token is not accepted, and with `refused` if the key is not. */
export function openSnds(options: SndsAccess): Snds {
  const { access } = options;
  const get =
    'key' in access ? linkReader(options, access.key) : restReader(options, access.accessToken);
  const read = async <Row>(
    day: string | null,
    parse: (text: string) => SndsRows<Row>,
  ): Promise<SndsRows<Row> | null> => {
    const text = await get(day);
    if (text === null) return null;
    const parsed = parse(text);
    // A text without any valid line is no data in this format.
    if (parsed.rows.length === 0 && parsed.skipped > 0)
      throw new AccountError(
        'bad_response',
        `${new URL(options.baseUrl).host} sent invalid SNDS data.`,
      );
    return parsed;
  };
  return {
    data: (day) => read(day, parseData),
    status: () => read(null, parseStatus),
  };
}

/** Resolves with the text of a day, or of the status of all addresses; null for 404. */
type Reader = (day: string | null) => Promise<string | null>;

interface Answer {
  code: number;
  /** In UTF-8. */
  text: string;
  /** Whether it can be data: SNDS sends pages to those that it does not let in. */
  isData: boolean;
}

async function request(
  { web, baseUrl, signal }: SndsAccess,
  url: string,
  headers: Record<string, string>,
): Promise<Answer> {
  const { host } = new URL(baseUrl);
  const result = await web({
    method: 'GET',
    url,
    headers: {
      accept: 'text/csv, application/json, */*;q=0.5',
      'user-agent': 'deliverability',
      ...headers,
    },
    timeoutMs: REQUEST_TIMEOUT_MS,
    maxBytes: MAX_RESPONSE_BYTES,
    signal,
  });
  if (result.status === 'failed') throw requestError(result, host);
  const { code, body } = result;
  if (code === 429 || code >= 500) throw overloadError(host, result);
  const text = Buffer.from(body).toString('utf8');
  return { code, text, isData: code === 204 || (code === 200 && !/^\s*</.test(text)) };
}

function restReader(options: SndsAccess, accessToken: string): Reader {
  const { baseUrl } = options;
  return async (day) => {
    const url = `${baseUrl}/api/report/${day === null ? 'status/ip' : `data/${day}`}`;
    const authorization = `Bearer ${accessToken}`;
    const { code, text, isData } = await request(options, url, { authorization });
    if (isData) return text;
    if (code === 404) return null;
    const said = quoted(messageIn(text).replaceAll(accessToken, '…'));
    // A redirect leads to the page to sign in.
    if (code < 400 || code === 401)
      throw new AccountError(
        'sign_in_failed',
        `Microsoft SNDS does not accept the sign-in.${said} Sign in again.`,
      );
    throw new AccountError(
      'refused',
      code === 403
        ? `Microsoft SNDS does not let this account read its data.${said} Sign in with the account that has your addresses, or request access in SNDS.`
        : `Microsoft SNDS rejected the request (HTTP ${code}).${said}`,
    );
  };
}

/** What the server says in words. */
function messageIn(text: string): string {
  try {
    const { message, error, detail, title } = JSON.parse(text);
    return String(message ?? error?.message ?? detail ?? title ?? '');
  } catch {
    return /^\s*</.test(text) ? '' : text;
  }
}

/** Microsoft has several forms of links: `data.aspx?key=…`, `data/?key=…`, and `DataKey?Key=…`, in any case. */
const FORMS = ['.aspx', '/', 'Key'];

function linkReader(options: SndsAccess, key: string): Reader {
  const { baseUrl } = options;
  const [, base, form] = /^(.*?)(?:\/(?:data|ipStatus)(\.aspx|Key)?)?$/i.exec(baseUrl)!;
  /** Those that may work. */
  let forms = base === baseUrl ? FORMS : [form ?? '/'];
  return async (day) => {
    const [year, month, date] = (day ?? '').split('-');
    const file = day === null ? 'ipStatus' : 'data';
    const parameters = day === null ? '' : `&date=${month}${date}${year!.slice(2)}`;
    let isRefused = false;
    for (const each of forms) {
      const url = `${base}/${file}${each}?key=${encodeURIComponent(key)}${parameters}`;
      const { code, text, isData } = await request(options, url, {});
      if (isData) {
        forms = [each];
        return text;
      }
      isRefused ||= code !== 404;
    }
    if (!isRefused) return null;
    throw new AccountError(
      'refused',
      'Microsoft SNDS does not accept the key. Keys last 30 days: copy a new one from SNDS, or remove "key" and sign in instead.',
    );
  };
}
