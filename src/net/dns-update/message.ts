/** Encodes queries to an authoritative server, and dynamic updates (RFC 2136). */

import { randomInt } from 'node:crypto';
import { type Answer, encode } from 'dns-packet';
import { recordFromText } from '../dns/record-data.ts';
import type { RecordType } from '../dns/resolver.ts';

const HEADER_BYTES = 12;
const UPDATE_OPCODE_FLAGS = 5 << 11;
const CLASSES = { IN: 1, NONE: 254, ANY: 255 };

/** Without recursion, so that the server answers from its own data. */
export const encodeAuthoritativeQuery = (name: string, type: RecordType): Buffer =>
  encode({ type: 'query', id: randomInt(0x10000), questions: [{ name, type, class: 'IN' }] });

/** A record in wire format: in the prerequisites of an update, or among its changes. */
export type UpdateEntry = Buffer;

/** Answers repeat the strings of a TXT record exactly as the server has them. */
export type UpdateRecord = Answer;

export const updateRecord = (name: string, type: string, text: string, ttl: number): UpdateRecord =>
  recordFromText(name, type as RecordType, text, ttl);

// Prerequisites (RFC 2136 §2.4): the server makes no change unless all of them hold.

/** The set of records consists of exactly the records that are given in this way. */
export const recordExists = (record: UpdateRecord): UpdateEntry => entry(record, 'IN', 0);
/** There is a set of this type at the name, whatever is in it. */
export const setExists = (name: string, type: string): UpdateEntry => emptyEntry(name, type, 'ANY');
export const noSetExists = (name: string, type: string): UpdateEntry =>
  emptyEntry(name, type, 'NONE');
/** The name has records of its own, of any type. */
export const nameIsInUse = (name: string): UpdateEntry => emptyEntry(name, 'ANY', 'ANY');

// Changes (§2.5).

export const addRecord = (record: UpdateRecord, ttl: number): UpdateEntry =>
  entry(record, 'IN', ttl);
export const deleteRecord = (record: UpdateRecord): UpdateEntry => entry(record, 'NONE', 0);

/** The class and the TTL say what the entry means. dns-packet does not know the class NONE. */
function entry(record: UpdateRecord, klass: keyof typeof CLASSES, ttl: number): UpdateEntry {
  const bytes = encode({ answers: [record] }).subarray(HEADER_BYTES);
  const at = nameEnd(bytes, 0) + 2;
  bytes.writeUInt16BE(CLASSES[klass], at);
  bytes.writeUInt32BE(ttl, at + 2);
  return bytes;
}

/** Without data, as the question of a query plus TTL and length. */
function emptyEntry(name: string, type: string, klass: 'NONE' | 'ANY'): UpdateEntry {
  const question = encode({ questions: [{ name, type: type as 'TXT' }] });
  const bytes = Buffer.concat([question.subarray(HEADER_BYTES), Buffer.alloc(6)]);
  bytes.writeUInt16BE(CLASSES[klass], nameEnd(bytes, 0) + 2);
  return bytes;
}

export function encodeUpdate(
  zone: string,
  prerequisites: UpdateEntry[],
  changes: UpdateEntry[],
): Buffer {
  const head = encode({
    type: 'query',
    id: randomInt(0x10000),
    flags: UPDATE_OPCODE_FLAGS,
    questions: [{ name: zone, type: 'SOA', class: 'IN' }],
  });
  head.writeUInt16BE(prerequisites.length, 6);
  head.writeUInt16BE(changes.length, 8);
  return Buffer.concat([head, ...prerequisites, ...changes]);
}

// Walks over records without interpreting them. These throw a RangeError if the message ends early.

/** The offset after the name that begins at `offset`. */
export function nameEnd(bytes: Buffer, offset: number): number {
  let at = offset;
  for (;;) {
    const length = bytes.readUInt8(at);
    if (length >= 0xc0) return at + 2;
    at += 1 + length;
    if (length === 0) return at;
  }
}

/** Where the last record of the additional section begins; null if that section is empty. */
export function lastAdditional(bytes: Buffer): number | null {
  const count = (at: number) => bytes.readUInt16BE(at);
  let at = HEADER_BYTES;
  for (let i = 0; i < count(4); i += 1) at = nameEnd(bytes, at) + 4;
  let start = at;
  for (let i = 0; i < count(6) + count(8) + count(10); i += 1) {
    start = at;
    const data = nameEnd(bytes, at) + 8;
    at = data + 2 + bytes.readUInt16BE(data);
  }
  return count(10) === 0 ? null : start;
}
