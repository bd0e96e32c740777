/**
 * A server of the Gmail Postmaster Tools API v2, as its discovery document describes it. Tests change the
 * model while it runs. It rejects what Google would reject.
 */

import type { TestContext } from 'node:test';
import {
  HTTP_FAULTS,
  type HttpExchange,
  type HttpFault,
  type HttpScript,
  startHttpScript,
} from './http-script.ts';

/** What is absent was not published. Rates are from 0 to 1. */
export interface ServedDay {
  spamRate?: number;
  spf?: number;
  dkim?: number;
  dmarc?: number;
  tlsRate?: number;
  tlsMessages?: number;
  errors?: { type: 'reject' | 'temp_fail'; reason: string; rate?: number; count?: number }[];
  /** Spam rates by feedback loop identifier; null if the rate was not published. */
  feedbackLoops?: Record<string, number | null>;
  /** The same of all mail that is signed as the domain; by default, that of `feedbackLoops`. */
  signedLoops?: Record<string, number | null>;
}

export interface ServedVerdict {
  status: 'COMPLIANT' | 'NEEDS_WORK';
  reason?: string;
}

export interface ServedCompliance {
  /** By requirement, such as `SPF`. */
  rows: Record<string, string>;
  oneClick?: ServedVerdict;
  honor?: ServedVerdict;
}

export interface ServedDomain {
  permission: 'OWNER' | 'READER' | 'NONE';
  verificationState: 'VERIFIED' | 'UNVERIFIED';
  /** By day, such as `2026-11-21`. */
  days: Record<string, ServedDay>;
  /** Null: 404. */
  compliance: ServedCompliance | null;
  /** Of the subdomain itself, beside that of its registrable domain. */
  subdomainCompliance?: ServedCompliance;
}

export type PostmasterScope = 'postmaster.domain' | 'postmaster.traffic.readonly';

export interface PostmasterServer {
  /** For `base_url`. */
  url: string;
  exchanges: HttpScript['exchanges'];
  /** The access tokens that it accepts; a test can give it those of a token server. */
  accessTokens: Set<string>;
  /** Of all access tokens. */
  scopes: Set<PostmasterScope>;
  /** Whether the API is enabled in the project of the app. */
  isEnabled: boolean;
  domains: Map<string, ServedDomain>;
  /** Pages have at most this many items, whatever was asked for. */
  maxPageSize: number;
  /** Whether feedback loops have an `aggregation_key_type`, as since 2026. */
  hasAggregation: boolean;
  /** Errors of single queries of a batch, by standard metric. */
  queryErrors: Map<string, { code: number; message: string }>;
  /** How the server fails; null: it doesn’t. */
  fault(exchange: HttpExchange): HttpFault | null;
}

/** A domain whose user may read it, without days. */
export const servedDomain = (domain: Partial<ServedDomain> = {}): ServedDomain => ({
  permission: 'OWNER',
  verificationState: 'VERIFIED',
  days: {},
  compliance: null,
  ...domain,
});

/** Each requirement is met, except those given. */
export const servedCompliance = (rows: Record<string, string> = {}): ServedCompliance => ({
  rows: { ...Object.fromEntries(REQUIREMENTS.map((name) => [name, 'COMPLIANT'])), ...rows },
  oneClick: { status: 'COMPLIANT' },
  honor: { status: 'COMPLIANT' },
});

const REQUIREMENTS = [
  'SPF',
  'DKIM',
  'SPF_AND_DKIM',
  'DMARC_POLICY',
  'DMARC_ALIGNMENT',
  'MESSAGE_FORMATTING',
  'DNS_RECORDS',
  'ENCRYPTION',
  'USER_REPORTED_SPAM_RATE',
];

