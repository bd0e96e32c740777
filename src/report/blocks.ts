/**
 * The blocks of a report document. A document is a tree of blocks and contains every word that a reader
 * sees. Renderers (page, PDF, terminal, email) decide how a block looks and add no words.
 * A state conveys a meaning, not a color. All text in a finished document is bounded and printable.
 */

import type { CheckStatus } from '../analysis/check.ts';
import type { Grade } from '../analysis/result.ts';
import { printable } from '../lib/log.ts';
import type { State } from '../ui/components.tsx';
import type { Brand } from './brand.ts';
import type { Chart } from './charts.ts';

// Inline text.

/** A state as a word; renderers add its icon and color. `badge` sets it apart from the surrounding text. */
export interface StateSpan {
  kind: 'state';
  state: State;
  word: string;
  badge?: boolean;
}

/** A link to a page of the service or a standard, never to a URL from a message. */
export interface LinkSpan {
  kind: 'link';
  text: string;
  url: string;
}

export type Span =
  | { kind: 'text'; text: string; style: 'strong' | 'muted' | 'number' }
  /** Verbatim text; spaces are kept. */
  | { kind: 'code'; text: string }
  /** Text from outside, isolated so that its direction does not affect the text around it. */
  | { kind: 'name'; text: string }
  /** `iso` is the same time for machines. */
  | { kind: 'time'; text: string; iso: string }
  /** A link to the block with the ID `to` in the same document. */
  | { kind: 'jump'; text: string; to: string }
  /** A link to another form of the same page: a query appended to its URL. */
  | { kind: 'form'; text: string; query: '?format=pdf' | '?delete=ask' }
  | StateSpan
  | LinkSpan;

/** Strings are plain text. Items are joined without a space. */
export type Text = (string | Span)[];

// Figures.

/** The score as a ring. */
export interface ScoreFigure {
  /** 0–100; null without a score. */
  score: number | null;
  grade: Grade | null;
  state: State;
  /** 0–100: the score without the cap; null without a cap or a score. */
  uncapped: number | null;
  /** Inside the ring: the number, or a text if there is no score. */
  number: string;
  /** Inside the ring below the number: `Grade B`. */
  letter: string | null;
  /** For media without a ring: `87/100  B`. */
  line: string;
  /** The grade alone. */
  badge: string;
  /** The text alternative. */
  alt: string;
}

// Blocks.

/** A part with a heading, an anchor and an entry in the table of contents. */
export interface Section {
  kind: 'section';
  /** The anchor; unique in the document. */
  id: string;
  title: string;
  /** Below the heading. */
  note: Text | null;
  /** Whether it only states that there is no content; omitted in a PDF. */
  isEmpty?: boolean;
  /** How a page collapses it, with what the heading then says about its content. All other media show it in full. */
  fold?: { open: boolean; count: string | null; state?: State };
  blocks: Block[];
}

/** The first screen of a page: the verdict and `blocks`, with the message beside them. Only pages have it. */
export interface Front {
  kind: 'front';
  verdict: Verdict;
  blocks: Block[];
  glance: Glance | null;
}

/** The message as a phone shows it: its line in the inbox, and the message itself. */
export interface Glance {
  title: string;
  inbox: InboxBlock;
  /** The frame of one client, or the text of a message without HTML. */
  body: { frame: PreviewFrame; width: number; tooLong: string } | { lines: string[] };
  /** A link to the full preview. */
  more: Text;
}

/** The first heading of a report with the score and the most important facts. */
export interface Verdict {
  kind: 'verdict';
  id: string;
  /** The title in the outline of a PDF. */
  outline: string;
  /** In small print above: the kind of document. Null if the context shows it. */
  above: string | null;
  score: ScoreFigure;
  /** What was tested, next to the score: a file name, an ID. */
  testedName: string | null;
  title: Text;
  /** Short paragraphs below the title: what to fix first. */
  lines: Text[];
  /** Which results are missing. */
  unknown: Text | null;
  /** The results of SPF, DKIM and DMARC. */
  states: StateList | null;
  /** The score of each category; null in media that show them elsewhere. */
  categories: CategoryScores | null;
  facts: Facts | null;
  /** In small print at the end. */
  remarks: Text[];
  /** The title in the table of contents, if it is listed there. */
  contents?: string;
}

