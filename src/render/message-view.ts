/** The message for people: what a reader sees, its header, attachments, links and source, all of it bounded. */

import { decodeWords } from 'postal-mime';
import { htmlFacts } from '../analysis/content/html-facts.ts';
import { messageLinks } from '../analysis/content/links.ts';
import { createContext } from '../analysis/context.ts';
import type { HeaderField, Message, Part } from '../analysis/message.ts';
import { parseMessage } from '../analysis/parse-message.ts';
import { embedInlineImages } from './inline-images.ts';
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
