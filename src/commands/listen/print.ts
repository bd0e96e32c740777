/** Prints a delivery as text, or as a line of JSON. */

import { isIPv6 } from 'node:net';
import { isoTime } from '../../lib/clock.ts';
import { printable } from '../../lib/log.ts';
import { type Paint, painter, wrap } from '../../report/text.ts';
import type { Authority } from './authority.ts';
import type { Receipt, ReceivedEvent } from './receive.ts';

const INDENT = ' '.repeat(10);

/** Ends with an empty line. */
export function receiptText(
  receipt: Receipt,
  { width, color }: { width: number; color: boolean },
): string {
  const paint = painter(color);
  const { at, event } = receipt;
  const head = [
    paint('dim', isoTime(at).slice(11, 19)),
    event === null ? 'no event' : paint('bold', short(event.type)),
    ...(event === null
      ? []
      : [paint('dim', short(event.id)), event.livemode ? 'live' : 'test mode']),
  ].join('  ');
  const summary = event === null ? '' : summarizeEvent(event);
  const lines = [
    head,
    ...(summary === '' ? [] : [wrap(summary, Math.min(width, 100), INDENT)]),
    ...(event === null && receipt.verification === null
      ? []
      : [INDENT + verifiedText(receipt, paint)]),
    ...(receipt.delivery > 1
      ? [INDENT + paint('yellow', `repeated: delivery ${receipt.delivery} of this event`)]
      : []),
    INDENT + answerText(receipt, paint),
  ];
  return `${lines.join('\n')}\n\n`;
}

const short = (text: string): string => printable(text).slice(0, 100);

function verifiedText({ verification }: Receipt, paint: Paint): string {
  if (verification === null) return paint('yellow', '✗ not verified: no signing secret');
  if (!verification.verified) return paint('red', `✗ not verified: ${verification.reason}`);
  return verification.former
    ? `${paint('green', '✓ verified')} with the previous secret; switch to the new secret before the previous one expires`
    : paint('green', '✓ verified');
}

function answerText(receipt: Receipt, paint: Paint): string {
  const { status, fault, forwarded, verification } = receipt;
  const isGood = status >= 200 && status < 300;
  const by = forwarded && fault === null ? ' from your program' : '';
  const isTold = fault === null || verification?.verified === false;
  const why = isTold ? '' : `: ${printable(fault)}`;
  return paint(isGood ? 'green' : 'red', `responded ${status}${by}${why}`);
}

/** `event` is the complete body; `verified` is null without a secret. */
export function receiptJson(receipt: Receipt): string {
  const { at, event, json, verification, delivery, status, fault, forwarded } = receipt;
  const printed = {
    received_at: isoTime(at),
    type: event?.type ?? null,
    event_id: event?.id ?? null,
    livemode: event?.livemode ?? null,
    verified: verification?.verified ?? null,
    former_secret: verification?.verified ? verification.former : null,
    fault,
    delivery,
    forwarded,
    answered: status,
    event: json,
  };
  return `${JSON.stringify(printed)}\n`;
}

// A one-line summary of an event.

type Data = Record<string, unknown>;

/** Empty for an unknown type. Values from the event are made printable and cut. */
export function summarizeEvent({ type, data }: ReceivedEvent): string {
  // The type comes from outside: `constructor` is a property of every object.
  const summarize = Object.hasOwn(SUMMARIES, type) ? SUMMARIES[type] : undefined;
  const parts = (summarize?.(data) ?? []).filter((part) => part !== null);
  return parts.join(', ');
}

const SUMMARIES: Record<string, (data: Data) => (string | null)[]> = {
  'test.completed': (data) => [
    typeof data.score === 'number' ? `score ${data.score}, grade ${word(data.grade)}` : 'no score',
    quoted(data.subject),
    labelled('from', data.from_address),
    ...authentication(data.auth_results),
  ],
  'test.failed': (data) => [word(data.failure_reason), labelled('address', data.address)],
  'domain.verified': (data) => [word(data.name)],
  'domain.verification_failed': (data) => [word(data.name)],
  'domain.health_changed': (data) => [
    word(data.name),
    labelled('now', field(data.health, 'status')),
    labelled('before', data.previous_health),
  ],
  'monitor.alert': (data) => [
    word(field(data.monitor, 'name')),
    word(field(data.monitor, 'type')),
    word(data.status),
  ],
  'alert.triggered': (data) => incident(data),
  'alert.resolved': (data) => [...incident(data), word(data.resolution)],
};

function incident(data: Data): (string | null)[] {
  return [word(field(data.alert, 'name')), word(data.subject), labelled('value', data.value)];
}

function authentication(results: unknown): (string | null)[] {
  return ['spf', 'dkim', 'dmarc'].map((name) => labelled(name.toUpperCase(), field(results, name)));
}

const field = (object: unknown, name: string): unknown =>
  typeof object === 'object' && object !== null ? (object as Data)[name] : null;

/** Text or a number; null for anything else. */
function word(value: unknown): string | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const text = printable(String(value));
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

function labelled(label: string, value: unknown): string | null {
  const text = word(value);
  return text === null ? null : `${label} ${text}`;
}

function quoted(value: unknown): string | null {
  const text = word(value);
  return text === null ? null : `“${text}”`;
}

// The instructions that `listen` prints when it starts.

interface Start {
  /** Address to listen on. */
  host: string;
  port: number;
  /** Host of the URL. */
  calledBy: string;
  authority: Authority;
  /** Address of the API. */
  apiUrl: string;
  hasSecret: boolean;
}

/** Ends with an empty line. */
export function instructions(start: Start): string {
  const { host, port, calledBy, authority, apiUrl, hasSecret } = start;
  const url = `https://${isIPv6(calledBy) ? `[${calledBy}]` : calledBy}:${port}/`;
  const body = JSON.stringify({ url, events: ['*'] });
  return [
    `Listening on ${url} until you press Ctrl-C.`,
    '',
    `1. Start the service with these settings, so that it can call this address and trusts its certificate${authority.made ? ' (the certificate authority is new)' : ''}:`,
    `     DELIVERABILITY_WEBHOOK_CA_FILE=${shellWord(authority.file)} \\`,
    `     DELIVERABILITY_WEBHOOK_ALLOW_NETWORKS=${host}/${isIPv6(host) ? 128 : 32} \\`,
    '     deliverability serve',
    '2. Register the endpoint with the API key of an admin:',
    `     curl ${apiUrl}/v1/webhooks/endpoints \\`,
    '       -H "Authorization: Bearer $API_KEY" -H "Content-Type: application/json" \\',
    `       -d ${shellWord(body)}`,
    ...(hasSecret
      ? []
      : [
          '3. Put the "secret" from the response into a file, and restart with --secret-file FILE.',
          '   Until then events are shown but not verified.',
        ]),
    '',
    '',
  ].join('\n');
}

const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
