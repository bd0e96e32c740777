/** fast-check generators of hostile requests: values, paths, queries, header fields, and bodies. */

import fc from 'fast-check';
import type { Route } from '../../src/http/route.ts';

// Hostile text, JSON, messages, forms, and header fields.

const deep = (depth: number, open: string, close: string) =>
  open.repeat(depth) + close.repeat(depth);

export const TEXTS = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\r\nSet-Cookie: a=b',
  '\u202e',
  '\ufeff',
  '\ud800',
  '\udfff\ud800',
  "' OR 1=1 --",
  "'; DROP TABLE tests; --",
  '" UNION SELECT hash FROM api_keys --',
  '%',
  '_',
  '\\',
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '{{7*7}}',
  '../../../../etc/passwd',
  '..%2f..%2fetc%2fpasswd',
  '/etc/passwd',
  'file:///etc/passwd',
  '%00',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'then',
  'toJSON',
  'x'.repeat(201),
  'x'.repeat(5000),
  'é'.repeat(200),
  '😀'.repeat(101),
  '1e999',
  '-0',
  'NaN',
  '0',
  '-1',
  '100',
  '101',
  '9007199254740993',
  '999999999999999999999999',
  '0x10',
  'null',
  'true',
  '2026-02-30T00:00:00Z',
  '+999999-01-01T00:00:00Z',
  '0000-00-00',
  'a@b',
  'a@[127.0.0.1]',
  '"a b"@example.com',
  'a@example.com\r\nBcc: b@example.com',
  'ａ@ｅxample.com',
  'owner@example.com',
  'test_',
  'test_01',
  'mem_01',
  'inv_01',
  'key_01',
  'ses_01',
  'whe_01',
  'current',
  'export',
  'accept',
];

/** JSON values, also used as fields. */
export const RAW_JSON = [
  'null',
  'true',
  '0',
  '-0',
  '1e999',
  '-1e999',
  '1e-999',
  '12345678901234567890123',
  '""',
  '[]',
  '{}',
  '[{}]',
  '"\\ud800"',
  '"\\u0000"',
  '{"":""}',
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  deep(63, '[', ']'),
  deep(65, '[', ']'),
  `${'{"a":'.repeat(60)}1${'}'.repeat(60)}`,
  '[1,2,3]',
  '{"toString":1}',
  '{"length":1e9}',
];
export const BROKEN_JSON = [
  '{',
  '{"a"',
  '{"a":}',
  "{'a':1}",
  'NaN',
  'undefined',
  '\u0000',
  '\ufeff{}',
  '{"a":1,}',
  '[1',
  '"',
  deep(100_000, '[', ''),
  deep(50_000, '{"a":', ''),
  '//x\n{}',
  '{"a":01}',
  '{"a":"\n"}',
];

/** Valid values, so that some requests pass validation. */
export const PLAUSIBLE: Record<string, unknown[]> = {
  name: ['Bob', 'example.com', 'Bücher.example'],
  email: ['bob@example.com', 'owner@example.com', 'carol@example.net'],
  role: ['viewer', 'member', 'admin', 'owner'],
  kind: ['auto', 'marketing'],
  metadata: [{}, { a: 'b' }, null],
  password: ['correct horse battery'],
  current_password: ['a wrong password'],
  token: ['unknown'],
  new_owner_id: ['mem_01'],
  expires_in: [60, 3600, null],
  livemode: [true, false],
  url: ['https://example.com/hooks', 'https://192.0.2.1', 'https://receiver', 'http://example.com'],
  events: [['*'], ['test.completed', '*'], ['test.failed'], []],
  description: ['The shop', null],
  enabled: [true, false],
  dkim_selectors: [['s1', 'S2'], [], null],
  badge_enabled: [true, false],
  overlap: [0, 86_400],
  since: ['2026-11-21T09:00:00Z', '2026-02-30'],
  type: ['blocklist', 'placement', 'domain_health'],
  targets: [['8.8.8.8', 'example.com'], ['10.0.0.1'], null, []],
  frequency: ['hourly', 'daily', 'weekly', 'monthly'],
  condition: ['score_below', 'auth_fail', 'blocklist_hit'],
  channels: [['email'], ['email', 'webhook', 'slack'], []],
  threshold: [0, 100, null],
  domain_id: ['dom_01', null],
  recipients: [['bob@example.com'], null, []],
  domains: [['dom_01'], null, []],
  include_sections: [['summary'], ['trends', 'alerts'], []],
  format: ['html', 'pdf'],
  send_hour: [0, 23, 24],
  test_ids: [['test_01'], ['test_01', 'test_01'], null, []],
  title: ['The shop', null],
  timezone: ['UTC', 'Australia/Lord_Howe', 'Nowhere'],
  weekday: ['sunday', 'Monday'],
  day_of_month: [1, 31, 32],
  slack_webhook_url: ['https://hooks.slack.com/services/T0/B0/x', 'https://127.0.0.1/x', null],
};

