/** `mcp` over stdio, with the SDK's client and the real program: on a service, by itself, and at its end. */

// @one-database: about a command that opens no database.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { StdioClientTransport as ModernTransport } from '@modelcontextprotocol/client/stdio';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { readClient } from '../../src/commands/mcp/service-client.ts';
import { startTestService, temporaryFolder } from '../helpers/app.ts';
import { startDnsServer } from '../helpers/dns-server.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { startHttpScript } from '../helpers/http-script.ts';
import { bundleProgram, runProgram, spawnProgram } from '../helpers/program.ts';
import {
  answerOf,
  callTool,
  connect,
  connectModern,
  errorOf,
  missingTools,
  toolNames,
} from '../mcp/mcp-client.ts';
import { fixNewsletter, newsletterZone, sendNewsletter } from '../mcp/newsletter.ts';

type Env = Record<string, string>;

async function connectOverStdio(
  t: TestContext,
  env: Env,
  args: string[] = [],
): Promise<{ client: Client; stderr: () => string }> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [await bundleProgram(), 'mcp', ...args],
    env,
    stderr: 'pipe',
  });
  let stderr = '';
  transport.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  return { client: await connect(t, transport), stderr: () => stderr };
}

/** A client that knows only the revision 2026-07-28. */
const connectModernOverStdio = async (t: TestContext, env: Env, args: string[] = []) =>
  connectModern(
    t,
    new ModernTransport({
      command: process.execPath,
      args: [await bundleProgram(), 'mcp', ...args],
      env,
      stderr: 'pipe',
    }),
  );

const onService = ({ url, key }: { url: string; key: string }): Env => ({
  DELIVERABILITY_URL: `${url}/`,
  DELIVERABILITY_API_KEY: key,
});

test('mcp on a service gets from a failing newsletter to the record that fixes it in at most 8 calls', async (t) => {
  const zone = newsletterZone();
  const service = await startTestService(t, { zone });
  await sendNewsletter(service);
  const { client, stderr } = await connectOverStdio(t, onService(service), ['--allow-writes']);
  for (const { name, characters } of await fixNewsletter(client, zone))
    t.diagnostic(`${name}: ${characters} characters`);
  assert.equal(stderr(), '');
});

test('mcp on a service passes on its roles, files, resources, errors and cancellations', async (t) => {
  const service = await startTestService(t);
  const { client } = await connectOverStdio(t, onService(service));
  assert.ok(!(await toolNames(client)).includes('add_domain'));
  assert.match(await errorOf(client, 'add_domain', { name: 'a.example' }), /--allow-writes/);
  const file = join(temporaryFolder(t), 'letter.eml');
  writeFileSync(file, goodMessage());
  const { text, links } = await callTool(client, 'check_message', { file });
  assert.match(text, /^Test test_\w+: completed/);
  const { contents } = await client.readResource({ uri: links[0]! });
  assert.match((contents[0] as { text: string }).text, /^\{"data_note":"[^"]+","id":"test_/);
  assert.match(await errorOf(client, 'get_test', { id: 'test_none' }), /^No such test/);
  const { id } = await service.createTest();
  const stop = new AbortController();
  const args = { id, wait_seconds: 300 };
  const waiting = client.callTool({ name: 'get_test', arguments: args }, undefined, {
    signal: stop.signal,
  });
  await answerOf(client, 'get_test', { id });
  stop.abort();
  await assert.rejects(waiting);
  // The connection goes on.
  assert.match(await answerOf(client, 'explain_check', { check: 'spf' }), /^SPF \(spf\)/);
  const viewer = { url: service.url, key: await service.makeKey('viewer') };
  const { client: viewing } = await connectOverStdio(t, onService(viewer), ['--allow-writes']);
  assert.deepEqual(await toolNames(viewing), [
    'get_test',
    'list_tests',
    'explain_check',
    'look_up_domain',
  ]);
});

