/** The part of Cloudflare’s API v4 that manages DNS records, as its documentation describes it. */

import type { TestContext } from 'node:test';
import * as v from 'valibot';
import { parseNetwork } from '../../src/lib/addresses.ts';
import { zoneResolver } from '../../src/net/dns/zone.ts';
import { createWebClient } from '../../src/net/http/client.ts';
import type { WebClient } from '../../src/net/http/web.ts';
import { type HttpExchange, startHttpScript } from './http-script.ts';

export const CLOUDFLARE_TOKEN = 'test-token-0123456789abcdefghijklmnopqrst';

export interface ServedRecord {
  id: string;
  zone_id: string;
  type: string;
  name: string;
  content: string;
  priority?: number;
  ttl: number;
  proxied: boolean;
  comment: string | null;
}

export interface CloudflareServer {
  /** For the context of a server, or the service: requests to Cloudflare come here. */
  web: WebClient;
  zones: { id: string; name: string; status: 'active' | 'pending' }[];
  records: ServedRecord[];
  /** Whether the token may edit records, beside reading them. */
  canEdit: boolean;
  requests: { method: string; path: string; body: string }[];
  /** Answers in place of the server; false: it does not. */
  intercept(exchange: HttpExchange): boolean;
  /** Adds a record as it is in the zone. */
  add(record: Pick<ServedRecord, 'name' | 'type' | 'content'> & Partial<ServedRecord>): void;
}

class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

const Ttl = v.union([v.literal(1), v.pipe(v.number(), v.minValue(60), v.maxValue(86_400))]);
const Base = { name: v.string(), ttl: Ttl, comment: v.optional(v.string()) };
/** Quoted strings of at most 255 bytes each. */
const QuotedStrings = v.pipe(
  v.string(),
  v.regex(/^"(?:[^"\\]|\\.)*"(?: "(?:[^"\\]|\\.)*")*$/),
  v.check((text) => text.split('" "').every((part) => part.length <= 260)),
);
const number = (max: number) => v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(max));
const Body = v.variant('type', [
  v.strictObject({ ...Base, type: v.literal('TXT'), content: QuotedStrings }),
  v.strictObject({ ...Base, type: v.literal('CNAME'), content: v.pipe(v.string(), v.domain()) }),
  v.strictObject({ ...Base, type: v.literal('A'), content: v.pipe(v.string(), v.ipv4()) }),
  v.strictObject({ ...Base, type: v.literal('AAAA'), content: v.pipe(v.string(), v.ipv6()) }),
  v.strictObject({ ...Base, type: v.literal('MX'), content: v.string(), priority: number(65_535) }),
  v.strictObject({
    ...Base,
    type: v.literal('CAA'),
    data: v.strictObject({ flags: number(255), tag: v.string(), value: v.string() }),
  }),
  v.strictObject({
    ...Base,
    type: v.literal('TLSA'),
    data: v.strictObject({
      usage: number(255),
      selector: number(255),
      matching_type: number(255),
      certificate: v.string(),
    }),
  }),
]);
const Batch = v.strictObject({
  deletes: v.optional(v.array(v.strictObject({ id: v.string() })), []),
  patches: v.optional(v.array(v.looseObject({ id: v.string() })), []),
  posts: v.optional(v.array(v.unknown()), []),
});

export async function startCloudflareServer(
  t: TestContext,
  zones: string[] = ['example.com'],
): Promise<CloudflareServer> {
  let nextId = 1;
  const newId = () => String(nextId++).padStart(32, '0');
  const server: CloudflareServer = {
    web: async (request) =>
      client({ ...request, url: request.url.replace('https://api.cloudflare.com', script.url) }),
    zones: zones.map((name) => ({ id: newId(), name, status: 'active' })),
    records: [],
    canEdit: true,
    requests: [],
    intercept: () => false,
    add(record) {
      const zone_id = server.zones.find(({ name }) => `.${record.name}`.endsWith(`.${name}`))!.id;
      server.records.push({
        id: newId(),
        zone_id,
        ttl: 1,
        proxied: false,
        comment: null,
        ...record,
      });
    },
  };
  const client = createWebClient({
    resolver: zoneResolver({}),
    allowNetworks: ['127.0.0.0/8'].map(parseNetwork),
  });
  const script = await startHttpScript(t, (exchange) => {
    server.requests.push({
      method: exchange.method,
      body: exchange.body,
      path: `${exchange.path}?${exchange.query}`,
    });
    if (server.intercept(exchange)) return;
    try {
      exchange.json(200, {
        success: true,
        errors: [],
        messages: [],
        ...respond(server, exchange, newId),
      });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { status, code, message } = error;
      exchange.json(status, {
        success: false,
        errors: [{ code, message }],
        messages: [],
        result: null,
      });
    }
  });
  return server;
}

