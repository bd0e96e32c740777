/**
 * `npm run reliability -- NAME…`: runs scenarios at full size and records their figures in docs/reliability.json.
 * Without a name, lists them. A scenario is a long test; its figures are the JSON that it reports.
 */

import { once } from 'node:events';
import { createWriteStream, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { spawn } from '../programs.ts';
import {
  type Figures,
  type Recorded,
  type Run,
  runsOf,
  SCENARIOS,
  type Scenario,
} from './scenarios.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const RECORDS = fileURLToPath(new URL('../../docs/reliability.json', import.meta.url));
const LOGS = fileURLToPath(new URL('../../dist/reliability/', import.meta.url));

/** JSON that a test reported with `t.diagnostic`. */
const REPORTED = /^\s*# (\{.*\})$/;

const names = process.argv.slice(2);
const unknown = names.filter((name) => !SCENARIOS.some((scenario) => scenario.name === name));
if (names.length === 0 || unknown.length > 0) {
  for (const name of unknown) console.error(`Unknown scenario: ${name}`);
  console.error('Usage: npm run reliability -- NAME…');
  for (const { name, fault } of SCENARIOS) console.error(`  ${name.padEnd(12)} ${fault}`);
  process.exit(2);
}

mkdirSync(LOGS, { recursive: true });
for (const name of names) await runScenario(SCENARIOS.find((each) => each.name === name)!);

/** Records the figures after each test, so that an interrupted run has some. */
async function runScenario(scenario: Scenario): Promise<void> {
  const startedAt = performance.now();
  const loads = [loadavg()[0]!];
  const log = `${LOGS}${scenario.name}.log`;
  const output = createWriteStream(log);
  const reported: Figures[] = [];
  let failed = 0;
  for (const run of runsOf(scenario)) {
    process.stderr.write(`${scenario.name}: ${run.file} ${JSON.stringify(run.env)}\n`);
    const { ok, figures } = await runTest(run, output);
    if (!ok) {
      failed += 1;
      process.exitCode = 1;
      process.stderr.write(`${scenario.name}: failed, see ${log}\n`);
    }
    reported.push(...figures);
    loads.push(loadavg()[0]!);
    const record: Recorded = {
      date: new Date().toISOString().slice(0, 10),
      minutes: Math.round((performance.now() - startedAt) / 6_000) / 10,
      load: round(loads.reduce((a, b) => a + b) / loads.length / availableParallelism()),
      failed,
      figures: sum(reported),
    };
    writeFileSync(
      RECORDS,
      `${JSON.stringify({ ...records(), [scenario.name]: record }, null, 2)}\n`,
    );
  }
  output.end();
  console.log(scenario.name, sum(reported));
}

async function runTest({ file, env }: Run, output: NodeJS.WritableStream) {
  const args = ['scripts/test/main.ts', '--long', '--test-reporter=tap', '--test-timeout=7200000'];
  const child = spawn(process.execPath, [...args, file], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
    output.write(chunk);
  });
  const [code] = await once(child, 'close');
  const figures = text.split('\n').flatMap((line) => {
    const json = REPORTED.exec(line)?.[1];
    return json ? [JSON.parse(json) as Figures] : [];
  });
  return { ok: code === 0, figures };
}

/** Adds the figures of several runs; a longest time stays the longest. */
function sum(reported: Figures[]): Figures {
  const total: Figures = {};
  for (const figures of reported)
    for (const [name, value] of Object.entries(figures)) {
      if (typeof value !== 'number') continue;
      const earlier = total[name] ?? 0;
      total[name] = name.startsWith('max_') ? Math.max(earlier, value) : round(earlier + value);
    }
  return total;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function records(): object {
  try {
    return JSON.parse(readFileSync(RECORDS, 'utf8'));
  } catch {
    return {};
  }
}
