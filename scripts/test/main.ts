/**
 * Runs tests: `main.ts` all but those that take long, `main.ts --long` only those. Names of files
 * and folders choose among them; of the options of `node --test` those below work as there.
 */

import {
  globSync,
  mkdirSync,
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
import { bundleThreads } from './bundles.ts';
import { type Durations, plan } from './plan.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const LONG = 'test/long';
const PRELOAD = fileURLToPath(new URL('preload.ts', import.meta.url));
/** Kept from run to run; without it durations are guessed. */
const DURATIONS = join('dist', 'test-durations.json');
/** Of files of more than a second, for a clone that has run no tests yet; a copy of those, to be renewed now and then. */
const RECORDED = join('test', 'durations.json');

process.chdir(ROOT);
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    long: { type: 'boolean', default: false },
    'test-name-pattern': { type: 'string', multiple: true, default: [] },
    'test-skip-pattern': { type: 'string', multiple: true, default: [] },
    'test-only': { type: 'boolean', default: false },
    'test-timeout': { type: 'string' },
    /** Processes wait for disks and threads now and then: one more than cores, but where load is measured. */
    'test-concurrency': { type: 'string' },
    'test-reporter': { type: 'string', default: 'spec' },
    /** `process` gives every file one to itself, the default of those that take long; `none` those that need it. */
    'test-isolation': { type: 'string' },
  },
});

const files = positionals.length > 0 ? positionals.flatMap(testsIn) : everything();
const cores = Number(values['test-concurrency'] ?? availableParallelism() + (values.long ? 0 : 1));
const durations = readDurations();
const isolation = values['test-isolation'] ?? (values.long ? 'process' : 'none');
const planned = plan(
  [...new Set(files)].sort(),
  durations,
  cores,
  isolation === 'process' ? 'process' : 'none',
);

const folder = makeFolder();
const env = { ...process.env, TEST_BUNDLES: JSON.stringify(await bundleThreads()) };
const began = performance.now();
const counts = { tests: 0, suites: 0, passed: 0, failed: 0, cancelled: 0, skipped: 0, todo: 0 };
/** The entries of the processes that came to their end. */
const ended = new Set<string>();
/** The closing lines of a run. */
const TOTALS = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/;
/** Of each file that reported a test, how long its tests took. */
const measured: Durations = {};

interface TestEvent {
  type: string;
  data: {
    nesting?: number;
    /** Absolute. */
    file?: string;
    message?: string;
    details?: { duration_ms: number };
    counts?: Record<string, number>;
  };
}

/** What node's own runs say, as of one run: the totals come once, at the end. */
async function* events(): AsyncGenerator<TestEvent> {
  yield* runProcesses(planned.sideBySide, cores);
  yield* runProcesses(planned.alone, 1);
  yield* missing();
  const totals = {
    tests: counts.tests,
    suites: counts.suites,
    pass: counts.passed,
    fail: counts.failed,
    cancelled: counts.cancelled,
    skipped: counts.skipped,
    todo: counts.todo,
    duration_ms: performance.now() - began,
  };
  for (const [name, value] of Object.entries(totals))
    yield { type: 'test:diagnostic', data: { nesting: 0, message: `${name} ${value}` } };
  if (counts.failed > 0 || counts.cancelled > 0) process.exitCode = 1;
}

/** Each list of files is a process of its own; `most` of them run at the same time. */
async function* runProcesses(processes: string[][], most: number): AsyncGenerator<TestEvent> {
  if (processes.length === 0) return;
  const stream = run({
    files: processes.map(entryOf),
    concurrency: most,
    execArgv: ['--import', PRELOAD],
    env,
    only: values['test-only'],
    testNamePatterns: values['test-name-pattern'].map(pattern),
    testSkipPatterns: values['test-skip-pattern'].map(pattern),
    ...(values['test-timeout'] !== undefined && { timeout: Number(values['test-timeout']) }),
  });
  for await (const event of stream as AsyncIterable<TestEvent>) {
    const { type, data } = event;
    if (type === 'test:summary') {
      // One of each process, and one of all of them.
      if (data.file !== undefined) ended.add(data.file);
      else
        for (const [name, count] of Object.entries(data.counts ?? {}))
          if (name in counts) counts[name as keyof typeof counts] += count;
      continue;
    }
    if (type === 'test:diagnostic' && isTotal(data)) continue;
    const isResult = type === 'test:pass' || type === 'test:fail';
    if (isResult && data.nesting === 0 && data.file && data.details) {
      const file = relative(ROOT, data.file).replaceAll(sep, '/');
      measured[file] = (measured[file] ?? 0) + Math.round(data.details.duration_ms);
    }
    yield event;
  }
}

