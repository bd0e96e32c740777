/** What is kept of a message that a report is about: no body, and no address of a recipient. */

import { scanHeaders } from '../../analysis/mime/headers.ts';
import { parseMailDate } from '../../analysis/mime/mail-date.ts';
import { fields, type Message } from '../../analysis/mime/message.ts';
import { parseMessage } from '../../analysis/mime/parse-message.ts';
import { receivedHops } from '../../analysis/mime/received.ts';
import { normalizeAddress } from '../../lib/addresses.ts';
import { addressDomain } from '../../lib/domain-names.ts';
import type { ReportedMessage } from './report.ts';
import { domainOfAddress, readDomain, shortText } from './values.ts';

const MAX_SUBJECT = 100;
const MAX_TEXT = 255;
const MAX_HOSTS = 20;
const MAX_SIGNATURES = 10;

/** The reported message itself, or only its header. */
export async function parseReported(content: Uint8Array): Promise<Message> {
  // The body is dropped, so it need not be parsed.
  const { bodyStart } = scanHeaders(content);
  return parseMessage(content.subarray(0, bodyStart));
}

export const NO_MESSAGE: ReportedMessage = {
  from: null,
  fromDomain: null,
  subject: null,
  date: null,
  messageId: null,
  listId: null,
  feedbackId: null,
  dkim: [],
  receivedHosts: [],
};

export function reportedMessage(message: Message): ReportedMessage {
  const value = (name: string, max = MAX_TEXT) => shortText(fields(message, name)[0]?.value, max);
  const from = message.from[0]?.address ?? null;
  const date = value('date');
  return {
    from: shortText(from, MAX_TEXT),
    fromDomain: from === null ? null : addressDomain(from),
    subject: shortText(message.subject, MAX_SUBJECT),
    date: date === null ? null : (parseMailDate(date)?.ms ?? null),
    messageId: messageIdOf(value('message-id')),
    listId: value('list-id'),
    feedbackId: value('feedback-id'),
    dkim: fields(message, 'dkim-signature')
      .slice(0, MAX_SIGNATURES)
      .flatMap(({ value }) => signatureOf(value)),
    receivedHosts: receivedHops(message)
      .flatMap(({ from, by }) => [from, by])
      .flatMap((host) => (host === null ? [] : [host.toLowerCase()]))
      .filter((host, index, all) => all.indexOf(host) === index)
      .slice(0, MAX_HOSTS),
  };
}

/** Without angle brackets, as other places store it. */
export const messageIdOf = (text: string | null): string | null =>
  shortText(text?.replace(/^[^<]*<|>[^>]*$/g, ''), MAX_TEXT);

function signatureOf(value: string): ReportedMessage['dkim'] {
  const tag = (name: string) =>
    new RegExp(`(?:^|;)\\s*${name}\\s*=\\s*([^;\\s]{1,255})`).exec(value)?.[1] ?? null;
  const domain = readDomain(tag('d'));
  return domain === null ? [] : [{ domain, selector: tag('s') }];
}

// What Microsoft's complaints leave to the attached message.

/** The address that the last server received the message from, by its own fields; null if none says so. */
export function sourceAddressOf(message: Message): string | null {
  const spf = fields(message, 'received-spf')[0]?.value ?? '';
  const named = /client-ip=\s*([0-9a-f.:]{3,45})/i.exec(spf)?.[1];
  const original = fields(message, 'x-originating-ip')[0]?.value ?? '';
  const received = fields(message, 'received').map(
    ({ value }) => /\[(?:IPv6:)?([0-9a-f.:]{3,45})\]/i.exec(value.slice(0, 1000))?.[1],
  );
  for (const text of [named, /[0-9a-f.:]{3,45}/i.exec(original)?.[0], ...received]) {
    const address = text === undefined ? null : normalizeAddress(text);
    if (address !== null) return address;
  }
  return null;
}

/** When the newest Received field says that it arrived, else its Date. */
export function arrivalOf(message: Message): number | null {
  const hops = receivedHops(message);
  const date = fields(message, 'date')[0]?.value;
  return hops.at(-1)?.time ?? (date === undefined ? null : (parseMailDate(date)?.ms ?? null));
}

/** Only the domain of the recipient is kept. */
export function recipientDomainOf(message: Message): string | null {
  for (const name of ['x-hmxmroriginalrecipient', 'delivered-to', 'x-original-to', 'to']) {
    const domain = domainOfAddress(fields(message, name)[0]?.value ?? null);
    if (domain !== null) return domain;
  }
  return null;
}
