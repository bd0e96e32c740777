/**
 * A server of Microsoft SNDS, as its public clients of 2026 describe it: the REST API with OAuth, and the older links with a
 * key. It sends CSV without a header line, or JSON. Days without data are 404. Tests change the model while it runs.
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
  /** The access tokens that the REST API accepts; a test can give it those of an authority. */
  accessTokens: Set<string>;
  /** What the REST API sends. */
  format: 'csv' | 'json';
  /** Whether access has expired: each request is 404, as for a day without data. */
  isExpired: boolean;
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
    // Since June 2026, Microsoft sends neither these nor samples.
    trapHits: '',
    sampleHelo: '',
    sampleMailFrom: '',
    comments: '',
    ...cells,
  };
}

export const blockedRange = (first: string, last = first): ServedRange => ({
  first,
  last,
  blocked: 'True',
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
    accessTokens: new Set(['access']),
    format: 'csv',
    isExpired: false,
    fault: () => null,
    ...settings,
  };
  const script = await startHttpScript(t, (exchange) => {
    const fault = server.fault(exchange);
    if (fault !== null) HTTP_FAULTS[fault](exchange);
    else if (exchange.path.startsWith('/snds/api/')) respondRest(server, exchange);
    else respond(server, exchange);
  });
  server.url = `${script.url}/snds`;
  server.exchanges = script.exchanges;
  return server;
}

const notFound = ({ response }: HttpExchange) => {
  response.writeHead(404);
  response.end();
};

/** `GET /api/report/data/{yyyy-MM-dd}[/{ipv4}]` and `GET /api/report/status/ip`. */
function respondRest(server: SndsServer, exchange: HttpExchange): void {
  const { method, path, headers, query, response } = exchange;
  const token = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? '';
  if (!server.accessTokens.has(token)) {
    response.writeHead(401, { 'www-authenticate': 'Bearer' });
    response.end();
    return;
  }
  const [, day, address] = /^\/snds\/api\/report\/data\/([^/]+)(?:\/([^/]+))?$/.exec(path) ?? [];
  const isStatus = path === '/snds/api/report/status/ip';
  if (method !== 'GET' || query.size > 0 || !(isStatus || day)) return void notFound(exchange);
  if (day && !(/^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(Date.parse(day))))
    return void exchange.json(400, { message: `The value '${day}' is not valid.` });
  if (server.isExpired) return void notFound(exchange);
  if (isStatus)
    return void send(
      server,
      exchange,
      server.ranges.map(({ first, last, blocked, details }) => ({
        beginningIpAddress: first,
        endingIpAddress: last,
        blocked,
        reason: details,
      })),
    );
  const rows = (server.days[day!] ?? []).filter((row) => !address || row.address === address);
  if (rows.length === 0) return void notFound(exchange);
  send(
    server,
    exchange,
    rows.map(({ address: ipAddress, recipients, trapStart, trapEnd, ...row }) => ({
      ipAddress,
      activityStart: row.activityStart,
      activityEnd: row.activityEnd,
      rcptCommands: row.rcptCommands,
      dataCommands: row.dataCommands,
      messageRecipients: recipients,
      filterResult: row.filterResult,
      complaintRate: row.complaintRate,
      trapMessagePeriodStart: trapStart,
      trapMessagePeriodEnd: trapEnd,
      trapHits: row.trapHits,
      sampleHelo: row.sampleHelo,
      sampleMailFrom: row.sampleMailFrom,
      comments: row.comments,
    })),
  );
}

function send({ format }: SndsServer, { json, response }: HttpExchange, rows: object[]): void {
  if (format === 'json') return void json(200, rows);
  response.writeHead(200, { 'content-type': 'application/octet-stream' });
  response.end(csvOf(rows.map((row) => Object.values(row))));
}

const csvOf = (lines: (string | number)[][]): string =>
  lines.map((cells) => `${cells.map(cell).join(',')}\r\n`).join('');

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
  if (server.isExpired) return void notFound(exchange);
  const lines = target.file === 'data' ? dataLines(server, query.get('date')) : statusLines(server);
  if (target.file === 'data' && lines?.length === 0) return void notFound(exchange);
  if (lines === null) {
    response.writeHead(400, { 'content-type': 'text/plain' });
    response.end('Invalid date');
    return;
  }
  response.writeHead(200, { 'content-type': 'text/csv; charset=utf-8' });
  response.end(csvOf(lines));
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
