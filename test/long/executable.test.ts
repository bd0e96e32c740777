/** The executable of `npm run build`, alone in an empty folder, with an environment that is as good as empty. */

import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { temporaryFolder } from '../helpers/app.ts';
import { missing, needs } from '../helpers/debian.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { pdfFonts, pdfWords } from '../helpers/pdf.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const BUILT = join(ROOT, 'dist', 'deliverability');

/** An old executable would be judged for code that it does not have. */
function notBuilt(): string | false {
  if (!existsSync(BUILT)) return missing('dist/deliverability is not built: npm run build');
  const made = statSync(BUILT).mtimeMs;
  const newer = globSync(['src/**/*.{ts,tsx}', 'scripts/build.ts', 'scripts/executable/*.ts'], {
    cwd: ROOT,
  }).find((path) => statSync(join(ROOT, path)).mtimeMs > made);
  return newer ? missing(`dist/deliverability is older than ${newer}: npm run build`) : false;
}

const skip = notBuilt();

interface Place {
  /** Holds the executable and nothing else. */
  folder: string;
  executable: string;
  /** `TMPDIR` is empty, `HOME` does not exist. */
  env: Record<string, string>;
}

function place(t: TestContext): Place {
  const around = temporaryFolder(t);
  const folder = join(around, 'empty');
  const TMPDIR = join(around, 'tmp');
  for (const path of [folder, TMPDIR]) mkdirSync(path);
  const executable = join(folder, 'deliverability');
  copyFileSync(BUILT, executable);
  const env = { PATH: '/usr/bin', TMPDIR, HOME: join(around, 'home') };
  return { folder, executable, env };
}

function run({ executable, env, folder }: Place, args: string[], cwd = folder, input = '') {
  return spawnSync(executable, args, { env, cwd, input, encoding: 'utf8' });
}

/** It is one file: nothing stays behind where it ran. */
function assertNothingLeft({ env, folder }: Place, made: string[] = []): void {
  assert.deepEqual(readdirSync(folder).sort(), ['deliverability', ...made].sort());
  assert.deepEqual(readdirSync(env.TMPDIR!), []);
  assert.equal(existsSync(env.HOME!), false, 'HOME is not written to');
}

test('Executable is smaller than 120 MB', { skip }, () => {
  assert.ok(statSync(BUILT).size < 120e6, `${statSync(BUILT).size} bytes`);
});

test('Executable prints its version from any directory', { skip }, (t) => {
  const here = place(t);
  for (const cwd of [here.folder, '/']) {
    const { status, stdout, stderr } = run(here, ['--version'], cwd);
    assert.deepEqual([status, stdout, stderr], [0, `${manifest.version}\n`, '']);
  }
  assertNothingLeft(here);
});

test('Executable analyzes a message in a worker thread', { skip }, (t) => {
  const here = place(t);
  for (const cwd of [here.folder, '/']) {
    const args = ['check', '-', '--offline', '--json'];
    const { status, stdout, stderr } = run(here, args, cwd, goodMessage());
    assert.equal(status, 0, stderr);
    const { object, checks } = JSON.parse(stdout);
    assert.equal(object, 'test');
    assert.ok(checks.some(({ status }: { status: string }) => status === 'pass'));
  }
  assertNothingLeft(here);
});

test('Executable writes HTML and PDF reports with bundled fonts', {
  skip: skip || needs('pdftotext'),
}, (t) => {
  const here = place(t);
  const subject = 'Größe, Привет, Γειά';
  const args = ['check', '-', '--offline', '--html=report.html', '--pdf=report.pdf'];
  const { status, stderr } = run(here, args, here.folder, goodMessage({ Subject: subject }));
  assert.deepEqual([status, stderr], [0, '']);
  const page = readFileSync(join(here.folder, 'report.html'), 'utf8');
  assert.ok(page.startsWith('<!doctype html>') && page.includes(subject));
  const pdf = readFileSync(join(here.folder, 'report.pdf'));
  assert.ok(pdfWords(pdf).includes(subject));
  assert.equal(pdfFonts(pdf).match(/\+DejaVuSans/g)?.length, 3);
  assertNothingLeft(here, ['report.html', 'report.pdf']);
});

test('Executable runs demo --once', { skip }, (t) => {
  const here = place(t);
  const { status, stdout, stderr } = run(here, ['demo', '--once']);
  assert.deepEqual([status, stderr], [0, '']);
  assert.match(stdout, /SPF pass {3}DKIM pass {3}DMARC pass[\s\S]*SPF fail {3}DKIM none/);
  assertNothingLeft(here);
});

test('Executable serves from an empty directory and exits on SIGTERM', { skip }, async (t) => {
  const here = place(t);
  const ports = { DELIVERABILITY_HTTP_PORT: '0', DELIVERABILITY_SMTP_PORT: '0' };
  const child = spawn(here.executable, ['serve'], {
    cwd: here.folder,
    env: { ...here.env, ...ports },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  const { api } = await firstLog(child, 'ready');
  const health = await fetch(`${api}/healthz`);
  assert.equal(((await health.json()) as { status: string }).status, 'ok');
  child.kill('SIGTERM');
  assert.deepEqual(await once(child, 'exit'), [0, null]);
  assertNothingLeft(here, ['data']);
});

/** The first line of the log with this message; fails where the process ends without one. */
async function firstLog(child: ChildProcess, message: string): Promise<Record<string, string>> {
  const lines: string[] = [];
  for await (const line of createInterface(child.stderr!)) {
    lines.push(line);
    if (line.startsWith('{') && JSON.parse(line).message === message) return JSON.parse(line);
  }
  throw new Error(`it never logged "${message}": ${lines.join('\n')}`);
}

test('Executable unpacks the database addon to HOME when TMPDIR is unusable', { skip }, (t) => {
  const here = place(t);
  here.env.TMPDIR = join(here.folder, 'none');
  const { status, stderr } = run(here, ['owner', 'owner@example.com']);
  assert.equal(status, 0, stderr);
  assert.deepEqual(readdirSync(join(here.env.HOME!, '.cache')), ['pkg']);
});
