/**
 * Paints documents as plain text, for terminals of any width and for the text part of emails. A DNS record
 * is never wrapped, so that it can be copied.
 */

import { styleText } from 'node:util';
import type { DomainHealth } from '../analysis/domain/health.ts';
import { printable } from '../lib/log.ts';
import {
  type Block,
  type Cell,
  type Fact,
  type Finding,
  type Findings,
  type Hop,
  type ReportDocument,
  type Span,
  type State,
  spanText,
  type Table,
  type Text,
  type Verdict,
} from './blocks.ts';
import { terminalDocument } from './document/document.ts';
import { domainDocument } from './document/domain.ts';
import type { ReportedResult } from './report.ts';

export interface TextOptions {
  width: number;
  color: boolean;
  /** What was tested: a file name, a test address. */
  testedName?: string;
}

/** The report of a message for a terminal, with a final line end. */
export function reportText(
  result: ReportedResult,
  { width, color, testedName }: TextOptions,
): string {
  return paintText(terminalDocument(result, testedName ?? null), { width, color });
}

/** The health of a domain for a terminal, with a final line end. */
export function domainText(
  health: DomainHealth,
  options: Pick<TextOptions, 'width' | 'color'>,
): string {
  return paintText(domainDocument(health), options);
}

/** Wider lines are hard to read. */
const MAX_WIDTH = 100;

/** Any document as text, with a final line end. */
export function paintText(
  { blocks, footer }: Pick<ReportDocument, 'blocks' | 'footer'>,
  { width, color }: Pick<TextOptions, 'width' | 'color'>,
): string {
  const canvas: Canvas = {
    width: Math.min(width, MAX_WIDTH),
    indent: '',
    paint: painter(color),
    isMail: false,
  };
  const parts = [
    ...blocks.map((block) => paintBlock(block, canvas)),
    footer.map((text) => lines(text, canvas, 'dim')).join('\n'),
  ];
  return `${parts.filter(Boolean).join('\n\n')}\n`;
}

/** RFC 3676 §4.2 allows 78 characters at most. */
const MAIL_WIDTH = 72;

/** A block of an email as text, with underlined headings and blank lines between its parts. */
export function mailText(block: Block): string {
  return paintBlock(block, { width: MAIL_WIDTH, indent: '', paint: painter(false), isMail: true });
}

interface Canvas {
  /** Including the indent. */
  width: number;
  indent: string;
  paint: Paint;
  isMail: boolean;
}

const STYLES: Record<State, Style> = {
  pass: 'green',
  warn: 'yellow',
  fail: 'red',
  info: 'blue',
  unknown: 'dim',
};
/** No two states differ by color alone. */
export const ICONS: Record<State, string> = {
  pass: '✓',
  warn: '!',
  fail: '✗',
  info: 'i',
  unknown: '?',
};

const iconOf = (state: State, { paint }: Canvas): string => paint(STYLES[state], ICONS[state]);

const indented = (canvas: Canvas, by: number): Canvas => ({
  ...canvas,
  indent: canvas.indent + ' '.repeat(by),
});

