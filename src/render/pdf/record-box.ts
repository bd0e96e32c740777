/** A DNS record to publish, in a box: every character of it, however long, and nothing between. */

import type { Fix } from '../../analysis/check.ts';
import { CODE, SMALL } from './blocks.ts';
import { drawBlock } from './draw-lines.ts';
import { layOut } from './lines.ts';
import { COLOR } from './look.ts';
import type { Sheet } from './sheet.ts';
import { shown } from './shown-text.ts';

const PADDING = 8;
const NAMES = 40;
/** A TXT record of this length fills half a page; no real one comes near. */
const MAX_VALUE = 2500;

export function recordBox(sheet: Sheet, record: NonNullable<Fix['record']>, indent: number): void {
  const left = sheet.left + indent;
  const width = sheet.width - indent;
  const rows = [
    { name: 'Type', value: shown(record.type, 20) },
    { name: 'Name', value: shown(record.name, 300) },
    { name: 'Value', value: shown(record.value, MAX_VALUE) },
  ].map((row) => ({
    ...row,
    label: layOut(row.name, NAMES, { ...SMALL, leading: CODE.leading }, sheet.fonts),
    block: layOut(row.value, width - 2 * PADDING - NAMES, CODE, sheet.fonts),
  }));
  const height = rows.reduce((sum, { block }) => sum + block.height, 0) + 2 * PADDING;
  sheet.need(height);
  sheet.artifact(() =>
    sheet.doc
      .lineWidth(0.6)
      .roundedRect(left, sheet.y, width, height, 4)
      .fillAndStroke(COLOR.tint, COLOR.line),
  );
  let y = sheet.y + PADDING;
  for (const { value, label, block } of rows) {
    sheet.element('P', () => drawBlock(sheet, label, left + PADDING, y));
    const at = y;
    // However it wraps, it stands for one line.
    sheet.element('Code', () => drawBlock(sheet, block, left + PADDING + NAMES, at), {
      actual: value,
    });
    y += block.height;
  }
  sheet.y += height;
}
