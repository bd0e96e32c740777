/**
 * The vocabulary of a report: a document is a tree of these blocks, and holds every word that a reader
 * sees. Painters (page, PDF, terminal, e-mail) decide how a block looks and add no wording of their own.
 * States have a meaning, never a colour. All text in a finished document is bounded and printable.
 */

import type { CheckStatus } from '../analysis/check.ts';
import type { Grade } from '../analysis/result.ts';
import { printable } from '../lib/log.ts';
import type { Chart } from './charts.ts';

export type State = 'pass' | 'warn' | 'fail' | 'info' | 'unknown';

// Text within a line.

/** A state by its word; a painter adds its icon and colour. `badge`: set off from the text around it. */
export interface StateSpan {
  kind: 'state';
  state: State;
  word: string;
  badge?: boolean;
}

/** A page of ours or of a standard, never an address out of a message; `http(s)` or plain text. */
export interface LinkSpan {
  kind: 'link';
  text: string;
  url: string;
}

export type Span =
  | { kind: 'text'; text: string; style: 'strong' | 'muted' | 'number' }
  /** To be read letter by letter, its spaces as they are. */
  | { kind: 'code'; text: string }
  /** A word or name from outside, whose direction must not turn the text around it. */
  | { kind: 'name'; text: string }
  /** `text` is the time in words; `iso` the same for machines. */
  | { kind: 'time'; text: string; iso: string }
  /** Leads to the block with this id in the same document. */
  | { kind: 'jump'; text: string; to: string }
  /** Leads to another form of this document: a query behind its own address. */
  | { kind: 'form'; text: string; query: '?format=pdf' }
  | StateSpan
  | LinkSpan;

/** Strings are plain text. What stands beside each other is joined without a space. */
export type Text = (string | Span)[];

// Figures: what a painter draws.

/** The score as a ring. */
export interface ScoreFigure {
  /** 0–100; null where there is none. */
  score: number | null;
  grade: Grade | null;
  state: State;
  /** 0–100: what the score would be without the cap; null without a cap or a score. */
  uncapped: number | null;
  /** Within the ring: the number over the grade, or what is said where there is no score. */
  number: string;
  letter: string | null;
  /** Where there is no ring: `87/100  B`. */
  line: string;
  /** A single letter for a badge. */
  badge: string;
  /** For those who cannot see it. */
  alt: string;
}

// Blocks.

/** A part with a heading, an anchor and a place in the contents. */
export interface Section {
  kind: 'section';
  /** Also the anchor; unique in the document. */
  id: string;
  title: string;
  /** Below the heading. */
  note: Text | null;
  /** Says only that there is nothing: paper leaves it out. */
  isEmpty?: boolean;
  blocks: Block[];
}

/** The first heading of a report with its score and all that belongs to it. */
export interface Verdict {
  kind: 'verdict';
  id: string;
  /** In a list of contents beside the pages. */
  outline: string;
  /** In small letters above: what this document is. Null where the surroundings say it. */
  above: string | null;
  score: ScoreFigure;
  /** What was tested, beside the score: a file name, an id. */
  of: string | null;
  title: Text;
  /** Short paragraphs below the title: what to do first. */
  lines: Text[];
  /** What is not known. */
  unknown: Text | null;
  /** SPF, DKIM and DMARC in a word each. */
  states: StateList | null;
  facts: Facts | null;
  /** In small print at the end. */
  remarks: Text[];
  /** For a list of contents, where it has a place there. */
  contents?: string;
}

export interface Heading {
  kind: 'heading';
  /** As in a report alone: 1 is the document's title, 2 a section, 3 and 4 below it. */
  rank: 1 | 2 | 3 | 4;
  text: Text;
}

export interface Paragraph {
  kind: 'paragraph';
  text: Text;
  /** `small`: said beside the matter. `card`: the only thing in its section. `lead`: a title that is no heading. */
  style?: 'small' | 'card' | 'lead';
  /** Not for paper: a way to another form of the same document. */
  screenOnly?: boolean;
}

