/** The delivery path and the message: its header, attachments, links, text and source. */

import { displayUrl } from '../../analysis/links/links.ts';
import { formatSize } from '../../lib/durations.ts';
import {
  type Block,
  badge,
  code,
  type Facts,
  type Fold,
  type Hop,
  muted,
  nameSpan,
  oneLine,
  paragraph,
  type Section,
  type StateSpan,
  small,
  state,
  type Table,
  type Text,
  textLines,
  time,
  type Verbatim,
  verbatimText,
} from '../blocks.ts';
import {
  type Evidence,
  evidenceOf,
  type MessageView,
  numberIn,
  objectsIn,
  type Report,
  type ReportedResult,
  textIn,
} from '../report.ts';
import { formatBytes, formatSeconds } from './evidence.ts';
import { receivingHop, sessionFacts } from './receipt.ts';
import type { ReportVariant } from './variant.ts';

const MAX_HOPS = 50;

export function pathSection(report: Report): Section {
  const check = report.checks.find(({ id }) => id === 'received_path');
  const evidence = evidenceOf(report.checks, 'received_path');
  const notes = [...forwardingNotes(report), ...(check ? [`${check.title} ${check.detail}`] : [])];
  const hops = objectsIn(evidence, 'hops').slice(0, MAX_HOPS);
  const delay = hops.length > 0 ? delayOf(numberIn(evidence, 'last_delay_seconds')) : null;
  return {
    kind: 'section',
    id: 'path',
    title: 'Delivery path',
    note: notes.length > 0 ? [oneLine(notes.join(' '))] : null,
    ...(notes.length > 0 || report.envelope ? {} : { isEmpty: true }),
    fold: { open: false, count: countLabel(hops.length + 1, 'server') },
    blocks: [
      {
        kind: 'path',
        columns: { server: 'Server', time: 'Received', delay: 'Delay' },
        hops: [...hops.map(hopOf), receivingHop(report.envelope, report.received_at, delay)],
        session: report.envelope && sessionFacts(report.envelope),
      },
    ],
  };
}

/** Who passed the message on. Nothing for direct mail. */
function forwardingNotes({ checks }: Report): string[] {
  const kind = textIn(evidenceOf(checks, 'forwarding'), 'kind');
  if (kind === null || kind === 'direct') return [];
  return checks.filter(({ id }) => id === 'forwarding').map(({ title }) => title);
}

function hopOf(hop: Evidence): Hop {
  const [from, by, protocol, receivedAt] = ['from', 'by', 'protocol', 'time'].map((key) =>
    textIn(hop, key),
  );
  const via: Text = [
    ...(from ? ['received from ', code(from, 255)] : []),
    ...(protocol ? [`${from ? ' ' : ''}with `, code(protocol, 40)] : []),
  ];
  return {
    server: [by ? code(by, 255) : 'Unnamed server'],
    time: receivedAt ? [time(receivedAt)] : null,
    via: via.length > 0 ? via : null,
    delay: delayOf(numberIn(hop, 'delay_seconds')),
  };
}

const LONG_DELAY_SECONDS = 300;

/** A negative delay means that the clock of a server is wrong. */
function delayOf(seconds: number | null): Hop['delay'] {
  if (seconds === null) return null;
  const duration = formatSeconds(seconds);
  if (seconds < 0) return { label: null, value: [badge('unknown', `${duration}: wrong clock`)] };
  return {
    label: 'after',
    value: [seconds >= LONG_DELAY_SECONDS ? badge('warn', duration) : duration],
  };
}

// The message. A PDF shows only parts of it.

export function messageSection(report: Report, { medium }: ReportVariant): Section {
  const { message } = report;
  const section = { kind: 'section', id: 'message', title: 'Message', note: null } as const;
  const noMessage: Block = {
    kind: 'paragraph',
    style: 'card',
    text: ['This report does not include the message.'],
  };
  if (medium === 'pdf')
    return {
      ...section,
      blocks: [factsOf(report), ...(message ? pdfBlocks(report, message) : [noMessage])],
    };
  return {
    ...section,
    fold: { open: false, count: formatSize(report.message_size) },
    blocks: message ? pageBlocks(report, message) : [noMessage],
  };
}

function pageBlocks(report: Report, message: MessageView): Block[] {
  const { text, headers, attachments, links, source, omittedSourceBytes } = message;
  const truncationNote =
    omittedSourceBytes > 0 ? [small(`Not shown: ${formatBytes(omittedSourceBytes)} more.`)] : [];
  return [
    fold('Text part', null, [textPart(text)]),
    fold('Header', countLabel(headers.length, 'field'), [headersBlock(headers)]),
    fold('Attachments', countLabel(attachments.length, 'file'), [attachmentsBlock(attachments)]),
    fold('Links', countLabel(links.length, 'link'), [linksBlock(report, links)]),
    fold('Source', formatSize(report.message_size), [
      verbatim('Source', source),
      ...truncationNote,
    ]),
    ...limitNote(message),
  ];
}

const MAX_ATTACHMENTS = 50;
const MAX_LINKS = 60;
const MAX_TEXT_LENGTH = 4000;
const MAX_TEXT_LINES = 80;

function pdfBlocks(report: Report, message: MessageView): Block[] {
  const { text, attachments, links } = message;
  const subsection = (title: string, ...blocks: Block[]): Block[] => [
    { kind: 'heading', rank: 3, text: [title] },
    ...blocks,
  ];
  const attachmentTable = attachmentsBlock(attachments.slice(0, MAX_ATTACHMENTS));
  const linkTable = linksBlock(report, links.slice(0, MAX_LINKS));
  return [
    ...(attachments.length > 0
      ? subsection(
          'Attachments',
          attachmentTable,
          ...moreNote(attachments.length - MAX_ATTACHMENTS),
        )
      : []),
    ...(links.length > 0
      ? subsection('Links', linkTable, ...moreNote(links.length - MAX_LINKS))
      : []),
    ...subsection('Text part', textPart(text, MAX_TEXT_LENGTH, MAX_TEXT_LINES)),
    ...limitNote(message),
  ];
}

