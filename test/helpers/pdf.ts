/** Reads text, pages, structure and fonts of a PDF with poppler. */

import assert from 'node:assert/strict';
import { spawnSync } from '../../scripts/programs.ts';

function poppler(program: string, args: string[], pdf: Uint8Array): string {
  const { status, stdout, stderr } = spawnSync(program, args, {
    input: pdf,
    // It prints local times.
    env: { ...process.env, TZ: 'UTC', LC_ALL: 'C.UTF-8' },
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

/** The text of one page in the order in which it was drawn. */
export const pdfPageWords = (pdf: Uint8Array, page: number): string =>
  poppler('pdftotext', ['-raw', '-f', `${page}`, '-l', `${page}`, '-', '-'], pdf);

/** Two header lines, then a line for each font. */
export const pdfFonts = (pdf: Uint8Array): string => poppler('pdffonts', ['-'], pdf);

/** A page as it is laid out, without its footer. */
export interface PdfPage {
  /** How far down the text reaches, as a share of the page between its margins. */
  filled: number;
  lastLine: string;
  /** In points. */
  lastLineHeight: number;
  text: string;
}

/** In points, as in `pdf/style.ts`. */
const BODY = { top: 44, bottom: 842 - 58 };
const WORD = /<word xMin="[\d.]+" yMin="([\d.]+)" xMax="[\d.]+" yMax="([\d.]+)">(.*?)<\/word>/g;

export function pdfLayout(pdf: Uint8Array): PdfPage[] {
  const pages = poppler('pdftotext', ['-bbox', '-', '-'], pdf).split('<page ').slice(1);
  return pages.map((page) => {
    const words = [...page.matchAll(WORD)]
      .map(([, top, bottom, text]) => ({
        top: Number(top),
        bottom: Number(bottom),
        text: unescapeHtml(text!),
      }))
      .filter(({ bottom }) => bottom <= BODY.bottom + 2);
    const lowest = Math.max(BODY.top, ...words.map(({ bottom }) => bottom));
    const lastWords = words.filter(({ bottom }) => lowest - bottom < 3);
    return {
      filled: (lowest - BODY.top) / (BODY.bottom - BODY.top),
      lastLineHeight: Math.max(0, ...lastWords.map(({ top, bottom }) => bottom - top)),
      lastLine: lastWords.map(({ text }) => text).join(' '),
      text: words.map(({ text }) => text).join(' '),
    };
  });
}

const unescapeHtml = (text: string): string =>
  text.replace(
    /&(lt|gt|quot|amp);/g,
    (_, name) => ({ lt: '<', gt: '>', quot: '"' })[name as 'lt'] ?? '&',
  );

/** The text of every heading, in reading order. */
export function pdfHeadings(pdf: Uint8Array): string[] {
  const structure = pdfStructure(pdf);
  return [...structure.matchAll(/^( +)H\d .*\n((?:\1 +".*"\n?)+)/gm)].map(([, , lines]) =>
    [...lines!.matchAll(/"(.*)"$/gm)].map(([, line]) => line!.trim()).join(' '),
  );
}