test('mcp serves a client of the revision 2026-07-28: tools, progress, cancellation, errors, resources, prompts', async (t) => {
  const zone = newsletterZone();
  const service = await startTestService(t, { zone });
  await sendNewsletter(service);
  const client = await connectModernOverStdio(t, onService(service), [
    '--allow-writes',
    '--structured',
  ]);
  await fixNewsletter(client, zone);
  const steps: string[] = [];
  const checked = await client.callTool(
    { name: 'check_message', arguments: { message: goodMessage() } },
    { onprogress: ({ message }) => steps.push(message ?? '') },
  );
  assert.deepEqual(steps, ['analyzing the message']);
  const { id } = checked.structuredContent as { id: string };
  const uri = `deliverability://tests/${id}`;
  const { contents } = await client.readResource({ uri });
  assert.equal(JSON.parse((contents[0] as { text: string }).text).id, id);
  assert.match(await errorOf(client, 'get_test', { id: 'test_none' }), /^No such test/);
  await assert.rejects(client.readResource({ uri: 'deliverability://none' }), { code: -32602 });
  const { id: waiting } = await service.createTest();
  const stop = new AbortController();
  const args = { id: waiting, wait_seconds: 300 };
  const call = client.callTool({ name: 'get_test', arguments: args }, { signal: stop.signal });
  stop.abort();
  await assert.rejects(call);
  const { messages } = await client.getPrompt({
    name: 'prepare_reject',
    arguments: { domain: 'shop.example' },
  });
  assert.match(JSON.stringify(messages), /plan_dns/);
  const { completion } = await client.complete({
    ref: { type: 'ref/prompt', name: 'prepare_reject' },
    argument: { name: 'domain', value: 'sho' },
  });
  assert.deepEqual(completion.values, ['shop.example']);
  // By itself, the program has no tests and no feedback to explain.
  const alone = await connectModernOverStdio(t, {});
  assert.deepEqual((await alone.listPrompts()).prompts, []);
  assert.deepEqual(await toolNames(alone), ['check_message', 'check_domain', 'explain_check']);
});

test('mcp answers each call with words while the service is away, wrong, or has another key', async (t) => {
  const elsewhere = await startHttpScript(t, ({ path, response, json }) => {
    if (path.startsWith('/other/')) json(200, { object: 'test', id: 'x' });
    else if (path.startsWith('/moved/'))
      response.writeHead(301, { location: 'https://new.example/v1' }).end();
    else if (path.startsWith('/large/')) response.end('x'.repeat(17 * 1024 * 1024));
    else response.writeHead(path.startsWith('/away/') ? 502 : 404).end('<h1>A proxy</h1>');
  });
  const service = await startTestService(t);
  const cases: [env: Env, expected: RegExp][] = [
    [
      onService({ url: 'http://127.0.0.1:9', key: 'k' }),
      /^Can’t reach http:\/\/127\.0\.0\.1:9 \(\w+\)\.\nTry again/,
    ],
    [onService({ url: elsewhere.url, key: 'k' }), /HTTP 404.* Check DELIVERABILITY_URL/],
    [
      onService({ url: `${elsewhere.url}/other`, key: 'k' }),
      /HTTP 200, but not the expected response/,
    ],
    [onService({ url: `${elsewhere.url}/away`, key: 'k' }), /HTTP 502[\s\S]*Try again/],
    [
      onService({ url: `${elsewhere.url}/moved`, key: 'k' }),
      /leads to https:\/\/new\.example: set DELIVERABILITY_URL/,
    ],
    [onService({ url: `${elsewhere.url}/large`, key: 'k' }), /larger than 16777216 bytes/],
    [
      onService({ url: service.url, key: 'wrong' }),
      /^Invalid API key.*\nAsk the user for a new API key/,
    ],
  ];
  for (const [env, expected] of cases) {
    const { client } = await connectOverStdio(t, env);
    // Without the role, all tools are listed: each call says what is wrong.
    assert.ok((await toolNames(client)).includes('create_test'));
    assert.match(await errorOf(client, 'get_test', { id: 'test_x' }), expected);
    await assert.rejects(client.readResource({ uri: 'deliverability://tests/test_x' }));
    await client.close();
  }
});

