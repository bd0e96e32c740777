/** Extracts what a report shows of a message: HTML, text, header, attachments, links and source, all bounded. */

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

/** Never rejects, whatever the message contains. Takes linear time. */
export async function messageView(raw: Uint8Array): Promise<MessageView> {
  const message = await parseMessage(raw);
  const truncatedHtml = message.html?.slice(0, MAX.html) ?? null;
  const { html, embedded } = embedInlineImages(truncatedHtml, message.parts);
  const attachments = message.parts.filter((part) => isAttachment(part) && !embedded.has(part));
  const { links, remoteImages } = linksOf(raw, message);
  return {
    headers: message.headers.slice(0, MAX.headers).map(readHeader),
    text: message.text?.slice(0, MAX.text) ?? null,
    html,
    attachments: attachments.slice(0, MAX.attachments).map(readAttachment),
    links: links.slice(0, MAX.links),
    source: sourceOf(raw),
    omittedSourceBytes: Math.max(0, raw.length - MAX.source),
    remoteImages,
    limitNotes: [
      ...message.exceededLimits.map((limit) => `The message has ${limit}.`),
      ...limitNote('header fields', message.headers.length, MAX.headers),
      ...limitNote('characters of text', message.text?.length ?? 0, MAX.text),
      ...limitNote('characters of HTML', message.html?.length ?? 0, MAX.html),
      ...limitNote('attachments', attachments.length, MAX.attachments),
      ...limitNote('links', links.length, MAX.links),
    ],
  };
}

function limitNote(noun: string, count: number, limit: number): string[] {
  const [total, shown] = [count, limit].map((number) => number.toLocaleString('en'));
  return count > limit ? [`Only the first ${shown} of ${total} ${noun} are shown.`] : [];
}

/** Decodes encoded words; the source shows the original. */
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

/** Reads links with the same code as the checks, which needs a context. The context never uses the network. */
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

/** The beginning of the source. A character split by the limit is dropped. */
function sourceOf(raw: Uint8Array): string {
  const shown = raw.subarray(0, MAX.source);
  return new TextDecoder().decode(shown, { stream: shown.length < raw.length });
}

// Embeds the inline images of the message (`cid:`, RFC 2392) into its HTML as data URIs.

/** Total length of all data URIs in characters, repetitions included. */
const MAX_EMBEDDED_LENGTH = 2 * 1024 * 1024;

/** Image types that browsers support. The type becomes part of the HTML, so any other text must not match. */
const IMAGE_TYPES = /^image\/(?:png|jpe?g|gif|webp|avif|bmp|svg\+xml)$/;

// Only after a quotation mark, an equals sign or a parenthesis: where HTML has a URL, not in running text.
const CID_URL = /(["'=(]\s{0,20})cid:([^\s"'<>()]{1,300})/gi;

/** Returns the HTML and the parts embedded in it. */
function embedInlineImages(
  html: string | null,
  parts: Part[],
): { html: string | null; embedded: Set<Part> } {
  const embedded = new Set<Part>();
  if (html === null) return { html, embedded };
  const images = new Map(
    parts.flatMap((part) =>
      part.contentId && IMAGE_TYPES.test(part.type) ? [[part.contentId, part] as const] : [],
    ),
  );
  const uris = new Map<Part, string>();
  let remaining = MAX_EMBEDDED_LENGTH;
  const withImages = html.replace(CID_URL, (original, prefix: string, id: string) => {
    const part = images.get(id) ?? images.get(decodedId(id));
    // Base64 takes four characters for three bytes, so images that are too large are not encoded at all.
    if (!part || (part.size * 4) / 3 > remaining) return original;
    const uri = uris.get(part) ?? dataUri(part);
    if (uri.length > remaining) return original;
    uris.set(part, uri);
    remaining -= uri.length;
    embedded.add(part);
    return prefix + uri;
  });
  return { html: withImages, embedded };
}

/** RFC 2392 §2: `cid:` URLs are percent-encoded. */
function decodedId(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

const dataUri = ({ type, content }: Part): string =>
  `data:${type};base64,${Buffer.from(content).toString('base64')}`;
