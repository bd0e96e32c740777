/** Which header fields the receiver of a saved message added. */

import { isSameDomain } from '../dns/names.ts';
import { parseColonList, parseTagList } from '../dns/tag-list.ts';
import type { HeaderField } from '../mime/message.ts';
import { DELIVERY_FIELDS, EXCHANGE_FIELDS, type Receiver } from './receivers.ts';
import { authservId } from './results.ts';

/** Fields that senders write. Above the field of the receiver, they show that a program has sorted the header. */
const AUTHOR_FIELDS = new Set(['from', 'to', 'subject', 'date', 'message-id', 'mime-version']);

/** The server that received the message. */
export interface Server {
  by: string;
  receiver: Receiver | null;
}

/**
 * The indexes, in order. Servers add their fields at the top, so everything above the Received field of the receiver is
 * its own, and results directly below. Some providers add more at the end, under names of their own. What a signature of
 * the sender covers is the sender's.
 */
export function addedFields(headers: HeaderField[], received: number, server: Server): number[] {
  const isSorted = headers.slice(0, received).some(({ key }) => AUTHOR_FIELDS.has(key));
  const signed = signedNames(headers.slice(received));
  const returnPath = ownReturnPath(headers, received, server);
  let isBlock = true;
  return headers.flatMap((field, index) => {
    const { key } = field;
    if (index === received || (index < received && !isSorted)) return [index];
    const isNear = isResult(field, server);
    if (index > received) isBlock &&= isNear;
    const isOwn =
      index === returnPath ||
      (index < received ? isNear || key === 'received' : isBlock) ||
      server.receiver?.fields.test(key) ||
      EXCHANGE_FIELDS.test(key);
    return isOwn && !signed.has(key) ? [index] : [];
  });
}

/** Senders can write Return-Path too, but not where the receiver writes it. */
function ownReturnPath(headers: HeaderField[], received: number, { receiver }: Server): number {
  const isReturnPath = ({ key }: HeaderField) => key === 'return-path';
  const above = headers.slice(0, received).findIndex(isReturnPath);
  if (above >= 0) return above;
  const below = headers.findLastIndex(isReturnPath);
  const isOwn =
    receiver?.hasReturnPathBelow ||
    headers.slice(below + 1).some(({ key }) => EXCHANGE_FIELDS.test(key));
  return isOwn && below > received ? below : -1;
}

/** The fields that the signatures of the sender cover. */
const signedNames = (headers: HeaderField[]): Set<string> =>
  new Set(
    headers
      .filter(({ key }) => key === 'dkim-signature')
      .flatMap(({ value }) => parseColonList(parseTagList(value).get('h'))),
  );

/** Whether the field is a result of the receiver, as it writes them next to its Received field. */
function isResult({ key, value }: HeaderField, server: Server): boolean {
  const { by, receiver } = server;
  if (DELIVERY_FIELDS.test(key) || receiver?.fields.test(key)) return true;
  if (key === 'authentication-results') return isServer(authservId(value), server);
  if (key === 'arc-authentication-results')
    return isServer(authservId(value.replace(/^\s*i\s*=\s*\d+\s*;/i, '')), server);
  if (key !== 'arc-seal' && key !== 'arc-message-signature') return false;
  return isSameDomain(parseTagList(value).get('d') ?? '', by);
}

/** Whether the server name of a result is the receiver's. */
export function isServer(id: string, { by, receiver }: Server): boolean {
  if (!receiver) return id === by.toLowerCase() || isSameDomain(id, by);
  return receiver.authserv === null ? id === '' : receiver.authserv.test(id);
}
