/** Static checks: types, lint and format, words, rules of the project, generated files. */

import { once } from 'node:events';
import { spawn } from './programs.ts';

/** Each check and its command; `npm run` adds the programs to the PATH. */
const CHECKS: [name: string, command: string[]][] = [
  ['types', ['tsc']],
  ['types in the browser', ['tsc', '-p', 'src/dashboard/browser']],
  ['lint and format', ['biome', 'ci', '--colors=off', '--error-on-warnings', '.']],
  ['language', ['tsx', 'scripts/language/check.ts']],
  ['data', ['tsx', 'scripts/data.ts']],
  ['project files', ['tsx', 'scripts/project-files.ts']],
  ['generated files', ['tsx', 'scripts/generate.ts', '--check']],
];

const results = await Promise.all(CHECKS.map(([, command]) => run(command)));
results.forEach(({ ok, output }, i) => {
  if (!ok) console.log(`${output.trim()}\n`);
  console.log(`${ok ? 'ok    ' : 'failed'}  ${CHECKS[i]![0]}`);
});
process.exitCode = results.every(({ ok }) => ok) ? 0 : 1;

async function run([program, ...args]: string[]): Promise<{ ok: boolean; output: string }> {
  const child = spawn(program!, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  try {
    const [code] = await once(child, 'close');
    return { ok: code === 0, output };
  } catch (error) {
    return { ok: false, output: `Could not start ${program}: ${(error as Error).message}` };
  }
}
