/** What an import has sent, so that the next run of the same command goes on where this one was cut off. */

import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import * as v from 'valibot';
import { REPORT_STATUSES } from '../../feedback/status.ts';
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
  const earlier = tried(() => {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    appendFileSync(path, '', { mode: 0o600 });
    return new Map(linesOf(path).map((sent) => [sent.hash, sent]));
  });
  if (earlier === undefined) return NO_JOURNAL;
  return {
    earlier,
    add(sent) {
      // Each line begins with its break, because the last one of an earlier run may have been cut off.
      // On a full disk, the import goes on: the next run sends these files again.
      tried(() => appendFileSync(path, sent.map((one) => `\n${JSON.stringify(one)}`).join('')));
    },
    finish: () => tried(() => rmSync(path, { force: true })),
  };
}

/** Undefined if it fails. */
function tried<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

const SentLine = v.object({
  hash: v.pipe(v.string(), v.regex(/^[\da-f]{64}$/)),
  reports: v.array(v.tuple([v.picklist(REPORT_STATUSES), v.nullable(v.string())])),
});

/** A file whose line was cut off, or is not one of an import, is sent again. */
function linesOf(path: string): Sent[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.flatMap((line): Sent[] => {
    const { success, output } = v.safeParse(
      SentLine,
      tried(() => JSON.parse(line)),
    );
    return success ? [output as Sent] : [];
  });
}
