/** How a message arrived: the SMTP session, or what the header of a file says about it, with where each value comes from. */

import type { Envelope, ReportingServer } from '../../analysis/check.ts';
import type { FileReceipt } from '../../analysis/receipt/file-receipt.ts';
import { RECEIVER_METHODS } from '../../analysis/receipt/results.ts';
import { formatUtcTime } from '../../lib/clock.ts';
import {
  code,
  type Fact,
  type Facts,
  type Hop,
  muted,
  oneLine,
  type Section,
  strong,
  type Text,
  time,
} from '../blocks.ts';

const NOT_KNOWN = 'not known: this is a file';
const UNKNOWN_IN_FILE = muted(NOT_KNOWN);

/** "Gmail received it from 203.0.113.9 (mail.example.com), encrypted, on 20 Nov 2026, 09:46 UTC." */
export function receiptSentence({ file, client_ip, helo, tls }: Envelope): string {
  const receiver = file && (file.provider ?? file.by);
  if (!file || receiver === null)
    return 'How the message was received is not known: this is a file.';
  const isRead = (name: keyof FileReceipt['origins']) => file.origins[name]?.source === 'file';
  const from = isRead('client_ip') ? ` from ${client_ip}${isRead('helo') ? ` (${helo})` : ''}` : '';
  const encryption = isRead('tls') && tls ? (tls.used ? ', encrypted' : ', not encrypted') : '';
  const at =
    file.at === null ? '' : `${encryption && ','} on ${formatUtcTime(Date.parse(file.at))}`;
  return `${receiver} received it${from}${encryption}${at}.`;
}

/** For a report without a delivery path: the known values. Nothing for a message that was sent to the service. */
export function receiptSections(envelope: Envelope | null | undefined): Section[] {
  if (!envelope?.file) return [];
  const facts = sessionFacts(envelope);
  const rows = facts.rows.filter(({ value }) => !value.includes(UNKNOWN_IN_FILE));
  return [
    {
      kind: 'section',
      id: 'receipt',
      title: 'Receipt',
      note: [oneLine(receiptSentence(envelope))],
      blocks: rows.length > 0 ? [{ ...facts, rows }] : [],
    },
  ];
}

/** The last stop of the delivery path: this server, or the receiver of a file. Reading a file is none. */
export function receivingHop(
  envelope: Envelope | null,
  receivedAt: string | null,
  delay: Hop['delay'],
): Hop {
  const file = envelope?.file;
  const receiver = file && (file.provider ?? file.by);
  const server: Text =
    receiver === null ? [muted(`Receiver ${NOT_KNOWN}`)] : [strong(receiver ?? 'This server')];
  return { server, time: receivedAt === null ? null : [time(receivedAt)], via: null, delay };
}

export function sessionFacts(envelope: Envelope): Facts {
  const { client_ip, helo, mail_from, tls, reported_by, file } = envelope;
  const fact = (name: string, key: keyof FileReceipt['origins'], value: Text | null): Fact => ({
    name: [name],
    value: value ? [...value, ...originOf(file, key)] : [file ? UNKNOWN_IN_FILE : muted('unknown')],
  });
  const shown = (text: string | null): Text | null => (text === null ? null : [code(text, 320)]);
  const encryption: Text | null = tls && [
    tls.used
      ? oneLine([tls.version ?? 'used', tls.cipher].filter(Boolean).join(', '), 200)
      : 'not used',
  ];
  return {
    kind: 'facts',
    style: 'small',
    rows: [
      ...(file ? [fact('Time', 'at', file.at === null ? null : [time(file.at)])] : []),
      fact('Sending IP address', 'client_ip', shown(client_ip || null)),
      fact('HELO', 'helo', shown(helo)),
      fact('MAIL FROM', 'mail_from', shown(mail_from === '' ? '<>' : mail_from)),
      fact('TLS', 'tls', encryption),
      ...(file?.results ? [fact('Results', 'results', resultsOf(file.results))] : []),
      ...(reported_by ? [{ name: ['Reported by'], value: reportOf(reported_by) }] : []),
    ],
  };
}

/** The header field of a file, or that the user gave the value. */
function originOf(file: FileReceipt | null | undefined, key: keyof FileReceipt['origins']): Text {
  const origin = file?.origins[key];
  if (!origin) return [];
  const { source, field, by } = origin;
  return [' ', muted(source === 'given' ? '(given)' : `(${field}, ${oneLineOf(by)})`)];
}

const oneLineOf = (text: string | null): string => text?.slice(0, 255) ?? '';

const resultsOf = (results: NonNullable<FileReceipt['results']>): Text => {
  const texts = RECEIVER_METHODS.flatMap((name) =>
    results[name] === undefined ? [] : [`${name.toUpperCase()} ${results[name]}`],
  );
  return [texts.join(', ') || 'none'];
};

/** Which server the facts above come from. */
function reportOf({ client_ip, name, method }: ReportingServer): Text {
  const server: Text = name
    ? [code(name, 255), ' (', code(client_ip, 45), ')']
    : [code(client_ip, 45)];
  if (method === null)
    return [...server, ' passed the message on, but did not report its client in a readable form.'];
  return [...server, `, a trusted mail server, ${METHODS[method]}.`];
}

const METHODS = {
  xclient: 'with XCLIENT',
  xforward: 'with XFORWARD',
  received: 'in its Received field',
};
