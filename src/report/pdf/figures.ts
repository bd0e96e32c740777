/** What is drawn: the score as a ring, how domains stand to that of From, and charts of bars. */

import type { Alignment, AlignmentRow, ScoreFigure, Text } from '../blocks.ts';
import {
  barsOf,
  type Chart,
  chartInWords,
  GRID,
  labelsOf,
  showsEach,
  valueText,
} from '../charts.ts';
import type { Face } from './fonts.ts';
import { drawText, inLines } from './layout.ts';
import { layOut, widthOf } from './lines.ts';
import type { Sheet } from './sheet.ts';
import { CODE, COLOR, MARKS, SMALL } from './style.ts';

/** A picture with what it shows in words, as high as `height` from here. */
function figure(sheet: Sheet, alt: string, width: number, height: number, draw: () => void): void {
  const { left, y } = sheet;
  sheet.element('Figure', draw, { alt, bbox: [left, y, left + width, y + height] });
}

export const RING = 92;
const THICKNESS = 8;

/** With its top left corner here; `y` stays. What the score would be without the cap is paler. */
export function scoreRing(sheet: Sheet, figures: ScoreFigure): void {
  const { score, uncapped, number, letter, state, alt } = figures;
  const { doc, fonts } = sheet;
  const radius = (RING - THICKNESS) / 2;
  const [x, y] = [sheet.left + RING / 2, sheet.y + RING / 2];
  const { color } = MARKS[state];
  const centred = (text: string, face: Face, size: number, below: number, ink: string) =>
    doc
      .font(face)
      .fontSize(size)
      .fillColor(ink)
      .text(text, x - (fonts.width(face, text)! * size) / 2, y + below, {
        lineBreak: false,
        baseline: 'alphabetic',
      });
  figure(sheet, alt, RING, RING, () =>
    sheet.content(() => {
      doc.lineWidth(THICKNESS).strokeColor(COLOR.line).circle(x, y, radius).stroke();
      if (uncapped) arc(doc, x, y, radius, uncapped / 100, COLOR.held);
      if (score) arc(doc, x, y, radius, score / 100, color);
      if (score === null) centred(number, 'bold', 12, 4, color);
      else centred(number, 'bold', 27, 5, COLOR.ink);
      if (letter !== null) centred(letter, 'bold', 9, 20, color);
    }),
  );
}

/** From the top clockwise, for this share of the whole. */
function arc(
  doc: PDFKit.PDFDocument,
  x: number,
  y: number,
  r: number,
  share: number,
  color: string,
) {
  const angle = share * 2 * Math.PI;
  const end = `${x + r * Math.sin(angle)} ${y - r * Math.cos(angle)}`;
  const half = `M ${x} ${y - r} A ${r} ${r} 0 0 1`;
  // An arc that ends where it begins is none: a whole ring is two halves.
  const path =
    share >= 1
      ? `${half} ${x} ${y + r} A ${r} ${r} 0 0 1 ${x} ${y - r}`
      : `M ${x} ${y - r} A ${r} ${r} 0 ${share > 0.5 ? 1 : 0} 1 ${end}`;
  doc.lineWidth(THICKNESS).strokeColor(color).path(path).stroke();
}

// Alignment: the From domain, and how each domain that was authenticated stands to it.

const MAX_ROWS = 5;
const ROW = 44;
const CHIP = { width: 158, height: 34, padding: 7 };
/** Where a line leaves the From domain upwards or downwards. */
const STEM = 14;

const drawnRows = ({ rows }: Alignment): AlignmentRow[] =>
  rows.filter(({ domain, joint }) => domain !== null && joint !== null).slice(0, MAX_ROWS);

/** 0 where there is nothing to draw. */
export const alignmentHeight = (block: Alignment): number =>
  block.fromDomain === null ? 0 : drawnRows(block).length * ROW;

export function alignmentFigure(sheet: Sheet, block: Alignment): void {
  const { fromDomain, fromLabel, alt } = block;
  const height = alignmentHeight(block);
  if (fromDomain === null || height === 0) return;
  sheet.need(height);
  const [left, right, top] = [sheet.left, sheet.left + sheet.width - CHIP.width, sheet.y];
  figure(sheet, alt, sheet.width, height, () => {
    chip(sheet, left, top + height / 2, [fromLabel], fromDomain);
    drawnRows(block).forEach((row, index) => {
      const y = top + (index + 0.5) * ROW;
      connection(sheet, row, top + height / 2, y);
      chip(sheet, right, y, [`${row.mechanism} `, row.result], row.domain!);
    });
  });
  sheet.y += height;
}

