/**
 * Runs tests: `main.ts` runs all but the long ones, `main.ts --long` only the long ones. Arguments
 * select files and folders. The options below work as in `node --test`.
 */

import {
  chmodSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative, resolve, sep } from 'node:path';
import { Readable, type Transform } from 'node:stream';
import { run } from 'node:test';
import { dot, junit, spec, tap } from 'node:test/reporters';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { memoryFolder } from '../../test/helpers/memory-folder.ts';
import { bundleProgram, bundleTestThreads } from './bundles.ts';
import { folderInDist } from './folders.ts';
import { filesWithDatabase } from './imports.ts';
import { compileModules } from './modules.ts';
import { type Durations, planProcesses } from './plan.ts';
import { startDatabaseServer } from './postgres.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const LONG = 'test/long';
const PRELOAD = fileURLToPath(new URL('preload.ts', import.meta.url));
/** Updated by each run; without it, durations are estimated. */
const DURATIONS = join('dist', 'test-durations.json');
/** Durations of files that take more than a second, for fresh clones. Update it from DURATIONS occasionally. */
const RECORDED = join('test', 'durations.json');
/** The files with failed tests of the last run. */
const FAILED = join('dist', 'failed-tests.json');
/** The files with skipped tests of the last run, except those that only need PostgreSQL. `--failed` adds to them. */
const SKIPPED = join('dist', 'skipped-tests.json');
/** More failures than this have one cause, which repeating does not remove. */
const MAX_REPEATED = 5;

/**
 * Several threads that collect young garbage for each process get in the way of the other processes: with one, the tests
 * take a twentieth less of the processor time. Long tests measure services as they run for users.
 */
const GARBAGE_COLLECTION = ['--max-semi-space-size=64', '--no-parallel-scavenge'];

process.chdir(ROOT);
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    long: { type: 'boolean', default: false },
    /** Measuring tests at full size, as in the reliability scenarios; otherwise they only show that they work. */
    full: { type: 'boolean', default: false },
    'test-name-pattern': { type: 'string', multiple: true, default: [] },
    'test-skip-pattern': { type: 'string', multiple: true, default: [] },
    'test-only': { type: 'boolean', default: false },
    /** Repeats the files that failed in the last run, one at a time, and names them. */
    failed: { type: 'boolean', default: false },
    /** In milliseconds. No test needs ten minutes, so one that hangs ends. */
    'test-timeout': { type: 'string', default: '600000' },
    /** Two more than cores, because processes wait for clocks, disks and threads. Long tests need more memory: one more. */
    'test-concurrency': { type: 'string' },
    'test-reporter': { type: 'string', default: 'spec' },
    /** `process`: a process per file, the default for long tests. `none`: only for files that need it. */
    'test-isolation': { type: 'string' },
  },
});

const files = values.failed
  ? failedTests()
  : positionals.length > 0
    ? positionals.flatMap(testsIn)
    : allTests();
// A run that is interrupted leaves no list.
rmSync(FAILED, { force: true });
const cores = values.failed
  ? 1
  : Number(values['test-concurrency'] ?? availableParallelism() + (values.long ? 1 : 2));
const durations = readDurations();
const isolation = values['test-isolation'] ?? (values.long ? 'process' : 'none');
const planned = planProcesses(
  [...new Set(files)].sort(),
  durations,
  cores,
  isolation === 'process' ? 'process' : 'none',
);

const folder = folderInDist('tests-');
const [modules, bundles, program, server] = await Promise.all([
  compileModules(),
  bundleTestThreads(),
  bundleProgram(files),
  startDatabaseServer(files),
]);
const env = {
  ...process.env,
  ...server.env,
  TEST_BUNDLES: JSON.stringify(bundles),
  TEST_MODULES: modules,
  // Most processes load the same modules.
  NODE_COMPILE_CACHE: folderInDist('compiled-'),
  ...(values.failed || positionals.length > 0 ? { TEST_ATTRIBUTION: '1' } : {}),
  ...(values.full ? { TEST_FULL_SIZE: '1' } : {}),
  ...(program === null ? {} : { TEST_PROGRAM: program }),
  ...(values.long ? {} : { TMPDIR: createTemporaryFolder() }),
};
const startedAt = performance.now();
const counts = { tests: 0, suites: 0, passed: 0, failed: 0, cancelled: 0, skipped: 0, todo: 0 };
/** The entry files of the processes that finished. */
const finished = new Set<string>();
/** The summary lines at the end of a run. */
const TOTALS = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/;
/** The test files of each entry file with several. */
const entries = new Map<string, string[]>();
/** The duration of the tests of each file that reported one. */
const measured: Durations = {};
const failed = new Set<string>();
/** How many tests were skipped because a program is missing, by its name. */
const missing = new Map<string, number>();
const skipped = new Set<string>();