/** Without a final line end; '' for a block that text cannot show. */
function paintBlock(block: Block, canvas: Canvas): string {
  const { paint, indent } = canvas;
  switch (block.kind) {
    case 'verdict':
      return paintVerdict(block, canvas);
    case 'section':
      return titled(block.title, canvas, [
        block.note ? lines(block.note, canvas, 'dim') : '',
        ...block.blocks.map((each) => paintBlock(each, canvas)),
      ]);
    case 'overview':
      return joined(
        [
          block.above ? lines([block.above], canvas, 'dim') : '',
          ...block.blocks.map((each) => paintBlock(each, canvas)),
        ],
        canvas,
      );
    case 'part':
      return [
        lines(block.title, canvas, 'bold'),
        ...(block.subtitle ? [lines([block.subtitle], canvas, 'dim')] : []),
        ...block.blocks.map((each) => paintBlock(each, canvas)),
      ].join('\n\n');
    case 'heading':
      return lines(block.text, canvas, 'bold');
    case 'paragraph':
      if (block.screenOnly) return '';
      return lines(block.text, canvas, PARAGRAPHS[block.style ?? 'card']);
    case 'note':
      return lines(block.text, canvas, STYLES[block.state]);
    case 'findings':
      return paintFindings(block, canvas);
    case 'finding':
      return paintFinding(block, canvas, GAIN_WIDTH);
    case 'group':
      return joinedClosely([
        block.title ? lines([block.title], canvas, 'bold') : '',
        ...block.blocks.map((each) => paintBlock(each, canvas)),
      ]);
    case 'record': {
      const { name, type, value } = block;
      return indent + paint('cyan', `${name.value} ${type.value} ${value.value}`);
    }
    case 'facts':
      return joinedClosely(block.rows.map((fact) => paintFact(fact, canvas)));
    case 'table':
      return paintTable(block, canvas);
    case 'bars':
      return joinedClosely([
        ...block.rows.map((row) => paintBar(row, canvas)),
        block.capNote ? lines([block.capNote], indented(canvas, 2), 'red') : '',
      ]);
    case 'states': {
      const items = block.items.map(
        ({ name, state }) => `${name} ${paint(STYLES[state.state], state.word)}`,
      );
      return `${indent}  ${items.join(canvas.width < MIN_BARS_WIDTH ? `\n${indent}  ` : '   ')}`;
    }
    case 'lines':
      return block.items.map((item) => paintLine(item, block.nameWidth, canvas)).join('\n');
    case 'alignment':
      return paintAlignment(block, canvas);
    case 'path':
      return joinedClosely([
        ...block.hops.map((hop) => paintHop(hop, canvas)),
        block.session ? paintBlock(block.session, indented(canvas, 2)) : '',
      ]);
    case 'card':
      return joinedClosely([
        lines([...block.title, '  ', block.state], canvas, 'bold'),
        ...block.blocks.map((each) => paintBlock(each, indented(canvas, 2))),
      ]);
    case 'entries':
      return block.items.map((entry) => paintEntry(entry, canvas)).join('\n');
    case 'rows':
      return block.items
        .map(({ title, below, value, state }) => {
          const sign = state ? `${ICONS[state]} ` : '';
          return [
            hanging(['- ', sign, `${value}: ${title}`], canvas, 2),
            ...(below ? [lines([below], indented(canvas, 2), 'dim')] : []),
          ].join('\n');
        })
        .join('\n');
    case 'average':
      return [block.line, ...block.lines].map((line) => lines([line], canvas)).join('\n');
    case 'tiles':
      return block.items
        .map(({ name, figure, isKnown, below }) =>
          lines([`${name}: ${isKnown ? `${figure} ` : ''}${below}`], canvas),
        )
        .join('\n');
    case 'grades':
      return lines([block.words], canvas);
    case 'list':
      return joinedClosely(
        block.items.map(({ text, blocks = [] }, index) => {
          const mark = block.isOrdered ? `${index + 1}. ` : '- ';
          return joinedClosely([
            hanging([mark, ...text], canvas, mark.length),
            ...blocks.map((each) => paintBlock(each, indented(canvas, mark.length))),
          ]);
        }),
      );
    case 'fold':
      return joinedClosely([
        lines(
          [
            ...(block.state ? [{ kind: 'state', state: block.state, word: '' } as const] : []),
            block.title,
            ...(block.count ? [` (${block.count})`] : []),
          ],
          canvas,
          'bold',
        ),
        ...block.blocks.map((each) => paintBlock(each, indented(canvas, 2))),
      ]);
    case 'verbatim':
      return block.lines.map((line) => `${indent}${line}`).join('\n');
    case 'chart':
      return joinedClosely([
        block.title ? lines([block.title], canvas, 'bold') : '',
        ...block.values.map((value) => lines([value], canvas)),
      ]);
    // The text part of the message is another block.
    case 'frame':
      return '';
  }
}