/** By default, it accepts the access token `access`. */
export async function startPostmasterServer(
  t: TestContext,
  settings: Partial<Omit<PostmasterServer, 'url' | 'exchanges'>> = {},
): Promise<PostmasterServer> {
  const server: PostmasterServer = {
    url: '',
    exchanges: [],
    accessTokens: new Set(['access']),
    scopes: new Set(['postmaster.domain', 'postmaster.traffic.readonly']),
    isEnabled: true,
    domains: new Map(),
    maxPageSize: 200,
    hasAggregation: true,
    queryErrors: new Map(),
    fault: () => null,
    ...settings,
  };
  const script = await startHttpScript(t, (exchange) => {
    const fault = server.fault(exchange);
    if (fault !== null) return HTTP_FAULTS[fault](exchange);
    try {
      exchange.json(200, respond(server, exchange));
    } catch (error) {
      if (!(error instanceof GoogleError)) throw error;
      exchange.json(error.code, { error: error.body() });
    }
  });
  server.url = script.url;
  server.exchanges = script.exchanges;
  return server;
}

const STATUSES: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

class GoogleError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly reason?: string,
  ) {
    super(message);
  }
  body() {
    const type = 'type.googleapis.com/google.rpc.ErrorInfo';
    const info = { '@type': type, reason: this.reason, domain: 'googleapis.com' };
    return {
      code: this.code,
      message: this.message,
      status: STATUSES[this.code],
      ...(this.reason === undefined ? {} : { details: [info] }),
    };
  }
}

const invalid = (message: string) => new GoogleError(400, message);

function respond(server: PostmasterServer, exchange: HttpExchange): unknown {
  const token = /^Bearer (\S+)$/.exec(exchange.headers.authorization ?? '')?.[1] ?? '';
  if (!server.accessTokens.has(token))
    throw new GoogleError(
      401,
      'Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.',
    );
  if (!server.isEnabled)
    throw new GoogleError(
      403,
      'Gmail Postmaster Tools API has not been used in project 123456 before or it is disabled.',
      'SERVICE_DISABLED',
    );
  const { method } = exchange;
  const path = decodeURIComponent(exchange.path);
  if (method === 'GET' && path === '/v2/domains') return listDomains(server, exchange.query);
  const name = /^\/v2\/domains\/([^/]+)\//.exec(path)?.[1] ?? '';
  if (method === 'GET' && path === `/v2/domains/${name}/complianceStatus`)
    return complianceStatus(server, name);
  if (method === 'POST' && path === `/v2/domains/${name}/domainStats:query`)
    return query(server, name, bodyOf(exchange));
  if (method === 'POST' && path === '/v2/domainStats:batchQuery')
    return batchQuery(server, bodyOf(exchange));
  throw new GoogleError(404, `${method} ${path} was not found.`);
}

function requireScope(server: PostmasterServer, scope: PostmasterScope): void {
  if (!server.scopes.has(scope))
    throw new GoogleError(
      403,
      'Request had insufficient authentication scopes.',
      'ACCESS_TOKEN_SCOPE_INSUFFICIENT',
    );
}

type Json = Record<string, unknown>;

function bodyOf({ headers, body }: HttpExchange): Json {
  if (!headers['content-type']?.startsWith('application/json'))
    throw invalid('Invalid JSON payload received.');
  return objectOf(JSON.parse(body), 'body');
}

function objectOf(value: unknown, what: string): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(`Invalid value at '${what}'.`);
  return value as Json;
}

/** Google rejects names of fields that it doesn’t know. */
function fieldsOf(value: unknown, what: string, names: string[]): Json {
  const object = objectOf(value, what);
  for (const name of Object.keys(object))
    if (!names.includes(name))
      throw invalid(`Invalid JSON payload received. Unknown name "${name}" at '${what}'.`);
  return object;
}

function listOf(value: unknown, what: string, max: number): unknown[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > max)
    throw invalid(`${what} must have 1 to ${max} items.`);
  return value;
}