interface TestEvent {
  type: string;
  data: {
    nesting?: number;
    /** Absolute. */
    file?: string;
    message?: string;
    details?: { duration_ms: number };
    /** The reason, if the test was skipped. */
    skip?: string | boolean;
    counts?: Record<string, number>;
  };
}

/** Merges the events of all runs into one stream, with the totals once, at the end. */
async function* events(): AsyncGenerator<TestEvent> {
  for await (const event of results()) {
    const { file } = event.data;
    if (event.type === 'test:fail' && file) for (const name of testFilesOf(file)) failed.add(name);
    countMissing(event);
    const { skip } = event.data;
    if (file && skip && !String(skip).includes('TEST_DATABASE'))
      skipped.add(relative(ROOT, file).replaceAll(sep, '/'));
    yield event;
  }
  const totals = {
    tests: counts.tests,
    suites: counts.suites,
    pass: counts.passed,
    fail: counts.failed,
    cancelled: counts.cancelled,
    skipped: counts.skipped,
    todo: counts.todo,
    duration_ms: performance.now() - startedAt,
  };
  for (const [name, value] of Object.entries(totals))
    yield { type: 'test:diagnostic', data: { nesting: 0, message: `${name} ${value}` } };
  if (counts.failed > 0 || counts.cancelled > 0) process.exitCode = 1;
}

async function* results(): AsyncGenerator<TestEvent> {
  // Both run at the same time. Reporters expect the events of a test together, so those of the second come later.
  const streams = [startProcesses(planned.parallel, cores), startProcesses(planned.waiting, 1)];
  for (const stream of streams) yield* eventsOf(stream);
  yield* eventsOf(startProcesses(planned.sequential, 1));
  yield* findIncompleteFiles();
}

/** Runs each list of files in its own process, at most `concurrency` of them at the same time. */
function startProcesses(processes: string[][], concurrency: number): AsyncIterable<TestEvent> {
  if (processes.length === 0) return Readable.from([]);
  return run({
    files: processes.map(entryOf),
    concurrency,
    execArgv: [...GARBAGE_COLLECTION.slice(0, values.long ? 1 : 2), '--import', PRELOAD],
    env,
    only: values['test-only'],
    testNamePatterns: values['test-name-pattern'].map(pattern),
    testSkipPatterns: values['test-skip-pattern'].map(pattern),
    timeout: Number(values['test-timeout']),
  }) as AsyncIterable<TestEvent>;
}

/** Without the totals, which are added up. */
async function* eventsOf(stream: AsyncIterable<TestEvent>): AsyncGenerator<TestEvent> {
  for await (const event of stream) {
    const { type, data } = event;
    if (type === 'test:summary') {
      // Each process has a summary, and the whole run has one without a file.
      if (data.file !== undefined) finished.add(data.file);
      else
        for (const [name, count] of Object.entries(data.counts ?? {}))
          if (name in counts) counts[name as keyof typeof counts] += count;
      continue;
    }
    if (type === 'test:diagnostic' && isTotal(data)) continue;
    const isResult = type === 'test:pass' || type === 'test:fail';
    if (isResult && data.nesting === 0 && data.file && data.details) {
      const [file, ...others] = testFilesOf(data.file);
      if (file && others.length === 0)
        measured[file] = (measured[file] ?? 0) + Math.round(data.details.duration_ms);
    }
    yield event;
  }
}

/** Failures that Node's runner misses: processes that exited successfully before their tests finished. */
async function* findIncompleteFiles(): AsyncGenerator<TestEvent> {
  const filters = [...values['test-name-pattern'], ...values['test-skip-pattern']];
  const filtered = filters.length > 0 || values['test-only'];
  for (const list of [...planned.parallel, ...planned.waiting, ...planned.sequential]) {
    const isIncomplete = !finished.has(entryOf(list));
    for (const file of list)
      if (
        isIncomplete
          ? !(file in measured) || file === list.at(-1)
          : !filtered && !(file in measured)
      )
        yield* failure(file, `${file}: the process exited before all tests finished.`);
  }
}

function* failure(file: string, text: string): Generator<TestEvent> {
  counts.tests += 1;
  counts.failed += 1;
  const error = new Error(text);
  error.stack = text;
  const data = {
    name: file,
    file: resolve(file),
    nesting: 0,
    line: 1,
    column: 1,
    testNumber: 1,
    testId: 1,
    parentId: 0,
    tags: [],
    details: { duration_ms: 0, type: 'test', error },
  };
  yield { type: 'test:start', data };
  yield { type: 'test:fail', data };
}

/** The reasons are from `missingProgram` in scripts/programs.ts. */
function countMissing({ type, data: { skip } }: TestEvent): void {
  if (type !== 'test:pass') return;
  const [, program] = /^(\S+) is not installed:/.exec(typeof skip === 'string' ? skip : '') ?? [];
  if (program) missing.set(program, (missing.get(program) ?? 0) + 1);
}

