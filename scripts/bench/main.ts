/** `npm run bench [-- name… [option…]]`: runs the benchmarks and writes their results to docs/benchmarks.json. */

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { ANALYSIS_BUNDLE } from '../../src/analysis/worker-file.ts';
import { FEEDBACK_BUNDLE } from '../../src/feedback/thread/worker-file.ts';
import { RENDER_BUNDLE } from '../../src/report/worker-file.ts';
import { execFileSync } from '../programs.ts';
import { bundleThreads } from '../test/bundles.ts';

const NAMES = [
  'smtp',
  'analysis',
  'domains',
  'domain_table',
  'http',
  'start',
  'memory',
  'message',
  'floor',
  'webhooks',
  'watching',
  'summary',
  'feedback',
  'feedback_pages',
  'pages',
  'strangers',
  'bare_lf',
];
/** Only by name, because they need other programs: `nodes`, `capacity`, `copy` and `peers`. */
const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const BUILT = path('../../dist/bench');
const FIGURES = path('../../docs/benchmarks.json');

/** Bundles like the executable: loading the sources as in development would distort the results. */
async function bundle(): Promise<void> {
  await build({
    entryPoints: [
      'run.ts',
      'service-child.ts',
      'bare-child.ts',
      'webhook-sender-child.ts',
      'webhook-receiver-child.ts',
      'watching-dns-child.ts',
      'watching-service-child.ts',
    ].map((name) => path(name)),
    outdir: BUILT,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node24',
  });
  // The service expects the code of its threads beside its own.
  await bundleThreads(BUILT, {
    [basename(ANALYSIS_BUNDLE, '.cjs')]: path('../../src/analysis/worker.ts'),
    [basename(RENDER_BUNDLE, '.cjs')]: path('../../src/report/worker.ts'),
    [basename(FEEDBACK_BUNDLE, '.cjs')]: path('../../src/feedback/thread/worker.ts'),
    // With all its libraries, as in the executable.
    'floor-child': path('floor-child.ts'),
    'floor-thread': path('floor-thread.ts'),
  });
}

function readFigures(): Record<string, unknown> {
  try {
    return JSON.parse(readFileSync(FIGURES, 'utf8'));
  } catch {
    return {};
  }
}

await bundle();
const isOption = (argument: string): boolean => argument.startsWith('--');
const selected = process.argv.slice(2).filter((argument) => !isOption(argument));
const options = process.argv.slice(2).filter(isOption);
const figures = readFigures();
figures.date = new Date().toISOString().slice(0, 10);
figures.machine = `${cpus().length} cores, Node ${process.versions.node}`;
for (const name of selected.length > 0 ? selected : NAMES) {
  process.stderr.write(`${name} …\n`);
  // Each runs in its own process, so that none affects the next.
  const output = execFileSync(process.execPath, [`${BUILT}/run.mjs`, name, ...options], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const result = JSON.parse(output);
  console.dir({ [name]: result }, { depth: null });
  // Earlier figures stay.
  if (!('skipped' in result)) figures[name] = result;
}
writeFileSync(FIGURES, `${JSON.stringify(figures, null, 2)}\n`);
rmSync(BUILT, { recursive: true });