const PARAGRAPHS: Record<string, Style | undefined> = { small: 'dim', lead: 'bold' };

function titled(title: string, canvas: Canvas, parts: string[]): string {
  if (!canvas.isMail) return joinedClosely([lines([title], canvas, 'bold'), ...parts]);
  const underline = '-'.repeat([...title].length);
  return joined([`${title}\n${underline}`, ...parts], canvas);
}

const joinedClosely = (parts: string[]): string => parts.filter(Boolean).join('\n');

const joined = (parts: string[], { isMail }: Canvas): string =>
  parts.filter(Boolean).join(isMail ? '\n\n' : '\n');

function paintVerdict(block: Verdict, canvas: Canvas): string {
  const { above, score, testedName, title, unknown, states, facts, remarks } = block;
  const { paint } = canvas;
  const styles: Style[] = score.state === 'unknown' ? ['bold'] : ['bold', STYLES[score.state]];
  const mark = paint(styles, score.line);
  return joinedClosely([
    above ? lines([above], canvas, 'dim') : '',
    `${mark}${testedName ? `  ${paint('dim', testedName)}` : ''}`,
    lines(title, canvas),
    ...block.lines.map((text) => lines(text, canvas)),
    unknown ? lines(unknown, canvas) : '',
    states ? paintBlock(states, canvas) : '',
    facts ? paintBlock(facts, indented(canvas, 2)) : '',
    ...remarks.map((text) => lines(text, canvas, 'dim')),
  ]);
}

/** Width of the column before a finding: with gains, or with icons only. */
const GAIN_WIDTH = 8;
const ICON_WIDTH = 4;

function paintFindings({ first, more }: Findings, canvas: Canvas): string {
  const all = [...first, ...(more?.findings ?? [])];
  const columnWidth = all.some(({ gain }) => gain !== null) ? GAIN_WIDTH : ICON_WIDTH;
  return joinedClosely([
    ...first.map((finding) => paintFinding(finding, canvas, columnWidth)),
    ...(more ? [lines([more.title], canvas, 'bold')] : []),
    ...(more?.findings ?? []).map((finding) => paintFinding(finding, canvas, columnWidth)),
  ]);
}

function paintFinding(finding: Finding, canvas: Canvas, columnWidth: number): string {
  const { gain, state, title, context, groups } = finding;
  const inner = indented(canvas, columnWidth);
  const isShort = groups.length === 0;
  const mark = canvas.paint(
    state === 'fail' ? 'red' : 'yellow',
    (gain?.text ?? ICONS[state]).padStart(columnWidth - (columnWidth === ICON_WIDTH ? 1 : 2)),
  );
  const gap = columnWidth === ICON_WIDTH ? ' ' : '  ';
  const first = lines(title, inner, isShort ? undefined : 'bold').slice(inner.indent.length);
  return joinedClosely([
    `${canvas.indent}${mark}${gap}${first}`,
    context
      ? lines([context.state, ` · ${context.label} · ${context.category}`], inner, 'dim')
      : '',
    ...groups.map((group) =>
      group.name === 'remedy'
        ? paintFix(group.title, group.blocks, inner)
        : paintBlock(group, inner),
    ),
  ]);
}

/** An arrow marks what to do. */
function paintFix(title: string | null, blocks: Block[], canvas: Canvas): string {
  const inner = indented({ ...canvas, width: canvas.width - 2 }, 2);
  const arrow = canvas.paint('cyan', '→');
  const body = joinedClosely(blocks.map((block) => paintBlock(block, inner)));
  return joinedClosely([
    title ? lines([title], canvas, 'bold') : '',
    `${canvas.indent}${arrow} ${body.slice(inner.indent.length)}`,
  ]);
}

const BAR_LENGTH = 20;
/** Narrower terminals show only the name and score of a category. */
const MIN_BARS_WIDTH = 80;
const BAR_NAME_WIDTH = 16;

type BarRow = Extract<Block, { kind: 'bars' }>['rows'][number];

