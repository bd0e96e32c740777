/** The OpenAPI document satisfies linters, and clients generated from it work with the running service. */

// @one-database: about the OpenAPI document and its clients.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, type TestContext, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { register } from 'tsx/esm/api';
import { execFile } from '../../scripts/programs.ts';
import { DOCUMENTED_API } from '../../src/features.ts';
import { describeApi } from '../../src/health/describe-api.ts';
import { startTestService } from '../helpers/app.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { startReceiver } from '../helpers/receiver.ts';
import type { Setting, Transcript } from './openapi/session.ts';

const SOURCE = fileURLToPath(new URL('./openapi/', import.meta.url));
/** For an installation or a generator on a busy machine. */
const TIMEOUT_MS = 300_000;
const ENV = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };

interface Finished {
  ok: boolean;
  output: string;
}

const run = (file: string, args: string[], cwd: string): Promise<Finished> =>
  new Promise((resolve) => {
    const options = { cwd, env: ENV, timeout: TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024 };
    execFile(file, args, options, (error, stdout, stderr) =>
      resolve({ ok: error === null, output: `${stdout}${stderr}` }),
    );
  });

async function mustRun(...command: Parameters<typeof run>): Promise<string> {
  const { ok, output } = await run(...command);
  assert.ok(ok, `${command[0]} ${command[1].join(' ')}\n${output}`);
  return output;
}

/** Installs the locked tools outside of the project, once for each version of the lock file. */
async function installTools(): Promise<string> {
  const lock = readFileSync(join(SOURCE, 'package-lock.json'));
  const hash = createHash('sha256').update(lock).digest('hex').slice(0, 12);
  const folder = join(tmpdir(), `deliverability-openapi-tools-${hash}`);
  if (existsSync(folder)) return folder;
  const fresh = mkdtempSync(`${folder}-`);
  for (const name of ['package.json', 'package-lock.json'])
    copyFileSync(join(SOURCE, name), join(fresh, name));
  const install = ['ci', '--ignore-scripts', '--no-audit', '--no-fund'];
  await mustRun('npm', install, fresh);
  try {
    renameSync(fresh, folder);
  } catch (error) {
    // Another process was faster.
    rmSync(fresh, { recursive: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

describe('OpenAPI document', () => {
  let tools: string;
  const tool = (name: string) => join(tools, 'node_modules', '.bin', name);

  before(async () => {
    tools = await installTools();
  });

  /** A folder with the document, the configuration of the tools, and the sessions. */
  function workspace(t: TestContext, document: object): string {
    const folder = mkdtempSync(join(tmpdir(), 'openapi-'));
    t.after(() => rmSync(folder, { recursive: true }));
    cpSync(SOURCE, folder, { recursive: true });
    symlinkSync(join(tools, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document));
    return folder;
  }

  const documentOf = (surface: 'full' | 'preview'): Record<string, object> => {
    const url = 'https://mail.acme.example';
    const config = { SURFACE: surface, BASE_URL: url, APP_URL: url };
    return describeApi(DOCUMENTED_API, config, '1.0.0') as never;
  };

  /** The problems that the linters find, warnings and hints included. */
  async function problemsIn(t: TestContext, document: object, redocly = 'redocly.yaml') {
    const folder = workspace(t, document);
    const lint = ['lint', 'openapi.json', '--config', redocly, '--format=json'];
    const { output } = await run(tool('redocly'), lint, folder);
    const report = JSON.parse(output.slice(output.indexOf('{'), output.lastIndexOf('}') + 1));
    const rules = ['lint', 'openapi.json', '--ruleset', 'spectral.yaml', '--format=json'];
    const results = (await run(tool('spectral'), [...rules, '--quiet'], folder)).output;
    const list = JSON.parse(results.slice(results.indexOf('['), results.lastIndexOf(']') + 1));
    return {
      redocly: report.problems.map(
        ({ ruleId, message }: Record<string, string>) => `${ruleId}: ${message}`,
      ),
      spectral: list.map(
        ({ code, message, path }: Record<string, string>) => `${code}: ${message} ${path}`,
      ),
    };
  }

  for (const surface of ['full', 'preview'] as const)
    test(`of the ${surface} surface has no problems for Redocly and Spectral`, async (t) => {
      const config = surface === 'full' ? 'redocly.yaml' : 'redocly-preview.yaml';
      const problems = await problemsIn(t, documentOf(surface), config);
      assert.deepEqual(problems, { redocly: [], spectral: [] });
    });

  test('with a fault has problems for Redocly and Spectral', async (t) => {
    const document = documentOf('full');
    const paths = structuredClone(document.paths) as Record<string, Record<string, object>>;
    paths['/v1/tests']!.post = {
      ...paths['/v1/tests']!.post!,
      description: '',
      operationId: 'getMe',
    };
    const { redocly, spectral } = await problemsIn(t, { ...document, paths });
    assert.ok(redocly.some((text: string) => text.startsWith('operation-operationId-unique')));
    assert.ok(spectral.some((text: string) => text.startsWith('operation-description')));
  });

  test('generates clients that compile in strict mode and work with the service', async (t) => {
    const receiver = await startReceiver(t);
    const service = await startTestService(t, { env: receiver.env });
    const { body } = await service.call<object>('GET', '/openapi.json', { key: null });
    // The service listens on a free port, so it doesn't know its own URL.
    const folder = workspace(t, { ...body, servers: [{ url: service.url }] });
    await mustRun(tool('openapi-typescript'), ['openapi.json', '-o', 'types.ts'], folder);
    await mustRun(tool('openapi-ts'), ['--file', 'openapi-ts.config.mjs'], folder);
    await mustRun(tool('orval'), ['--config', 'orval.config.mjs'], folder);
    await mustRun(tool('tsc'), ['-p', '.'], folder);

    // Generated clients import modules without their endings.
    const unregister = register();
    t.after(unregister);
    for (const client of ['openapi-fetch', 'hey-api', 'orval'])
      await t.test(client, async () => {
        const setting: Setting = {
          baseUrl: service.url,
          apiKey: service.key,
          message: goodMessage().toString(),
          hookUrl: receiver.url,
        };
        const file = pathToFileURL(join(folder, `${client}.session.ts`)).href;
        const session = (await import(file)) as { run(setting: Setting): Promise<Transcript> };
        assertTranscript(await session.run(setting));
      });
  });
});

function assertTranscript(read: Transcript): void {
  assert.equal(read.created, 'waiting');
  assert.match(read.address, /^[a-z0-9]+@/);
  assert.equal(read.status, 'completed');
  assert.ok(read.score === null || Number.isInteger(read.score));
  assert.equal(read.dkim, 'none');
  assert.match(read.firstCheck, /^[a-z0-9_]+$/);
  assert.ok(URL.canParse(read.firstReference));
  // Newest first: the message, then the test that waits for one.
  assert.equal(read.listed[0], read.submitted);
  assert.notEqual(read.listed[1], read.submitted);
  assert.equal(read.hasMore, true);
  assert.equal(read.eventTest, read.submitted);
  assert.equal(read.eventScore, read.score);
  assert.match(read.secret, /^whsec_/);
  assert.match(read.shareUrl, /\/reports\/public\//);
  assert.deepEqual(read.sharedTests, [read.submitted]);
  assert.equal(read.notFound, 'not_found');
  assert.equal(read.invalidLimit, 'validation_failed');
  assert.equal(read.invalidParam, 'expires_in');
}