export interface Heading {
  kind: 'heading';
  /** In a single report: 1 is the title, 2 a section, 3 and 4 are below a section. */
  rank: 1 | 2 | 3 | 4;
  text: Text;
  /** What a link on a page leads to. */
  id?: string;
}

export interface Paragraph {
  kind: 'paragraph';
  text: Text;
  /** `small`: a side note. `card`: the only block in its section. `lead`: a title that is not a heading. */
  style?: 'small' | 'card' | 'lead';
  /** Not shown in print or PDF: a link to another format. */
  screenOnly?: boolean;
}

/** A highlighted sentence. */
export interface Note {
  kind: 'note';
  state: State;
  text: Text;
}

/** Findings by gain, in groups. */
export interface Findings {
  kind: 'findings';
  groups: FindingGroup[];
}

export interface FindingGroup {
  /** Null for a single group. */
  title: string | null;
  findings: Finding[];
}

export interface Finding {
  kind: 'finding';
  id: string;
  state: State;
  /** `+24`, or words if no points are added now; null without a score. `spoken` follows it for screen readers. */
  gain: { text: string; points: number; spoken: string } | null;
  title: Text;
  /** The check, its category and its status; null in a short form. */
  context: { label: string; category: string; state: StateSpan } | null;
  /** Folds evidence and reason on a page that shows the fix without a click; null if a page folds all of it. */
  more: string | null;
  /** Fix, evidence and reason; empty in a list of titles. */
  groups: Group[];
}

/** Blocks under a small heading. */
export interface Group {
  kind: 'group';
  name: 'evidence' | 'reason' | 'fix' | 'remarks';
  title: string | null;
  blocks: Block[];
}

/** A DNS record to publish, with values to copy. */
export interface RecordBlock {
  kind: 'record';
  type: { label: string; value: string };
  name: { label: string; value: string };
  value: { label: string; value: string };
}

/** Names with values, one per line. */
export interface Facts {
  kind: 'facts';
  rows: Fact[];
  style?: 'small' | 'headers';
}

export interface Fact {
  name: Text;
  value: Text;
  /** Below `value`, for content of more than one line. */
  blocks?: Block[];
}

export interface Table {
  kind: 'table';
  /** The kind of table, for its style. */
  name:
    | 'ledger'
    | 'checks'
    | 'findings'
    | 'placement'
    | 'rules'
    | 'tests'
    | 'domains'
    | 'figures'
    | 'plain';
  /** The accessible name. */
  label: string;
  columns: Column[];
  /** One group without a title, or several with titles. */
  groups: { title: string | null; rows: Row[] }[];
  /** Sums below a line. */
  foot: Row[];
}

export interface Column {
  title: string;
  /** Aligned to the right. */
  isNumber?: boolean;
  style?: 'small' | 'code';
  /** Share of the width relative to the other columns, for media that cannot measure text first. */
  share: number;
}

export interface Row {
  /** The first cell is the row header. */
  cells: Cell[];
  state?: State;
  /** `total`: the last row of a sum. `muted`: does not count. */
  style?: 'total' | 'muted';
}

export interface Cell {
  text: Text;
  /** Content of more than one line. */
  blocks?: Block[];
  /** In small print below. */
  below?: Text;
  /** A bar after the text. `share` is 0–1, `words` the same as text. */
  meter?: { share: number; state: State; words: string };
  /** Replaces the text. */
  score?: ScoreFigure;
  /** Number of columns covered. */
  span?: number;
}

/** Shares of a whole as bars, one per line. */
export interface Bars {
  kind: 'bars';
  /** `share` is 0–1, or null if unknown; `value` then says so. Narrow media may omit `words`. */
  rows: { name: string; share: number | null; state: State; value: string; words: string }[];
  /** The cap on the score; null without a cap. */
  capNote: string | null;
}

