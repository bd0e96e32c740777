/**
 * Reads what Microsoft SNDS publishes about IP addresses (its automated data access), within limits of size and
 * time. The URLs contain the key. So no error quotes a URL or what the server says.
 */

import { AccountError } from '../account-error.ts';
import type { WebClient } from '../http/web.ts';
import { overloadError, requestError } from '../oauth/token-endpoint.ts';
import { parseData, parseStatus, type SndsAddress, type SndsRange, type SndsRows } from './csv.ts';

export type { FilterResult, SndsAddress, SndsRange, SndsRows } from './csv.ts';

export interface SndsAccess {
  web: WebClient;
  /** Without a slash at the end. If it ends with the path of the data, only that form of URLs is used. */
  baseUrl: string;
  /** A secret. */
  key: string;
  /** Ends requests early. */
  signal: AbortSignal;
}

export interface Snds {
  /** A day such as `2026-11-21`. */
  data(day: string): Promise<SndsRows<SndsAddress>>;
  status(): Promise<SndsRows<SndsRange>>;
}

const REQUEST_TIMEOUT_MS = 30_000;
/** About 18,000 addresses. */
const MAX_RESPONSE_BYTES = 2 * 1024 * 1024;

/** Microsoft has two forms of URLs: `data.aspx?key=…`, and the newer `data/?key=…`. */
const FORMS = ['.aspx', '/'];

/** Its operations reject with an AccountError; with `refused` if the key is not accepted. No error contains the key. */
export function openSnds({ web, baseUrl, key, signal }: SndsAccess): Snds {
  const { host } = new URL(baseUrl);
  const [, base, form] = /^(.*?)(?:\/(?:data|ipStatus)(\.aspx)?)?$/i.exec(baseUrl)!;
  /** Those that may work. */
  let forms = base === baseUrl ? FORMS : [form === undefined ? '/' : '.aspx'];

  async function get(file: 'data' | 'ipStatus', parameters: string): Promise<string> {
    for (const each of forms) {
      const url = `${base}/${file}${each}?key=${encodeURIComponent(key)}${parameters}`;
      const text = await request(url);
      if (text === null) continue;
      forms = [each];
      return text;
    }
    throw new AccountError(
      'refused',
      'Microsoft SNDS does not accept the key. Copy the key again from “Automated Data Access” in SNDS to "key".',
    );
  }

  /** Null if the server sends something other than data, as it does for a wrong key. */
  async function request(url: string): Promise<string | null> {
    const result = await web({
      method: 'GET',
      url,
      headers: { accept: 'text/csv, text/plain', 'user-agent': 'deliverability' },
      timeoutMs: REQUEST_TIMEOUT_MS,
      maxBytes: MAX_RESPONSE_BYTES,
      signal,
    });
    if (result.status === 'failed') throw requestError(result, host);
    const { code, body } = result;
    if (code === 429 || code >= 500) throw overloadError(host, result);
    if (code === 204) return '';
    const text = Buffer.from(body).toString('utf8');
    return code === 200 && !/^\s*</.test(text) ? text : null;
  }

  /** A text without any valid line is no data in this format. */
  function valid<Row>(parsed: SndsRows<Row>): SndsRows<Row> {
    if (parsed.rows.length === 0 && parsed.skipped > 0)
      throw new AccountError('bad_response', `${host} sent invalid SNDS data.`);
    return parsed;
  }

  return {
    async data(day) {
      const [year, month, date] = day.split('-');
      return valid(parseData(await get('data', `&date=${month}${date}${year!.slice(2)}`)));
    },
    status: async () => valid(parseStatus(await get('ipStatus', ''))),
  };
}
