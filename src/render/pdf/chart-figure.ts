/** A chart drawn on the page: bars, the lines behind them, the scale and the labels. */

import {
  barsOf,
  type Chart,
  chartInWords,
  GRID,
  labelsOf,
  showsEach,
  valueText,
} from '../chart.ts';
import { SMALL } from './blocks.ts';
import { drawLine } from './draw-lines.ts';
import { layOut, widthOf } from './lines.ts';
import { COLOR } from './look.ts';
import type { Sheet } from './sheet.ts';

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
