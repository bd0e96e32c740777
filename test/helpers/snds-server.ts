/**
 * A server of the automated data access of Microsoft SNDS: CSV without a header line. Tests change the model while
 * it runs.
 */

import type { TestContext } from 'node:test';
import {
  HTTP_FAULTS,
  type HttpExchange,
  type HttpFault,
  type HttpScript,
  startHttpScript,
} from './http-script.ts';

/** Cells as Microsoft writes them: times in US order and Pacific time. */
export interface ServedAddress {
  address: string;
  activityStart: string;
  activityEnd: string;
  rcptCommands: number;
  dataCommands: number;
  recipients: number;
  filterResult: string;
  complaintRate: string;
  trapStart: string;
  trapEnd: string;
  trapHits: string;
  sampleHelo: string;
  sampleMailFrom: string;
  comments: string;
}

export interface ServedRange {
  first: string;
  last: string;
  blocked: string;
  details: string;
}

/** How it treats a key that it doesn’t know. */
export type SndsRefusal = 'page' | 'redirect' | 400 | 401 | 403 | 404;

export interface SndsServer {
  /** For `base_url`. */
  url: string;
  exchanges: HttpScript['exchanges'];
  keys: Set<string>;
  /** By day, such as `2026-11-21`. */
  days: Record<string, ServedAddress[]>;
  ranges: ServedRange[];
  /** Which forms of its URLs it has: `data.aspx`, or `data/`. */
  forms: { aspx: boolean; folders: boolean };
  refusal: SndsRefusal;
  /** How the server fails; null: it doesn’t. */
  fault(exchange: HttpExchange): HttpFault | null;
}

/** Good figures of an address on a day such as `2026-11-21`, except those given. */
export function servedAddress(
  address: string,
  day: string,
  cells: Partial<ServedAddress> = {},
): ServedAddress {
  const [year, month, date] = day.split('-').map(Number);
  const usDay = `${month}/${date}/${year}`;
  return {
    address,
    activityStart: `${usDay} 12:00 AM`,
    activityEnd: `${usDay} 11:00 PM`,
    rcptCommands: 1200,
    dataCommands: 1100,
    recipients: 1150,
    filterResult: 'GREEN',
    complaintRate: '< 0.1%',
    trapStart: '',
    trapEnd: '',
    trapHits: '0',
    sampleHelo: 'mail.example.com',
    sampleMailFrom: 'news@example.com',
    comments: '',
    ...cells,
  };
}

export const blockedRange = (first: string, last = first): ServedRange => ({
  first,
  last,
  blocked: 'Yes',
  details: 'Blocked due to user complaints or other evidence of spamming',
});

/** By default, it knows the key `snds-key`. */
export async function startSndsServer(
  t: TestContext,
  settings: Partial<Omit<SndsServer, 'url' | 'exchanges'>> = {},
): Promise<SndsServer> {
  const server: SndsServer = {
    url: '',
    exchanges: [],
    keys: new Set(['snds-key']),
    days: {},
    ranges: [],
    forms: { aspx: true, folders: true },
    refusal: 'redirect',
    fault: () => null,
    ...settings,
  };
  const script = await startHttpScript(t, (exchange) => {
    const fault = server.fault(exchange);
    if (fault !== null) HTTP_FAULTS[fault](exchange);
    else respond(server, exchange);
  });
  server.url = `${script.url}/snds`;
  server.exchanges = script.exchanges;
  return server;
}

const PATHS: Record<string, { form: keyof SndsServer['forms']; file: 'data' | 'ipStatus' }> = {
  '/snds/data.aspx': { form: 'aspx', file: 'data' },
  '/snds/ipStatus.aspx': { form: 'aspx', file: 'ipStatus' },
  '/snds/data/': { form: 'folders', file: 'data' },
  '/snds/ipStatus/': { form: 'folders', file: 'ipStatus' },
};

function respond(server: SndsServer, exchange: HttpExchange): void {
  const { method, path, query, response } = exchange;
  const target = PATHS[path];
  if (method !== 'GET' || !target || !server.forms[target.form]) {
    response.writeHead(404, { 'content-type': 'text/html' });
    response.end('<html><title>Not found</title></html>');
    return;
  }
  if (!server.keys.has(query.get('key') ?? '')) {
    refuse(server.refusal, exchange);
    return;
  }
  const lines = target.file === 'data' ? dataLines(server, query.get('date')) : statusLines(server);
  if (lines === null) {
    response.writeHead(400, { 'content-type': 'text/plain' });
    response.end('Invalid date');
    return;
  }
  response.writeHead(200, { 'content-type': 'text/csv; charset=utf-8' });
  response.end(lines.map((cells) => `${cells.map(cell).join(',')}\r\n`).join(''));
}

function refuse(refusal: SndsRefusal, { response, query }: HttpExchange): void {
  if (refusal === 'redirect')
    // The page to sign in repeats the URL.
    response.writeHead(302, { location: `/login?ReturnUrl=%2Fsnds%3Fkey%3D${query.get('key')}` });
  else response.writeHead(refusal === 'page' ? 200 : refusal, { 'content-type': 'text/html' });
  response.end(`<!DOCTYPE html>\r\n<html><body>Sign in, ${query.get('key')}</body></html>`);
}

/** The day is `MMDDYY`; without one, the last. Null if it is invalid. */
function dataLines({ days }: SndsServer, date: string | null): (string | number)[][] | null {
  let day = Object.keys(days).sort().at(-1) ?? '';
  if (date !== null) {
    const match = /^(\d\d)(\d\d)(\d\d)$/.exec(date);
    day = match ? `20${match[3]}-${match[1]}-${match[2]}` : '';
    if (Number.isNaN(Date.parse(day))) return null;
  }
  return (days[day] ?? []).map((row) => [
    row.address,
    row.activityStart,
    row.activityEnd,
    row.rcptCommands,
    row.dataCommands,
    row.recipients,
    row.filterResult,
    row.complaintRate,
    row.trapStart,
    row.trapEnd,
    row.trapHits,
    row.sampleHelo,
    row.sampleMailFrom,
    row.comments,
  ]);
}

const statusLines = ({ ranges }: SndsServer): string[][] =>
  ranges.map(({ first, last, blocked, details }) => [first, last, blocked, details]);

/** Quoted only where it must be. */
const cell = (value: string | number): string => {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
