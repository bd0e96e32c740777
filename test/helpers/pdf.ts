/** What a PDF holds, by the programs of poppler: its text, its pages, its structure, its fonts. */

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

/** The text as a reader sees it, a form feed after each page. */
export const pdfText = (pdf: Uint8Array): string =>
  poppler('pdftotext', ['-layout', '-', '-'], pdf);

export const pdfPages = (pdf: Uint8Array): string[] => pdfText(pdf).split('\f').slice(0, -1);

/** One line a fact: `Title: …`, `Pages: …`. */
export const pdfInfo = (pdf: Uint8Array): string => poppler('pdfinfo', ['-'], pdf);

/** The tree of tags with the text in each, a line in quotes for each line of it. */
export const pdfStructure = (pdf: Uint8Array): string =>
  poppler('pdfinfo', ['-struct-text', '-'], pdf);

/** All text in the order of the tags, whatever stands beside it. */
export const pdfWords = (pdf: Uint8Array): string =>
  [...pdfStructure(pdf).matchAll(/^ *"(.*)"$/gm)].map(([, line]) => line).join(' ');

/** A line for each font, after two lines of heading. */
export const pdfFonts = (pdf: Uint8Array): string => poppler('pdffonts', ['-'], pdf);
