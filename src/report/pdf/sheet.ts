/** The pages as they fill: where the next thing goes, when a new page begins, what is what (its tags). */

import PDFDocument from 'pdfkit';
import { MAX_PAGES } from '../blocks.ts';
import type { Fonts } from './fonts.ts';
import { CONTENT_WIDTH, PAGE } from './style.ts';

/** On the last page this much is kept free to say that more was left out. */
const LAST_WORD = 24;

/** Thrown where something does not fit on the last page that there may be. */
export class PagesFull extends Error {}

export interface Sheet {
  doc: PDFKit.PDFDocument;
  fonts: Fonts;
  left: number;
  width: number;
  /** Where the next thing begins, from the top of the page. */
  y: number;
  /** What entries of the outline are put under. */
  outline: PDFKit.PDFOutline;
  /** The names of the places in the document to which jumps lead. */
  places: ReadonlySet<string>;
  /** By how much headings stand below those of a report alone. */
  depth: number;
  /** Begins a new page unless this height is left. Throws PagesFull. */
  need(height: number): void;
  /** What `draw` draws begins so much further to the right. */
  inset(by: number, draw: () => void): void;
  /** Begins a new page, of so many that there may be from here on. */
  begin(pages: number): void;
  /** Free space; none at the top of a page. */
  skip(height: number): void;
  /** An element of the document's structure, of what `draw` draws and adds to it. */
  element(type: string, draw: () => void, options?: object): void;
  /** Draws what belongs to the present element: text, mostly. */
  content(draw: () => void): void;
  /** Draws what says nothing: lines, grounds, what is there already. */
  artifact(draw: (sheet: Sheet) => void): void;
  /** A thing that a click opens, as part of the present element: `#name` is a place in the document. */
  link(x: number, y: number, width: number, height: number, url: string): void;
}

type Element = ReturnType<PDFKit.PDFDocument['struct']>;

export function createSheet(doc: PDFKit.PDFDocument, fonts: Fonts): Sheet {
  const root = doc.struct('Document');
  doc.addStructure(root);
  const open: { element: Element; type: string }[] = [{ element: root, type: 'Document' }];
  const present = () => open.at(-1)!;
  let left = MAX_PAGES - 1;
  const addPage = () => {
    doc.addPage();
    sheet.y = PAGE.top;
  };
  const sheet: Sheet = {
    doc,
    fonts,
    left: PAGE.left,
    width: CONTENT_WIDTH,
    y: PAGE.top,
    outline: doc.outline,
    places: new Set(),
    depth: 0,
    need(height) {
      const bottom = PAGE.height - PAGE.bottom - (left === 0 ? LAST_WORD : 0);
      // What is higher than a page begins at the top of one, and not after an empty one.
      if (sheet.y + height <= bottom || sheet.y === PAGE.top) return;
      if (left === 0) throw new PagesFull();
      left -= 1;
      addPage();
    },
    inset(by, draw) {
      const { left: from, width } = sheet;
      Object.assign(sheet, { left: from + by, width: width - by });
      try {
        draw();
      } finally {
        Object.assign(sheet, { left: from, width });
      }
    },
    begin(pages) {
      left = pages - 1;
      addPage();
    },
    skip(height) {
      if (sheet.y > PAGE.top) sheet.y += height;
    },
    element(kind, draw, options = {}) {
      const type = kind.replace(/^H(\d)$/, (_, rank) => `H${Number(rank) + sheet.depth}`);
      const element = doc.struct(type, options);
      present().element.add(element);
      open.push({ element, type });
      try {
        draw();
      } finally {
        open.pop();
        element.end();
      }
    },
    content(draw) {
      const { element, type } = present();
      element.add(doc.markStructureContent(type));
      draw();
      doc.endMarkedContent();
    },
    artifact(draw) {
      doc.markContent('Artifact', { type: 'Layout' });
      draw(withoutTags(sheet));
      doc.endMarkedContent();
    },
    link(x, y, width, height, url) {
      const options = { structParent: present().element, Contents: new String(url) };
      if (url.startsWith('#')) doc.goTo(x, y, width, height, url.slice(1), options as object);
      else doc.link(x, y, width, height, url, options as object);
    },
  };
  return sheet;
}

/** For drawing inside of what is marked already. */
function withoutTags(sheet: Sheet): Sheet {
  return { ...sheet, content: (draw) => draw(), element: (_, draw) => draw(), link: () => {} };
}

// A PDF from its beginning to its bytes: size, language, title, time.

/** A4, tagged, with this title and the time (ISO 8601) of what it tells: the same content is the same file. */
export function openDocument(title: string, time: string | null): PDFKit.PDFDocument {
  const { width, height, left, right, top, bottom } = PAGE;
  const options: PDFKit.PDFDocumentOptions = {
    size: [width, height],
    margins: { left, right, top, bottom },
    // None yet, and never one of those that pdfkit would read from files of its own.
    font: null as never,
    pdfVersion: '1.7',
    lang: 'en-GB',
    displayTitle: true,
    tagged: true,
    // The foot of a page says how many there are.
    bufferPages: true,
    info: {
      Title: inXmlToo(title) as string,
      Creator: 'Deliverability',
      CreationDate: new Date(time === null ? 0 : Date.parse(time)),
    },
  };
  return new PDFDocument(options);
}

/** pdfkit writes the title as a PDF string and, by its text, into XML, where it escapes nothing. */
function inXmlToo(text: string): unknown {
  const xml = text.replace(/[<>&]/g, (char) => `&#${char.charCodeAt(0)};`);
  return Object.assign(new String(text), { toString: () => xml });
}

/** The bytes, once the document has ended. */
export function collect(doc: PDFKit.PDFDocument): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    doc.on('data', (chunk: Uint8Array) => chunks.push(chunk));
    doc.on('error', reject);
    doc.on('end', () => resolve(new Uint8Array(Buffer.concat(chunks))));
  });
}
