// @alone: one layer is 120 MB, and the network of containers changes the firewall.
// @one-database: about the image.
/** The container image: built by umoci from dist/deliverability, run by runc, and as the README says by podman. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chownSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import { execFileSync, spawn, spawnSync } from '../../scripts/programs.ts';
import { writeTar } from '../../scripts/release/archive.ts';
import { IMAGE_USER, writeLayer, writeLayout } from '../../scripts/release/image.ts';
import { installedLibraries } from '../../scripts/release/libraries.ts';
import { LINUX_TARGETS } from '../../scripts/release/targets.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { startDnsServer } from '../helpers/dns-server.ts';
import { EXECUTABLE, firstLog, skipUnlessBuilt } from '../helpers/executable.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { sendMail } from '../helpers/send.ts';

const EPOCH = 1_700_000_000;
const IMAGE = `deliverability:${manifest.version}`;
const target = LINUX_TARGETS.find(({ arch }) => arch === process.arch);
const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

const skip =
  skipUnlessBuilt() ||
  skipUnlessInstalled('umoci') ||
  skipUnlessInstalled('runc') ||
  skipUnlessInstalled('podman') ||
  (process.getuid?.() !== 0 && 'needs root') ||
  (!target && 'needs Linux on x64 or arm64');

test('The image runs read-only, as its user, without a shell; and as the README says', {
  skip,
}, async (t) => {
  const folder = temporaryFolder(t);
  const layer = join(folder, 'rootfs.tar');
  writeLayer(
    { target: target!, executable: EXECUTABLE, libraries: installedLibraries() },
    layer,
    EPOCH,
  );
  const layout = join(folder, 'layout');
  writeLayout([{ target: target!, file: layer }], layout, EPOCH);

  await t.test('the layer has a program, libraries and a folder for data', () => {
    const list = execFileSync('tar', ['-tvf', layer], { encoding: 'utf8' });
    assert.match(list, /^drwx------ 65532\/65532 .* data\/$/m);
    const programs = list.split('\n').filter((line) => /^-..x/.test(line) && !/lib/.test(line));
    assert.deepEqual(programs.length, 1, list);
    assert.doesNotMatch(list, /\b(sh|bash|busybox|apt|dpkg)$/m);
  });

  await t.test('runc runs it: a message gets a report', (t) => runWithRunc(t, folder, layout));

  await t.test('podman runs the commands of README.md as written', () => {
    writeTar(join(folder, `deliverability-${manifest.version}-image.tar`), layout, ['.'], {
      epoch: EPOCH,
    });
    runAsDocumented(folder);
  });
});

async function runWithRunc(t: TestContext, folder: string, layout: string): Promise<void> {
  const dns = await startDnsServer();
  t.after(() => dns.close());
  const bundle = join(folder, 'bundle');
  execFileSync('umoci', ['unpack', '--image', `${layout}:${IMAGE}`, bundle], { stdio: 'pipe' });
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  chownSync(data, IMAGE_USER.uid, IMAGE_USER.gid);
  configure(join(bundle, 'config.json'), data, [
    'DELIVERABILITY_HTTP_PORT=0',
    'DELIVERABILITY_SMTP_PORT=0',
    'DELIVERABILITY_INBOX_DOMAIN=inbox.test',
    'DELIVERABILITY_SMTP_PROXY_PROTOCOL=127.0.0.1',
    'DELIVERABILITY_BLOCKLISTS=-all',
    `DELIVERABILITY_DNS_SERVERS=127.0.0.1:${dns.address.port}`,
  ]);
  const name = `deliverability-test-${process.pid}`;
  const runc = ['--root', join(folder, 'runc')];
  const container = spawn('runc', [...runc, 'run', '--bundle', bundle, name], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.after(() => spawnSync('runc', [...runc, 'delete', '--force', name]));
  const execute = (...args: string[]) =>
    spawnSync('runc', [...runc, 'exec', name, ...args], { encoding: 'utf8' });

  const { api, smtp } = await firstLog(container, 'ready');
  const port = (address: string | undefined) => Number(address!.split(':').at(-1));
  const url = `http://127.0.0.1:${port(api)}`;
  const owner = execute('deliverability', 'owner', 'owner@example.com', '--json');
  assert.equal(owner.status, 0, owner.stderr);
  const headers = {
    authorization: `Bearer ${JSON.parse(owner.stdout).key}`,
    'content-type': 'application/json',
  };
  const created = await fetch(`${url}/v1/tests`, { method: 'POST', headers, body: '{}' });
  const { id, address } = (await created.json()) as { id: string; address: string };
  await sendMail({ port: port(smtp), to: address, raw: goodMessage({ Subject: 'Im Container' }) });
  const done = await (await fetch(`${url}/v1/tests/${id}?wait=50`, { headers })).json();
  assert.equal((done as { status: string }).status, 'completed');
  const report = await fetch(`${url}/v1/tests/${id}/report.html`, { headers });
  assert.match(await report.text(), /Im Container/);

  const status = readFileSync(`/proc/${initPid(runc, name)}/status`, 'utf8');
  assert.match(status, /^Uid:\t65532\t65532\t65532\t65532$/m);
  assert.match(status, /^CapEff:\t0{16}$/m);
  assert.equal(statSync(join(data, 'deliverability.db')).uid, IMAGE_USER.uid);
  assert.match(execute('sh', '-c', 'id').stderr, /executable file not found/);
  const elsewhere = execute('deliverability', 'backup', '/backup.db');
  assert.notEqual(elsewhere.status, 0, 'the root file system is read-only');

  execFileSync('runc', [...runc, 'kill', name, 'TERM']);
  const [code] = await once(container, 'exit');
  assert.equal(code, 0);
}

function initPid(runc: string[], name: string): number {
  const state = execFileSync('runc', [...runc, 'state', name], { encoding: 'utf8' });
  return JSON.parse(state).pid;
}

/** Makes the container of umoci as users should run it: read-only, without capabilities, on this machine's network. */
function configure(file: string, data: string, environment: string[]): void {
  const config = JSON.parse(readFileSync(file, 'utf8'));
  config.root.readonly = true;
  config.process.terminal = false;
  config.process.noNewPrivileges = true;
  config.process.env.push(...environment);
  delete config.process.rlimits;
  config.process.capabilities = {};
  config.linux.namespaces = config.linux.namespaces.filter(
    ({ type }: { type: string }) => type !== 'network',
  );
  const isData = ({ destination }: { destination: string }) => destination === '/data';
  assert.equal(config.mounts.filter(isData).length, 1, 'the image has the volume /data');
  config.mounts = [
    ...config.mounts.filter((mount: { destination: string }) => !isData(mount)),
    { destination: '/data', type: 'bind', source: data, options: ['bind', 'rw'] },
  ];
  writeFileSync(file, JSON.stringify(config));
}

