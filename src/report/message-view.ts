/** The message for people: what a reader sees, its header, attachments, links and source, all of it bounded. */

import { decodeWords } from 'postal-mime';
import { createContext } from '../analysis/context.ts';
import { htmlFacts } from '../analysis/html/facts.ts';
import { messageLinks } from '../analysis/links/links.ts';
import type { HeaderField, Message, Part } from '../analysis/mime/message.ts';
import { parseMessage } from '../analysis/mime/parse-message.ts';
import type { Attachment, MessageView } from './report.ts';

const MAX = {
  headers: 200,
  headerName: 100,
  headerValue: 2000,
  text: 200_000,
  html: 500_000,
  attachments: 100,
  filename: 255,
  links: 200,
  href: 2000,
  linkText: 200,
  source: 256 * 1024,
} as const;

/** Never rejects for what is in the message; takes time proportional to its size. */
export async function messageView(raw: Uint8Array): Promise<MessageView> {
  const message = await parseMessage(raw);
  const cutHtml = message.html?.slice(0, MAX.html) ?? null;
  const { html, embedded } = embedInlineImages(cutHtml, message.parts);
  const attachments = message.parts.filter((part) => isAttachment(part) && !embedded.has(part));
  const { links, remoteImages } = linksOf(raw, message);
  return {
    headers: message.headers.slice(0, MAX.headers).map(readHeader),
    text: message.text?.slice(0, MAX.text) ?? null,
    html,
    attachments: attachments.slice(0, MAX.attachments).map(readAttachment),
    links: links.slice(0, MAX.links),
    source: sourceOf(raw),
    sourceCut: Math.max(0, raw.length - MAX.source),
    remoteImages,
    notShown: [
      ...message.limits.map((limit) => `The message has ${limit}.`),
      ...cut('header fields', message.headers.length, MAX.headers),
      ...cut('characters of text', message.text?.length ?? 0, MAX.text),
      ...cut('characters of HTML', message.html?.length ?? 0, MAX.html),
      ...cut('attachments', attachments.length, MAX.attachments),
      ...cut('links', links.length, MAX.links),
    ],
  };
}

function cut(what: string, count: number, shown: number): string[] {
  const [of, first] = [count, shown].map((number) => number.toLocaleString('en'));
  return count > shown ? [`Of ${of} ${what} the first ${first} are shown.`] : [];
}

/** Encoded words decoded: as it came, it stands in the source. */
function readHeader({ name, value }: HeaderField): MessageView['headers'][number] {
  return {
    name: name.slice(0, MAX.headerName),
    value: decodeWords(value.slice(0, MAX.headerValue)).slice(0, MAX.headerValue),
  };
}

const isAttachment = ({ type, disposition }: Part): boolean =>
  disposition === 'attachment' || !/^text\/(?:plain|html)$/.test(type);

const readAttachment = ({ filename, type, size }: Part): Attachment => ({
  filename: filename?.slice(0, MAX.filename) ?? null,
  type: type.slice(0, MAX.filename),
  size,
});

/** By the same reading as the checks of links, which want a context; nothing is asked of it but the message. */
function linksOf(raw: Uint8Array, message: Message): Pick<MessageView, 'links' | 'remoteImages'> {
  const context = createContext(
    {
      raw,
      envelope: { mail_from: null, client_ip: null, helo: null, tls: null },
      receivedAt: 0,
      kind: 'auto',
    },
    message,
    { resolver: async () => ({ status: 'nxdomain' }), offline: true },
  );
  return {
    links: messageLinks(context).map(({ href, text }) => ({
      href: href.slice(0, MAX.href),
      text: text?.slice(0, MAX.linkText) ?? null,
    })),
    remoteImages:
      context.fact(htmlFacts)?.images.filter(({ src }) => /^\s*(?:https?:)?\/\//i.test(src))
        .length ?? 0,
  };
}

/** The first part of the source; a character that the cut goes through is left out. */
function sourceOf(raw: Uint8Array): string {
  const shown = raw.subarray(0, MAX.source);
  return new TextDecoder().decode(shown, { stream: shown.length < raw.length });
}

// Images that the message brings along (`cid:`, RFC 2392) put into its HTML as data URIs.

/** Of all data URIs together, in characters; the same image in many places counts as often. */
const MAX_EMBEDDED = 2 * 1024 * 1024;

/** What browsers show as an image; the type goes into the HTML, so no other text may. */
const TYPES = /^image\/(?:png|jpe?g|gif|webp|avif|bmp|svg\+xml)$/;

// After a quotation mark, an equals sign or a bracket: where an address stands, not the word in a text.
const ADDRESS = /(["'=(]\s{0,20})cid:([^\s"'<>()]{1,300})/gi;

/** The HTML, and the parts that are now in it. */
function embedInlineImages(
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