/** The score of each category, side by side. `share` is 0–1, or null if unknown; `value` then says so. */
export interface CategoryScores {
  label: string;
  /** The ID of the section that explains the scores. */
  jump: string;
  items: { name: string; share: number | null; state: State; value: string }[];
}

/** Names with states, side by side. `jump` is the ID that a name links to. */
export interface StateList {
  kind: 'states';
  label: string;
  items: { name: string; state: StateSpan; jump: string | null }[];
}

/** SPF, each DKIM signature and DMARC, and whether their domains align with the From domain. */
export interface Alignment {
  kind: 'alignment';
  /** `lane` is the title above the drawing of domain, alignment and From domain. */
  columns: { mechanism: string; result: string; domain: string; alignment: string; lane: string };
  /** Above the From domain in the drawing. */
  fromLabel: string;
  fromDomain: string | null;
  rows: AlignmentRow[];
  outcome: { mechanism: string; result: StateSpan; domain: Text; below: Text };
  /** The text alternative of the drawing; null if there is only the table. */
  alt: string | null;
}

export interface AlignmentRow {
  mechanism: string;
  result: StateSpan;
  domain: string | null;
  /** Shown if `domain` is null. */
  noDomainText: string;
  /** Whether the domain aligns with the From domain; null without a domain. */
  alignment: StateSpan | null;
  /** In small print; may be empty. */
  notes: string;
}

/** The servers that a message passed; the last one is this server. */
export interface Path {
  kind: 'path';
  columns: { server: string; time: string; delay: string };
  hops: Hop[];
  /** The SMTP session with this server. */
  session: Facts | null;
}

export interface Hop {
  server: Text;
  time: Text | null;
  /** The previous server and the protocol. */
  via: Text | null;
  /** Renderers with a column for the delay omit `label`. */
  delay: { label: string | null; value: Text } | null;
}

/** Items with a state and a few sentences. */
export interface Entries {
  kind: 'entries';
  name: 'checks';
  /** In a PDF: in small type, and without the word for the state where an item has one line. */
  isCompact?: boolean;
  /** Column titles for renderers that show a table. */
  columns: { label: string; text: string; figure: string } | null;
  items: Entry[];
}

export interface Entry {
  /** An anchor; null if nothing links to it. */
  id: string | null;
  state: StateSpan;
  /** Next to the state. */
  label: string | null;
  title: Text;
  /** In small print below. */
  lines: Text[];
  /** On the right: points. */
  figure: string | null;
  /** Collapsed under `title`. */
  more: { title: string; blocks: Block[] } | null;
}

/** One line for each item: state, name and text. */
export interface Lines {
  kind: 'lines';
  /** Width of the name column in characters. */
  nameWidth: number;
  items: { state: State; name: string; text: Text; isMuted?: boolean }[];
}

/** Rows with a value on the right, for narrow media. */
export interface Rows {
  kind: 'rows';
  items: { title: string; below: string | null; value: string; state: State | null }[];
}

/** An average score and its change. */
export interface Average {
  kind: 'average';
  score: ScoreFigure;
  /** Next to the number, which is drawn large. */
  label: string;
  /** The number and the label as text. */
  line: string;
  /** The number of tests, then the change. */
  lines: string[];
}

/** Figures with names, side by side. */
export interface Tiles {
  kind: 'tiles';
  items: { name: string; figure: string; isKnown: boolean; below: string }[];
}

/** How often each grade occurs, as one stacked bar. */
export interface Grades {
  kind: 'grades';
  items: { grade: Grade; count: number; text: string }[];
  /** The text alternative. */
  words: string;
}

export interface List {
  kind: 'list';
  isOrdered: boolean;
  items: { text: Text; blocks?: Block[] }[];
}

/** Collapsed on a page, expanded in all other media. */
export interface Fold {
  kind: 'fold';
  /** The anchor of a fold with the style `card`; unique in the document. */
  id?: string;
  title: string;
  /** The state of its items, next to the title. */
  state: State | null;
  /** The number of its items, next to the title. */
  count: string | null;
  open: boolean;
  /** `plain`: without a frame, inside another block. */
  style: 'card' | 'plain';
  blocks: Block[];
}

