/** What to put right, the greatest gain first: evidence, reason, rule, and what to change. */

import type { CheckStatus, Fix, Json } from '../../analysis/check.ts';
import type { CheckResult } from '../../analysis/result.ts';
import { toFix } from '../../analysis/summary.ts';
import {
  capSentence,
  categoryName,
  followsFromAnother,
  formatPoints,
  STATUS_WORDS,
} from '../content.ts';
import type { Report } from '../report.ts';
import {
  BODY,
  type Cell,
  CODE,
  drawBlock,
  notice,
  pairs,
  paragraph,
  SMALL,
  section,
  table,
} from './blocks.ts';
import { type Block, layOut, type Text } from './lines.ts';
import type { Sheet } from './sheet.ts';
import { COLOR, exactly, MARKS, mark, ruleText, shown, stateOf, TYPE } from './style.ts';

/** Room for the gain, left of a finding. */
const GUTTER = 52;
const LABEL = { ...SMALL, face: 'bold' } as const;

export function fixesSection(sheet: Sheet, { checks, cap, score }: Report): void {
  section(sheet, 'Fix these first', () => {
    const fixes = toFix(checks);
    if (fixes.length === 0)
      paragraph(
        sheet,
        score === null
          ? 'In what could be checked there is nothing to fix.'
          : mark('pass', 'There is nothing to fix.'),
      );
    else if (cap && score !== null) {
      const text = `${capSentence(cap)} (${cap.reference})`;
      notice(sheet, shown(text, 600), COLOR.fail, COLOR.failTint);
    }
    for (const check of fixes) finding(sheet, check);
  });
}

function finding(sheet: Sheet, check: CheckResult): void {
  sheet.skip(16);
  sheet.need(90);
  sheet.element('Sect', () => {
    gain(sheet, check);
    const title = { ...TYPE.sub, face: 'bold', color: COLOR.ink } as const;
    paragraph(sheet, shown(check.title, 400), { indent: GUTTER, tag: 'H3', style: title });
    const { color } = MARKS[stateOf(check.status)];
    const where = ` · ${shown(check.label, 80)} · ${categoryName(check.category)}`;
    const state = { text: STATUS_WORDS[check.status], face: 'bold', color } as const;
    paragraph(sheet, [state, { text: where }], { indent: GUTTER, style: SMALL });
    evidence(sheet, check);
    labelled(sheet, 'Why it matters', shown(check.detail, 1200));
    const rule = [{ text: 'Rule: ' }, ...ruleText(check.reference)];
    paragraph(sheet, rule, { indent: GUTTER, style: SMALL });
    if (check.fix) remedy(sheet, check.fix);
  });
}

/** What to change, on one page with the record to publish. */
function remedy(sheet: Sheet, { text, record }: Fix): void {
  const told = shown(text, 1500);
  const box = record && layOutRecord(sheet, record, GUTTER);
  if (box) {
    const { height } = layOut(told, sheet.width - GUTTER, BODY, sheet.fonts);
    sheet.need(SMALL.leading + height + box.height + 12);
  }
  labelled(sheet, 'What to change', told);
  if (!box) return;
  sheet.y += 6;
  drawRecord(sheet, box, GUTTER);
}

/** By how much the score rises, in the gutter; a mark where it would not. */
function gain(sheet: Sheet, { gain: points, status }: CheckResult): void {
  const { icon, color } = MARKS[stateOf(status)];
  const text = points > 0 ? `+${formatPoints(points)}` : icon;
  const { leading } = TYPE.sub;
  const style = { size: 12, leading, face: 'bold', color } as const;
  const block = layOut(text, GUTTER, style, sheet.fonts);
  sheet.element('P', () => drawBlock(sheet, block, sheet.left, sheet.y));
}

function labelled(sheet: Sheet, label: string, text: Text): void {
  sheet.y += 5;
  sheet.need(SMALL.leading + 2 * BODY.leading);
  paragraph(sheet, label, { indent: GUTTER, style: LABEL });
  paragraph(sheet, text, { indent: GUTTER });
}

function evidence(sheet: Sheet, check: CheckResult): void {
  const rows = evidenceRows(check.evidence);
  if (rows.length === 0) return;
  sheet.y += 5;
  sheet.need(SMALL.leading + CODE.leading);
  paragraph(sheet, 'What your message shows', { indent: GUTTER, style: LABEL });
  const style = { ...SMALL, color: COLOR.ink };
  const list = rows.map((row) => ({ ...row, style: { ...style, face: 'mono' as const } }));
  pairs(sheet, list, { indent: GUTTER, names: 92, style });
}

// What to put right as a table, a row each: for where there is no room for reasons and remedies.

export function findingsTable(sheet: Sheet, { checks, cap, score }: Report): void {
  const findings = toFix(checks);
  section(sheet, 'Fix these first', () => {
    if (cap && score !== null)
      notice(sheet, shown(capSentence(cap), 600), COLOR.fail, COLOR.failTint);
    if (findings.length === 0)
      paragraph(
        sheet,
        score === null
          ? 'In what could be checked there is nothing to fix.'
          : mark('pass', 'There is nothing to fix.'),
      );
    else
      table(
        sheet,
        [
          { title: 'Gain', share: 9, align: 'right' },
          { title: 'What is wrong', share: 50 },
          { title: 'Check', share: 21, style: SMALL },
          { title: 'State', share: 20 },
        ],
        findings.map(({ gain, title, label, status }) => [
          score === null ? '–' : `+${formatPoints(gain)}`,
          shown(title, 300),
          shown(label, 80),
          mark(stateOf(status), STATUS_WORDS[status]),
        ]),
      );
  });
}

