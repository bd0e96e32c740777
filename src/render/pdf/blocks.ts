/** What sections are made of: headings, paragraphs, pairs of name and value, boxes. */

import { drawBlock, drawLine } from './draw-lines.ts';
import { layOut, type Text, type TextStyle } from './lines.ts';
import { COLOR, PAGE, TYPE } from './look.ts';
import type { Sheet } from './sheet.ts';

export const BODY: TextStyle = { ...TYPE.body, face: 'sans', color: COLOR.ink };
export const SMALL: TextStyle = { ...TYPE.small, face: 'sans', color: COLOR.muted };
export const CODE: TextStyle = { ...TYPE.code, face: 'mono', color: COLOR.ink };

export interface Place {
  style?: TextStyle;
  /** From the left margin. */
  indent?: number;
  width?: number;
  /** The kind of structure element; a paragraph unless said. */
  tag?: string;
}

/** Text that may go over to the next page, two lines of it together. */
export function paragraph(sheet: Sheet, text: Text, place: Place = {}): void {
  const { style = BODY, indent = 0, width = sheet.width - indent, tag = 'P' } = place;
  const { lines } = layOut(text, width, style, sheet.fonts);
  sheet.element(tag, () => {
    lines.forEach((line, index) => {
      const together = index === 0 ? Math.min(2, lines.length) : 1;
      sheet.need(together * style.leading);
      drawLine(sheet, line, sheet.left + indent, sheet.y, style);
      sheet.y += style.leading;
    });
  });
}

/** A heading is kept with this much of what follows it. */
const FOLLOWING = 90;

/** A heading with a line below it, and its entry in the outline. */
export function section(
  sheet: Sheet,
  title: string,
  draw: () => void,
  following = FOLLOWING,
): void {
  const style: TextStyle = { ...TYPE.section, face: 'bold', color: COLOR.ink };
  sheet.skip(20);
  sheet.need(style.leading + 8 + following);
  outlineEntry(sheet, title);
  sheet.element('Sect', () => {
    paragraph(sheet, title, { style, tag: 'H2' });
    sheet.artifact(() => rule(sheet, sheet.y + 1.5, COLOR.ink, 0.8));
    sheet.y += 9;
    draw();
  });
}

/** A smaller heading, without an entry in the outline. */
export function subheading(sheet: Sheet, text: Text, following = 60): void {
  const style: TextStyle = { ...TYPE.sub, face: 'bold', color: COLOR.ink };
  sheet.skip(10);
  sheet.need(style.leading + following);
  paragraph(sheet, text, { style, tag: 'H3' });
  sheet.y += 3;
}

/** A way to here from the list of contents that viewers show beside the pages. */
export function outlineEntry({ outline, y }: Sheet, title: string): PDFKit.PDFOutline {
  // pdfkit counts `left` from the right edge.
  const options = { left: PAGE.width, top: y - 6, fit: false };
  return outline.addItem(title, options as object);
}

export function rule({ doc, left, width }: Sheet, y: number, color: string, thickness = 0.5): void {
  doc
    .lineWidth(thickness)
    .strokeColor(color)
    .moveTo(left, y)
    .lineTo(left + width, y)
    .stroke();
}

export interface Pair {
  name: string;
  value: Text;
  style?: TextStyle;
}

/** Names in a column, each with its value beside it. */
export function pairs(
  sheet: Sheet,
  list: Pair[],
  { indent = 0, names = 84, style = BODY }: { indent?: number; names?: number; style?: TextStyle },
): void {
  const width = sheet.width - indent;
  for (const pair of list) {
    const used = pair.style ?? style;
    const name = layOut(pair.name, names - 8, { ...style, color: COLOR.muted }, sheet.fonts);
    const value = layOut(pair.value, width - names, used, sheet.fonts);
    const height = Math.max(name.height, value.height);
    sheet.need(height);
    sheet.element('P', () => {
      drawBlock(sheet, name, sheet.left + indent, sheet.y);
      drawBlock(sheet, value, sheet.left + indent + names, sheet.y);
    });
    sheet.y += height;
  }
}

/** Text on a ground of its own, kept on one page. */
export function notice(sheet: Sheet, text: Text, color: string, ground: string): void {
  const padding = 8;
  const block = layOut(text, sheet.width - 2 * padding - 4, BODY, sheet.fonts);
  const height = block.height + 2 * padding - 2;
  sheet.need(height);
  sheet.artifact(() => {
    sheet.doc.rect(sheet.left, sheet.y, sheet.width, height).fill(ground);
    sheet.doc.rect(sheet.left, sheet.y, 2.5, height).fill(color);
  });
  sheet.element('P', () =>
    drawBlock(sheet, block, sheet.left + padding + 4, sheet.y + padding - 1),
  );
  sheet.y += height;
}
