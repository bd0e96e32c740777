/**
 * The server scenarios of `@modelcontextprotocol/conformance` against `POST /mcp`. It tests the revisions up to 2025-11-25;
 * test/mcp/revision-2026.test.ts has the cases of the revision 2026-07-28.
 */

// @isolated: it adds tools and a prompt before a service uses their lists.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import * as v from 'valibot';
import { spawn } from '../../scripts/programs.ts';
import { TOOLS } from '../../src/features.ts';
import { tool } from '../../src/http/tool.ts';
import { AppError } from '../../src/lib/errors.ts';
import { PROMPTS } from '../../src/mcp/prompts.ts';
import { startTestService, temporaryFolder } from '../helpers/app.ts';

const ROOT = join(import.meta.dirname, '../..');

/** What scenarios call, where a tool or a prompt of this service can be like that. */
const fixture = (name: string, run: Parameters<typeof tool>[0]['run']) =>
  tool({ name, title: name, description: name, uses: [], input: v.strictObject({}), run });

TOOLS.push(
  fixture('test_simple_text', async () => ({ text: 'This is a simple text.' })),
  fixture('test_error_handling', async () => {
    throw new AppError('conflict', 'This tool intentionally returns an error.');
  }),
  fixture('test_tool_with_progress', async (_, call) => {
    for (const step of ['first', 'second', 'third']) call.progress(step);
    return { text: 'Done.' };
  }),
);
const examplePrompt = (name: string) => ({
  name,
  title: name,
  description: name,
  tools: [],
  argument: { name: 'arg1', description: 'An argument.', required: false },
  text: () => 'This is a simple prompt.',
});
PROMPTS.push(examplePrompt('test_simple_prompt'), examplePrompt('test_prompt_with_arguments'));

const PASSED = [
  'server-initialize',
  'ping',
  'completion-complete',
  'tools-list',
  'tools-call-simple-text',
  'tools-call-error',
  'tools-call-with-progress',
  'resources-list',
  'prompts-list',
  'prompts-get-simple',
  'dns-rebinding-protection',
  // These ask for sessions, which are optional, and pass without them.
  'server-sse-polling',
  'server-sse-multiple-streams',
];

/** Why a scenario does not apply. */
const NOT_APPLICABLE: Record<string, string> = {
  'logging-set-level': 'The server sends no log messages to clients.',
  'tools-call-with-logging': 'The server sends no log messages to clients.',
  'tools-call-image': 'Answers of tools are text and links.',
  'tools-call-audio': 'Answers of tools are text and links.',
  'tools-call-embedded-resource': 'Answers of tools link to resources.',
  'tools-call-mixed-content': 'Answers of tools are text and links.',
  'tools-call-sampling': 'The server sends no requests to clients.',
  'tools-call-elicitation': 'The server sends no requests to clients.',
  'elicitation-sep1034-defaults': 'The server sends no requests to clients.',
  'elicitation-sep1330-enums': 'The server sends no requests to clients.',
  'json-schema-2020-12': 'Schemas come from valibot, and have no references.',
  'resources-read-text': 'Resources are below deliverability://.',
  'resources-read-binary': 'Resources are JSON.',
  'resources-templates-read': 'Resources are below deliverability://.',
  'resources-subscribe': 'The server has no subscriptions.',
  'resources-unsubscribe': 'The server has no subscriptions.',
  'prompts-get-with-args': 'A prompt has one argument.',
  'prompts-get-embedded-resource': 'Prompts are text.',
  'prompts-get-with-image': 'Prompts are text.',
};

test('POST /mcp passes the scenarios of the conformance tests that apply', async (t) => {
  const { url, forwardTo } = await startProxy(t);
  const service = await startTestService(t, { env: { DELIVERABILITY_BASE_URL: url } });
  forwardTo(service);
  const results = await runScenarios(t, `${url}/mcp`);
  assert.deepEqual(
    [...results.keys()].toSorted(),
    [...PASSED, ...Object.keys(NOT_APPLICABLE)].toSorted(),
  );
  for (const name of PASSED) assert.deepEqual(results.get(name), [], name);
  for (const name of Object.keys(NOT_APPLICABLE)) assert.notDeepEqual(results.get(name), [], name);
});

/** A reverse proxy that knows the API key, because the tests have none. */
async function startProxy(t: TestContext) {
  let target = { url: '', key: '' };
  const server = createServer((incoming, outgoing) => {
    const { method, headers } = incoming;
    const authorized = { ...headers, authorization: `Bearer ${target.key}` };
    const passed = request(target.url + incoming.url, { method, headers: authorized }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on('error', () => outgoing.destroy());
    outgoing.on('close', () => passed.destroy());
    incoming.pipe(passed);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.closeAllConnections());
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    forwardTo: (service: typeof target) => {
      target = service;
    },
  };
}

interface Check {
  status: string;
  errorMessage?: string;
}

/** The failed checks of each scenario. */
async function runScenarios(t: TestContext, url: string): Promise<Map<string, string[]>> {
  const folder = temporaryFolder(t);
  const program = join(ROOT, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
  const args = [program, 'server', '--suite', 'all', '--url', url, '--output-dir', folder];
  const child = spawn(process.execPath, args, { cwd: dirname(folder) });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => {
      output += text;
    });
  await once(child, 'close');
  const results = new Map<string, string[]>();
  for (const entry of readdirSync(folder)) {
    const name = /^server-(.*)-\d{4}-\d\d-\d\dT/.exec(entry)?.[1];
    assert.ok(name, `${entry}\n${output}`);
    const checks: Check[] = JSON.parse(readFileSync(join(folder, entry, 'checks.json'), 'utf8'));
    const failed = checks.filter(({ status }) => status === 'FAILURE');
    results.set(
      name,
      failed.map(({ errorMessage }) => errorMessage ?? 'failed'),
    );
  }
  return results;
}