/** A sentence on a ground of its own. */
export interface Note {
  kind: 'note';
  state: State;
  text: Text;
}

/** Findings by gain; `more` are folded away. */
export interface Findings {
  kind: 'findings';
  first: Finding[];
  more: { title: string; findings: Finding[] } | null;
}

export interface Finding {
  kind: 'finding';
  id: string;
  state: State;
  /** `+24`; null where there is no score that could rise. `spoken` follows it for screen readers. */
  gain: { text: string; points: number; spoken: string } | null;
  title: Text;
  /** Which check it is, of what category, how grave; null in a short form. */
  where: { label: string; category: string; state: StateSpan } | null;
  /** Unfolded from the start. */
  open: boolean;
  /** Evidence, reason, remedy; none in a list of titles. */
  groups: Group[];
}

/** Blocks that belong together under a small heading. */
export interface Group {
  kind: 'group';
  name: 'evidence' | 'reason' | 'remedy' | 'remarks';
  title: string | null;
  blocks: Block[];
}

/** A DNS record to publish: labels for a form, values to copy letter by letter. */
export interface RecordBlock {
  kind: 'record';
  type: { label: string; value: string };
  name: { label: string; value: string };
  value: { label: string; value: string };
}

/** Names with what they stand for, one to a line. */
export interface Facts {
  kind: 'facts';
  rows: Fact[];
  style?: 'small' | 'headers';
}

export interface Fact {
  name: Text;
  value: Text;
  /** Below `value`, for what is more than a line. */
  blocks?: Block[];
}

export interface Table {
  kind: 'table';
  /** What kind of table it is, for its style. */
  name: 'ledger' | 'checks' | 'findings' | 'placement' | 'tests' | 'figures' | 'plain';
  /** What is in it, for those who come upon it by keys. */
  label: string;
  columns: Column[];
  /** One group without a title, or several with one each. */
  groups: { title: string | null; rows: Row[] }[];
  /** Sums, set apart. */
  foot: Row[];
}

export interface Column {
  title: string;
  /** Figures stand to the right. */
  isNumber?: boolean;
  /** Small print, or letter by letter. */
  style?: 'small' | 'code';
  /** Of the width, relative to the other columns: a hint for media that cannot measure first. */
  share: number;
}

export interface Row {
  /** The first is the heading of its row. */
  cells: Cell[];
  state?: State;
  /** `total`: the last line of a sum. `muted`: does not count. */
  style?: 'total' | 'muted';
}

export interface Cell {
  text: Text;
  /** What is more than a line. */
  blocks?: Block[];
  /** In small print below. */
  below?: Text;
  /** A bar after the text: 0–1, and the share in words. */
  meter?: { share: number; state: State; words: string };
  /** In place of the text. */
  score?: ScoreFigure;
  /** Over so many columns. */
  span?: number;
}

/** Shares of a whole as bars, one to a line. */
export interface Bars {
  kind: 'bars';
  /** `share`: 0–1, null where nothing is known; then `value` says so. `words` may be left out where there is little room. */
  rows: { name: string; share: number | null; state: State; value: string; words: string }[];
  /** What holds all of them down; null where nothing does. */
  held: string | null;
}

/** Names with a state each, side by side. `jump` is where each leads. */
export interface StateList {
  kind: 'states';
  label: string;
  items: { name: string; state: StateSpan; jump: string | null }[];
}

/** SPF, each DKIM signature and DMARC, and how their domains stand to that of From. */
export interface Alignment {
  kind: 'alignment';
  /** `lane` is over what shows the domain, the joint and the From domain beside each other. */
  columns: { mechanism: string; result: string; domain: string; joint: string; lane: string };
  /** Above the From domain in a drawing. */
  fromLabel: string;
  fromDomain: string | null;
  rows: AlignmentRow[];
  outcome: { mechanism: string; result: StateSpan; domain: Text; below: Text };
  /** The drawing in words. */
  alt: string;
}