/** One line for each program that is missing. */
function missingPrograms(): string {
  const lines = [...missing]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([program, count]) =>
        `${count} ${count === 1 ? 'test' : 'tests'} skipped: ${program} is not installed\n`,
    );
  return lines.length === 0
    ? ''
    : `${lines.join('')}scripts/setup-test-machine.sh installs these programs on Debian.\n`;
}

/** Whether a diagnostic is a total of a run. Diagnostics of a test name a file. */
function isTotal({ file, message }: TestEvent['data']): boolean {
  return file === undefined && TOTALS.test(message ?? '');
}

/** The test file that an event names, or all files of the process that failed. */
const testFilesOf = (file: string): string[] =>
  entries.get(file) ?? [relative(ROOT, file).replaceAll(sep, '/')];

async function report(stream: Readable): Promise<void> {
  const reporters = { dot, junit, tap, spec: new spec() };
  const reporter = reporters[values['test-reporter'] as keyof typeof reporters];
  for await (const text of stream.compose(reporter as Transform)) process.stdout.write(text);
}

/** The entry file of a process: its only test file, or a module that imports all of its files. */
function entryOf(list: string[]): string {
  if (list.length === 1) return resolve(list[0]!);
  const entry = join(folder, `${list[0]!.replaceAll('/', '-')}-and-others.mjs`);
  entries.set(entry, list);
  // All imports come first, so that loading a file does not delay the tests of another.
  writeFileSync(entry, list.map((file) => `import '${pathToFileURL(file).href}';\n`).join(''));
  return entry;
}

/**
 * For the data folders of services. Each new database is synced a few times, and a test that waits for a disk
 * proves nothing more. Long tests use the disk.
 */
function createTemporaryFolder(): string {
  const created = mkdtempSync(join(memoryFolder(), 'tests-'));
  // Daemons that tests start use it as users of their own.
  chmodSync(created, 0o755);
  process.on('exit', () => rmSync(created, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => process.exit(1));
  return created;
}

function allTests(): string[] {
  const found = globSync('test/**/*.test.ts').map((file) => file.replaceAll(sep, '/'));
  const selected = found.filter((file) => file.startsWith(`${LONG}/`) === values.long);
  // The others have run on SQLite, where all tests run.
  return process.env.TEST_DATABASE === 'postgres' ? filesWithDatabase(selected) : selected;
}

/** The files that failed in the last run, if repeating them can tell something. */
function failedTests(): string[] {
  const list = existsSync(FAILED) ? (JSON.parse(readFileSync(FAILED, 'utf8')) as string[]) : [];
  if (list.length === 0 || list.length > MAX_REPEATED) {
    console.error(`${list.length} files failed in the last run: nothing is repeated.`);
    process.exit(2);
  }
  console.log(`Repeated, because they failed: ${list.join(', ')}`);
  return list;
}

const readSkipped = (): string[] =>
  existsSync(SKIPPED) ? JSON.parse(readFileSync(SKIPPED, 'utf8')) : [];

/** The test files of a file or folder. With `--long`, `test/long/` may be omitted. A name without tests is an error. */
function testsIn(name: string): string[] {
  const names = values.long ? [name, join(LONG, name), join(LONG, `${name}.test.ts`)] : [name];
  const found = names.flatMap((path) => {
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory();
    return globSync(isFolder ? join(path, '**/*.test.ts') : path);
  });
  if (found.length === 0) {
    console.error(`No tests found in ${name}.`);
    process.exit(2);
  }
  return found.map((file) => relative(ROOT, resolve(file)).replaceAll(sep, '/'));
}

function readDurations(): Durations {
  const read = (path: string): Durations => {
    try {
      return JSON.parse(readFileSync(path, 'utf8'));
    } catch {
      return {};
    }
  };
  return { ...read(RECORDED), ...read(DURATIONS) };
}

/** As in `node --test`: `/…/flags`, or the source of an expression. */
function pattern(text: string): RegExp {
  const [, source, flags] = /^\/(.*)\/(\w*)$/.exec(text) ?? [];
  return source === undefined ? new RegExp(text) : new RegExp(source, flags);
}

await report(Readable.from(events()));
process.stdout.write(missingPrograms());
await server.stop();
writeFileSync(FAILED, JSON.stringify([...failed], null, 1));
// Repeating what failed does not run what was skipped.
if (values.failed) for (const file of readSkipped()) skipped.add(file);
writeFileSync(SKIPPED, JSON.stringify([...skipped].sort(), null, 1));
writeFileSync(DURATIONS, JSON.stringify({ ...durations, ...measured }, null, 1));