function listDomains(server: PostmasterServer, parameters: URLSearchParams): unknown {
  requireScope(server, 'postmaster.domain');
  const items = [...server.domains].map(([name, { permission, verificationState }]) => ({
    name: `domains/${name}`,
    permission,
    verificationState,
    createTime: '2026-01-02T03:04:05Z',
  }));
  const pageSize = Number(parameters.get('pageSize') ?? 10);
  const { page, next } = pageOf(server, items, pageSize, parameters.get('pageToken') ?? undefined);
  return { domains: page, ...next };
}

/** Tokens are opaque to clients. Without items, Google leaves out the list. */
function pageOf<T>(
  { maxPageSize }: PostmasterServer,
  items: T[],
  pageSize: unknown = 10,
  token: unknown = '',
): { page: T[] | undefined; next: { nextPageToken?: string } } {
  if (!Number.isInteger(pageSize) || (pageSize as number) < 1 || (pageSize as number) > 200)
    throw invalid('page_size must be from 1 to 200.');
  const start = token === '' ? 0 : Number(/^page\/(\d+)=$/.exec(String(token))?.[1] ?? Number.NaN);
  if (!(start >= 0 && start <= items.length)) throw invalid('Invalid page token.');
  const end = start + Math.min(pageSize as number, maxPageSize);
  return {
    page: items.length === 0 ? undefined : items.slice(start, end),
    next: end < items.length ? { nextPageToken: `page/${end}=` } : {},
  };
}

const isReadable = (domain: ServedDomain | undefined): domain is ServedDomain =>
  domain?.permission !== 'NONE' && domain?.verificationState === 'VERIFIED';

const permissionDenied = (name: string) =>
  new GoogleError(403, `The caller does not have permission to access the domain ${name}.`);

function complianceStatus(server: PostmasterServer, name: string): unknown {
  requireScope(server, 'postmaster.traffic.readonly');
  const domain = server.domains.get(name);
  if (!domain) throw new GoogleError(404, 'Requested entity was not found.');
  if (!isReadable(domain)) throw permissionDenied(name);
  const { compliance, subdomainCompliance } = domain;
  if (compliance === null && !subdomainCompliance)
    throw new GoogleError(404, 'Requested entity was not found.');
  return {
    name: `domains/${name}/complianceStatus`,
    ...(compliance && { complianceData: complianceData(name, compliance) }),
    ...(subdomainCompliance && {
      subdomainComplianceData: complianceData(name, subdomainCompliance),
    }),
  };
}

const complianceData = (name: string, { rows, oneClick, honor }: ServedCompliance) => ({
  domainId: name,
  rowData: Object.entries(rows).map(([requirement, status]) => ({
    requirement,
    status: { status },
  })),
  ...(oneClick && { oneClickUnsubscribeVerdict: verdict(oneClick) }),
  ...(honor && { honorUnsubscribeVerdict: verdict(honor) }),
});

const verdict = ({ status, reason }: ServedVerdict) => ({
  status: { status },
  ...(reason === undefined ? {} : { reason }),
});

const QUERY_FIELDS = [
  'parent',
  'timeQuery',
  'metricDefinitions',
  'aggregationGranularity',
  'pageSize',
  'pageToken',
];

function batchQuery(server: PostmasterServer, body: Json): unknown {
  requireScope(server, 'postmaster.traffic.readonly');
  const { requests } = fieldsOf(body, 'request', ['requests']);
  const queries = listOf(requests, 'requests', 100).map((each) => objectOf(each, 'requests'));
  const names = queries.map(({ parent }) => /^domains\/([^/]+)$/.exec(String(parent))?.[1]);
  if (names.includes(undefined)) throw invalid('Invalid resource name.');
  // Permissions are a matter of the whole batch.
  for (const name of names as string[])
    if (!isReadable(server.domains.get(name))) throw permissionDenied(name);
  const results = queries.map((each, i) => {
    try {
      return { response: query(server, names[i]!, each) };
    } catch (error) {
      if (!(error instanceof GoogleError)) throw error;
      // `google.rpc.Code`.
      const codes: Record<number, number> = { 400: 3, 403: 7, 404: 5, 429: 8, 500: 13, 503: 14 };
      return { error: { code: codes[error.code], message: error.message } };
    }
  });
  return { results };
}