export interface AlignmentRow {
  mechanism: string;
  result: StateSpan;
  /** null where there is none; then `none` says so. */
  domain: string | null;
  none: string;
  /** How it stands to the From domain; null where there is nothing to compare. */
  joint: StateSpan | null;
  /** In small print; empty where there is nothing to say. */
  notes: string;
}

/** The servers that a message passed, the last of them this one. */
export interface Path {
  kind: 'path';
  columns: { server: string; time: string; delay: string };
  hops: Hop[];
  /** How it was handed over to the last one. */
  session: Facts | null;
}

export interface Hop {
  server: Text;
  time: Text | null;
  /** From whom and how. */
  via: Text | null;
  /** `label` is left out where a column says the same. */
  delay: { label: string | null; value: Text } | null;
}

/** A thing with a state and more to be said of it: a provider. */
export interface Card {
  kind: 'card';
  id: string;
  title: Text;
  state: StateSpan;
  blocks: Block[];
}

/** Things with a state each, with a sentence or two. */
export interface Entries {
  kind: 'entries';
  name: 'checks' | 'rules';
  /** Where they stand in a table: the titles of its columns. */
  columns: { label: string; text: string; figure: string } | null;
  items: Entry[];
}

export interface Entry {
  /** An anchor; null where nothing leads to it. */
  id: string | null;
  state: StateSpan;
  /** Beside the state. */
  label: string | null;
  title: Text;
  /** In smaller print below. */
  lines: Text[];
  /** Beside everything, to the right: points. */
  figure: string | null;
  /** Folded away behind `title`. */
  more: { title: string; blocks: Block[] } | null;
}

/** One line for each thing: state, name, what there is to say. */
export interface Lines {
  kind: 'lines';
  /** Room for the names, in characters. */
  nameWidth: number;
  items: { state: State; name: string; text: Text; isMuted?: boolean }[];
}

/** Rows with a value to the right of each, for narrow media. */
export interface Rows {
  kind: 'rows';
  items: { title: string; below: string | null; value: string; state: State | null }[];
}

/** A mean score with how it compares. */
export interface Average {
  kind: 'average';
  score: ScoreFigure;
  /** Beside the number, which is drawn large. */
  label: string;
  /** The same with the number in it, where nothing is drawn. */
  line: string;
  /** Of what it is the mean, then how it compares. */
  lines: string[];
}

/** Figures side by side, each under its name. */
export interface Tiles {
  kind: 'tiles';
  items: { name: string; figure: string; isKnown: boolean; below: string }[];
}

/** How often each grade was given: one bar in parts. */
export interface Grades {
  kind: 'grades';
  items: { grade: Grade; count: number; text: string }[];
  /** All of it in words. */
  words: string;
}

export interface List {
  kind: 'list';
  isOrdered: boolean;
  items: { text: Text; blocks?: Block[] }[];
}

/** Folded away on a screen, unfolded everywhere else. */
export interface Fold {
  kind: 'fold';
  title: string;
  /** Beside the title: the kind of thing in it by its state; null where it has none. */
  state: State | null;
  /** How much is in it, beside the title. */
  count: string | null;
  open: boolean;
  /** `plain`: without a frame, within something else. */
  style: 'card' | 'plain';
  blocks: Block[];
}

/** Text as it came, line by line. */
export interface Verbatim {
  kind: 'verbatim';
  label: string;
  lines: string[];
  /** `long`: scrolls in a frame of its own. */
  style: 'long' | 'box';
  /** What is said where not all of it is printed. */
  notPrinted: string | null;
}

