/**
 * The revision 2026-07-28 of the protocol beside the older ones, message by message:
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestService, type TestService } from '../helpers/app.ts';
import { connectModernOverHttp, REVISIONS } from './mcp-client.ts';

const MODERN = '2026-07-28';
const META = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const { 'io.modelcontextprotocol/protocolVersion': _, ...WITHOUT_VERSION } = META;
const ACCEPT = { accept: 'application/json, text/event-stream' };

interface Reply {
  status: number;
  type: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: The fields of any JSON-RPC response.
  json: any;
}

/** Sends a request with the header fields that belong to it. `headers` overrides them; null removes one. */
async function send(
  service: TestService,
  method: string,
  params: Record<string, unknown> = {},
  { headers = {}, meta = META }: { headers?: Record<string, string | null>; meta?: object } = {},
): Promise<Reply> {
  const name = params.name ?? params.uri;
  const all: Record<string, string | null> = {
    ...ACCEPT,
    'mcp-protocol-version': MODERN,
    'mcp-method': method,
    ...(name === undefined ? {} : { 'mcp-name': String(name) }),
    ...headers,
  };
  const given = Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== null);
  const response = await service.call('POST', '/mcp', {
    headers: Object.fromEntries(given),
    json: { jsonrpc: '2.0', id: 'a', method, params: { ...params, _meta: meta } },
  });
  const { status, text } = response;
  const type = response.headers.get('content-type');
  const data = type === 'text/event-stream' ? text.split('data: ').at(-1)! : text;
  return { status, type, json: data === '' ? null : JSON.parse(data) };
}

test('server/discover and every result say what the revision requires', async (t) => {
  const service = await startTestService(t);
  const { status, type, json } = await send(service, 'server/discover');
  assert.deepEqual([status, type], [200, 'application/json']);
  const { result } = json;
  assert.deepEqual(result.supportedVersions, [MODERN]);
  assert.deepEqual(Object.keys(result.capabilities).toSorted(), [
    'completions',
    'prompts',
    'resources',
    'tools',
  ]);
  assert.match(result.instructions, /list_tests, then get_test/);
  const results = [
    result,
    (await send(service, 'tools/list')).json.result,
    (await send(service, 'resources/templates/list')).json.result,
    (await send(service, 'prompts/list')).json.result,
  ];
  for (const each of results) {
    assert.equal(each.resultType, 'complete');
    assert.equal(each._meta['io.modelcontextprotocol/serverInfo'].name, 'deliverability');
    // What a key may use is private, and can change at any time.
    assert.deepEqual([each.ttlMs, each.cacheScope], [0, 'private']);
  }
  const called = await send(service, 'tools/call', { name: 'explain_check', arguments: {} });
  assert.deepEqual([called.status, called.type], [200, 'text/event-stream']);
  assert.equal(called.json.result.resultType, 'complete');
  assert.match(called.json.result.content[0].text, /checks: /);
});

test('A large request is answered as a whole, without progress', async (t) => {
  const service = await startTestService(t);
  const message = `From: a@b.example\n\n${'Hello. '.repeat(50_000)}`;
  const call = { name: 'check_message', arguments: { message } };
  const meta = { ...META, progressToken: 1 };
  const { status, type, json } = await send(service, 'tools/call', call, { meta });
  assert.deepEqual([status, type, json.id], [200, 'application/json', 'a']);
  assert.match(json.result.content[0].text, /Score: /);
});

