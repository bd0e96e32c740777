/** Images that the message brings along (`cid:`, RFC 2392) put into its HTML as data URIs. */

import type { Part } from '../analysis/message.ts';

/** Of all data URIs together, in characters; the same image in many places counts as often. */
const MAX_EMBEDDED = 2 * 1024 * 1024;

/** What browsers show as an image; the type goes into the HTML, so no other text may. */
const TYPES = /^image\/(?:png|jpe?g|gif|webp|avif|bmp|svg\+xml)$/;

// After a quotation mark, an equals sign or a bracket: where an address stands, not the word in a text.
const ADDRESS = /(["'=(]\s{0,20})cid:([^\s"'<>()]{1,300})/gi;

/** The HTML, and the parts that are now in it. */
export function embedInlineImages(
  html: string | null,
  parts: Part[],
): { html: string | null; embedded: Set<Part> } {
  const embedded = new Set<Part>();
  if (html === null) return { html, embedded };
  const images = new Map(
    parts.flatMap((part) =>
      part.contentId && TYPES.test(part.type) ? [[part.contentId, part] as const] : [],
    ),
  );
  const uris = new Map<Part, string>();
  let room = MAX_EMBEDDED;
  const filled = html.replace(ADDRESS, (address, before: string, id: string) => {
    const part = images.get(id) ?? images.get(decodedId(id));
    // Base64 takes four characters for three octets: what cannot fit is not even written.
    if (!part || (part.size * 4) / 3 > room) return address;
    const uri = uris.get(part) ?? dataUri(part);
    if (uri.length > room) return address;
    uris.set(part, uri);
    room -= uri.length;
    embedded.add(part);
    return before + uri;
  });
  return { html: filled, embedded };
}

/** RFC 2392 §2: an address writes what it cannot hold as `%40`. */
function decodedId(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

const dataUri = ({ type, content }: Part): string =>
  `data:${type};base64,${Buffer.from(content).toString('base64')}`;
