/**
 * Renders documents as plain text, for terminals of any width and for the text part of emails. A DNS record
 * is never wrapped, so that it can be copied.
 */

import { styleText } from 'node:util';
import type { DomainHealth } from '../analysis/domain/health.ts';
import { printable } from '../lib/log.ts';
import type { State } from '../ui/components.tsx';
import {
  type Block,
  type Cell,
  type Fact,
  type Finding,
  type Findings,
  type Hop,
  type ReportDocument,
  type Span,
  spanText,
  type Table,
  type Text,
  type Verdict,
} from './blocks.ts';
import { terminalDocument } from './document/document.ts';
import { domainDocument } from './document/domain.ts';
import { placementSections } from './document/placement.ts';
import type { Report, ReportedResult } from './report.ts';

export interface TextOptions {
  width: number;
  color: boolean;
  /** What was tested: a file name, a test address. */
  testedName?: string;
}

/** The report of a message for a terminal, with a trailing newline. */
export function reportText(
  result: ReportedResult & Partial<Pick<Report, 'envelope'>>,
  { width, color, testedName }: TextOptions,
): string {
  return renderText(terminalDocument(result, testedName ?? null), { width, color });
}

/** A test with its placement for a terminal, with a trailing newline. */
export function serviceTestText(report: Report, { width, color, testedName }: TextOptions): string {
  return renderText(
    terminalDocument(report, testedName ?? null, placementSections(report, false)),
    {
      width,
      color,
    },
  );
}

/** The health of a domain for a terminal, with a trailing newline. */
export function domainText(
  health: DomainHealth,
  options: Pick<TextOptions, 'width' | 'color'>,
): string {
  return renderText(domainDocument(health), options);
}

/** Wider lines are hard to read. */
const MAX_WIDTH = 100;

/** Any document as text, with a trailing newline. */
export function renderText(
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
    ...blocks.map((block) => renderBlock(block, canvas)),
    footer.map((text) => lines(text, canvas, 'dim')).join('\n'),
  ];
  return `${parts.filter(Boolean).join('\n\n')}\n`;
}

/** RFC 3676 §4.2 allows 78 characters at most. */
const MAIL_WIDTH = 72;

