/** The files that an import has sent, so that the same command can resume it after an interruption. */

import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import * as v from 'valibot';
import { REPORT_STATUSES } from '../../feedback/status.ts';
import type { Io } from '../command.ts';

const SentFile = v.object({
  /** The SHA-256 of its bytes. */
  hash: v.pipe(v.string(), v.regex(/^[\da-f]{64}$/)),
  /** The status of each report, with its problem, if it has one. */
  reports: v.array(v.tuple([v.picklist(REPORT_STATUSES), v.nullable(v.string())])),
});

/** A file that was sent, and its result. */
export type Sent = v.InferOutput<typeof SentFile>;

export interface Journal {
  /** Files that interrupted runs have sent, by hash. */
  earlier: Map<string, Sent>;
  add(sent: Sent[]): void;
  /** Deletes the journal once all files were sent. */
  finish(): void;
}

export const hashOf = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex');

export const NO_JOURNAL: Journal = { earlier: new Map(), add() {}, finish() {} };

/** The journal for these paths and this service. Without a writable home folder, nothing is recorded. */
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
      // The line break comes first, because the last line of an interrupted run may be incomplete.
      // On a full disk, the import continues: the next run sends these files again.
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

/** Skips incomplete and invalid lines: their files are sent again. */
function linesOf(path: string): Sent[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.flatMap((line): Sent[] => {
    const { success, output } = v.safeParse(
      SentFile,
      tried(() => JSON.parse(line)),
    );
    return success ? [output] : [];
  });
}
