/** A message as a document for a sandboxed frame, in which nothing runs, nothing is loaded, nothing leads away. */

/** Stands first in the document, before anything of the message. */
const MESSAGE_CSP =
  "default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:; base-uri 'none'; form-action 'none'";

// Links neither react to the mouse nor open anything; what is not loaded has an outline in its place.
const MESSAGE_STYLE = `
html { color: #000; font: 16px/1.4 Arial, Helvetica, sans-serif; }
body { overflow-wrap: break-word; }
a, area { pointer-events: none; cursor: default; }
img:not([src^="data:"]) { display: inline-block; outline: 1px dashed #8b8d9e; outline-offset: -1px; background: #f3f3f8; color: #585a6b; font: 12px/1.4 Arial, sans-serif; }
`;

/**
 * What a policy does not reach: a <link> connects to a server or asks for its name (preconnect,
 * dns-prefetch) whatever is allowed to be loaded, and the document of an <iframe> may hold another.
 * As text, so that it does not matter how anyone reads the HTML: without these letters there is no
 * such element.
 */
const REACHING_OUT = /<(?=(?:link|iframe|frame|object|embed|base|meta)[\s/>])/gi;

/**
 * The document for `srcdoc`. The frame must be sandboxed without any exception, inside of a page
 * with `PAGE_CSP`.
 */
export function messageDocument(html: string): string {
  return [
    '<!doctype html>',
    `<meta http-equiv="Content-Security-Policy" content="${MESSAGE_CSP}">`,
    '<meta http-equiv="x-dns-prefetch-control" content="off">',
    '<meta name="referrer" content="no-referrer">',
    '<base target="_blank">',
    `<style>${MESSAGE_STYLE}</style>`,
    html.replace(REACHING_OUT, '<x-'),
  ].join('');
}
