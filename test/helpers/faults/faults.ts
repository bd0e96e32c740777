/** Makes the disk and the clock of a process fail, with a library that it preloads. Needs Linux and gcc. */

import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { execFileSync } from '../../../scripts/programs.ts';
import { skipUnlessInstalled } from '../installed.ts';
import type { Environment } from '../program.ts';

const SOURCE = fileURLToPath(new URL('fault-library.c', import.meta.url));

/** Error numbers of Linux. */
export const ERRNO = { EIO: 5, ENOSPC: 28, EROFS: 30 } as const;

/** File systems as statfs(2) reports them. */
export const FILE_SYSTEMS = { nfs: 0x6969, cifs: 0xff534d42, ext4: 0xef53 } as const;

/** The 64-bit fields of the control block, in their order. */
const FIELDS = [
  'write_error',
  'sync_error',
  'open_error',
  'read_error',
  'percent',
  'clock_ms',
  'statfs_type',
  'failed_calls',
] as const;

type Field = (typeof FIELDS)[number];

export interface Faults {
  /** For the process. */
  env: Environment;
  /** Gets each write and each sync since the process started, if asked for. */
  journal: string;
  /** Applies to the next calls of the process, even while it runs. */
  set(values: Partial<Record<Exclude<Field, 'failed_calls'>, number>>): void;
  /** No more faults. The clock stays. */
  clear(): void;
  /** How many calls have failed. */
  failedCalls(): number;
}

/** Why tests with faults are skipped, or false. */
export const skipWithoutFaults = () =>
  process.platform !== 'linux' ? 'the library is for Linux' : skipUnlessInstalled('gcc');

let compiled: string | undefined;

function compile(): string {
  if (compiled) return compiled;
  const folder = mkdtempSync(join(tmpdir(), 'fault-library-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'faults.so');
  execFileSync('gcc', ['-shared', '-fPIC', '-O1', '-Wall', '-Werror', '-o', file, SOURCE]);
  compiled = file;
  return file;
}

/** Faults for processes that use this folder. */
export function createFaults(t: TestContext, folder: string, journaled = false): Faults {
  const own = mkdtempSync(join(tmpdir(), 'faults-'));
  const control = openSync(join(own, 'control'), 'w+');
  t.after(() => {
    closeSync(control);
    rmSync(own, { recursive: true, force: true });
  });
  const write = (field: Field, value: number) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(value));
    writeSync(control, bytes, 0, 8, FIELDS.indexOf(field) * 8);
  };
  for (const field of FIELDS) write(field, field === 'percent' ? 100 : 0);
  const journal = join(own, 'journal');
  const library = compile();
  return {
    journal,
    env: {
      LD_PRELOAD: library,
      FAULT_CONTROL: join(own, 'control'),
      FAULT_FOLDER: folder,
      ...(journaled ? { FAULT_JOURNAL: journal } : {}),
      // With io_uring, Node would bypass the library.
      UV_USE_IO_URING: '0',
    },
    set(values) {
      for (const [field, value] of Object.entries(values)) write(field as Field, value);
    },
    clear() {
      for (const field of ['write_error', 'sync_error', 'open_error', 'read_error'] as const)
        write(field, 0);
      write('percent', 100);
    },
    failedCalls() {
      const bytes = Buffer.alloc(8);
      readSync(control, bytes, 0, 8, FIELDS.indexOf('failed_calls') * 8);
      return Number(bytes.readBigInt64LE());
    },
  };
}