// Everything that is no finding, complete: what passed, what is good to know, what was not checked.

export function checksSections(sheet: Sheet, { checks }: Report): void {
  const of = (...statuses: CheckStatus[]) =>
    checks.filter(({ status }) => statuses.includes(status));
  list(sheet, 'Passed', of('pass'));
  list(sheet, 'For your information', of('info'));
  list(sheet, 'Not checked', of('error', 'skipped'));
}

function list(sheet: Sheet, title: string, checks: CheckResult[]): void {
  if (checks.length === 0) return;
  section(sheet, title, () =>
    table(
      sheet,
      [
        { title: 'Check', share: 27 },
        { title: 'What was found', share: 61 },
        { title: 'Points', share: 12, align: 'right', style: SMALL },
      ],
      checks.map(row),
    ),
  );
}

function row(check: CheckResult): Cell[] {
  const { icon, color } = MARKS[stateOf(check.status)];
  const { status, label, title, detail, points, earned } = check;
  const name = shown(label, 80);
  const open = status === 'error' || status === 'skipped';
  return [
    open
      ? {
          parts: [
            { text: name, style: BODY },
            { text: STATUS_WORDS[status], style: SMALL },
          ],
        }
      : [{ text: `${icon} `, face: 'bold', color }, { text: name }],
    {
      parts: [
        { text: shown(title, 300), style: BODY },
        {
          text: followsFromAnother(check) ? 'It is decided by that check.' : shown(detail, 600),
          style: SMALL,
        },
      ],
    },
    earned === null ? '–' : `${formatPoints(earned)} of ${formatPoints(points)}`,
  ];
}

// What in the message shows a finding, in short: a few names and values.

const MAX_ROWS = 8;
const MAX_VALUE = 220;
const MAX_DEPTH = 3;

interface EvidenceRow {
  name: string;
  value: string;
}

/** What says nothing (null, an empty list) is left out; so is what is beyond the first few. */
function evidenceRows(evidence: { [key: string]: Json }): EvidenceRow[] {
  const rows: EvidenceRow[] = [];
  for (const [key, value] of Object.entries(evidence)) {
    if (rows.length === MAX_ROWS) break;
    const text = inWords(value, 0, MAX_VALUE + 1);
    if (text !== '') rows.push({ name: nameOf(key), value: shown(text, MAX_VALUE) });
  }
  return rows;
}

const ABBREVIATION = /\b(arc|bimi|dkim|dmarc|dns|dnssec|helo|html|id|ip|mx|ptr|spf|tls|ttl|url)\b/g;

/** `client_ip` as `Client IP`. */
function nameOf(key: string): string {
  const words = shown(key.replaceAll('_', ' '), 40);
  const named = words.replace(ABBREVIATION, (word) => word.toUpperCase());
  return named.charAt(0).toUpperCase() + named.slice(1);
}

/** A value as text of about `room` characters at most; empty where it says nothing. */
function inWords(value: Json, depth: number, room: number): string {
  if (value === null || depth > MAX_DEPTH) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value !== 'object') return String(value).slice(0, room);
  const isList = Array.isArray(value);
  const parts: string[] = [];
  let used = 0;
  for (const key in value) {
    if (used > room) break;
    const text = inWords((value as Record<string, Json>)[key]!, depth + 1, room - used);
    if (text === '') continue;
    parts.push(isList ? text : `${key.slice(0, 40).replaceAll('_', ' ')} ${text}`);
    used += parts.at(-1)!.length + 2;
  }
  return parts.join(isList && depth === 0 ? '; ' : ', ');
}

// A DNS record to publish, in a box: every character of it, however long, and nothing between.

const PADDING = 8;
const NAMES = 40;
/** A TXT record of this length fills half a page; no real one comes near. */
const MAX_RECORD_VALUE = 2500;

interface Row {
  value: string;
  label: Block;
  block: Block;
}

interface RecordBox {
  rows: Row[];
  height: number;
}

function layOutRecord(
  { width, fonts }: Sheet,
  record: NonNullable<Fix['record']>,
  indent: number,
): RecordBox {
  const room = width - indent - 2 * PADDING - NAMES;
  const rows = [
    { name: 'Type', value: exactly(record.type, 20) },
    { name: 'Name', value: exactly(record.name, 300) },
    { name: 'Value', value: exactly(record.value, MAX_RECORD_VALUE) },
  ].map(({ name, value }) => ({
    value,
    label: layOut(name, NAMES, { ...SMALL, leading: CODE.leading }, fonts),
    block: layOut(value, room, CODE, fonts),
  }));
  return { rows, height: rows.reduce((sum, { block }) => sum + block.height, 0) + 2 * PADDING };
}

/** On one page. */
function drawRecord(sheet: Sheet, { rows, height }: RecordBox, indent: number): void {
  const left = sheet.left + indent;
  const width = sheet.width - indent;
  sheet.need(height);
  sheet.artifact(({ doc, y }) =>
    doc.lineWidth(0.6).roundedRect(left, y, width, height, 4).fillAndStroke(COLOR.tint, COLOR.line),
  );
  let y = sheet.y + PADDING;
  for (const { value, label, block } of rows) {
    const at = y;
    sheet.element('P', () => drawBlock(sheet, label, left + PADDING, at));
    // However it wraps, it stands for one line.
    sheet.element('Code', () => drawBlock(sheet, block, left + PADDING + NAMES, at), {
      actual: value,
    });
    y += block.height;
  }
  sheet.y += height;
}