test('mcp by itself checks messages and domains, and explains checks', async (t) => {
  const dns = await startDnsServer({
    'example.com': { TXT: ['v=spf1 ip4:192.0.2.80 -all'], MX: ['10 mx.example.com'] },
    'mx.example.com': { A: ['192.0.2.80'] },
    '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject'] },
  });
  t.after(() => dns.close());
  const { client, stderr } = await connectOverStdio(t, {
    DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${dns.address.port}`,
    DELIVERABILITY_BLOCKLISTS: '-all',
  });
  assert.deepEqual(await toolNames(client), ['check_message', 'check_domain', 'explain_check']);
  assert.deepEqual(await missingTools(client), []);
  assert.doesNotMatch(await answerOf(client, 'explain_check', { check: 'spf' }), /get_test/);
  const folder = temporaryFolder(t);
  const file = join(folder, 'letter.eml');
  writeFileSync(file, goodMessage());
  const sent = { client_ip: '192.0.2.1', mail_from: 'news@example.com', helo: 'mail.example.com' };
  for (const message of [{ file }, { message: goodMessage() }]) {
    const { text, links } = await callTool(client, 'check_message', { ...message, ...sent });
    assert.match(
      text,
      /Record: TXT example\.com\nv=spf1 ip4:192\.0\.2\.80 ip4:192\.0\.2\.1 -all\n/,
    );
    const { contents } = await client.readResource({ uri: links[0]! });
    assert.match((contents[0] as { text: string }).text, /^\{"data_note":"[^"]+","object":"test"/);
  }
  const health = await callTool(client, 'check_domain', { domain: 'example.com' });
  assert.match(health.text, /^example\.com: warning, \d+\/100\n/);
  assert.match(health.links[0]!, /^deliverability:\/\/results\/3$/);
  mkdirSync(join(folder, 'folder.eml'));
  writeFileSync(join(folder, 'secret.eml'), 'root:x:0:0:root\n');
  const wrong: [name: string, args: object, expected: RegExp][] = [
    ['check_message', { file: '/etc/passwd' }, /Invalid file: must be the path of an \.eml file/],
    ['check_message', { file: join(folder, 'none.eml') }, /does not exist/],
    ['check_message', { file: join(folder, 'folder.eml') }, /is not a file/],
    [
      'check_message',
      { file: join(folder, 'secret.eml') },
      /not an? email|no header|not a message/i,
    ],
    ['check_message', { file, message: 'From: a@b.example\n\nx' }, /give either message or file/],
    ['check_message', {}, /give either message or file/],
    ['check_domain', { domain: 'no domain' }, /Invalid domain/],
    ['check_domain', { domain: 'example.com', dkim_selectors: ['a b'] }, /dkim_selectors/],
  ];
  for (const [name, args, expected] of wrong)
    assert.match(await errorOf(client, name, args), expected);
  assert.equal(stderr(), '');
});

test('mcp writes nothing but the protocol to stdout, survives malformed lines, and ends with its input', async (t) => {
  const lines = [
    JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 'script', version: '1' },
      },
    }),
    'not JSON',
    '{"jsonrpc":"2.0"}',
    '['.repeat(100_000),
    JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' }),
  ];
  const { code, stdout, stderr } = await runProgram(['mcp'], {}, `${lines.join('\n')}\n`);
  assert.equal(code, 0);
  const ids = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).id);
  assert.deepEqual(ids, [1, 2]);
  assert.notEqual(stderr, '');
  // The answers to all requests come before the end, and a signal ends it at once.
  const service = await startTestService(t);
  const { id } = await service.createTest();
  for (const end of ['input', 'SIGINT', 'SIGTERM'] as const) {
    const child = await spawnProgram(['mcp'], onService(service));
    child.stdin.write(`${lines[0]}\n`);
    await once(child.stdout, 'data');
    const wait_seconds = end === 'input' ? 2 : 300;
    const params = { name: 'get_test', arguments: { id, wait_seconds } };
    let answers = '';
    child.stdout.on('data', (chunk) => {
      answers += chunk;
    });
    child.stdin.write(
      `${JSON.stringify({ jsonrpc: '2.0', id: 3, method: 'tools/call', params })}\n`,
    );
    const startedAt = process.hrtime.bigint();
    if (end === 'input') child.stdin.end();
    else child.kill(end);
    await once(child, 'close');
    const seconds = Number(process.hrtime.bigint() - startedAt) / 1e9;
    assert.ok(seconds < 5, `${end}: ${seconds} s`);
    assert.equal(answers.includes('"id":3'), end === 'input');
  }
});

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'script', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

test('mcp recognizes the revision by the first message, and answers all requests before it ends', async (t) => {
  const service = await startTestService(t);
  const { id } = await service.createTest();
  const request = (number: number, method: string, params: object = {}, meta: object = META) =>
    JSON.stringify({ jsonrpc: '2.0', id: number, method, params: { ...params, _meta: meta } });
  const answersTo = async (lines: string[]) => {
    const { code, stdout, stderr } = await runProgram(
      ['mcp'],
      onService(service),
      `${lines.join('\n')}\n`,
    );
    assert.equal(code, 0, stderr);
    const answers = stdout.trimEnd().split('\n');
    return new Map(answers.map((line) => [JSON.parse(line).id, JSON.parse(line)]));
  };
  const wait = { name: 'get_test', arguments: { id, wait_seconds: 2 } };
  const later = { ...META, 'io.modelcontextprotocol/protocolVersion': '2027-01-01' };
  const { 'io.modelcontextprotocol/clientCapabilities': _, ...incomplete } = META;
  const modern = await answersTo([
    request(1, 'tools/list', {}, later),
    request(2, 'tools/list', {}, incomplete),
    request(3, 'server/discover'),
    request(4, 'tools/call', wait),
    request(5, 'ping'),
    request(6, 'initialize', { protocolVersion: '2025-11-25' }, {}),
  ]);
  assert.deepEqual([...modern.keys()].toSorted(), [1, 2, 3, 4, 5, 6]);
  assert.equal(modern.get(1).error.code, -32022);
  assert.deepEqual(modern.get(1).error.data.supported, ['2026-07-28']);
  assert.equal(modern.get(2).error.code, -32602);
  assert.deepEqual(modern.get(3).result.supportedVersions, ['2026-07-28']);
  assert.equal(modern.get(4).result.resultType, 'complete');
  assert.match(modern.get(4).result.content[0].text, /No message has arrived/);
  assert.equal(modern.get(5).error.code, -32601);
  assert.equal(modern.get(6).error.code, -32022);
  // A client that asks first, and then goes on with an older revision.
  const clientInfo = { name: 'script', version: '1' };
  const initialize = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  const older = await answersTo([
    request(1, 'server/discover'),
    request(2, 'initialize', initialize, {}),
    request(3, 'tools/list', {}, {}),
  ]);
  assert.equal(older.get(2).result.protocolVersion, '2025-06-18');
  assert.equal(older.get(3).result.resultType, undefined);
  // A cancelled request has no answer to wait for.
  const startedAt = performance.now();
  const cancelled = await answersTo([
    request(1, 'tools/call', { name: 'get_test', arguments: { id, wait_seconds: 300 } }),
    JSON.stringify({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 1, _meta: META },
    }),
    request(2, 'tools/list'),
  ]);
  assert.deepEqual([...cancelled.keys()], [2]);
  assert.ok(performance.now() - startedAt < 20_000);
});

test('mcp refuses settings that do not belong together', async () => {
  const wrong: [args: string[], env: Env, expected: RegExp][] = [
    [[], { DELIVERABILITY_URL: 'https://a.example' }, /Set DELIVERABILITY_API_KEY/],
    [[], { DELIVERABILITY_URL: 'a.example', DELIVERABILITY_API_KEY: 'k' }, /must be the URL/],
    [['--allow-writes'], {}, /--allow-writes and --structured require DELIVERABILITY_URL/],
    [['--structured'], {}, /--allow-writes and --structured require DELIVERABILITY_URL/],
    [['now'], {}, /Unexpected argument/],
  ];
  for (const [args, env, expected] of wrong) {
    const { code, stdout, stderr } = await runProgram(['mcp', ...args], env);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, expected);
  }
  const plain = { DELIVERABILITY_URL: 'http://host.invalid', DELIVERABILITY_API_KEY: 'k' };
  assert.match((await runProgram(['mcp'], plain, '')).stderr, /is not HTTPS/);
});

test('mcp lists its tools within seconds even if the service does not answer', async (t) => {
  const silent = await startHttpScript(t, () => {});
  await assert.rejects(readClient({ base: silent.url, key: 'k' }), { code: 'unavailable' });
});