const moreNote = (count: number): Block[] => (count > 0 ? [small(`… and ${count} more`)] : []);

const limitNote = (message: MessageView): Block[] =>
  message.limitNotes.length > 0 ? [small(oneLine(message.limitNotes.join(' ')))] : [];

const fold = (title: string, count: string | null, blocks: Block[]): Fold => ({
  kind: 'fold',
  id: `message-${title.toLowerCase().replaceAll(' ', '-')}`,
  title,
  state: null,
  count,
  open: false,
  style: 'card',
  blocks,
});

const countLabel = (count: number, noun: string): string =>
  count === 0 ? 'none' : count === 1 ? `1 ${noun}` : `${count} ${noun}s`;

const verbatim = (label: string, text: string, max?: number, maxLines?: number): Verbatim => ({
  kind: 'verbatim',
  label,
  lines: textLines(text, max, maxLines),
  style: 'long',
  truncationNote: '… (truncated)',
});

const textPart = (text: string | null, max?: number, maxLines?: number): Block =>
  text === null
    ? paragraph(muted('The message has no text part.'))
    : verbatim('Text part', text, max, maxLines);

function factsOf({ subject, from_address, message_size, message }: Report): Facts {
  const field = (name: string) =>
    message?.headers.find((header) => header.name.toLowerCase() === name)?.value ?? null;
  const fields: [string, string | null][] = [
    ['Subject', subject],
    ['From', field('from') ?? from_address],
    ['To', field('to')],
    ['Date', field('date')],
    ['Message-ID', field('message-id')],
    ['Size', formatSize(message_size)],
  ];
  const rows = fields.flatMap(([name, value]) =>
    value ? [{ name: [name], value: [nameSpan(value, 500)] }] : [],
  );
  return { kind: 'facts', rows };
}

function headersBlock(headers: MessageView['headers']): Block {
  if (headers.length === 0) return paragraph(muted('The message has no header fields.'));
  return {
    kind: 'facts',
    style: 'headers',
    rows: headers.map(({ name, value }) => ({
      name: [name === '' ? muted('no name') : verbatimText(name)],
      value: [code(value)],
    })),
  };
}

function attachmentsBlock(attachments: MessageView['attachments']): Block {
  if (attachments.length === 0) return paragraph(muted('The message has no attachments.'));
  const table: Table = {
    kind: 'table',
    name: 'plain',
    label: 'Attachments',
    columns: [
      { title: 'File', share: 50 },
      { title: 'Type', share: 34, style: 'code' },
      { title: 'Size', share: 16, isNumber: true },
    ],
    groups: [
      {
        title: null,
        rows: attachments.map(({ filename, type, size }) => ({
          cells: [
            { text: [filename ? oneLine(filename, 255) : muted('unnamed')] },
            { text: [code(type, 255)] },
            { text: [formatSize(size)] },
          ],
        })),
      },
    ],
    foot: [],
  };
  return table;
}

// The links of the message as plain text: URLs from a message are never clickable.

const LINK_STATES: Record<string, StateSpan> = {
  works: state('pass', 'Works'),
  dead: state('fail', 'Dead'),
  unknown: state('unknown', 'Unknown'),
};
const NOT_CHECKED = state('unknown', 'Not checked');

function linksBlock(report: Report, links: MessageView['links']): Block {
  if (links.length === 0) return paragraph(muted('The message has no links.'));
  const resultOf = linkResults(report);
  const table: Table = {
    kind: 'table',
    name: 'plain',
    label: 'Links',
    columns: [
      { title: 'URL', share: 58, style: 'code' },
      { title: 'Text', share: 26 },
      { title: 'Status', share: 16 },
    ],
    groups: [
      {
        title: null,
        rows: links.map(({ href, text }) => {
          const { status, reason } = resultOf(href) ?? { status: '', reason: null };
          const linkState = Object.hasOwn(LINK_STATES, status) ? LINK_STATES[status]! : NOT_CHECKED;
          return {
            cells: [
              { text: [code(href, 500)] },
              { text: [text ? nameSpan(text, 200) : muted('none')] },
              { text: [linkState], ...(reason ? { below: [oneLine(reason, 200)] } : {}) },
            ],
          };
        }),
      },
    ],
    foot: [],
  };
  return table;
}

interface LinkResult {
  /** `works`, `dead`, `unknown`, `not_asked`. */
  status: string;
  reason: string | null;
}

/** Returns a function from a link's URL, as written in the message, to its `link_status` result or null. */
export function linkResults({
  checks,
}: Pick<ReportedResult, 'checks'>): (href: string) => LinkResult | null {
  const results = new Map<string, LinkResult>();
  for (const link of objectsIn(evidenceOf(checks, 'link_status'), 'links')) {
    const [href, status] = [textIn(link, 'href'), textIn(link, 'status')];
    if (href && status)
      results.set(withoutFragment(href), { status, reason: textIn(link, 'reason') });
  }
  return (href) => results.get(withoutFragment(displayUrl(URL.parse(href)?.href ?? href))) ?? null;
}

/** Fragments are never sent, so URLs that differ only in them are fetched once. */
const withoutFragment = (url: string): string => url.replace(/#.*$/s, '');
