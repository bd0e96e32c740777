/** Runs commands with arguments and variables that contain control characters. */

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { temporaryFolder } from '../helpers/app.ts';
import { type Environment, runProgram } from '../helpers/program.ts';

/** Escape sequences of both kinds, bidi controls, separators, a bell and line breaks. */
export const HOSTILE = 'a\u001b[31m\u009b2Jb\u202ec\u2066\u200f\u061cd\u2028e\u0007\u0008f\r\ng';
const CONTROL = /(?!\n)[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

export async function run(args: string[], env: Environment = {}, input = '') {
  const result = await runProgram(args, env, input);
  const output = result.stdout + result.stderr;
  assert.doesNotMatch(output, CONTROL, JSON.stringify(args));
  // Its line break must not begin a line that looks like ours.
  assert.doesNotMatch(output, /^g/m, JSON.stringify(args));
  return { ...result, output };
}

const folderOf = (t: TestContext): Environment => ({
  DELIVERABILITY_DATABASE_URL: `sqlite:${join(temporaryFolder(t), 'x.db')}`,
});

/** Commands that fail because of their arguments. */
function refusedCommands(t: TestContext): string[][] {
  const folder = temporaryFolder(t);
  const file = join(folder, `${HOSTILE}.eml`);
  writeFileSync(file, 'Subject: x\n\ny\n');
  const pdf = join(folder, `${HOSTILE}.pdf`);
  writeFileSync(pdf, '%PDF-1.7');
  const directory = join(folder, `${HOSTILE}-folder`);
  mkdirSync(directory);
  return [
    [HOSTILE],
    ['check', directory],
    ['check', file, `--${HOSTILE}`],
    ['owner', HOSTILE],
    ['listen', `--dir=${join(file, 'x')}`, '--port=0'],
    ['check', `${HOSTILE}.eml`],
    ['check', pdf],
    ['check', file, HOSTILE],
    ['check', file, `--ip=${HOSTILE}`],
    ['check', file, `--dns=${HOSTILE}`],
    ['check', file, '--offline', `--html=${join(folder, HOSTILE, 'x')}`],
    ['domain', HOSTILE],
    ['domain', 'example.com', `--selector=${HOSTILE}`],
    ['key', HOSTILE, '--role=owner'],
    ['key', 'x', `--role=${HOSTILE}`],
    ['listen', `--secret-file=${join(folder, HOSTILE)}`],
  ];
}

export async function assertRefused(t: TestContext): Promise<void> {
  for (const args of refusedCommands(t)) {
    const { code, output } = await run(args, folderOf(t));
    assert.equal(code, 2, `${JSON.stringify(args)}\n${output}`);
  }
}

export const HOSTILE_ENVIRONMENTS: Environment[] = [
  { DELIVERABILITY_HTTP_PORT: HOSTILE },
  { DELIVERABILITY_DATABASE_URL: `sqlite:/${HOSTILE}` },
  { [`DELIVERABILITY_${HOSTILE}`]: 'x' },
  { DELIVERABILITY_SMTP_NAME: HOSTILE },
  { DELIVERABILITY_DATA_DIR: `/tmp/${HOSTILE}` },
];
