/** The Grafana dashboard and the alert rules name metrics that the service has. */

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { execFile } from '../../scripts/programs.ts';
import { startTestService, temporaryFolder } from '../helpers/app.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { sendMail } from '../helpers/send.ts';
import { onPostgres } from '../helpers/store.ts';

const run = promisify(execFile);
const FOLDER = new URL('../../deploy/monitoring/', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, FOLDER), 'utf8');

/** Only one of the databases has these. */
const ELSEWHERE = onPostgres
  ? ['deliverability_database_disk_free_bytes']
  : ['deliverability_database_clock_skew_seconds'];

test('Every metric of the dashboard and the alert rules exists at /metrics', async (t) => {
  const service = await startTestService(t);
  const { address, id } = await service.createTest();
  await sendMail({ port: service.smtp.port, to: address, raw: goodMessage() });
  await service.getTest(id, '?wait=20');
  const scrape = async () => (await fetch(`${service.url}/metrics`)).text();
  // The first answer has no times of garbage collections yet.
  await scrape();
  const text = await scrape();
  const existing = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!));
  const named = [read('grafana-dashboard.json'), read('alerts.yml')].map(
    (file) => new Set([...file.matchAll(/\bdeliverability_[a-z0-9_]+/g)].map(([name]) => name)),
  );
  for (const names of named) assert.ok(names.size >= 10);
  const missing = [...named[0]!, ...named[1]!].filter((name) => {
    const base = name.replace(/_(bucket|sum|count)$/, '');
    return !existing.has(name) && !existing.has(base) && !ELSEWHERE.includes(name);
  });
  assert.deepEqual(missing, []);
  // States and outcomes that rules select.
  assert.match(text, /deliverability_dependency_state\{dependency="database",state="degraded"\} 0/);
  assert.match(text, /deliverability_analyses_total\{outcome="result"\} 1/);
});

test('The dashboard has panels with distinct IDs, titles and places', () => {
  const { panels } = JSON.parse(read('grafana-dashboard.json')) as {
    panels: {
      id: number;
      title: string;
      gridPos: Record<'x' | 'y' | 'w' | 'h', number>;
      targets: { expr: string }[];
    }[];
  };
  const distinct = (values: unknown[]) => assert.equal(new Set(values).size, panels.length);
  distinct(panels.map(({ id }) => id));
  distinct(panels.map(({ title }) => title));
  distinct(panels.map(({ gridPos: { x, y } }) => `${x} ${y}`));
  for (const { gridPos, targets } of panels) {
    assert.ok(gridPos.x + gridPos.w <= 24);
    assert.ok(targets.every(({ expr }) => expr.includes('job="$job"')));
  }
});

const skip = skipUnlessInstalled('promtool');

test('promtool accepts the alert rules, and they fire when they should', { skip }, async () => {
  const folder = fileURLToPath(FOLDER);
  for (const args of [
    ['check', 'rules', 'alerts.yml'],
    ['test', 'rules', 'alerts.test.yml'],
  ])
    await assert.doesNotReject(run('promtool', args, { cwd: folder }), args.join(' '));
});

test('promtool accepts every query of the dashboard', { skip }, async (t) => {
  const expressions = [
    ...read('grafana-dashboard.json').matchAll(/"expr": ("(?:[^"\\]|\\.)*")/g),
  ].map(([, text]) =>
    (JSON.parse(text!) as string).replaceAll('$__rate_interval', '5m').replaceAll('$', ''),
  );
  assert.ok(expressions.length > 20);
  const rules = expressions.map((expr, index) => ({ record: `query:${index}`, expr }));
  const file = join(temporaryFolder(t), 'queries.yml');
  // JSON is YAML.
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
  await assert.doesNotReject(run('promtool', ['check', 'rules', file]));
});
