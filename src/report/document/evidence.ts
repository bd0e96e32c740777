/** The evidence of a check in readable form: names with values, lists, and tables of similar objects. */

import type { Json } from '../../analysis/check.ts';
import { formatDuration, formatSize } from '../../lib/durations.ts';
import {
  type Block,
  code,
  type Fact,
  type Facts,
  isIsoTime,
  muted,
  oneLine,
  type Paragraph,
  type StateSpan,
  small,
  state,
  type Text,
  textLines,
  time,
} from '../blocks.ts';
import { type Evidence, isObject } from '../report.ts';

/** Deeper values are shown as JSON. */
const MAX_DEPTH = 3;
/** Longer text, and text of several lines, gets its own box. */
const MAX_INLINE_LENGTH = 100;
/** Objects with more keys do not fit into a table: each becomes a list. */
const MAX_COLUMNS = 8;

interface Value {
  text: Text;
  blocks?: Block[];
}

/** All values of the evidence. */
export function evidenceFacts(evidence: Evidence, depth = 0): Facts {
  const rows = Object.entries(evidence).map(([key, value]): Fact => {
    const { text, blocks } = formatValue(key, value, depth);
    return { name: [keyLabel(key)], value: text, ...(blocks ? { blocks } : {}) };
  });
  return { kind: 'facts', rows };
}

function formatValue(name: string, value: Json, depth: number): Value {
  if (value === null) return NONE;
  if (typeof value === 'boolean') return { text: [yesOrNo(name, value)] };
  if (typeof value === 'number') return { text: [formatNumber(name, value)] };
  if (typeof value === 'string') return textValue(name, value);
  if (depth > MAX_DEPTH) return { text: [code(JSON.stringify(value), 500)] };
  if (Array.isArray(value)) return listValue(name, value, depth);
  if (Object.keys(value).length === 0) return NONE;
  return { text: [], blocks: [evidenceFacts(value, depth + 1)] };
}

const NONE: Value = { text: [muted('none')] };

function yesOrNo(name: string, value: boolean): string | StateSpan {
  if (name !== 'aligned') return value ? 'yes' : 'no';
  return value ? state('pass', 'aligned') : state('fail', 'not aligned');
}

function formatNumber(name: string, value: number): string {
  if (/seconds$/.test(name)) return formatSeconds(value);
  if (/(?:^|_)(?:octets|bytes|size)$/.test(name)) return formatBytes(value);
  return Number.isInteger(value) ? formatCount(value) : String(Math.round(value * 1000) / 1000);
}

/** Keys whose values are our own identifiers, such as `not_listed`. */
const ENUM_KEYS = new Set(['found', 'identity', 'status']);
const SNAKE_CASE = /^[a-z]+(?:_[a-z]+)*$/;

function textValue(name: string, value: string): Value {
  if (value === '') return { text: [muted('empty')] };
  if (name === 'result' && isAuthResult(value)) return { text: [authState(value)] };
  if (isIsoTime(value)) return { text: [time(value)] };
  if (ENUM_KEYS.has(name) && SNAKE_CASE.test(value)) return { text: [value.replaceAll('_', ' ')] };
  if (value.length <= MAX_INLINE_LENGTH && !value.includes('\n')) return { text: [code(value)] };
  const lines = textLines(value);
  const box = { kind: 'verbatim', label: keyLabel(name), lines } as const;
  return { text: [], blocks: [{ ...box, style: 'box', truncationNote: null }] };
}

function listValue(name: string, items: Json[], depth: number): Value {
  if (items.length === 0) return NONE;
  const objects = items.filter(isObject);
  const otherItems = items.filter((item) => !isObject(item));
  const blocks: Block[] = [];
  if (objects.length > 0) blocks.push(objectsBlock(name, objects, depth));
  if (otherItems.length > 0)
    blocks.push({
      kind: 'list',
      isOrdered: false,
      items: otherItems.map((item) => formatValue(name, item, depth + 1)),
    });
  return { text: [], blocks };
}

function objectsBlock(name: string, objects: Evidence[], depth: number): Block {
  const keys = [...new Set(objects.flatMap((object) => Object.keys(object)))];
  if (keys.length > MAX_COLUMNS || !objects.every(isFlat))
    return {
      kind: 'list',
      isOrdered: true,
      items: objects.map((object) => ({ text: [], blocks: [evidenceFacts(object, depth + 1)] })),
    };
  const shownKeys = keys.filter((key) => objects.some((object) => object[key] != null));
  return {
    kind: 'table',
    name: 'plain',
    label: keyLabel(name),
    columns: shownKeys.map((key) => ({ title: keyLabel(key), share: 1 })),
    groups: [
      {
        title: null,
        rows: objects.map((object) => ({
          cells: shownKeys.map((key) => formatValue(key, object[key] ?? null, depth + 1)),
        })),
      },
    ],
    foot: [],
  };
}

/** Whether the object contains only single values and short lists of them. */
const isFlat = (object: Evidence): boolean =>
  Object.values(object).every(
    (value) =>
      typeof value !== 'object' ||
      value === null ||
      (Array.isArray(value) &&
        value.length <= 5 &&
        value.every((item) => typeof item !== 'object')),
  );

