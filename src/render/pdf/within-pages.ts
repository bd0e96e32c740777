/** Draws as much as there are pages for, and says so where that is not all. */

import { paragraph, SMALL } from './blocks.ts';
import { PagesFull, type Sheet } from './sheet.ts';

export function withinPages(sheet: Sheet, draw: () => void, lastWord: string): void {
  try {
    draw();
  } catch (error) {
    if (!(error instanceof PagesFull)) throw error;
    const { need } = sheet;
    // The last page has kept this room free.
    sheet.need = () => {};
    paragraph(sheet, lastWord, { style: SMALL });
    sheet.need = need;
  }
}