export const MESSAGES = [
  '',
  '\r\n',
  'From: a\r\n\r\n',
  'From: a@example.com\n\nb',
  '\u0000'.repeat(50),
  ':\n:\n',
  `${'A: b\r\n'.repeat(500)}\r\n`,
  'Content-Type: multipart/mixed; boundary=a\n\n--a\n--a',
];
export const FORMS = [
  'email=owner%40example.com&password=x',
  'email=%00&password=%ff',
  'email=<script>alert(1)</script>',
  'name=a&password=b&repeat=c',
  'List-Unsubscribe=One-Click',
  '&&&===',
  '%',
  'email=a&email=b',
  'name="><img src=x onerror=alert(1)>',
  'password=correct+horse+battery&repeat=correct+horse+battery&name=Bob',
  'x'.repeat(17_000),
];

export const TYPES = [
  'text/plain',
  'application/json; charset=utf-16',
  'multipart/form-data',
  '*/*',
  ';',
  'é',
];

export const HEADERS: [string, string[]][] = [
  ['idempotency-key', ['', 'k', 'x'.repeat(255), 'x'.repeat(256), "'; DROP TABLE tests", 'é']],
  ['if-match', ['*', '"x"', 'W/"x"', ',', '"', 'x'.repeat(5000)]],
  ['if-none-match', ['*', '"x"', 'W/"x"', ',,,']],
  ['accept', ['*/*', 'application/json', 'text/csv;q=0', ',', 'application/x-ndjson']],
  ['accept-language', ['*', 'x'.repeat(3000)]],
  ['cookie', ['deliverability=', 'deliverability="x"', ';;=;', 'deliverability=%', '__proto__=1']],
  ['content-encoding', ['gzip', 'identity', '']],
  ['content-length', ['0', '-1', '99999999999', 'x']],
  ['x-forwarded-for', ['127.0.0.1', '::1, <script>', ',,,', 'x'.repeat(2000)]],
  ['x-forwarded-proto', ['https', 'javascript']],
  ['x-http-method-override', ['DELETE']],
  ['x-request-id', ['../x', 'x'.repeat(1000)]],
  ['origin', ['null', 'https://evil.example', 'http://', '']],
  ['sec-fetch-site', ['same-origin', 'cross-site', 'none', 'x']],
  ['user-agent', ['', '<script>alert(1)</script>', 'x'.repeat(5000)]],
  ['range', ['bytes=0-', 'bytes=-1,9-2']],
  ['transfer-encoding', ['chunked']],
];

export interface Hostile {
  /** Encoded, one for each path parameter. */
  params: string[];
  query: [string, string][];
  headers: [string, string][];
  body: string | Uint8Array | null;
  type: string | null;
  /** An index into the credentials of the caller. */
  credential: number;
}

/** The declared field names of an object schema. */
const entriesOf = (schema: unknown): object =>
  (schema as { entries?: object } | undefined)?.entries ?? {};

const text = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...TEXTS) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
);

const jsonText = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...RAW_JSON) },
  { weight: 3, arbitrary: text.map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.json({ maxDepth: 4 }) },
);