test('Header fields that are missing or differ from the body are rejected with -32020', async (t) => {
  const service = await startTestService(t);
  const call = { name: 'explain_check', arguments: {} };
  const wrong: [
    method: string,
    params: Record<string, unknown>,
    headers: Record<string, string | null>,
  ][] = [
    ['tools/list', {}, { 'mcp-protocol-version': null }],
    ['tools/list', {}, { 'mcp-protocol-version': '2025-11-25' }],
    ['tools/list', {}, { 'mcp-method': null }],
    ['tools/list', {}, { 'mcp-method': 'tools/call' }],
    ['tools/call', call, { 'mcp-name': null }],
    ['tools/call', call, { 'mcp-name': 'get_test' }],
    ['tools/call', call, { 'mcp-name': '=?base64?!?=' }],
    ['resources/read', { uri: 'deliverability://tests/x' }, { 'mcp-name': 'deliverability://x' }],
    ['prompts/get', { name: 'explain_spam' }, { 'mcp-name': 'prepare_reject' }],
    ['server/discover', {}, { 'mcp-protocol-version': '2027-01-01' }],
  ];
  for (const [method, params, headers] of wrong) {
    const { status, json } = await send(service, method, params, { headers });
    const summary = `${method} ${JSON.stringify(headers)}`;
    assert.deepEqual([status, json.id, json.error.code], [400, 'a', -32020], summary);
  }
  const encoded = `=?base64?${Buffer.from('explain_check').toString('base64')}?=`;
  assert.equal(
    (await send(service, 'tools/call', call, { headers: { 'mcp-name': encoded } })).status,
    200,
  );
});

test('An unknown version is rejected, and the error lists the supported ones', async (t) => {
  const service = await startTestService(t);
  for (const version of ['2027-01-01', '2025-11-25', 'x']) {
    const { status, json } = await send(
      service,
      'tools/list',
      {},
      {
        headers: { 'mcp-protocol-version': version },
        meta: { ...META, 'io.modelcontextprotocol/protocolVersion': version },
      },
    );
    assert.deepEqual([status, json.error.code], [400, -32022], version);
    assert.deepEqual(json.error.data, { supported: [MODERN], requested: version });
  }
});

test('A request without its metadata, for a removed method, or in a batch is rejected', async (t) => {
  const service = await startTestService(t);
  const metas = [{}, WITHOUT_VERSION, { ...META, 'io.modelcontextprotocol/clientCapabilities': 1 }];
  for (const meta of metas) {
    const { status, json } = await send(service, 'tools/list', {}, { meta });
    assert.deepEqual([status, json.error.code], [400, -32602], JSON.stringify(meta));
    assert.match(json.error.message, /io\.modelcontextprotocol\//);
  }
  for (const method of [
    'initialize',
    'ping',
    'logging/setLevel',
    'resources/subscribe',
    'tasks/get',
    'tools/drop',
    'constructor',
  ]) {
    const { status, json } = await send(service, method);
    assert.deepEqual([status, json.id, json.error.code], [404, 'a', -32601], method);
  }
  // No list announces its changes.
  const listen = { notifications: { toolsListChanged: true } };
  const { status, json } = await send(service, 'subscriptions/listen', listen);
  assert.deepEqual([status, json.error.code], [404, -32601]);
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: META } };
  const headers = { ...ACCEPT, 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/list' };
  for (const body of [[message], [message, message], [], null, 7, { ...message, jsonrpc: '1.0' }])
    assert.equal((await service.call('POST', '/mcp', { headers, json: body })).status, 400);
  const { id: __, ...notification } = { ...message, method: 'notifications/cancelled' };
  const cancelled = { ...notification, params: { requestId: 1, _meta: META } };
  const accepted = await service.call('POST', '/mcp', {
    headers: { ...headers, 'mcp-method': 'notifications/cancelled' },
    json: cancelled,
  });
  assert.deepEqual([accepted.status, accepted.text], [202, '']);
  const foreign = { headers: { origin: 'https://evil.example' } };
  assert.equal((await send(service, 'tools/list', {}, foreign)).status, 403);
});

test('A session ID is ignored, and none is given', async (t) => {
  const service = await startTestService(t);
  const response = await service.call('POST', '/mcp', {
    headers: {
      ...ACCEPT,
      'mcp-protocol-version': MODERN,
      'mcp-method': 'tools/list',
      'mcp-session-id': 'made-up',
      'last-event-id': '7',
    },
    json: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: META } },
  });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('mcp-session-id'), null);
});