/** Verbatim text in lines. */
export interface Verbatim {
  kind: 'verbatim';
  label: string;
  lines: string[];
  /** `long`: scrolls in its own frame. */
  style: 'long' | 'box';
  /** Shown where a PDF truncates the text. */
  truncationNote: string | null;
}

/** A question that the reader answers with a button. Only pages show it. */
export interface Choice {
  kind: 'choice';
  /** The path to which the form is sent. */
  action: string;
  /** The name of the field with the chosen value. */
  field: string;
  text: Text;
  options: { value: string; label: string }[];
}

/** The message as email clients show it, one client at a time. Only pages show it. */
export interface PreviewBlock {
  kind: 'preview';
  /** Names of the switches above the message. */
  switches: { client: string; theme: string; images: string };
  themes: { light: string; dark: string };
  /** Null if there is nothing to switch, because no images were loaded. */
  images: { off: string; on: string } | null;
  clients: PreviewClientPane[];
  /** In place of frames without source. */
  tooLong: string;
}

export interface PreviewClientPane {
  id: string;
  name: string;
  /** Of its frames, in CSS pixels. */
  width: number;
  frames: PreviewFrame[];
  /** Below the message: what the client does to it. */
  blocks: Block[];
}

export interface PreviewFrame {
  theme: 'light' | 'dark';
  images: 'off' | 'on';
  /** For screen readers. */
  title: string;
  /** Where the document is, or the HTML for it; null if it is too long for a page without other files. */
  source: { url: string } | { html: string } | null;
}

/** The line of the message in the lists of email clients. Only pages show it. */
export interface InboxBlock {
  kind: 'inbox';
  themes: { light: string; dark: string };
  /** The BIMI logo as a data URI, or null for the initials. */
  logo: string | null;
  lists: InboxList[];
}

export interface InboxList {
  name: string;
  /** `row`: everything side by side. `stack`: sender, subject and preview below each other. */
  layout: 'row' | 'stack';
  initials: string;
  sender: string;
  subject: string;
  preview: string;
  previewLines: number;
  /** CSS pixels of subject and preview, which wrap or end there. */
  width: number;
  /** What the list cuts. */
  note: string;
}

/** A bar chart. */
export interface ChartBlock {
  kind: 'chart';
  /** Unique in the document. */
  id: string;
  /** Above the chart; null under a heading that says the same. */
  title: string | null;
  chart: Chart;
  /** What the bars do not show; null next to a table with the values. */
  caption: string | null;
  /** For media without images: a line for each bar. */
  values: string[];
}

/** A complete report in a document with several reports. */
export interface Part {
  kind: 'part';
  id: string;
  title: Text;
  /** Next to the title. */
  subtitle: string | null;
  score: ScoreFigure;
  blocks: Block[];
  /** A link to the overview. */
  back: { text: string; to: string };
}

/** Blocks with an anchor but without a heading. */
export interface Overview {
  kind: 'overview';
  id: string;
  /** The title in the table of contents; null if it is not listed there. */
  title: string | null;
  above: string | null;
  blocks: Block[];
}

export type Block =
  | Alignment
  | Average
  | Bars
  | ChartBlock
  | Choice
  | Entries
  | Facts
  | Finding
  | Findings
  | Fold
  | Front
  | Grades
  | Group
  | Heading
  | InboxBlock
  | Lines
  | List
  | Note
  | Overview
  | Paragraph
  | Part
  | Path
  | PreviewBlock
  | RecordBlock
  | Rows
  | Section
  | StateList
  | Table
  | Tiles
  | Verbatim
  | Verdict;

export interface ReportDocument {
  /** Of the team, for people outside it; null or absent for ours. */
  brand?: Brand | null;
  /** The title of the window or file. */
  title: string;
  /** The time that the content describes (ISO 8601); it makes PDFs of the same content identical. */
  time: string | null;
  blocks: Block[];
  /** In small print at the end. */
  footer: Text[];
  /** Shown where a medium truncates the document. */
  truncationNote: string;
  /** Labels for the skip link and the table of contents. */
  navigation: { skip: string; contents: string };
}

