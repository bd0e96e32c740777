/** Drawings: the score as a ring, the alignment of domains, bar charts. */

import type { Alignment, AlignmentRow, ScoreFigure, Text } from '../blocks.ts';
import {
  barsOf,
  type Chart,
  chartInWords,
  hasLabelPerBar,
  scaleOf,
  shareOfHeight,
  ticksOf,
  valueText,
} from '../charts.ts';
import type { Face } from './fonts.ts';
import { drawLines, layOutText } from './layout.ts';
import { layOut, widthOf } from './lines.ts';
import type { Sheet } from './sheet.ts';
import { CODE, COLOR, MARKS, SMALL } from './style.ts';

/** A tagged figure with a text alternative, from the current position, `height` points high. */
function drawFigure(
  sheet: Sheet,
  alt: string,
  width: number,
  height: number,
  draw: () => void,
): void {
  const { left, y } = sheet;
  sheet.element('Figure', draw, { alt, bbox: [left, y, left + width, y + height] });
}

export const RING_SIZE = 92;
const RING_THICKNESS = 8;

/** Draws the ring at the current position without moving it. A paler arc shows the score without the cap. */
export function scoreRing(sheet: Sheet, figureData: ScoreFigure): void {
  const { score, uncapped, number, letter, state, alt } = figureData;
  const { doc, fonts } = sheet;
  const radius = (RING_SIZE - RING_THICKNESS) / 2;
  const [x, y] = [sheet.left + RING_SIZE / 2, sheet.y + RING_SIZE / 2];
  const { color } = MARKS[state];
  const centeredText = (
    text: string,
    face: Face,
    size: number,
    offsetY: number,
    textColor: string,
  ) =>
    doc
      .font(face)
      .fontSize(size)
      .fillColor(textColor)
      .text(text, x - (fonts.width(face, text)! * size) / 2, y + offsetY, {
        lineBreak: false,
        baseline: 'alphabetic',
      });
  drawFigure(sheet, alt, RING_SIZE, RING_SIZE, () =>
    sheet.content(() => {
      doc.lineWidth(RING_THICKNESS).strokeColor(COLOR.line).circle(x, y, radius).stroke();
      if (uncapped) drawArc(doc, x, y, radius, uncapped / 100, COLOR.uncapped);
      if (score) drawArc(doc, x, y, radius, score / 100, color);
      if (score === null) centeredText(number, 'bold', 12, 4, color);
      else centeredText(number, 'bold', 27, 5, COLOR.ink);
      if (letter !== null) centeredText(letter, 'bold', 9, 20, color);
    }),
  );
}

/** Draws an arc clockwise from the top; `share` is 0–1. */
function drawArc(
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
  // An arc that ends where it starts draws nothing, so a full ring is two halves.
  const path =
    share >= 1
      ? `${half} ${x} ${y + r} A ${r} ${r} 0 0 1 ${x} ${y - r}`
      : `M ${x} ${y - r} A ${r} ${r} 0 ${share > 0.5 ? 1 : 0} 1 ${end}`;
  doc.lineWidth(RING_THICKNESS).strokeColor(color).path(path).stroke();
}

// Alignment: each authenticated domain, connected to the From domain.

const MAX_ROWS = 5;
const ROW_HEIGHT = 44;
const CHIP = { width: 158, height: 34, padding: 7 };
/** The distance from the From domain at which a connection turns up or down. */
const STEM_WIDTH = 14;

const rowsToDraw = ({ rows }: Alignment): AlignmentRow[] =>
  rows.filter(({ domain, alignment }) => domain !== null && alignment !== null).slice(0, MAX_ROWS);

/** In points; 0 if there is nothing to draw. */
export const alignmentHeight = (block: Alignment): number =>
  block.fromDomain === null || block.alt === null ? 0 : rowsToDraw(block).length * ROW_HEIGHT;

export function alignmentFigure(sheet: Sheet, block: Alignment): void {
  const { fromDomain, fromLabel, alt } = block;
  const height = alignmentHeight(block);
  if (fromDomain === null || alt === null || height === 0) return;
  sheet.ensureSpace(height);
  const [left, right, top] = [sheet.left, sheet.left + sheet.width - CHIP.width, sheet.y];
  drawFigure(sheet, alt, sheet.width, height, () => {
    drawChip(sheet, left, top + height / 2, [fromLabel], fromDomain);
    rowsToDraw(block).forEach((row, index) => {
      const y = top + (index + 0.5) * ROW_HEIGHT;
      drawConnection(sheet, row, top + height / 2, y);
      drawChip(sheet, right, y, [`${row.mechanism} `, row.result], row.domain!);
    });
  });
  sheet.y += height;
}

/** A box with a domain and its label, vertically centered on `y`. */
function drawChip(sheet: Sheet, x: number, y: number, label: Text, domain: string): void {
  const { width, height, padding } = CHIP;
  const top = y - height / 2;
  sheet.artifact(({ doc }) =>
    doc.lineWidth(0.6).roundedRect(x, top, width, height, 4).fillAndStroke(COLOR.tint, COLOR.line),
  );
  const textWidth = width - 2 * padding;
  drawLines(sheet, layOutText(sheet, label, textWidth, SMALL), x + padding, top + 5);
  drawLines(sheet, domainEnd(sheet, domain, textWidth), x + padding, top + 16);
}