/** HTML of a message, to be shown sandboxed only; media that cannot show it leave it out. */
export interface Frame {
  kind: 'frame';
  title: string;
  caption: Text;
  /** Untouched: neither bounded in its characters nor printable. */
  html: string;
  widths: { label: string; wide: string; narrow: string };
}

/** A chart of bars. */
export interface ChartBlock {
  kind: 'chart';
  /** Unique in the document. */
  id: string;
  /** Above it; null where a heading says the same. */
  title: string | null;
  chart: Chart;
  /** In words where the bars themselves do not say it; null where a table beside it does. */
  caption: string | null;
  /** For media without pictures: a line for each bar. */
  values: string[];
}

/** A whole report within a document of several. */
export interface Part {
  kind: 'part';
  id: string;
  title: Text;
  /** Beside the title. */
  beside: string | null;
  score: ScoreFigure;
  blocks: Block[];
  /** Leads back to the beginning. */
  back: { text: string; to: string };
}

/** Blocks of one column after another with an anchor and no heading of their own. */
export interface Overview {
  kind: 'overview';
  id: string;
  /** For a list of contents; null where it has no place there. */
  title: string | null;
  above: string | null;
  blocks: Block[];
}

export type Block =
  | Alignment
  | Average
  | Bars
  | Card
  | ChartBlock
  | Entries
  | Facts
  | Finding
  | Findings
  | Fold
  | Frame
  | Grades
  | Group
  | Heading
  | Lines
  | List
  | Note
  | Overview
  | Paragraph
  | Part
  | Path
  | RecordBlock
  | Rows
  | Section
  | StateList
  | Table
  | Tiles
  | Verbatim
  | Verdict;

export interface ReportDocument {
  /** Of the window or the file. */
  title: string;
  /** What it tells of (ISO 8601); null where that is not known. The same content is the same file. */
  time: string | null;
  blocks: Block[];
  /** At the end, in small print. */
  foot: Text[];
  /** What is said where a medium ends before the document does. */
  cutOff: string;
  /** Words for ways around in the document. */
  ways: { skip: string; contents: string };
}

/** Pages of a PDF: more says nothing to a person, and a hostile message could ask for thousands. */
export const MAX_PAGES = 40;

// How text is written down.

/** On one line, at most `max` characters, its end marked where it was cut. */
export function oneLine(text: string, max = 1000): string {
  // Cut before anything is looked at: a message may hold one word of many megabytes.
  const kept = text.length > max ? text.slice(0, max) : text;
  const clean = printable(kept.toWellFormed().replace(/\s+/g, ' ').trim());
  return text.length > max ? `${clean}…` : clean;
}

/** The same with its spaces as they are: for what is to be copied. */
export function exactly(text: string, max = 4000): string {
  const kept = printable(text.slice(0, max).toWellFormed());
  return text.length > max ? `${kept}…` : kept;
}

/** Text with lines: the first `maxLines` of them, `max` characters in all. */
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
  text: exactly(text, max),
});
export const named = (text: string, max?: number): Span => ({
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

/** `21 Nov 2026, 10:00:05 UTC`; text that is no time stays as it is. */
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

// What every document goes through at its end, so that no builder can forget it.

/** Not shown as they are: painters treat them by themselves. */
const RAW = new Set(['html', 'chart']);

/**
 * Every text of it made printable and well formed: nothing in it moves the cursor of a terminal, turns
 * the direction of the text around it, or stands on a line of its own. The HTML of frames and the names
 * in charts are left as they are.
 */
export function cleaned<T>(value: T, key = ''): T {
  if (RAW.has(key)) return value;
  if (typeof value === 'string') return printable(value.toWellFormed()) as T;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => cleaned(item)) as T;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, cleaned(item, name)]),
  ) as T;
}

/** The words of a text without their marking. */
export const plainText = (text: Text): string =>
  text.map((span) => (typeof span === 'string' ? span : wordsOf(span))).join('');

export const wordsOf = (span: Span): string => (span.kind === 'state' ? span.word : span.text);
