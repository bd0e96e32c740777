/** Extracts what a report shows of a message: text, header, attachments, links and source, all bounded. */

import { decodeWords } from 'postal-mime';
import { createContext } from '../analysis/context.ts';
import { allLinks } from '../analysis/links/links.ts';
import type { HeaderField, Message, Part } from '../analysis/mime/message.ts';
import type { Attachment, MessageView } from './report.ts';

const MAX = {
  headers: 200,
  headerName: 100,
  headerValue: 2000,
  text: 200_000,
  attachments: 100,
  filename: 255,
  links: 200,
  href: 2000,
  linkText: 200,
  source: 256 * 1024,
} as const;

/**
 * `embedded`: the parts that the HTML shows, which are no attachments. Never throws, whatever the message
 * contains. Takes linear time.
 */
export function messageView(
  raw: Uint8Array,
  message: Message,
  embedded: ReadonlySet<Part>,
): MessageView {
  const attachments = message.parts.filter((part) => isAttachment(part) && !embedded.has(part));
  const links = linksOf(raw, message);
  return {
    headers: message.headers.slice(0, MAX.headers).map(readHeader),
    text: message.text?.slice(0, MAX.text) ?? null,
    attachments: attachments.slice(0, MAX.attachments).map(readAttachment),
    links: links.slice(0, MAX.links),
    source: sourceOf(raw),
    omittedSourceBytes: Math.max(0, raw.length - MAX.source),
    limitNotes: [
      ...message.exceededLimits.map((limit) => `The message has ${limit}.`),
      ...limitNote('header fields', message.headers.length, MAX.headers),
      ...limitNote('characters of text', message.text?.length ?? 0, MAX.text),
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
function linksOf(raw: Uint8Array, message: Message): MessageView['links'] {
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
  return allLinks(context).map(({ href, text }) => ({
    href: href.slice(0, MAX.href),
    text: text?.slice(0, MAX.linkText) ?? null,
  }));
}

/** The beginning of the source. A character split by the limit is dropped. */
function sourceOf(raw: Uint8Array): string {
  const shown = raw.subarray(0, MAX.source);
  return new TextDecoder().decode(shown, { stream: shown.length < raw.length });
}
