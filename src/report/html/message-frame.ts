/** A message as a document for a sandboxed frame, in which nothing runs, nothing is loaded, nothing leads away. */

/** Stands first in the document, before anything of the message. */
const MESSAGE_CSP =
  "default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:; base-uri 'none'; form-action 'none'";

/** Cannot be seen, and makes another name of a name. */
const NOTHING = '\u200b';

// Links look as they would if they led anywhere; what is not loaded has an outline in its place.
const MESSAGE_STYLE = `
html { color: #000; font: 16px/1.4 Arial, Helvetica, sans-serif; }
body { overflow-wrap: break-word; }
a[h${NOTHING}ref] { color: #0000ee; text-decoration: underline; }
img:not([src^="data:"]) { display: inline-block; outline: 1px dashed #8b8d9e; outline-offset: -1px; background: #f3f3f8; color: #585a6b; font: 12px/1.4 Arial, sans-serif; }
`;

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
    `<style>${MESSAGE_STYLE}</style>`,
    withoutWaysOut(html),
  ].join('');
}

/**
 * What a policy stops too late or not at all: a link that is followed makes the browser connect
 * before it looks at the policy, and so does a <link> (preconnect, dns-prefetch); the document of
 * an <iframe> may hold both. As text, so that it does not matter how anyone reads the HTML: without
 * these letters there is no such element and no such attribute.
 */
function withoutWaysOut(html: string): string {
  return html
    .replace(/<(?=(?:link|iframe|frame|object|embed|base|meta)[\s/>])/gi, '<x-')
    .replace(LINK_OR_IMAGE, (_, image: string | undefined, h: string, ref: string) =>
      image === undefined ? `${h}${NOTHING}${ref}` : image.replace(/h(?=ref)/gi, percentEncoded),
    );
}

/** `href`, or the Base64 of an image, in which the four letters stand by chance. */
const LINK_OR_IMAGE = /(data:[a-z/+.-]+;base64,[a-z0-9+/=]+)|(h)(ref)/gi;

/** A data URI is decoded before its Base64 is read: the image stays as it is. */
const percentEncoded = (letter: string): string => (letter === 'h' ? '%68' : '%48');
