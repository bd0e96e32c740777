/** What a disk holds after a power failure: all that was synced, and any part of what was not. */

import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../random.ts';

// As in fault-library.c.
const WRITE = 1;
const TRUNCATE = 2;
const SYNC_START = 3;
const SYNC_END = 4;
const SYNC_FAILED = 5;
const UNLINK = 6;
const HEAD_BYTES = 24;

/** A disk writes sectors completely or not at all. */
const SECTOR_BYTES = 512;

interface Change {
  type: number;
  path: string;
  /** Of a write; the size of a truncated file; the number of a sync. */
  offset: number;
  data: Buffer;
  state: 'pending' | 'durable' | 'lost';
}

/** The changes of a process in their order, each with what its syncs made of it. */
function readJournal(journal: Buffer): Change[] {
  const changes: Change[] = [];
  const started = new Map<number, number>();
  for (let at = 0; at + HEAD_BYTES <= journal.length; ) {
    const pathLength = journal.readUInt32LE(at + 4);
    const length = Number(journal.readBigUInt64LE(at + 16));
    const dataAt = at + HEAD_BYTES + pathLength;
    // The kill can interrupt the last record, before the process has gone on.
    if (dataAt + length > journal.length) break;
    const type = journal.readUInt32LE(at);
    const offset = Number(journal.readBigUInt64LE(at + 8));
    const path = journal.toString('utf8', at + HEAD_BYTES, dataAt);
    const data = journal.subarray(dataAt, dataAt + length);
    if (type === SYNC_START) started.set(offset, changes.length);
    else if (type === SYNC_END || type === SYNC_FAILED) {
      // After a failed sync, the kernel forgets the pages: a later sync does not write them.
      const state = type === SYNC_END ? 'durable' : 'lost';
      for (const change of changes.slice(0, started.get(offset)))
        if (change.path === path && change.state === 'pending') change.state = state;
    } else changes.push({ type, path, offset, data, state: 'pending' });
    at = dataAt + length;
  }
  return changes;
}

export interface PowerCut {
  /** Changes that were not synced. */
  unsynced: number;
  /** Of these, how many did not reach the disk, or only in part. */
  lost: number;
}

/**
 * Replaces the files with what is left of them: `before` has their content at the start of the process. Unsynced
 * changes survive by chance, in any combination, and writes in part.
 */
export function cutPower(before: Map<string, Buffer>, journal: Buffer, random: Random): PowerCut {
  const files = new Map([...before].map(([path, content]) => [path, createContent(content)]));
  const figures = { unsynced: 0, lost: 0 };
  const survives = random.below(4) / 3;
  const changes = readJournal(journal);
  for (const change of changes) {
    const { type, path, offset, data } = change;
    if (type === UNLINK) {
      files.delete(path);
      continue;
    }
    const rest = change.state === 'durable' ? data : survivingPart(change, survives, random);
    if (change.state !== 'durable') figures.unsynced += 1;
    if (rest !== data) figures.lost += 1;
    if (rest === null) continue;
    const content = files.get(path) ?? createContent(Buffer.alloc(0));
    files.set(path, content);
    if (type === TRUNCATE) content.resize(offset);
    else content.write(offset, rest);
  }
  for (const path of new Set(changes.map((change) => change.path))) {
    const content = files.get(path);
    if (content) writeFileSync(path, content.bytes());
    else rmSync(path, { force: true });
  }
  return figures;
}

/** Of an unsynced change: all of its data, whole sectors from the start, or null. */
function survivingPart({ type, data, state }: Change, chance: number, random: Random) {
  if (state === 'lost') return null;
  if (random.chance(chance)) return data;
  if (type !== WRITE || random.chance(0.5)) return null;
  return data.subarray(0, random.below(Math.ceil(data.length / SECTOR_BYTES)) * SECTOR_BYTES);
}

/** The growing content of a file. */
function createContent(initial: Buffer) {
  let buffer = Buffer.from(initial);
  let size = initial.length;
  const resize = (length: number) => {
    if (length > buffer.length) {
      const larger = Buffer.alloc(2 * length);
      buffer.copy(larger, 0, 0, size);
      buffer = larger;
    }
    // What a file had behind its end is gone when it grows again.
    if (length < size) buffer.fill(0, length, size);
    size = length;
  };
  return {
    resize,
    write(offset: number, data: Buffer) {
      resize(Math.max(size, offset + data.length));
      data.copy(buffer, offset);
    },
    bytes: () => buffer.subarray(0, size),
  };
}

/** The content of all files in the folder, by path. */
export function readFiles(folder: string): Map<string, Buffer> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
  return new Map(paths.map((path) => [path, readFileSync(path)]));
}