function fieldOf(name: string): fc.Arbitrary<string> {
  const good = (PLAUSIBLE[name] ?? ['x']).map((value) => JSON.stringify(value));
  return fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...good) },
    { weight: 2, arbitrary: jsonText },
  );
}

/** An object with known, unknown, and repeated fields in any order. */
function objectOf(route: Route): fc.Arbitrary<string> {
  const own = Object.keys(entriesOf(route.body));
  const pair = (name: string) => fieldOf(name).map((value) => `${JSON.stringify(name)}:${value}`);
  const strange = fc
    .tuple(text, jsonText)
    .map(([name, value]) => `${JSON.stringify(name)}:${value}`);
  return fc
    .tuple(
      fc.tuple(...own.map((name) => fc.option(pair(name), { freq: 6, nil: null }))),
      fc.array(fc.oneof(strange, ...own.map(pair)), { maxLength: 2, size: 'small' }),
      fc.boolean(),
    )
    .map(([fields, more, bare]) => {
      const all = [...fields.filter((field) => field !== null), ...(bare ? [] : more)];
      return `{${all.join(',')}}`;
    });
}

function bodyOf(route: Route): fc.Arbitrary<string | Uint8Array | null> {
  if (route.method === 'GET') return fc.constant(null);
  const plain = route.consumes
    ? fc.constantFrom(...(route.consumes.type === 'message/rfc822' ? MESSAGES : FORMS))
    : objectOf(route);
  return fc.oneof(
    { weight: 8, arbitrary: plain },
    { weight: 1, arbitrary: jsonText },
    { weight: 1, arbitrary: fc.constantFrom(...BROKEN_JSON) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }) },
    { weight: 1, arbitrary: fc.constant(null) },
  );
}

const header = fc.constantFrom(
  ...HEADERS.flatMap(([name, values]) => values.map((value): [string, string] => [name, value])),
);

/** No value that waits, because the clock of these requests stands still. */
const waits = ([name, value]: [string, string]) => name === 'wait' && Number(value) > 0;

function queryOf(route: Route): fc.Arbitrary<[string, string][]> {
  const names = [...Object.keys(entriesOf(route.query)), 'limit', '__proto__', 'a[b]', '', 'x'];
  const pair = fc.tuple(fc.constantFrom(...names), text);
  return fc
    .array(pair, { maxLength: 3, size: 'small' })
    .map((all) => all.filter((one) => !waits(one)));
}

/** Requests to a route. `ids` are placeholders for the IDs of existing objects. */
export function hostileRequest(route: Route, credentials: number): fc.Arbitrary<Hostile> {
  const variable = [...route.path.matchAll(/:\w+/g)].length;
  const param = fc.oneof(
    { weight: 3, arbitrary: text.map((value) => encodeURIComponent(value.toWellFormed())) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('%', '%ff', '%00', '%2e%2e', '..;', 'a%0d%0ab', '~', '%c0%ae'),
    },
    { weight: 2, arbitrary: fc.constant(REAL) },
  );
  const own = route.consumes?.type ?? 'application/json';
  return fc.record({
    params: fc.tuple(...Array.from({ length: variable }, () => param)),
    query: fc.oneof(
      { weight: 2, arbitrary: fc.constant<[string, string][]>([]) },
      { weight: 1, arbitrary: queryOf(route) },
    ),
    headers: fc.array(header, { maxLength: 2, size: 'small' }),
    body: bodyOf(route),
    type: fc.oneof(
      { weight: 9, arbitrary: fc.constant(own) },
      { weight: 1, arbitrary: fc.constantFrom(null, ...TYPES) },
    ),
    // Mostly the first credential, an owner's, because others are rejected early.
    credential: fc.oneof(
      { weight: 3, arbitrary: fc.constant(0) },
      { weight: 1, arbitrary: fc.nat({ max: credentials - 1 }) },
    ),
  });
}

/** A placeholder for the ID of an existing object. */
export const REAL = 'REAL';