function paintBar({ name, share, state, value, words }: BarRow, canvas: Canvas): string {
  const { paint, indent, width } = canvas;
  const label = `${indent}  ${name.padEnd(BAR_NAME_WIDTH)}`;
  if (share === null) return paint('dim', `${label}${value}`);
  const shown = value.padStart(4);
  if (width < MIN_BARS_WIDTH) return `${label}${paint(STYLES[state], shown)}`;
  const full = Math.round(share * BAR_LENGTH);
  const bar = '█'.repeat(full) + paint('dim', '░'.repeat(BAR_LENGTH - full));
  return `${label}${paint(STYLES[state], bar)} ${shown}  ${paint('dim', words)}`;
}

type LineItem = Extract<Block, { kind: 'lines' }>['items'][number];

function paintLine(
  { state, name, text, isMuted }: LineItem,
  nameWidth: number,
  canvas: Canvas,
): string {
  const label = `${name} `.padEnd(nameWidth);
  const inner = indented(canvas, ICON_WIDTH + (nameWidth > BAR_NAME_WIDTH ? nameWidth : 0));
  const isColumn = inner.indent.length > ICON_WIDTH;
  const body = isColumn
    ? label + lines(text, inner, isMuted ? 'dim' : undefined).trimStart()
    : lines([label, ...text], inner).trimStart();
  return `${canvas.indent}  ${iconOf(state, canvas)} ${body}`;
}

function paintFact({ name, value, blocks = [] }: Fact, canvas: Canvas): string {
  return joinedClosely([
    hanging([...name, ': ', ...value], canvas, 2),
    ...blocks.map((block) => paintBlock(block, indented(canvas, 2))),
  ]);
}

function paintTable({ columns, groups, foot }: Table, canvas: Canvas): string {
  const rowOf = ({ cells }: Table['foot'][number]) =>
    joinedClosely([
      hanging(separated(cells.map(cellText)), canvas, 2),
      ...cells.flatMap(({ blocks = [] }) =>
        blocks.map((block) => paintBlock(block, indented(canvas, 4))),
      ),
    ]);
  return joinedClosely([
    lines(separated(columns.map(({ title }) => [title])), canvas, 'dim'),
    ...groups.flatMap(({ title, rows }) => [
      title ? lines([title], canvas, 'bold') : '',
      ...rows.map(rowOf),
    ]),
    ...foot.map(rowOf),
  ]);
}

function cellText({ text, below, meter, score }: Cell): Text {
  return [
    ...(score ? [score.line] : text),
    ...(meter ? [` ${meter.words}`] : []),
    ...(below ? [' ', ...below] : []),
  ];
}

const separated = (texts: Text[]): Text =>
  texts
    .filter((text) => text.length > 0)
    .flatMap((text, index) => (index === 0 ? text : [' | ', ...text]));

function paintAlignment(
  { fromDomain, rows, outcome }: Extract<Block, { kind: 'alignment' }>,
  canvas: Canvas,
): string {
  const below = indented(canvas, 2);
  return joinedClosely([
    ...rows.flatMap(({ mechanism, result, domain, noDomainText, alignment, notes }) => [
      hanging(
        [
          `${mechanism} `,
          result,
          `  ${domain ?? noDomainText}`,
          ...(alignment ? ['  ', alignment, ...(fromDomain ? [`  ${fromDomain}`] : [])] : []),
        ],
        canvas,
        2,
      ),
      notes === '' ? '' : lines([notes], below, 'dim'),
    ]),
    hanging([`${outcome.mechanism} `, outcome.result, '  ', ...outcome.domain], canvas, 2),
    lines(outcome.below, below, 'dim'),
  ]);
}

function paintHop({ server, time, via, delay }: Hop, canvas: Canvas): string {
  return joinedClosely([
    hanging(
      [
        ...server,
        ...(time ? ['  ', ...time] : []),
        ...(delay ? ['  ', ...(delay.label ? [`${delay.label} `] : []), ...delay.value] : []),
      ],
      canvas,
      2,
    ),
    via ? lines(via, indented(canvas, 2), 'dim') : '',
  ]);
}

