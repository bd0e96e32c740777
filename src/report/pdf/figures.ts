/** The score as a ring with its number and letter. */

import {
  barsOf,
  type Chart,
  chartInWords,
  GRID,
  labelsOf,
  showsEach,
  valueText,
} from '../charts.ts';
import type { Reported } from '../report.ts';
import { drawLine, SMALL } from './blocks.ts';
import { layOut, widthOf } from './lines.ts';
import type { Sheet } from './sheet.ts';
import { COLOR, GRADE_COLOR } from './style.ts';

export const RING = 92;
const THICKNESS = 8;

/** Drawn with its top left corner at `x`, `y`. */
export function scoreRing(
  sheet: Sheet,
  { score, grade }: Pick<Reported, 'score' | 'grade'>,
  x: number,
  y: number,
): void {
  const { doc, fonts } = sheet;
  const radius = (RING - THICKNESS) / 2;
  const [cx, cy] = [x + RING / 2, y + RING / 2];
  const color = grade === null ? COLOR.unknown : GRADE_COLOR[grade];
  const centred = (
    text: string,
    face: 'bold' | 'sans',
    size: number,
    baseline: number,
    ink: string,
  ) =>
    doc
      .font(face)
      .fontSize(size)
      .fillColor(ink)
      .text(text, cx - (fonts.width(face, text)! * size) / 2, baseline, {
        lineBreak: false,
        baseline: 'alphabetic',
      });
  const alt = score === null ? 'There is no score.' : `Score ${score} of 100, grade ${grade}.`;
  const bbox = [x, y, x + RING, y + RING];
  sheet.element(
    'Figure',
    () =>
      sheet.content(() => {
        doc.lineWidth(THICKNESS).strokeColor(COLOR.line).circle(cx, cy, radius).stroke();
        if (score === null) {
          centred('No score', 'bold', 12, cy + 4, color);
          return;
        }
        if (score > 0) arc(doc, cx, cy, radius, score / 100, color);
        centred(String(score), 'bold', 27, cy + 5, COLOR.ink);
        centred(`Grade ${grade}`, 'bold', 9, cy + 20, color);
      }),
    { alt, bbox },
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

// A chart drawn on the page: bars, the lines behind them, the scale and the labels.

const HEIGHT = 92;
/** On the left, for the scale. */
const SIDE = 34;
/** Above, for the value of a bar that fills the height. */
const HEAD = 12;
const FOOT = 16;

/** A table beside it has its values. */
export function chartFigure(sheet: Sheet, chart: Chart): void {
  const height = HEAD + HEIGHT + FOOT;
  sheet.need(height);
  const { left, width, y } = sheet;
  const bbox = [left, y, left + width, y + height];
  const plain: Sheet = { ...sheet, content: (draw) => draw() };
  sheet.element(
    'Figure',
    () =>
      sheet.content(() => {
        drawGrid(plain, chart);
        drawBars(plain, chart);
        drawLabels(plain, chart);
      }),
    { alt: chartInWords(chart), bbox },
  );
  sheet.y += height;
}

function drawGrid(sheet: Sheet, { top, format }: Chart): void {
  const { doc, left, width, y } = sheet;
  // A line that would stand for half a test says nothing.
  const values = GRID.map((share) => ({ share, value: top * (1 - share) }));
  for (const { share, value } of values.filter((each) => Number.isInteger(each.value))) {
    const at = y + HEAD + share * HEIGHT;
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
  barsOf(chart, { width: width - SIDE, height: HEIGHT }).forEach((bar, index) => {
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
    if (label !== '') write(sheet, label, x, sheet.y + HEAD + HEIGHT + 3, 0.5);
    at += span;
  }
}

/** One line; `anchor` is the share of it that stands left of `x`. */
function write(sheet: Sheet, text: string, x: number, y: number, anchor: number): void {
  const line = layOut(text, sheet.width, SMALL, sheet.fonts).lines[0]!;
  drawLine(sheet, line, x - widthOf(line) * anchor, y, SMALL);
}
