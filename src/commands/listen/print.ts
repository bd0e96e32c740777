/** Prints a delivery as text, or as a line of JSON. */

import { isIPv6 } from 'node:net';
import { short } from '../../events/line.ts';
import { DOCUMENTED_API } from '../../features.ts';
import { isoTime } from '../../lib/clock.ts';
import { printable, printableJson } from '../../lib/log.ts';
import { type Segment, wrapStyled } from '../../report/text.ts';
import type { Authority } from './authority.ts';
import type { Receipt, ReceivedEvent } from './receive.ts';

const INDENT = ' '.repeat(10);

/** Wider lines are hard to read. */
const MAX_WIDTH = 100;

/** Wrapped to the width; ends with an empty line. */
export function receiptText(receipt: Receipt, options: { width: number; color: boolean }): string {
  const { at, event, verification, delivery } = receipt;
  const width = Math.min(options.width, MAX_WIDTH);
  const block = (segments: Segment[]) => wrapStyled(segments, { ...options, width }, INDENT);
  const summary = event === null ? '' : summarizeEvent(event);
  const time: Segment = { text: isoTime(at).slice(11, 19), style: 'dim' };
  const lines = [
    // The time is left of the other lines.
    `${wrapStyled([time], options)}  ${block(headingOf(event)).trimStart()}`,
    ...(summary === '' ? [] : [block([{ text: summary }])]),
    ...(event === null && verification === null ? [] : [block(verificationText(receipt))]),
    ...(delivery > 1
      ? [block([{ text: `repeated: delivery ${delivery} of this event`, style: 'yellow' }])]
      : []),
    block(responseText(receipt)),
  ];
  return `${lines.join('\n')}\n\n`;
}

function headingOf(event: ReceivedEvent | null): Segment[] {
  if (event === null) return [{ text: 'no event' }];
  return [
    { text: short(event.type), style: 'bold' },
    { text: '  ' },
    { text: short(event.id), style: 'dim' },
    { text: `  ${event.livemode ? 'live' : 'test mode'}` },
  ];
}

function verificationText({ verification }: Receipt): Segment[] {
  if (verification === null)
    return [{ text: '✗ not verified: no signing secret', style: 'yellow' }];
  if (!verification.verified)
    return [{ text: `✗ not verified: ${verification.reason}`, style: 'red' }];
  const verified: Segment = { text: '✓ verified', style: 'green' };
  return verification.isPreviousSecret
    ? [
        verified,
        {
          text: ' with the previous secret; switch to the new secret before the previous one expires',
        },
      ]
    : [verified];
}

function responseText(receipt: Receipt): Segment[] {
  const { status, fault, forwarded, verification } = receipt;
  const isSuccess = status >= 200 && status < 300;
  const source = forwarded && fault === null ? ' from your program' : '';
  const isAlreadyExplained = fault === null || verification?.verified === false;
  const reason = isAlreadyExplained ? '' : `: ${fault}`;
  return [{ text: `responded ${status}${source}${reason}`, style: isSuccess ? 'green' : 'red' }];
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
    former_secret: verification?.verified ? verification.isPreviousSecret : null,
    fault,
    delivery,
    forwarded,
    answered: status,
    event: json,
  };
  return `${printableJson(printed)}\n`;
}

// A one-line summary of an event.

/** Empty for an unknown type. */
export function summarizeEvent({ type, data }: ReceivedEvent): string {
  const parts = LINES.get(type)?.(data) ?? [];
  return parts.filter((part) => part !== null).join(', ');
}

const LINES = new Map(DOCUMENTED_API.events.map(({ type, line }) => [type, line]));

// The instructions that `listen` prints when it starts.

interface StartInfo {
  /** Address to listen on. */
  host: string;
  port: number;
  /** Host of the URL. */
  urlHost: string;
  authority: Authority;
  /** Address of the API. */
  apiUrl: string;
  hasSecret: boolean;
}

/** Ends with an empty line. */
export function instructions(info: StartInfo): string {
  const { host, port, urlHost, authority, apiUrl, hasSecret } = info;
  const url = `https://${isIPv6(urlHost) ? `[${urlHost}]` : urlHost}:${port}/`;
  const body = JSON.stringify({ url, events: ['*'] });
  return [
    `Listening on ${url} until you press Ctrl-C.`,
    '',
    `1. Start the service with these settings, so that it can call this address and trusts its certificate${authority.isNew ? ' (the certificate authority is new)' : ''}:`,
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
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${printable(text).replaceAll("'", "'\\''")}'`;