function query(server: PostmasterServer, name: string, body: Json): unknown {
  requireScope(server, 'postmaster.traffic.readonly');
  const domain = server.domains.get(name);
  if (!isReadable(domain)) throw permissionDenied(name);
  const request = fieldsOf(body, 'request', QUERY_FIELDS);
  if (request.parent !== undefined && request.parent !== `domains/${name}`)
    throw invalid('Invalid resource name.');
  const granularity = request.aggregationGranularity ?? 'DAILY';
  if (granularity !== 'DAILY') throw invalid('This server has daily statistics only.');
  const { from, to } = rangeOf(request.timeQuery);
  const metrics = listOf(request.metricDefinitions, 'metric_definitions', 1000).map((metric) => {
    const found = metricOf(metric);
    if (
      !server.hasAggregation &&
      found.standardMetric.startsWith('FEEDBACK') &&
      aggregationOf(found)
    )
      throw invalid('Invalid filter: unknown field aggregation_key_type.');
    return found;
  });
  if (new Set(metrics.map((metric) => metric.name)).size < metrics.length)
    throw invalid('The names of metrics must be unique.');
  for (const { standardMetric } of metrics) {
    const error = server.queryErrors.get(standardMetric);
    if (error) throw new GoogleError(error.code, error.message);
  }
  const stats = Object.keys(domain.days)
    .filter((day) => day >= from && day <= to)
    .sort()
    .flatMap((day) =>
      metrics.flatMap((metric) => {
        const value = statisticOf(domain.days[day]!, metric);
        if (value === null) return [];
        const [year, month, date] = day.split('-').map(Number);
        return [
          {
            name: `domains/${name}/domainStats/${day}-${metric.name}`,
            metric: metric.name,
            date: { year, month, day: date },
            value,
          },
        ];
      }),
    );
  const { page, next } = pageOf(server, stats, request.pageSize, request.pageToken);
  return { domainStats: page, ...next };
}

/** One range; Google also takes several, and lists of days. */
function rangeOf(value: unknown): { from: string; to: string } {
  const timeQuery = fieldsOf(value, 'time_query', ['dateRanges']);
  const { dateRanges } = fieldsOf(timeQuery.dateRanges, 'date_ranges', ['dateRanges']);
  const [range] = listOf(dateRanges, 'date_ranges', 1);
  const { start, end } = fieldsOf(range, 'date_range', ['start', 'end']);
  const [from, to] = [dayOf(start), dayOf(end)];
  if (from > to) throw invalid('The start date must not be after the end date.');
  return { from, to };
}

function dayOf(value: unknown): string {
  const { year, month, day } = fieldsOf(value, 'date', ['year', 'month', 'day']);
  const parts = [year, month, day].map((part, i) => String(part).padStart(i === 0 ? 4 : 2, '0'));
  const text = parts.join('-');
  const time = Date.parse(text);
  if (Number.isNaN(time) || !new Date(time).toISOString().startsWith(text))
    throw invalid('Invalid date.');
  return text;
}

const FILTERS: Record<string, RegExp> = {
  SPAM_RATE: /^$/,
  AUTH_SUCCESS_RATE: /^auth_type = "(spf|dkim|dmarc)"$/,
  TLS_ENCRYPTION_RATE: /^traffic_direction = "(inbound|outbound)"$/,
  TLS_ENCRYPTION_MESSAGE_COUNT: /^traffic_direction = "(inbound|outbound)"$/,
  DELIVERY_ERROR_RATE: /^(?:error_type = "(\w+)"(?: AND error_reason = "(\w+)")?)?$/,
  DELIVERY_ERROR_COUNT: /^(?:error_type = "(\w+)"(?: AND error_reason = "(\w+)")?)?$/,
  FEEDBACK_LOOP_ID: /^(?:aggregation_key_type = "(FROM_HEADER|ALL_DKIM)")?$/,
  FEEDBACK_LOOP_SPAM_RATE:
    /^feedback_loop_id = "([^"]+)"(?: AND aggregation_key_type = "(FROM_HEADER|ALL_DKIM)")?$/,
};

