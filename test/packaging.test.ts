/** The files that install and run the service: unit, settings, Compose files, chart, and what a release names. */

// @one-database: about packages.

import assert from 'node:assert/strict';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import manifest from '../package.json' with { type: 'json' };
import { execFileSync, spawnSync } from '../scripts/programs.ts';
import { writeTar } from '../scripts/release/archive.ts';
import { writeChart } from '../scripts/release/chart.ts';
import { writeChecksums } from '../scripts/release/checksums.ts';
import { sourceDateEpoch } from '../scripts/release/epoch.ts';
import { LINUX_TARGETS, WINDOWS_X64 } from '../scripts/release/targets.ts';
import { VARIABLES } from '../src/config/variables.ts';
import { temporaryFolder } from './helpers/app.ts';
import { skipUnlessInstalled } from './helpers/installed.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const PACKAGING = join(ROOT, 'packaging');
const read = (path: string): string => readFileSync(join(PACKAGING, path), 'utf8');
const EPOCH = 1_700_000_000;

test('Packaging sets only variables that exist', () => {
  // Variables of the Compose files themselves.
  const own = ['VERSION', 'SMTP_PUBLISH', 'HOST'];
  const known = new Set([...Object.keys(VARIABLES), ...own]);
  const files = globSync('**/*', { cwd: PACKAGING, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  assert.ok(files.length > 20);
  for (const { parentPath, name } of files) {
    const text = readFileSync(join(parentPath, name), 'utf8');
    for (const [, variable] of text.matchAll(/\bDELIVERABILITY_([A-Z0-9_]+)/g))
      assert.ok(known.has(variable!), `${name}: DELIVERABILITY_${variable}`);
  }
});

test('The systemd unit is exposed by 2.0 at most', {
  skip: skipUnlessInstalled('systemd-analyze'),
}, () => {
  const unit = join(PACKAGING, 'systemd/deliverability.service');
  const { stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', unit], {
    encoding: 'utf8',
  });
  const [, exposure] = /Overall exposure level for \S+: ([\d.]+)/.exec(stdout) ?? [];
  assert.ok(Number(exposure) <= 2, stdout);
  assert.match(
    read('systemd/deliverability.service'),
    /^AmbientCapabilities=CAP_NET_BIND_SERVICE$/m,
  );
});

test('Compose files name services, networks and files that exist', () => {
  const [alone, filters, caddy] = ['compose', 'compose.filters', 'compose.caddy'].map((name) =>
    parse(read(`compose/${name}.yaml`)),
  );
  assert.ok(alone.services.deliverability.image.endsWith(`:-${manifest.version}}`));
  assert.equal(alone.services.deliverability.read_only, true);
  const stages = [...read('compose/filters/Dockerfile').matchAll(/^FROM \S+ AS (\w+)$/gm)];
  const names = stages.map(([, name]) => name);
  for (const name of ['unbound', 'spamassassin', 'rspamd']) {
    assert.equal(filters.services[name].build.target, name);
    assert.ok(names.includes(name), name);
  }
  const resolver = filters.services.unbound.networks.filters.ipv4_address;
  assert.equal(filters.services.deliverability.environment.DELIVERABILITY_DNS_SERVERS, resolver);
  assert.equal(
    caddy.services.deliverability.environment.DELIVERABILITY_TRUSTED_PROXIES,
    caddy.networks.web.ipam.config[0].subnet,
  );
});

test('Helm finds nothing wrong with the chart, and refuses values that cannot work', {
  skip: skipUnlessInstalled('helm'),
}, () => {
  const chart = join(PACKAGING, 'helm/deliverability');
  const helm = (...args: string[]) => spawnSync('helm', args, { encoding: 'utf8' });
  const lint = helm('lint', '--strict', chart);
  assert.equal(lint.status, 0, lint.stdout);
  const set = 'existingSecret=database,replicas=2,ingress.enabled=true,ingress.tlsSecret=tls';
  const rendered = helm('template', 'mail', chart, '--set', set);
  assert.equal(rendered.status, 0, rendered.stderr);
  const kinds = rendered.stdout.split(/^---$/m).map((text) => parse(text)?.kind);
  assert.deepEqual(kinds.filter(Boolean).sort(), ['Ingress', 'Service', 'Service', 'StatefulSet']);
  const refused = helm('template', 'mail', chart, '--set', 'replicas=2');
  assert.match(refused.stderr, /More than one replica needs PostgreSQL/);
  assert.notEqual(helm('template', 'mail', chart, '--set', 'settings.HTTP_PORT=1').status, 0);
});

test('The archive of the chart has the version of the program, and always the same bytes', (t) => {
  const archives = [0, 1].map(() => {
    const file = writeChart(join(PACKAGING, 'helm/deliverability'), temporaryFolder(t), EPOCH);
    return readFileSync(file);
  });
  assert.deepEqual(archives[0], archives[1]);
  const chart = execFileSync('tar', ['-xzO', 'deliverability/Chart.yaml'], { input: archives[0] });
  assert.equal(parse(chart.toString()).appVersion, manifest.version);
});

test('Archives do not depend on the time, the owner or the order of files', (t) => {
  const archives = [
    ['a', 'b'],
    ['b', 'a'],
  ].map((names) => {
    const folder = temporaryFolder(t);
    mkdirSync(join(folder, 'content'));
    for (const name of names) writeFileSync(join(folder, 'content', name), name);
    const file = join(folder, 'content.tar');
    writeTar(file, folder, ['content'], { epoch: EPOCH });
    return readFileSync(file);
  });
  assert.deepEqual(archives[0], archives[1]);
});

test('The checksums of a release cover all files, and sha256sum accepts them', (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'docker'));
  writeFileSync(join(folder, 'program'), 'x');
  writeFileSync(join(folder, 'docker/Dockerfile'), 'FROM scratch');
  assert.deepEqual(writeChecksums(folder), ['docker/Dockerfile', 'program']);
  execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: folder });
});

test('SOURCE_DATE_EPOCH must be a number of seconds', () => {
  assert.equal(sourceDateEpoch(ROOT, { SOURCE_DATE_EPOCH: '1700000000' }), EPOCH);
  for (const text of ['', 'yesterday', '1.5', '-1'])
    assert.throws(() => sourceDateEpoch(ROOT, { SOURCE_DATE_EPOCH: text }), /number of seconds/);
});

test('Each target of a release has a package with Node and its hash', () => {
  const targets = [...LINUX_TARGETS, WINDOWS_X64];
  for (const { integrity, nodePackage } of targets) {
    assert.match(nodePackage, /^node-(linux|win)-(x64|arm64)$/);
    assert.equal(Buffer.from(integrity.replace('sha512-', ''), 'base64').length, 64);
  }
  assert.match(WINDOWS_X64.label, /not-run/);
});