/** Maximum pages of a PDF: a hostile message could fill thousands. */
export const MAX_PAGES = 40;

// Constructors of inline text.

/** One line of at most `max` characters; `…` marks the end of a cut text. */
export function oneLine(text: string, max = 1000): string {
  // Cut first: a message may contain a word of many megabytes.
  const kept = text.length > max ? text.slice(0, max) : text;
  const clean = printable(kept.toWellFormed().replace(/\s+/g, ' ').trim());
  return text.length > max ? `${clean}…` : clean;
}

/** Text to copy: at most `max` characters; spaces are kept. */
export function verbatimText(text: string, max = 4000): string {
  const kept = printable(text.slice(0, max).toWellFormed());
  return text.length > max ? `${kept}…` : kept;
}

/** The first `maxLines` lines of a text, of `max` characters in total. */
export function textLines(text: string, max = Infinity, maxLines = Infinity): string[] {
  const kept = text.slice(0, max).toWellFormed();
  const lines = kept.split(/\r\n|[\n\r]/).map((line) => printable(line.replaceAll('\t', '    ')));
  const isCut = text.length > max || lines.length > maxLines;
  return isCut ? [...lines.slice(0, maxLines), '…'] : lines;
}

export const strong = (text: string): Span => ({ kind: 'text', text, style: 'strong' });
export const muted = (text: string): Span => ({ kind: 'text', text, style: 'muted' });
export const figure = (text: string): Span => ({ kind: 'text', text, style: 'number' });
export const code = (text: string, max?: number): Span => ({
  kind: 'code',
  text: verbatimText(text, max),
});
export const nameSpan = (text: string, max?: number): Span => ({
  kind: 'name',
  text: oneLine(text, max),
});
export const jump = (text: string, to: string): Span => ({ kind: 'jump', text, to });
export const state = (of: State, word: string): StateSpan => ({ kind: 'state', state: of, word });
export const badge = (of: State, word: string): StateSpan => ({ ...state(of, word), badge: true });

export const paragraph = (...text: Text): Paragraph => ({ kind: 'paragraph', text });
export const small = (...text: Text): Paragraph => ({ kind: 'paragraph', text, style: 'small' });

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

export const isIsoTime = (text: string): boolean =>
  ISO_TIME.test(text) && !Number.isNaN(Date.parse(text));

const TIME = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'UTC',
  dateStyle: 'medium',
  timeStyle: 'medium',
});

/** `21 Nov 2026, 10:00:05 UTC`; other text is returned as it is. */
export function time(iso: string): string | Span {
  if (!isIsoTime(iso)) return oneLine(iso, 40);
  return { kind: 'time', text: `${TIME.format(new Date(iso))} UTC`, iso };
}

const STATES: Record<CheckStatus, State> = {
  pass: 'pass',
  warn: 'warn',
  fail: 'fail',
  info: 'info',
  error: 'unknown',
  skipped: 'unknown',
};

export const stateOf = (status: CheckStatus): State => STATES[status];

/** Keys that `sanitized` skips: renderers sanitize them. */
const UNSANITIZED_KEYS = new Set(['html', 'chart', 'base64']);

/**
 * The last step of every document: makes each text printable and well formed, so that none contains
 * control characters, bidi controls or line breaks. The HTML of frames and the data of charts are kept.
 */
export function sanitize<T>(value: T, key = ''): T {
  if (UNSANITIZED_KEYS.has(key)) return value;
  if (typeof value === 'string') return printable(value.toWellFormed()) as T;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => sanitize(item)) as T;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, sanitize(item, name)]),
  ) as T;
}

/** The text without formatting. */
export const plainText = (text: Text): string =>
  text.map((span) => (typeof span === 'string' ? span : spanText(span))).join('');

export const spanText = (span: Span): string => (span.kind === 'state' ? span.word : span.text);
