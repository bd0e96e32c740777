/** Draws the glyphs of a piece, and adds the text that they stand for where a PDF viewer cannot derive it from them. */

import { isFace } from './fonts.ts';
import type { Piece, TextStyle } from './pieces.ts';

/** The width of the outline that makes a regular font bold, at a font size of one point. */
const EMBOLDENED_WIDTH = 0.03;

/** Internals of pdfkit: `text` draws no text that is wrapped in other marked content. */
interface Fragments {
  _fragment(text: string, x: number, y: number, options: object): void;
}

/** Draws the piece with its baseline at `y`. */
export function drawPiece(
  doc: PDFKit.PDFDocument,
  piece: Piece,
  x: number,
  y: number,
  { size, color }: TextStyle,
): void {
  const { font, isEmboldened, span, text, marker } = piece;
  const ink = span.color ?? color;
  doc.font(font).fontSize(size).fillColor(ink);
  if (isEmboldened) doc.lineWidth(size * EMBOLDENED_WIDTH).strokeColor(ink);
  const options = {
    lineBreak: false,
    baseline: 'alphabetic',
    ...(isEmboldened ? { fill: true, stroke: true } : {}),
  } as const;
  if (needsReplacement(piece)) drawReplaced(doc, marker ?? text, text, x, y, options);
  else doc.text(text, x, y, options);
}

/** Each glyph of these stands for one character. */
const SIMPLE =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{P}\p{Z}\p{N}]*$/u;

/**
 * A glyph may stand for several characters or for a part of one, or be drawn before a glyph that it follows in the
 * text. So Hindi, Thai and sequences of emoji need a replacement, as markers do.
 */
const needsReplacement = ({ marker, font, text }: Piece): boolean =>
  marker !== undefined || (!isFace(font) && !SIMPLE.test(text));

/**
 * Draws `shown` for the replacement text `text`, for copying, searching and screen readers. pdfkit flips the page for
 * each text and flips it back. PDF viewers place replacement text by the transformation at its end, so here the flip
 * surrounds the whole element.
 */
function drawReplaced(
  doc: PDFKit.PDFDocument,
  shown: string,
  text: string,
  x: number,
  y: number,
  options: object,
): void {
  const flipped = Object.create(doc) as PDFKit.PDFDocument & Fragments;
  flipped.transform = flipped.save = flipped.restore = () => flipped;
  doc.save().transform(1, 0, 0, -1, 0, doc.page.height);
  // The second part of a marker replaces nothing. pdfkit omits a plain empty string.
  doc.markContent('Span', { actual: new String(text) as string });
  flipped._fragment(shown, x, y, options);
  doc.endMarkedContent();
  doc.restore();
}