test('An unknown resource and invalid parameters have the error codes of the revision', async (t) => {
  const service = await startTestService(t);
  const uri = 'deliverability://tests/none';
  const missing = (await send(service, 'resources/read', { uri })).json.error;
  assert.deepEqual(missing, { code: -32602, message: 'No such test.', data: { uri } });
  const unknown = await send(service, 'tools/call', { name: 'drop_table', arguments: {} });
  assert.deepEqual([unknown.json.error.code, unknown.status], [-32602, 200]);
  assert.match(unknown.json.error.message, /^There is no tool "drop_table"\./);
  const invalid = await send(service, 'tools/call', { name: 'get_test', arguments: { id: 7 } });
  assert.equal(invalid.json.result.isError, true);
  assert.match(invalid.json.result.content[0].text, /Invalid id/);
});

test('The older revisions are negotiated as before', async (t) => {
  const service = await startTestService(t);
  const post = (json: object, headers = {}) =>
    service.call('POST', '/mcp', { json, headers: { ...ACCEPT, ...headers } });
  const OLDER = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'];
  for (const version of [...OLDER, MODERN, '2027-01-01']) {
    const params = {
      protocolVersion: version,
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    };
    const { text } = await post({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
    // `initialize` never agrees on a revision without it.
    const agreed = OLDER.includes(version) ? version : OLDER[0];
    assert.equal(JSON.parse(text).result.protocolVersion, agreed);
  }
  const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
  for (const version of [...OLDER, null]) {
    const headers = version === null ? {} : { 'mcp-protocol-version': version };
    const { status, text } = await post(list, headers);
    assert.equal(status, 200);
    const { result } = JSON.parse(text);
    assert.deepEqual(Object.keys(result), ['tools']);
  }
  assert.equal((await post({ ...list, method: 'ping' })).status, 200);
});

for (const revision of REVISIONS)
  test(`A client of ${revision} gets progress, cancels calls, and reads errors, resources and prompts`, async (t) => {
    const service = await startTestService(t);
    const client = await connectModernOverHttp(t, service, { revision });
    const message = 'From: a@b.example\n\nHello';
    const steps: string[] = [];
    const checked = await client.callTool(
      { name: 'check_message', arguments: { message } },
      { onprogress: ({ message: step }) => steps.push(step ?? '') },
    );
    assert.deepEqual(steps, ['analyzing the message']);
    const uri = checked.content.flatMap((item) =>
      item.type === 'resource_link' ? [item.uri] : [],
    )[0]!;
    const { contents } = await client.readResource({ uri });
    assert.match((contents[0] as { text: string }).text, /^\{"data_note":/);
    const failed = await client.callTool({ name: 'get_test', arguments: { id: 'test_none' } });
    assert.equal(failed.isError, true);
    await assert.rejects(client.readResource({ uri: 'deliverability://tests/none' }), {
      code: -32602,
      message: /^No such test\.$/,
    });
    const { id } = await service.createTest();
    const { signals } = service.app;
    const { wait } = signals;
    const [started, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<boolean>()];
    signals.wait = async (name, ms, abort) => {
      started.resolve();
      const isRaised = await wait(name, ms, abort);
      ended.resolve(abort?.aborted ?? false);
      return isRaised;
    };
    const stop = new AbortController();
    const args = { id, wait_seconds: 300 };
    const waiting = client.callTool({ name: 'get_test', arguments: args }, { signal: stop.signal });
    await started.promise;
    stop.abort();
    await assert.rejects(waiting);
    // Clients of older revisions cancel by a notification, which finds no request without a session.
    if (revision === '2026-07-28') assert.equal(await ended.promise, true);
    const { prompts } = await client.listPrompts();
    assert.equal(prompts.length, 2);
    const { messages } = await client.getPrompt({ name: 'explain_spam' });
    assert.match(JSON.stringify(messages), /list_tests/);
  });