/** Runs the commands in a network of their own, because they publish fixed ports, and with a storage of their own. */
function runAsDocumented(folder: string): void {
  const [, commands] = /### Container\n[\s\S]*?```sh\n([\s\S]*?)```/.exec(README) ?? [];
  assert.equal(commands?.match(/^podman /gm)?.length, 3, commands);
  const script = `
    set -eu
    ip link set lo up
    cleanup() {
      podman rm --force --time 5 deliverability >/dev/null 2>&1 || true
      podman volume rm deliverability >/dev/null 2>&1 || true
      podman image rm ${IMAGE} >/dev/null 2>&1 || true
    }
    trap cleanup EXIT
    ${commands}
    curl --silent --fail --retry 20 --retry-connrefused --retry-delay 1 http://127.0.0.1:8080/readyz >/dev/null
    podman exec deliverability deliverability healthcheck
    curl --silent --max-time 5 telnet://127.0.0.1:2525 </dev/null || true
  `;
  const storage = join(folder, 'storage.conf');
  writeFileSync(
    storage,
    `[storage]\ndriver = "vfs"\ngraphroot = "${folder}/graph"\nrunroot = "${folder}/run"\n`,
  );
  // podman asks for a limit on open files that is above that of some machines.
  const containers = join(folder, 'containers.conf');
  writeFileSync(
    containers,
    '[containers]\ndefault_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]\n[engine]\nruntime = "runc"\n',
  );
  const { status, stdout, stderr } = spawnSync('unshare', ['--net', 'bash', '-c', script], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 120_000,
    env: {
      ...process.env,
      CONTAINERS_STORAGE_CONF: storage,
      CONTAINERS_CONF: containers,
    },
  });
  assert.equal(status, 0, `${stdout}\n${stderr}`);
  assert.match(stdout, /dlv_live_/);
  assert.match(stdout, /^220 /m, 'the SMTP port is published');
}
