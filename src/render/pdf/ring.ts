/** The score as a ring with its number and letter. */

import type { Reported } from '../report.ts';
import { COLOR, GRADE_COLOR } from './look.ts';
import type { Sheet } from './sheet.ts';

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
