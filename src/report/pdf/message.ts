/** The message: what it is, what is attached, where its links go, and its text, all in short. */

import { formatSize } from '../../lib/durations.ts';
import { evidenceOf, type MessageView, objectsIn, type Report, textIn } from '../report.ts';
import {
  type Cell,
  CODE,
  type Pair,
  pairs,
  paragraph,
  SMALL,
  section,
  subheading,
  table,
} from './blocks.ts';
import type { Sheet } from './sheet.ts';
import { mark, type State, shown, shownLines } from './style.ts';

const MAX_ATTACHMENTS = 50;
const MAX_LINKS = 60;
const MAX_TEXT = 4000;
const MAX_TEXT_LINES = 80;
const SMALL_CODE = { ...CODE, size: 7.5, leading: 11 };

export function messageSection(sheet: Sheet, report: Report): void {
  section(sheet, 'The message', () => {
    const { message } = report;
    pairs(sheet, facts(report), { names: 90 });
    sheet.y += 4;
    if (message === null) {
      paragraph(sheet, 'The message itself is not part of this report.', { style: SMALL });
      return;
    }
    attachments(sheet, message);
    links(sheet, report, message);
    textPart(sheet, message);
    if (message.notShown.length === 0) return;
    sheet.y += 4;
    paragraph(sheet, shown(message.notShown.join(' '), 600), { style: SMALL });
  });
}

function facts({ subject, from_address, message_size, message }: Report): Pair[] {
  const field = (name: string) =>
    message?.headers.find((header) => header.name.toLowerCase() === name)?.value ?? null;
  const list: [string, string | null][] = [
    ['Subject', subject],
    ['From', field('from') ?? from_address],
    ['To', field('to')],
    ['Date', field('date')],
    ['Message-ID', field('message-id')],
    ['Size', formatSize(message_size)],
  ];
  return list.flatMap(([name, value]) => (value ? [{ name, value: shown(value, 500) }] : []));
}

function attachments(sheet: Sheet, { attachments: files }: MessageView): void {
  if (files.length === 0) return;
  subheading(sheet, 'Attachments');
  table(
    sheet,
    [
      { title: 'File', share: 50 },
      { title: 'Type', share: 34, style: SMALL_CODE },
      { title: 'Size', share: 16, align: 'right' },
    ],
    files
      .slice(0, MAX_ATTACHMENTS)
      .map(({ filename, type, size }) => [
        filename ? shown(filename, 200) : 'without a name',
        shown(type, 120),
        formatSize(size),
      ]),
  );
  more(sheet, files.length - MAX_ATTACHMENTS);
}

const LINK_STATES: Record<string, { state: State; word: string }> = {
  ok: { state: 'pass', word: 'Works' },
  dead: { state: 'fail', word: 'Dead' },
};

/** Written out, and not to be clicked: nobody knows where a stranger's link leads. */
function links(sheet: Sheet, { checks }: Report, message: MessageView): void {
  if (message.links.length === 0) return;
  const asked = new Map(
    objectsIn(evidenceOf(checks, 'link_status'), 'links').map(
      (link) => [textIn(link, 'href'), textIn(link, 'status') ?? ''] as const,
    ),
  );
  const state = (href: string): Cell => {
    const status = asked.get(href);
    if (status === undefined) return 'not asked';
    const { state, word } = LINK_STATES[status] ?? { state: 'unknown', word: 'Not known' };
    return mark(state, word);
  };
  subheading(sheet, 'Links');
  table(
    sheet,
    [
      { title: 'Address', share: 58, style: SMALL_CODE },
      { title: 'Text', share: 26 },
      { title: 'Status', share: 16 },
    ],
    message.links
      .slice(0, MAX_LINKS)
      .map(({ text, href }) => [shown(href, 400), shown(text ?? '', 120) || 'none', state(href)]),
  );
  more(sheet, message.links.length - MAX_LINKS);
}

function more(sheet: Sheet, left: number): void {
  if (left > 0) paragraph(sheet, `… and ${left} more`, { style: SMALL });
}

function textPart(sheet: Sheet, { text }: MessageView): void {
  subheading(sheet, 'Text part');
  if (text === null) paragraph(sheet, 'The message has no text part.');
  else
    for (const line of shownLines(text, MAX_TEXT, MAX_TEXT_LINES))
      paragraph(sheet, line, { style: SMALL_CODE });
}