/** The domain on one line. A long one keeps its end, which identifies the owner. */
function domainEnd({ fonts }: Sheet, domain: string, width: number) {
  const maxLength = Math.floor(width / (fonts.width('mono', '0')! * CODE.size));
  const chars = [...domain];
  const text = chars.length > maxLength ? `…${chars.slice(1 - maxLength).join('')}` : domain;
  const block = layOut(text, width, CODE, fonts);
  return { ...block, lines: block.lines.slice(0, 1) };
}

/** A solid line for an aligned domain, a dashed line for any other. */
function drawConnection(sheet: Sheet, { alignment }: AlignmentRow, from: number, to: number): void {
  const [start, end] = [sheet.left + CHIP.width, sheet.left + sheet.width - CHIP.width];
  const { state } = alignment!;
  sheet.artifact(({ doc }) => {
    doc.save().lineWidth(1.2).strokeColor(MARKS[state].color);
    if (state !== 'pass') doc.dash(3, { space: 3 });
    doc.moveTo(start, from).lineTo(start + STEM_WIDTH, from);
    doc
      .lineTo(start + STEM_WIDTH, to)
      .lineTo(end, to)
      .stroke();
    doc.restore();
  });
  const label = layOutText(sheet, [alignment!], end - start - STEM_WIDTH, SMALL);
  const x = (start + STEM_WIDTH + end - widthOf(label.lines[0]!)) / 2;
  drawLines(sheet, label, x, to - SMALL.leading - 1);
}

// Charts: bars, grid lines, scale and labels.

const BARS_HEIGHT = 92;
/** Left of the bars. */
const SCALE_WIDTH = 34;
/** Above the bars, for the value of the highest one. */
const VALUES_HEIGHT = 12;
const LABELS_HEIGHT = 16;
export const CHART_HEIGHT = VALUES_HEIGHT + BARS_HEIGHT + LABELS_HEIGHT;

/** Draws a chart as one tagged figure. A table beside it lists the values. */
export function chartFigure(sheet: Sheet, chart: Chart): void {
  sheet.ensureSpace(CHART_HEIGHT);
  const untagged: Sheet = { ...sheet, content: (draw) => draw() };
  drawFigure(sheet, chartInWords(chart), sheet.width, CHART_HEIGHT, () =>
    sheet.content(() => {
      drawGrid(untagged, chart);
      drawBars(untagged, chart);
      drawLabels(untagged, chart);
    }),
  );
  sheet.y += CHART_HEIGHT;
}

function drawGrid(sheet: Sheet, chart: Chart): void {
  const { doc, left, width, y } = sheet;
  for (const value of scaleOf(chart)) {
    const lineY = y + VALUES_HEIGHT + (1 - shareOfHeight(chart, value)) * BARS_HEIGHT;
    doc.lineWidth(0.5).strokeColor(COLOR.line);
    doc
      .moveTo(left + SCALE_WIDTH, lineY)
      .lineTo(left + width, lineY)
      .stroke();
    writeLabel(sheet, chart.format(value), left + SCALE_WIDTH - 6, lineY - SMALL.leading / 2, 1);
  }
}

function drawBars(sheet: Sheet, chart: Chart): void {
  const { doc, left, width, y } = sheet;
  barsOf(chart, { width: width - SCALE_WIDTH, height: BARS_HEIGHT }).forEach((bar, index) => {
    if (bar === null) return;
    const [x, top] = [left + SCALE_WIDTH + bar.x, y + VALUES_HEIGHT + bar.y];
    doc.rect(x, top, bar.width, bar.height).fill(sheet.accent);
    if (!hasLabelPerBar(chart)) return;
    const text = valueText(chart, chart.buckets[index]!);
    writeLabel(sheet, text, x + bar.width / 2, top - SMALL.leading, 0.5);
  });
}

const ANCHORS = { start: 0, middle: 0.5, end: 1 };

function drawLabels(sheet: Sheet, chart: Chart): void {
  const bucketWidth = (sheet.width - SCALE_WIDTH) / chart.buckets.length;
  for (const { index, label, anchor } of ticksOf(chart)) {
    const x = sheet.left + SCALE_WIDTH + bucketWidth * (index + ANCHORS[anchor]);
    writeLabel(sheet, label, x, sheet.y + VALUES_HEIGHT + BARS_HEIGHT + 3, ANCHORS[anchor]);
  }
}

/** Draws one line of text; `anchor` is the share of its width left of `x`. */
function writeLabel(sheet: Sheet, text: string, x: number, y: number, anchor: number): void {
  const block = layOutText(sheet, [text], sheet.width, SMALL);
  drawLines(sheet, block, x - widthOf(block.lines[0]!) * anchor, y);
}
