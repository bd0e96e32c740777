/** Runs the bundled program in separate processes. */

import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle, MAIN_BUNDLE } from '../../scripts/executable/bundle.ts';
import { type ChildProcessWithoutNullStreams, spawn } from '../../scripts/programs.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * The path of the bundled `src/main.ts`. It is below the project folder, so that the program finds better-sqlite3, which
 * is not in the bundle, in node_modules. The test run bundles it once; otherwise, the process does.
 */
export function bundleProgram(): Promise<string> {
  const { TEST_PROGRAM } = process.env;
  built ??= TEST_PROGRAM ? Promise.resolve(TEST_PROGRAM) : createBundle();
  return built;
}
let built: Promise<string> | undefined;

async function createBundle(): Promise<string> {
  mkdirSync(join(ROOT, 'dist'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, 'dist', 'test-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  await bundle(folder);
  return join(folder, MAIN_BUNDLE);
}

export type Environment = Record<string, string>;

/** Starts the program with these arguments; its environment has only PATH and `env`. */
export async function spawnProgram(
  args: string[],
  env: Environment = {},
  nodeOptions: string[] = [],
): Promise<ChildProcessWithoutNullStreams> {
  const { PATH = '' } = process.env;
  const command = [...nodeOptions, await bundleProgram(), ...args];
  return spawn(process.execPath, command, { env: { PATH, ...env }, cwd: ROOT });
}

export interface ProgramResult {
  /** Null if a signal ended the process. */
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the program and waits until it exits. Many commands take less time than compiling the program. */
export async function runProgram(
  args: string[],
  env: Environment = {},
  input: string | Uint8Array = '',
): Promise<ProgramResult> {
  const { NODE_COMPILE_CACHE } = process.env;
  const cache: Environment = NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE } : {};
  const child = await spawnProgram(args, { ...cache, ...env });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text) => {
      texts[name] += text;
    });
  // The program may exit before it has read its input.
  child.stdin.on('error', () => {}).end(input);
  const [code] = await once(child, 'close');
  return { code, ...texts };
}
