/** The head of a PDF with the brand of the team: its logo and name, above a line in its color. */

import { type Brand, fitLogo } from '../brand.ts';
import { drawParagraph, drawRule } from './layout.ts';
import type { Sheet } from './sheet.ts';
import { HEADINGS } from './style.ts';

const LOGO_SIZE = { width: 120, height: 28 };
const GAP = 8;

/** Also sets the color of the document. A logo that cannot be drawn costs the logo only. */
export function drawBrand(sheet: Sheet, { name, logo, colors }: Brand): void {
  if (colors) sheet.accent = colors.light;
  const size = logo && fitLogo(logo, LOGO_SIZE);
  const { left, y: top } = sheet;
  const height = Math.max(size?.height ?? 0, HEADINGS[2].leading);
  const image = logo && Buffer.from(logo.base64, 'base64');
  if (image && size)
    sheet.artifact(({ doc }) => {
      try {
        doc.image(image, left, top + (height - size.height) / 2, size);
      } catch {
        // pdfkit knows fewer kinds of images than browsers do.
      }
    });
  sheet.y += (height - HEADINGS[2].leading) / 2;
  sheet.inset(size ? size.width + GAP : 0, () => drawParagraph(sheet, [name], HEADINGS[2]));
  sheet.y = Math.max(sheet.y, top + height) + 6;
  sheet.artifact(() => drawRule(sheet, sheet.y, sheet.accent, 1.5));
  sheet.y += 12;
}