// A short form for PDFs: a few names with values of one or two lines each.

const MAX_VALUES = 8;
const MAX_VALUE_LENGTH = 220;

/** The first values as running text; empty values (null, empty lists) are left out. Null if all are empty. */
export function evidenceInShort(evidence: Evidence): Paragraph | null {
  const values: Text[] = [];
  for (const [key, value] of Object.entries(evidence)) {
    if (values.length === MAX_VALUES) break;
    const text = flatText(value, 0, MAX_VALUE_LENGTH + 1);
    if (text !== '') values.push([`${keyLabel(key)}: `, code(oneLine(text, MAX_VALUE_LENGTH))]);
  }
  if (values.length === 0) return null;
  return small(...values.flatMap((text, index) => (index === 0 ? text : [' · ', ...text])));
}

/** A value as text of about `maxLength` characters at most; '' for an empty value. */
function flatText(value: Json, depth: number, maxLength: number): string {
  if (value === null || depth > MAX_DEPTH) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value !== 'object') return String(value).slice(0, maxLength);
  const isList = Array.isArray(value);
  const parts: string[] = [];
  let usedLength = 0;
  for (const key in value) {
    if (usedLength > maxLength) break;
    const text = flatText((value as Record<string, Json>)[key]!, depth + 1, maxLength - usedLength);
    if (text === '') continue;
    parts.push(isList ? text : `${key.slice(0, 40).replaceAll('_', ' ')} ${text}`);
    usedLength += parts.at(-1)!.length + 2;
  }
  return parts.join(isList && depth === 0 ? '; ' : ', ');
}

// Single values as text.

const formatCount = (count: number): string => count.toLocaleString('en');

/** `64,210 bytes (64 KB)`. */
export function formatBytes(bytes: number): string {
  return bytes < 1000
    ? `${formatCount(bytes)} bytes`
    : `${formatCount(bytes)} bytes (${formatSize(bytes)})`;
}

export function formatSeconds(seconds: number): string {
  const duration = formatDuration(Math.abs(seconds) * 1000);
  return seconds < 0 ? `−${duration}` : duration;
}

const RESULT_STATES: Record<string, StateSpan['state']> = {
  pass: 'pass',
  temperror: 'unknown',
  none: 'fail',
  fail: 'fail',
  softfail: 'fail',
  neutral: 'fail',
  policy: 'fail',
  permerror: 'fail',
};

const isAuthResult = (text: string): boolean => Object.hasOwn(RESULT_STATES, text);

/** A result as defined by RFC 8601; null means "not checked". */
export function authState(result: string | null): StateSpan {
  if (result === null) return state('unknown', 'not checked');
  const resultState = isAuthResult(result) ? RESULT_STATES[result]! : 'unknown';
  return state(resultState, oneLine(result, 20));
}

/** `link_status` → `Link status`, `helo` → `HELO`. */
function keyLabel(key: string): string {
  if (Object.hasOwn(LABELS, key)) return LABELS[key]!;
  const words = oneLine(key, 60).split(/[_ ]+/);
  const cased = words.map((word) => {
    const upper = word.toUpperCase();
    if (PLURAL_ACRONYMS.has(upper)) return `${upper.slice(0, -1)}s`;
    return ACRONYMS.has(upper) ? upper : word;
  });
  const text = cased.join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Labels for keys whose words differ from the terms that reports use. */
const LABELS: Record<string, string> = {
  asked: 'Queried',
  auto_submitted: 'Auto-Submitted',
  client_ip: 'Sending IP address',
  clock_skew_seconds: 'Clock skew',
  data_of: 'Data as of',
  delay_seconds: 'Delay',
  eight_bit_body: '8-bit body',
  eight_bit_fields: '8-bit fields',
  eight_bit_header: '8-bit header',
  hosts_with_ipv6: 'Hosts with IPv6',
  href: 'URL',
  judged: 'Evaluated',
  ipv6: 'IPv6',
  last_delay_seconds: 'Last delay',
  mail_from: 'MAIL FROM',
  message_id: 'Message-ID',
  missing_in: 'Not supported in',
  not_asked: 'Not checked',
  partly_in: 'Partly supported in',
  octets: 'Size',
  reply_to: 'Reply-To',
  signatures_not_looked_at: 'Signatures not checked',
  src: 'URL',
  unanswered: 'Failed DNS lookups',
  words_wanted: 'Words required',
};
const ACRONYMS = new Set([
  'ARC',
  'BIMI',
  'CR',
  'CSS',
  'DKIM',
  'DMARC',
  'DNS',
  'DNSSEC',
  'DS',
  'ESMTP',
  'HELO',
  'HTML',
  'HTTP',
  'HTTPS',
  'ID',
  'IP',
  'LF',
  'MIME',
  'MTA',
  'MX',
  'NUL',
  'PTR',
  'SPF',
  'SVG',
  'TLS',
  'TTL',
  'URI',
  'URL',
  'UTF',
]);
const PLURAL_ACRONYMS = new Set('IDS IPS URIS URLS'.split(' '));
