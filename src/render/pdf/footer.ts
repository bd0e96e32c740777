/** The foot of every page: what the report is of, and which page of how many. */

import { SMALL } from './blocks.ts';
import { drawLine } from './draw-lines.ts';
import { layOut, widthOf } from './lines.ts';
import { COLOR, PAGE } from './look.ts';
import type { Sheet } from './sheet.ts';

/** Once all pages are there; they are still open (`bufferPages`). */
export function drawFooters(sheet: Sheet, title: string): void {
  const { doc, fonts, left, width } = sheet;
  const { start, count } = doc.bufferedPageRange();
  const y = PAGE.height - PAGE.bottom + 26;
  const name = layOut(title, width - 90, SMALL, fonts).lines[0]!;
  for (let page = start; page < start + count; page++) {
    doc.switchToPage(page);
    const number = layOut(`Page ${page + 1} of ${count}`, 90, SMALL, fonts).lines[0]!;
    sheet.artifact((untagged) => {
      doc.lineWidth(0.5).strokeColor(COLOR.line);
      doc
        .moveTo(left, y - 5)
        .lineTo(left + width, y - 5)
        .stroke();
      drawLine(untagged, name, left, y, SMALL);
      drawLine(untagged, number, left + width - widthOf(number), y, SMALL);
    });
  }
}
