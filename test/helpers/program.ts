/** The program as it ships, bundled into one file, run in processes of its own. */

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from '../../scripts/executable/bundle.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Bundles `src/main.ts` once for this test file and returns the path. Below the project's own
 * folder, because better-sqlite3 stays outside the bundle and is looked for upwards from it.
 */
export function buildProgram(): Promise<string> {
  built ??= makeBundle();
  return built;
}
let built: Promise<string> | undefined;

async function makeBundle(): Promise<string> {
  mkdirSync(join(ROOT, 'dist'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, 'dist', 'test-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'deliverability.cjs');
  await bundle(file);
  return file;
}

export type Environment = Record<string, string>;

/** The program with these arguments, and of the environment only what is given. */
export async function spawnProgram(
  args: string[],
  env: Environment = {},
  nodeOptions: string[] = [],
): Promise<ChildProcessWithoutNullStreams> {
  const { PATH = '' } = process.env;
  const command = [...nodeOptions, await buildProgram(), ...args];
  return spawn(process.execPath, command, { env: { PATH, ...env }, cwd: ROOT });
}

export interface Ended {
  /** null where a signal ended it. */
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a command to its end. */
export async function runProgram(
  args: string[],
  env: Environment = {},
  input: string | Uint8Array = '',
): Promise<Ended> {
  const child = await spawnProgram(args, env);
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text) => {
      texts[name] += text;
    });
  // It may end without having read its input.
  child.stdin.on('error', () => {}).end(input);
  const [code] = await once(child, 'close');
  return { code, ...texts };
}