type Item = Extract<Block, { kind: 'entries' }>['items'][number];

function paintEntry({ state, label, title, lines: texts, figure, more }: Item, canvas: Canvas) {
  const inner = indented(canvas, 2);
  return joinedClosely([
    hanging(
      [state, ...(label ? [`  ${label}`] : []), ...(figure ? [`  ${figure}`] : [])],
      canvas,
      2,
    ),
    lines(title, inner, 'bold'),
    ...texts.map((text) => lines(text, inner)),
    ...(more
      ? [lines([more.title], inner, 'dim'), ...more.blocks.map((each) => paintBlock(each, inner))]
      : []),
  ]);
}

// Text for a terminal: wrapping and colors.

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan' | 'blue';
export type Paint = (style: Style | Style[], text: string) => string;

/** Returns text unchanged without `color`. */
export function painter(color: boolean): Paint {
  return color
    ? (style, text) => styleText(style, text, { validateStream: false })
    : (_, text) => text;
}

/** Wraps a text; `base` is the style of spans without their own. */
function lines(text: Text, canvas: Canvas, base?: Style): string {
  return styledLines(text, canvas, base).join('\n');
}

/** Wraps a text with a hanging indent. */
function hanging(text: Text, canvas: Canvas, by: number): string {
  const inner = indented(canvas, by);
  const [first = '', ...rest] = styledLines(text, inner);
  return [canvas.indent + first.slice(inner.indent.length), ...rest].join('\n');
}

interface Segment {
  text: string;
  style: Style | undefined;
}

function styledLines(text: Text, { width, indent, paint }: Canvas, base?: Style): string[] {
  const segments = text.map((span) => segmentOf(span, base));
  const plain = segments.map((segment) => segment.text).join('');
  const lineWidth = Math.max(MIN_LINE_WIDTH, width - indent.length);
  return wrapLine(plain, lineWidth).map(
    ({ start, end }) => indent + styled(segments, start, end, paint),
  );
}

function segmentOf(span: string | Span, base: Style | undefined): Segment {
  if (typeof span === 'string') return { text: span, style: base };
  if (span.kind === 'state')
    return { text: `${ICONS[span.state]} ${span.word}`, style: STYLES[span.state] };
  const isStrong = span.kind === 'text' && span.style === 'strong';
  return { text: spanText(span), style: isStrong ? 'bold' : base };
}

/** The range from `start` to `end` of the joined segments, with their styles. */
function styled(segments: Segment[], start: number, end: number, paint: Paint): string {
  let at = 0;
  let line = '';
  for (const { text, style } of segments) {
    const piece = text.slice(Math.max(0, start - at), Math.max(0, end - at));
    if (piece !== '') line += style ? paint(style, piece) : piece;
    at += text.length;
  }
  return line;
}

const MIN_LINE_WIDTH = 20;

/** Wraps text to `width` with every line indented, and replaces control characters. */
export function wrap(text: string, width: number, indent = ''): string {
  const lineWidth = Math.max(MIN_LINE_WIDTH, width - indent.length);
  return text
    .split('\n')
    .flatMap((line) => {
      const clean = printable(line);
      return wrapLine(clean, lineWidth).map(({ start, end }) => indent + clean.slice(start, end));
    })
    .join('\n');
}

interface Piece {
  start: number;
  end: number;
}

/** Longer words such as URLs and DNS records are kept whole, so that they can be copied. */
function wrapLine(line: string, maxLength: number): Piece[] {
  const pieces: Piece[] = [];
  let [start, end] = [0, 0];
  let at = 0;
  for (const word of line.split(' ')) {
    const after = at + word.length;
    if (end > start && after - start > maxLength) {
      pieces.push({ start, end });
      start = at;
    }
    end = after;
    at = after + 1;
  }
  return [...pieces, { start, end }];
}