/** A domain with a word above it, centred on `y`. */
function chip(sheet: Sheet, x: number, y: number, label: Text, domain: string): void {
  const { width, height, padding } = CHIP;
  const top = y - height / 2;
  sheet.artifact(({ doc }) =>
    doc.lineWidth(0.6).roundedRect(x, top, width, height, 4).fillAndStroke(COLOR.tint, COLOR.line),
  );
  const room = width - 2 * padding;
  drawText(sheet, inLines(sheet, label, room, SMALL), x + padding, top + 5);
  drawText(sheet, endOf(sheet, domain, room), x + padding, top + 16);
}

/** As much of a name as one line has room for: of a long one its end, which tells whose it is. */
function endOf({ fonts }: Sheet, domain: string, room: number) {
  const most = Math.floor(room / (fonts.width('mono', '0')! * CODE.size));
  const chars = [...domain];
  const text = chars.length > most ? `…${chars.slice(1 - most).join('')}` : domain;
  const block = layOut(text, room, CODE, fonts);
  return { ...block, lines: block.lines.slice(0, 1) };
}

/** Whole where it counts, broken where it does not. */
function connection(sheet: Sheet, { joint }: AlignmentRow, from: number, to: number): void {
  const [start, end] = [sheet.left + CHIP.width, sheet.left + sheet.width - CHIP.width];
  const { state } = joint!;
  sheet.artifact(({ doc }) => {
    doc.save().lineWidth(1.2).strokeColor(MARKS[state].color);
    if (state !== 'pass') doc.dash(3, { space: 3 });
    doc.moveTo(start, from).lineTo(start + STEM, from);
    doc
      .lineTo(start + STEM, to)
      .lineTo(end, to)
      .stroke();
    doc.restore();
  });
  const words = inLines(sheet, [joint!], end - start - STEM, SMALL);
  const x = (start + STEM + end - widthOf(words.lines[0]!)) / 2;
  drawText(sheet, words, x, to - SMALL.leading - 1);
}

// Charts: bars, the lines behind them, the scale and the labels.

const BARS = 92;
/** On the left, for the scale. */
const SIDE = 34;
/** Above, for the value of a bar that fills the height. */
const HEAD = 12;
const FOOT = 16;
export const CHART = HEAD + BARS + FOOT;

/** A table beside it has its values. */
export function chartFigure(sheet: Sheet, chart: Chart): void {
  sheet.need(CHART);
  const plain: Sheet = { ...sheet, content: (draw) => draw() };
  figure(sheet, chartInWords(chart), sheet.width, CHART, () =>
    sheet.content(() => {
      drawGrid(plain, chart);
      drawBars(plain, chart);
      drawLabels(plain, chart);
    }),
  );
  sheet.y += CHART;
}

function drawGrid(sheet: Sheet, { top, format }: Chart): void {
  const { doc, left, width, y } = sheet;
  // A line that would stand for half a test says nothing.
  const values = GRID.map((share) => ({ share, value: top * (1 - share) }));
  for (const { share, value } of values.filter((each) => Number.isInteger(each.value))) {
    const at = y + HEAD + share * BARS;
    doc.lineWidth(0.5).strokeColor(COLOR.line);
    doc
      .moveTo(left + SIDE, at)
      .lineTo(left + width, at)
      .stroke();
    write(sheet, format(value), left + SIDE - 6, at - SMALL.leading / 2, 1);
  }
}

function drawBars(sheet: Sheet, chart: Chart): void {
  const { doc, left, width, y } = sheet;
  barsOf(chart, { width: width - SIDE, height: BARS }).forEach((bar, index) => {
    if (bar === null) return;
    const [x, top] = [left + SIDE + bar.x, y + HEAD + bar.y];
    doc.rect(x, top, bar.width, bar.height).fill(COLOR.accent);
    if (!showsEach(chart)) return;
    const text = valueText(chart, chart.buckets[index]!);
    write(sheet, text, x + bar.width / 2, top - SMALL.leading, 0.5);
  });
}

function drawLabels(sheet: Sheet, chart: Chart): void {
  const room = (sheet.width - SIDE) / chart.buckets.length;
  let at = 0;
  for (const { label, span } of labelsOf(chart)) {
    const x = sheet.left + SIDE + room * (at + 0.5);
    if (label !== '') write(sheet, label, x, sheet.y + HEAD + BARS + 3, 0.5);
    at += span;
  }
}

/** One line; `anchor` is the share of it that stands left of `x`. */
function write(sheet: Sheet, text: string, x: number, y: number, anchor: number): void {
  const block = inLines(sheet, [text], sheet.width, SMALL);
  drawText(sheet, block, x - widthOf(block.lines[0]!) * anchor, y);
}