function respond(server: CloudflareServer, exchange: HttpExchange, newId: () => string): object {
  if (exchange.headers.authorization !== `Bearer ${CLOUDFLARE_TOKEN}`)
    throw new ApiError(401, 1000, 'Invalid API Token');
  const { method, path, query } = exchange;
  if (method === 'GET' && path === '/client/v4/zones') {
    const matches = server.zones.filter(
      ({ name, status }) =>
        (query.get('name') ?? name) === name && (query.get('status') ?? status) === status,
    );
    return page(matches, query);
  }
  const [, zoneId, rest = ''] =
    /^\/client\/v4\/zones\/(\w+)\/dns_records(\/batch)?$/.exec(path) ?? [];
  const zone = server.zones.find(({ id }) => id === zoneId);
  if (!zone)
    throw new ApiError(
      404,
      7003,
      'Could not route to the zone, perhaps your object identifier is invalid?',
    );
  if (method === 'GET' && rest === '') {
    const records = server.records.filter(
      ({ zone_id, type, name }) =>
        zone_id === zone.id &&
        (query.get('type') ?? type) === type &&
        (query.get('name.exact') ?? name) === name &&
        name.endsWith(query.get('name.endswith') ?? ''),
    );
    return page(records, query);
  }
  if (method !== 'POST' || rest === '') throw new ApiError(405, 10_405, 'Method not allowed');
  if (!server.canEdit) throw new ApiError(403, 10_000, 'Authentication error');
  // One transaction: the records change only if each operation succeeds.
  server.records = afterBatch(server.records, zone, JSON.parse(exchange.body), newId);
  return { result: {} };
}

function page(items: object[], query: URLSearchParams): object {
  const size = Number(query.get('per_page') ?? 100);
  if (size > 50 || size < 5) throw new ApiError(400, 6001, 'Invalid page size');
  const number = Number(query.get('page') ?? 1);
  return {
    result: items.slice((number - 1) * size, number * size),
    result_info: {
      page: number,
      per_page: size,
      total_pages: Math.max(1, Math.ceil(items.length / size)),
      count: items.length,
    },
  };
}

function afterBatch(
  current: ServedRecord[],
  zone: { id: string; name: string },
  body: unknown,
  newId: () => string,
): ServedRecord[] {
  const batch = v.safeParse(Batch, body);
  if (!batch.success) throw new ApiError(400, 9207, 'Request body is invalid.');
  const { deletes, patches, posts } = batch.output;
  let records = [...current];
  const requireRecord = (id: string) => {
    if (!records.some((record) => record.id === id))
      throw new ApiError(404, 81_044, 'Record does not exist.');
  };
  for (const { id } of deletes) {
    requireRecord(id);
    records = records.filter((record) => record.id !== id);
  }
  for (const { id, ...change } of patches) {
    requireRecord(id);
    const others = records.filter((record) => record.id !== id);
    const changed = parsedRecord(change, zone);
    requireFree(others, changed);
    records = records.map((record) => (record.id === id ? { ...record, ...changed } : record));
  }
  for (const post of posts) {
    const record = {
      id: newId(),
      zone_id: zone.id,
      proxied: false,
      comment: null,
      ...parsedRecord(post, zone),
    };
    requireFree(records, record);
    records = [...records, record];
  }
  return records;
}

function parsedRecord(body: unknown, zone: { name: string }) {
  const parsed = v.safeParse(Body, body);
  if (!parsed.success)
    throw new ApiError(400, 1004, `DNS Validation Error: ${parsed.issues[0].message}`);
  const record = parsed.output;
  if (!`.${record.name}`.endsWith(`.${zone.name}`))
    throw new ApiError(400, 1004, 'DNS Validation Error: not in the zone');
  const { name, type, ttl } = record;
  if (record.type === 'CAA') {
    const { flags, tag, value } = record.data;
    return { name, type, ttl, content: `${flags} ${tag} "${value}"` };
  }
  if (record.type === 'TLSA') {
    const { usage, selector, matching_type, certificate } = record.data;
    return { name, type, ttl, content: `${usage} ${selector} ${matching_type} ${certificate}` };
  }
  return {
    name,
    type,
    ttl,
    content: record.content,
    ...('priority' in record && { priority: record.priority }),
  };
}

function requireFree(
  records: ServedRecord[],
  record: Pick<ServedRecord, 'name' | 'type' | 'content'>,
) {
  const sameName = records.filter(({ name }) => name === record.name);
  if (sameName.some(({ type, content }) => type === record.type && content === record.content))
    throw new ApiError(400, 81_058, 'An identical record already exists.');
  const isAddress = record.type === 'A' || record.type === 'AAAA';
  if (isAddress && sameName.some(({ type }) => type === 'CNAME'))
    throw new ApiError(400, 81_053, 'An A, AAAA, or CNAME record with that host already exists.');
}
