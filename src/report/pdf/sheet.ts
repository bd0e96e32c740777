/** The pages being filled: the current position, page breaks and structure tags. */

import PDFDocument from 'pdfkit';
import { MAX_PAGES } from '../blocks.ts';
import type { Fonts } from './fonts.ts';
import { COLOR, CONTENT_WIDTH, PAGE } from './style.ts';

/** Height reserved on the last page for the note that the report is truncated. */
const TRUNCATION_NOTE_HEIGHT = 24;

/** Thrown when content does not fit on the last allowed page. */
export class PageLimitError extends Error {}

export interface Sheet {
  doc: PDFKit.PDFDocument;
  fonts: Fonts;
  left: number;
  width: number;
  /** The current position, from the top of the page. */
  y: number;
  /** The parent of new entries in the outline. */
  outline: PDFKit.PDFOutline;
  accent: string;
  /** The names of the destinations for internal links. */
  destinations: ReadonlySet<string>;
  /** Added to the rank of each heading; 0 for a single report. */
  depth: number;
  /** Begins a new page unless the current one has this much height left. Throws PageLimitError. */
  ensureSpace(height: number): void;
  /** Indents what `draw` draws by `by` points. */
  inset(by: number, draw: () => void): void;
  /**
   * Resets the page limit to `pages`. Begins a new page unless the current one has `minHeight` left. Returns
   * whether it did.
   */
  startPart(pages: number, minHeight: number): boolean;
  /** Adds free space, except at the top of a page. */
  skip(height: number): void;
  /** Wraps what `draw` draws in a structure element. */
  element(type: string, draw: () => void, options?: object): void;
  /** Draws content of the current element, mostly text. */
  content(draw: () => void): void;
  /** Draws decoration that screen readers skip: lines, backgrounds, repeated table heads. */
  artifact(draw: (sheet: Sheet) => void): void;
  /** Adds a link to the current element: a URL, or `#name` for a destination in the document. */
  link(x: number, y: number, width: number, height: number, url: string): void;
}

type Element = ReturnType<PDFKit.PDFDocument['struct']>;

export function createSheet(doc: PDFKit.PDFDocument, fonts: Fonts): Sheet {
  const root = doc.struct('Document');
  doc.addStructure(root);
  const openElements: { element: Element; type: string }[] = [{ element: root, type: 'Document' }];
  const current = () => openElements.at(-1)!;
  let pagesLeft = MAX_PAGES - 1;
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
    accent: COLOR.accent,
    destinations: new Set(),
    depth: 0,
    ensureSpace(height) {
      const bottom = PAGE.height - PAGE.bottom - (pagesLeft === 0 ? TRUNCATION_NOTE_HEIGHT : 0);
      // Content taller than a page starts at the top of the current page if that is empty.
      if (sheet.y + height <= bottom || sheet.y === PAGE.top) return;
      if (pagesLeft === 0) throw new PageLimitError();
      pagesLeft -= 1;
      addPage();
    },
    inset(by, draw) {
      const { left, width } = sheet;
      Object.assign(sheet, { left: left + by, width: width - by });
      try {
        draw();
      } finally {
        Object.assign(sheet, { left, width });
      }
    },
    startPart(pages, minHeight) {
      if (sheet.y + minHeight <= PAGE.height - PAGE.bottom) {
        // The rest of the current page is in addition to the limit.
        pagesLeft = pages;
        return false;
      }
      pagesLeft = pages - 1;
      addPage();
      return true;
    },
    skip(height) {
      if (sheet.y > PAGE.top) sheet.y += height;
    },
    element(kind, draw, options = {}) {
      const type = kind.replace(/^H(\d)$/, (_, rank) => `H${Number(rank) + sheet.depth}`);
      const element = doc.struct(type, options);
      current().element.add(element);
      openElements.push({ element, type });
      try {
        draw();
      } finally {
        openElements.pop();
        element.end();
      }
    },
    content(draw) {
      const { element, type } = current();
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
      const options = { structParent: current().element, Contents: new String(url) };
      if (url.startsWith('#')) doc.goTo(x, y, width, height, url.slice(1), options as object);
      else doc.link(x, y, width, height, url, options as object);
    },
  };
  return sheet;
}

/** For drawing inside content that is already marked. */
function withoutTags(sheet: Sheet): Sheet {
  return { ...sheet, content: (draw) => draw(), element: (_, draw) => draw(), link: () => {} };
}

// Opens a PDF document and collects its bytes.

/** A tagged A4 document. Its creation date is `time` (ISO 8601), so that the same content gives the same bytes. */
export function openDocument(title: string, time: string | null): PDFKit.PDFDocument {
  const { width, height, left, right, top, bottom } = PAGE;
  const options: PDFKit.PDFDocumentOptions = {
    size: [width, height],
    margins: { left, right, top, bottom },
    // Prevents pdfkit from loading its default font.
    font: null as never,
    pdfVersion: '1.7',
    lang: 'en-GB',
    displayTitle: true,
    tagged: true,
    // The footers show the number of pages, which is known only at the end.
    bufferPages: true,
    info: {
      Title: escapedInXml(title) as string,
      Creator: 'Deliverability',
      CreationDate: new Date(time === null ? 0 : Date.parse(time)),
    },
  };
  return new PDFDocument(options);
}

/** pdfkit writes the title as a PDF string and also into XML metadata, where it does not escape it. */
function escapedInXml(text: string): unknown {
  const xml = text.replace(/[<>&]/g, (char) => `&#${char.charCodeAt(0)};`);
  return Object.assign(new String(text), { toString: () => xml });
}

/** Resolves with the bytes when the document has ended. */
export function collect(doc: PDFKit.PDFDocument): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    doc.on('data', (chunk: Uint8Array) => chunks.push(chunk));
    doc.on('error', reject);
    doc.on('end', () => resolve(new Uint8Array(Buffer.concat(chunks))));
  });
}
