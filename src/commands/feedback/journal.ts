/** What an import has sent, so that the next run of the same command goes on where this one was cut off. */

import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Io } from '../command.ts';

/** What became of a file. */
export interface Sent {
  /** The SHA-256 of its bytes. */
  hash: string;
  /** The statuses of its reports, each with what is wrong; null if nothing is. */
  reports: [status: string, problem: string | null][];
}

export interface Journal {
  /** By earlier runs that were cut off. */
  earlier: Map<string, Sent>;
  add(sent: Sent[]): void;
  /** All files were sent. */
  finish(): void;
}

export const hashOf = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex');

export const NO_JOURNAL: Journal = { earlier: new Map(), add() {}, finish() {} };

/** The journal of this import of these paths; none without a home folder, or where nothing can be written. */
export function openJournal(env: Io['env'], service: string, paths: string[]): Journal {
  const state = env.XDG_STATE_HOME || (env.HOME ? join(env.HOME, '.local', 'state') : null);
  if (state === null || paths.includes('-')) return NO_JOURNAL;
  const name = hashOf(
    Buffer.from(JSON.stringify([service, ...paths.map((path) => resolve(path))])),
  );
  const path = join(state, 'deliverability', `import-${name.slice(0, 32)}.jsonl`);
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    appendFileSync(path, '', { mode: 0o600 });
  } catch {
    return NO_JOURNAL;
  }
  return {
    earlier: new Map(linesOf(path).map((sent) => [sent.hash, sent])),
    add(sent) {
      // Each line begins with its break, because the last one of an earlier run may have been cut off.
      appendFileSync(path, sent.map((one) => `\n${JSON.stringify(one)}`).join(''));
    },
    finish: () => rmSync(path, { force: true }),
  };
}

/** A line that was cut off is of a file that is sent again. */
function linesOf(path: string): Sent[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.flatMap((line): Sent[] => {
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  });
}