/** A block of an email as text, with underlined headings and blank lines between its parts. */
export function mailText(block: Block): string {
  return renderBlock(block, { width: MAIL_WIDTH, indent: '', paint: painter(false), isMail: true });
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

/** Without a trailing newline; '' for a block without a text form. */
function renderBlock(block: Block, canvas: Canvas): string {
  const { paint, indent } = canvas;
  switch (block.kind) {
    case 'verdict':
      return renderVerdict(block, canvas);
    case 'section':
      return titled(block.title, canvas, [
        block.note ? lines(block.note, canvas, 'dim') : '',
        ...block.blocks.map((child) => renderBlock(child, canvas)),
      ]);
    case 'overview':
      return joined(
        [
          block.above ? lines([block.above], canvas, 'dim') : '',
          ...block.blocks.map((child) => renderBlock(child, canvas)),
        ],
        canvas,
      );
    case 'part':
      return [
        lines(block.title, canvas, 'bold'),
        ...(block.subtitle ? [lines([block.subtitle], canvas, 'dim')] : []),
        ...block.blocks.map((child) => renderBlock(child, canvas)),
      ].join('\n\n');
    case 'heading':
      return lines(block.text, canvas, 'bold');
    case 'paragraph':
      if (block.screenOnly) return '';
      return lines(block.text, canvas, PARAGRAPHS[block.style ?? 'card']);
    case 'note':
      return lines(block.text, canvas, STYLES[block.state]);
    case 'findings':
      return renderFindings(block, canvas);
    case 'finding':
      return renderFinding(block, canvas, GAIN_WIDTH);
    case 'group':
      return joinLines([
        block.title ? lines([block.title], canvas, 'bold') : '',
        ...block.blocks.map((child) => renderBlock(child, canvas)),
      ]);
    case 'record': {
      const { name, type, value } = block;
      return indent + paint('cyan', `${name.value} ${type.value} ${value.value}`);
    }
    case 'facts':
      return joinLines(block.rows.map((fact) => renderFact(fact, canvas)));
    case 'table':
      return renderTable(block, canvas);
    case 'bars':
      return joinLines([
        ...block.rows.map((row) => renderBar(row, canvas)),
        block.capNote ? lines([block.capNote], indented(canvas, 2), 'red') : '',
      ]);
    case 'states': {
      const items = block.items.map(
        ({ name, state }) => `${name} ${paint(STYLES[state.state], state.word)}`,
      );
      return `${indent}  ${items.join(canvas.width < MIN_BARS_WIDTH ? `\n${indent}  ` : '   ')}`;
    }
    case 'lines':
      return block.items.map((item) => renderLine(item, block.nameWidth, canvas)).join('\n');
    case 'alignment':
      return renderAlignment(block, canvas);
    case 'path':
      return joinLines([
        ...block.hops.map((hop) => renderHop(hop, canvas)),
        block.session ? renderBlock(block.session, indented(canvas, 2)) : '',
      ]);
    case 'entries':
      return block.items.map((entry) => renderEntry(entry, canvas)).join('\n');
    case 'rows':
      return block.items
        .map(({ title, below, value, state }) => {
          const icon = state ? `${ICONS[state]} ` : '';
          return [
            hanging(['- ', icon, `${value}: ${title}`], canvas, 2),
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
      return joinLines(
        block.items.map(({ text, blocks = [] }, index) => {
          const mark = block.isOrdered ? `${index + 1}. ` : '- ';
          return joinLines([
            hanging([mark, ...text], canvas, mark.length),
            ...blocks.map((child) => renderBlock(child, indented(canvas, mark.length))),
          ]);
        }),
      );
    case 'fold':
      return joinLines([
        lines(
          [
            ...(block.state ? [{ kind: 'state', state: block.state, word: '' } as const] : []),
            block.title,
            ...(block.count ? [` (${block.count})`] : []),
          ],
          canvas,
          'bold',
        ),
        ...block.blocks.map((child) => renderBlock(child, indented(canvas, 2))),
      ]);
    case 'verbatim':
      return block.lines.map((line) => `${indent}${line}`).join('\n');
    case 'chart':
      return joinLines([
        block.title ? lines([block.title], canvas, 'bold') : '',
        ...block.values.map((value) => lines([value], canvas)),
      ]);
    // Only pages have them.
    case 'front':
      return joinLines([block.verdict, ...block.blocks].map((child) => renderBlock(child, canvas)));
    case 'choice':
    case 'inbox':
    case 'preview':
      return '';
  }
}

const PARAGRAPHS: Record<string, Style | undefined> = { small: 'dim', lead: 'bold' };

function titled(title: string, canvas: Canvas, parts: string[]): string {
  if (!canvas.isMail) return joinLines([lines([title], canvas, 'bold'), ...parts]);
  const underline = '-'.repeat([...title].length);
  return joined([`${title}\n${underline}`, ...parts], canvas);
}

const joinLines = (parts: string[]): string => parts.filter(Boolean).join('\n');

const joined = (parts: string[], { isMail }: Canvas): string =>
  parts.filter(Boolean).join(isMail ? '\n\n' : '\n');

function renderVerdict(block: Verdict, canvas: Canvas): string {
  const { above, score, testedName, title, unknown, states, categories, facts, remarks } = block;
  const { paint } = canvas;
  const styles: Style[] = score.state === 'unknown' ? ['bold'] : ['bold', STYLES[score.state]];
  const mark = paint(styles, score.line);
  return joinLines([
    above ? lines([above], canvas, 'dim') : '',
    testedName && score.line.length + 2 + testedName.length > canvas.width
      ? `${mark}\n${lines([testedName], canvas, 'dim')}`
      : `${mark}${testedName ? `  ${paint('dim', testedName)}` : ''}`,
    lines(title, canvas),
    ...block.lines.map((text) => lines(text, canvas)),
    unknown ? lines(unknown, canvas) : '',
    states ? renderBlock(states, canvas) : '',
    ...(categories?.items ?? []).map(({ name, value }) =>
      lines([`${name}: ${value}`], indented(canvas, 2)),
    ),
    facts ? renderBlock(facts, indented(canvas, 2)) : '',
    ...remarks.map((text) => lines(text, canvas, 'dim')),
  ]);
}

/** Width of the column before a finding: with gains, or with icons only. */
const GAIN_WIDTH = 8;
const ICON_WIDTH = 4;

function renderFindings({ groups }: Findings, canvas: Canvas): string {
  const all = groups.flatMap(({ findings }) => findings);
  const columnWidth = all.some(({ gain }) => gain !== null) ? GAIN_WIDTH : ICON_WIDTH;
  return joinLines(
    groups.flatMap(({ title, findings }) => [
      title ? lines([title], canvas, 'bold') : '',
      ...findings.map((finding) => renderFinding(finding, canvas, columnWidth)),
    ]),
  );
}

function renderFinding(finding: Finding, canvas: Canvas, columnWidth: number): string {
  const { gain, state, title, context, groups } = finding;
  const inner = indented(canvas, columnWidth);
  const isShort = groups.length === 0;
  const mark = canvas.paint(
    state === 'fail' ? 'red' : 'yellow',
    (gain?.text ?? ICONS[state]).padStart(columnWidth - (columnWidth === ICON_WIDTH ? 1 : 2)),
  );
  const gap = columnWidth === ICON_WIDTH ? ' ' : '  ';
  const first = lines(title, inner, isShort ? undefined : 'bold').slice(inner.indent.length);
  return joinLines([
    `${canvas.indent}${mark}${gap}${first}`,
    context
      ? lines([context.state, ` · ${context.label} · ${context.category}`], inner, 'dim')
      : '',
    ...groups.map((group) =>
      group.name === 'fix'
        ? renderFix(group.title, group.blocks, inner)
        : renderBlock(group, inner),
    ),
  ]);
}

/** Marks the fix with an arrow. */
function renderFix(title: string | null, blocks: Block[], canvas: Canvas): string {
  const inner = indented({ ...canvas, width: canvas.width - 2 }, 2);
  const arrow = canvas.paint('cyan', '→');
  const body = joinLines(blocks.map((block) => renderBlock(block, inner)));
  return joinLines([
    title ? lines([title], canvas, 'bold') : '',
    `${canvas.indent}${arrow} ${body.slice(inner.indent.length)}`,
  ]);
}

const BAR_LENGTH = 20;
/** Narrower terminals show no bars. */
const MIN_BARS_WIDTH = 80;
const BAR_NAME_WIDTH = 16;

type BarRow = Extract<Block, { kind: 'bars' }>['rows'][number];

function renderBar({ name, share, state, value, words }: BarRow, canvas: Canvas): string {
  const { paint, indent, width } = canvas;
  const label = `${indent}  ${name.padEnd(BAR_NAME_WIDTH)}`;
  if (share === null) return paint('dim', `${label}${value}`);
  const scoreText = value.padStart(4);
  if (width < MIN_BARS_WIDTH) {
    const inner = indented(canvas, label.length + scoreText.length + 2);
    return `${label}${paint(STYLES[state], scoreText)}  ${lines([words], inner, 'dim').trimStart()}`;
  }
  const filledLength = Math.round(share * BAR_LENGTH);
  const bar = '█'.repeat(filledLength) + paint('dim', '░'.repeat(BAR_LENGTH - filledLength));
  return `${label}${paint(STYLES[state], bar)} ${scoreText}  ${paint('dim', words)}`;
}

type LineItem = Extract<Block, { kind: 'lines' }>['items'][number];

function renderLine(
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

function renderFact({ name, value, blocks = [] }: Fact, canvas: Canvas): string {
  return joinLines([
    hanging([...name, ': ', ...value], canvas, 2),
    ...blocks.map((block) => renderBlock(block, indented(canvas, 2))),
  ]);
}

function renderTable({ columns, groups, foot }: Table, canvas: Canvas): string {
  const rowOf = ({ cells }: Table['foot'][number]) =>
    joinLines([
      hanging(withSeparators(cells.map(cellText)), canvas, 2),
      ...cells.flatMap(({ blocks = [] }) =>
        blocks.map((block) => renderBlock(block, indented(canvas, 4))),
      ),
    ]);
  return joinLines([
    lines(withSeparators(columns.map(({ title }) => [title])), canvas, 'dim'),
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

const withSeparators = (texts: Text[]): Text =>
  texts
    .filter((text) => text.length > 0)
    .flatMap((text, index) => (index === 0 ? text : [' | ', ...text]));

function renderAlignment(
  { fromDomain, rows, outcome }: Extract<Block, { kind: 'alignment' }>,
  canvas: Canvas,
): string {
  const below = indented(canvas, 2);
  return joinLines([
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

function renderHop({ server, time, via, delay }: Hop, canvas: Canvas): string {
  return joinLines([
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

function renderEntry({ state, label, title, lines: texts, figure, more }: Item, canvas: Canvas) {
  const inner = indented(canvas, 2);
  return joinLines([
    hanging(
      [state, ...(label ? [`  ${label}`] : []), ...(figure ? [`  ${figure}`] : [])],
      canvas,
      2,
    ),
    lines(title, inner, 'bold'),
    ...texts.map((text) => lines(text, inner)),
    ...(more
      ? [
          lines([more.title], inner, 'dim'),
          ...more.blocks.map((child) => renderBlock(child, inner)),
        ]
      : []),
  ]);
}

// Text for a terminal: wrapping and colors.

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan' | 'blue';
export type Paint = (style: Style | Style[], text: string) => string;

/** Without `color`, the result returns text unchanged. */
export function painter(color: boolean): Paint {
  return color
    ? (style, text) => styleText(style, text, { validateStream: false })
    : (_, text) => text;
}

/** Wraps text. `base` is the style of spans without one. */
function lines(text: Text, canvas: Canvas, base?: Style): string {
  return styledLines(text, canvas, base).join('\n');
}

/** Wraps text with a hanging indent. */
function hanging(text: Text, canvas: Canvas, by: number): string {
  const inner = indented(canvas, by);
  const [first = '', ...rest] = styledLines(text, inner);
  return [canvas.indent + first.slice(inner.indent.length), ...rest].join('\n');
}

export interface Segment {
  text: string;
  style?: Style | undefined;
}

/** Wraps segments to `width` with every line indented. */
export function wrapStyled(
  segments: Segment[],
  { width, color }: Pick<TextOptions, 'width' | 'color'>,
  indent = '',
): string {
  const clean = segments.map(({ text, style }) => ({ text: printable(text), style }));
  return wrapSegments(clean, { width, indent, paint: painter(color) }).join('\n');
}

const styledLines = (text: Text, canvas: Canvas, base?: Style): string[] =>
  wrapSegments(
    text.map((span) => segmentOf(span, base)),
    canvas,
  );

function wrapSegments(
  segments: Segment[],
  { width, indent, paint }: Pick<Canvas, 'width' | 'indent' | 'paint'>,
): string[] {
  const joinedText = segments.map((segment) => segment.text).join('');
  const lineWidth = Math.max(MIN_LINE_WIDTH, width - indent.length);
  return wrapLine(joinedText, lineWidth).map(
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
  let offset = 0;
  let line = '';
  for (const { text, style } of segments) {
    const piece = text.slice(Math.max(0, start - offset), Math.max(0, end - offset));
    if (piece !== '') line += style ? paint(style, piece) : piece;
    offset += text.length;
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

interface LineRange {
  start: number;
  end: number;
}

/** Longer words such as URLs and DNS records are kept whole, so that they can be copied. */
function wrapLine(line: string, maxLength: number): LineRange[] {
  const ranges: LineRange[] = [];
  let [start, end] = [0, 0];
  let position = 0;
  for (const word of line.split(' ')) {
    const wordEnd = position + word.length;
    if (end > start && wordEnd - start > maxLength) {
      ranges.push({ start, end });
      start = position;
    }
    end = wordEnd;
    position = wordEnd + 1;
  }
  return [...ranges, { start, end }];
}
