/** A DNS record to publish, in a box: every character of it, however long, and nothing between. */

import type { Fix } from '../../analysis/check.ts';
import { CODE, SMALL } from './blocks.ts';
import { drawBlock } from './draw-lines.ts';
import { type Block, layOut } from './lines.ts';
import { COLOR } from './look.ts';
import type { Sheet } from './sheet.ts';
import { exactly } from './shown-text.ts';

const PADDING = 8;
const NAMES = 40;
/** A TXT record of this length fills half a page; no real one comes near. */
const MAX_VALUE = 2500;

interface Row {
  value: string;
  label: Block;
  block: Block;
}

interface RecordBox {
  rows: Row[];
  height: number;
}

export function layOutRecord(
  { width, fonts }: Sheet,
  record: NonNullable<Fix['record']>,
  indent: number,
): RecordBox {
  const room = width - indent - 2 * PADDING - NAMES;
  const rows = [
    { name: 'Type', value: exactly(record.type, 20) },
    { name: 'Name', value: exactly(record.name, 300) },
    { name: 'Value', value: exactly(record.value, MAX_VALUE) },
  ].map(({ name, value }) => ({
    value,
    label: layOut(name, NAMES, { ...SMALL, leading: CODE.leading }, fonts),
    block: layOut(value, room, CODE, fonts),
  }));
  return { rows, height: rows.reduce((sum, { block }) => sum + block.height, 0) + 2 * PADDING };
}

/** On one page. */
export function drawRecord(sheet: Sheet, { rows, height }: RecordBox, indent: number): void {
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
