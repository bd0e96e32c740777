/** Reads text, pages, structure and fonts of a PDF with poppler. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';

function poppler(program: string, args: string[], pdf: Uint8Array): string {
  const { status, stdout, stderr } = spawnSync(program, args, {
    input: pdf,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  assert.deepEqual([status, stderr], [0, ''], program);
  return stdout;
}

/** The text as displayed, with a form feed after each page. */
export const pdfText = (pdf: Uint8Array): string =>
  poppler('pdftotext', ['-layout', '-', '-'], pdf);

export const pdfPages = (pdf: Uint8Array): string[] => pdfText(pdf).split('\f').slice(0, -1);

/** A line per property: `Title: …`, `Pages: …`. */
export const pdfInfo = (pdf: Uint8Array): string => poppler('pdfinfo', ['-'], pdf);

/** The tag tree with its text, each line in quotes. */
export const pdfStructure = (pdf: Uint8Array): string =>
  poppler('pdfinfo', ['-struct-text', '-'], pdf);

/** All tagged text in reading order. */
export const pdfWords = (pdf: Uint8Array): string =>
  [...pdfStructure(pdf).matchAll(/^ *"(.*)"$/gm)].map(([, line]) => line).join(' ');

/** Two header lines, then a line for each font. */
export const pdfFonts = (pdf: Uint8Array): string => poppler('pdffonts', ['-'], pdf);
