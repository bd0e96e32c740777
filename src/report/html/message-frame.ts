/** A message as a document for a sandboxed frame: no scripts, no requests, no working links. */

/** Comes before any content of the message, so that a saved copy is safe too. */
const MESSAGE_CSP =
  "default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:; base-uri 'none'; form-action 'none'";

/** The header of a frame that has a URL of its own. Opened on its own, the document is sandboxed too. */
export const FRAME_CSP = `${MESSAGE_CSP}; frame-ancestors 'self'; sandbox`;

/** An invisible character that turns an attribute name into an unknown one. */
const ZERO_WIDTH_SPACE = '\u200b';

const MESSAGE_STYLE = 'body { overflow-wrap: break-word; }';

/**
 * The document of a frame with an empty `sandbox` attribute. `html` comes from `report/preview`, which writes nothing
 * that connects or runs; this does not rely on it.
 */
export function messageDocument(html: string): string {
  return [
    '<!doctype html>',
    `<meta http-equiv="Content-Security-Policy" content="${MESSAGE_CSP}">`,
    '<meta http-equiv="x-dns-prefetch-control" content="off">',
    '<meta name="referrer" content="no-referrer">',
    `<style>${MESSAGE_STYLE}</style>`,
    withoutConnections(html),
  ].join('');
}

/**
 * Removes what the policy stops too late or not at all. Browsers connect before they check the
 * policy when they follow a link or find a <link> (preconnect, dns-prefetch); an <iframe> may
 * contain both. Replaces text rather than parsed elements, so that it does not depend on how a browser
 * parses the HTML.
 */
function withoutConnections(html: string): string {
  return html
    .replace(/<(?=(?:link|iframe|frame|object|embed|base|meta)[\s/>])/gi, '<x-')
    .replace(LINK_OR_IMAGE, (_, image: string | undefined, h: string, ref: string) =>
      image === undefined
        ? `${h}${ZERO_WIDTH_SPACE}${ref}`
        : image.replace(/h(?=ref)/gi, percentEncoded),
    );
}

/** `href`, or the Base64 data of an image, which can contain the same letters by chance. */
const LINK_OR_IMAGE = /(data:[a-z/+.-]+;base64,[a-z0-9+/=]+)|(h)(ref)/gi;

/** Browsers decode percent-encoding before Base64, so the image stays the same. */
const percentEncoded = (letter: string): string => (letter === 'h' ? '%68' : '%48');