/** Undefined: the default. */
const aggregationOf = ({ standardMetric, operands }: Metric): string | undefined =>
  operands[standardMetric === 'FEEDBACK_LOOP_ID' ? 0 : 1];

const REASONS: Record<string, string[]> = {
  reject: [
    'bad_attachment',
    'bad_or_missing_ptr_record',
    'ip_in_rbls',
    'low_domain_reputation',
    'low_ip_reputation',
    'spammy_content',
    'stamp_policy_error',
    'other',
  ],
  temp_fail: ['anomalous_traffic_pattern', 'other'],
};

interface Metric {
  name: string;
  standardMetric: string;
  /** What the filter names. */
  operands: (string | undefined)[];
}

function metricOf(value: unknown): Metric {
  const definition = fieldsOf(value, 'metric', ['name', 'baseMetric', 'filter']);
  const { standardMetric } = fieldsOf(definition.baseMetric, 'base_metric', ['standardMetric']);
  const { name, filter = '' } = definition;
  if (typeof name !== 'string' || name === '') throw invalid('A metric must have a name.');
  if (typeof standardMetric !== 'string' || !Object.hasOwn(FILTERS, standardMetric))
    throw invalid(`Unknown metric ${standardMetric}.`);
  const match = FILTERS[standardMetric]!.exec(String(filter));
  if (!match) throw invalid(`Invalid filter for ${standardMetric}: ${filter}`);
  const [, ...operands] = match;
  if (standardMetric.startsWith('DELIVERY_ERROR') && operands[0] !== undefined) {
    const reasons = REASONS[operands[0]];
    if (!reasons || (operands[1] !== undefined && !reasons.includes(operands[1])))
      throw invalid(`Invalid filter for ${standardMetric}: ${filter}`);
  }
  return { name, standardMetric, operands };
}

/** Null if nothing was published. */
function statisticOf(day: ServedDay, metric: Metric): Json | null {
  const { standardMetric, operands } = metric;
  const [operand, reason] = operands;
  const errors = (day.errors ?? []).filter(
    (error) =>
      (operand === undefined || error.type === operand) &&
      (reason === undefined || error.reason === reason),
  );
  const sum = (key: 'rate' | 'count') => {
    const values = errors.flatMap((error) => error[key] ?? []);
    return values.length === 0 ? undefined : values.reduce((total, value) => total + value, 0);
  };
  const { feedbackLoops, signedLoops = feedbackLoops } = day;
  const loops = (aggregationOf(metric) === 'ALL_DKIM' ? signedLoops : feedbackLoops) ?? {};
  const ids = Object.keys(loops);
  switch (standardMetric) {
    case 'SPAM_RATE':
      return present('doubleValue', day.spamRate);
    case 'AUTH_SUCCESS_RATE':
      return present('floatValue', day[operand as 'spf' | 'dkim' | 'dmarc']);
    case 'TLS_ENCRYPTION_RATE':
      return present('floatValue', operand === 'inbound' ? day.tlsRate : undefined);
    case 'TLS_ENCRYPTION_MESSAGE_COUNT':
      return present('intValue', operand === 'inbound' ? day.tlsMessages?.toString() : undefined);
    case 'DELIVERY_ERROR_RATE':
      return present('doubleValue', sum('rate'));
    case 'DELIVERY_ERROR_COUNT':
      return present('intValue', sum('count')?.toString());
    case 'FEEDBACK_LOOP_ID':
      return ids.length === 0 ? null : { stringList: { values: ids } };
    default:
      return present('doubleValue', loops[operand!] ?? undefined);
  }
}

const present = (key: string, value: number | string | undefined): Json | null =>
  value === undefined ? null : { [key]: value };
