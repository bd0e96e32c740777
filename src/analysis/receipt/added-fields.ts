/** Which header fields the receiver of a saved message added. */

import { organizationalDomain } from '../../lib/domain-names.ts';
import { fullHostName } from '../dns/names.ts';
import { parseTagList } from '../dns/tag-list.ts';
import type { HeaderField } from '../mime/message.ts';
import { DELIVERY_FIELDS, EXCHANGE_FIELD, type Receiver } from './receivers.ts';
import { authservId } from './results.ts';

/** Fields that senders write. Above the field of the receiver, they show that a program has sorted the header. */
const AUTHOR_FIELDS = new Set(['from', 'to', 'subject', 'date', 'message-id', 'mime-version']);

interface Server {
  by: string;
  receiver: Receiver | null;
}

/**
 * The indexes, in order. Servers add their fields at the top, so everything above the Received field of the receiver is
 * its own, and results directly below. Some providers add more at the end. What a signature of the sender covers is the
 * sender's.
 */
export function addedFields(headers: HeaderField[], received: number, server: Server): number[] {
  const isSorted = headers.slice(0, received).some(({ key }) => AUTHOR_FIELDS.has(key));
  const signed = signedNames(headers.slice(received));
  const end = startOfEnd(headers, received, server);
  let isBlock = true;
  return headers.flatMap((field, index) => {
    if (index === received) return [index];
    const { key } = field;
    if (index < received && !isSorted) return [index];
    if (index > received) isBlock &&= isResult(field, server);
    const isOwn =
      index > received
        ? isBlock || (index >= end && !key.startsWith('content-t') && !AUTHOR_FIELDS.has(key))
        : key === 'received' || key === 'return-path' || isResult(field, server);
    const isNamed = isSorted && server.receiver?.fields.test(key);
    return (isOwn || isNamed) && !signed.has(key) ? [index] : [];
  });
}

/** Fields above which the message of the sender certainly goes on. MIME-Version is the last field at Microsoft. */
const MESSAGE_FIELDS = new Set(
  ['received', 'dkim-signature', ...AUTHOR_FIELDS].filter((key) => key !== 'mime-version'),
);

/** Where the fields begin that the receiver added at the end, whatever their names are. */
function startOfEnd(headers: HeaderField[], received: number, { receiver }: Server): number {
  const last = headers.findLastIndex(({ key }) => MESSAGE_FIELDS.has(key));
  const hasPath = headers.slice(0, received).some(({ key }) => key === 'return-path');
  const start = headers.findIndex(
    ({ key }, index) =>
      index > Math.max(last, received) &&
      (receiver?.fields.test(key) || EXCHANGE_FIELD.test(key) || (key === 'return-path' && !hasPath)),
  );
  return start === -1 ? headers.length : start;
}

/** The fields that the signatures of the sender cover. */
const signedNames = (headers: HeaderField[]): Set<string> =>
  new Set(
    headers
      .filter(({ key }) => key === 'dkim-signature')
      .flatMap(({ value }) => (parseTagList(value).get('h') ?? '').toLowerCase().split(/\s*:\s*/)),
  );

/** Whether the field is a result of the receiver, as it writes them next to its Received field. */
function isResult({ key, value }: HeaderField, { by, receiver }: Server): boolean {
  if (DELIVERY_FIELDS.test(key) || receiver?.fields.test(key)) return true;
  if (key === 'authentication-results') return isServer(authservId(value), { by, receiver });
  if (key === 'arc-authentication-results')
    return isServer(authservId(value.replace(/^\s*i\s*=\s*\d+\s*;/i, '')), { by, receiver });
  if (key !== 'arc-seal' && key !== 'arc-message-signature') return false;
  return isSameDomain(parseTagList(value).get('d') ?? '', by);
}

function isServer(id: string, { by, receiver }: Server): boolean {
  if (!receiver) return id === by.toLowerCase() || isSameDomain(id, by);
  return receiver.authserv === null ? id === '' : receiver.authserv.test(id);
}

function isSameDomain(a: string, b: string): boolean {
  const [first, second] = [a, b].map((name) => fullHostName(name));
  if (!first || !second) return false;
  return (organizationalDomain(first) ?? first) === (organizationalDomain(second) ?? second);
}
