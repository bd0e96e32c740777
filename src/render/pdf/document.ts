/** A PDF from its beginning to its bytes: size, language, title, time. */

import PDFDocument from 'pdfkit';
import { PAGE } from './look.ts';

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