/** What Node's runner does not notice: a process that ended with success before its tests did. */
async function* missing(): AsyncGenerator<TestEvent> {
  const filters = [...values['test-name-pattern'], ...values['test-skip-pattern']];
  const filtered = filters.length > 0 || values['test-only'];
  for (const list of [...planned.sideBySide, ...planned.alone]) {
    const cutOff = !ended.has(entryOf(list));
    for (const file of list)
      if (cutOff ? !(file in measured) || file === list.at(-1) : !filtered && !(file in measured))
        yield* failure(file, `${file}: its process ended before all of its tests had.`);
  }
}

function* failure(file: string, text: string): Generator<TestEvent> {
  counts.tests += 1;
  counts.failed += 1;
  const error = new Error(text);
  error.stack = text;
  const data = {
    ...{ name: file, file: resolve(file), nesting: 0, line: 1, column: 1 },
    ...{ testNumber: 1, testId: 1, parentId: 0, tags: [] },
    details: { duration_ms: 0, type: 'test', error },
  };
  yield { type: 'test:start', data };
  yield { type: 'test:fail', data };
}

/** One of the closing lines of a run: those of a test name its file. */
function isTotal({ file, message }: TestEvent['data']): boolean {
  return file === undefined && TOTALS.test(message ?? '');
}

async function report(stream: Readable): Promise<void> {
  const reporters = { dot, junit, tap, spec: new spec() };
  const reporter = reporters[values['test-reporter'] as keyof typeof reporters];
  for await (const text of stream.compose(reporter as Transform)) process.stdout.write(text);
}

/** What a process is given: its one file, or a module that imports all of its files. */
function entryOf(list: string[]): string {
  if (list.length === 1) return resolve(list[0]!);
  const entry = join(folder, `${list[0]!.replaceAll('/', '-')}-and-others.mjs`);
  // Imported before the first test of any runs, so that none is held up by the reading of others.
  writeFileSync(entry, list.map((file) => `import '${pathToFileURL(file).href}';\n`).join(''));
  return entry;
}

function makeFolder(): string {
  mkdirSync('dist', { recursive: true });
  const made = resolve(mkdtempSync(join('dist', 'tests-')));
  process.on('exit', () => rmSync(made, { recursive: true, force: true }));
  return made;
}

function everything(): string[] {
  const found = globSync('test/**/*.test.ts').map((file) => file.replaceAll(sep, '/'));
  return found.filter((file) => file.startsWith(`${LONG}/`) === values.long);
}

/** A file is itself, a folder all tests below it; with `--long` also without `test/long/`. A name that matches nothing is an error. */
function testsIn(name: string): string[] {
  const names = values.long ? [name, join(LONG, name), join(LONG, `${name}.test.ts`)] : [name];
  const found = names.flatMap((path) => {
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory();
    return globSync(isFolder ? join(path, '**/*.test.ts') : path);
  });
  if (found.length === 0) {
    console.error(`There are no tests in ${name}.`);
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

/** As `node --test` takes it: `/…/flags`, or the text of an expression. */
function pattern(text: string): RegExp {
  const [, source, flags] = /^\/(.*)\/(\w*)$/.exec(text) ?? [];
  return source === undefined ? new RegExp(text) : new RegExp(source, flags);
}

await report(Readable.from(events()));
writeFileSync(DURATIONS, JSON.stringify({ ...durations, ...measured }, null, 1));
