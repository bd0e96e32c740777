/** Structured content: only for clients that ask for it, as the schema says, beside the same text. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { TOOLS } from '../../src/features.ts';
import { DATA_NOTE, MAX_STRUCTURED } from '../../src/http/tool-text.ts';
import { dmarc, record } from '../feedback/reading/builders.ts';
import { named, startFeedback } from '../feedback/start.ts';
import { startTestService } from '../helpers/app.ts';
import {
  type AnyClient,
  callTool,
  connectModernOverHttp,
  connectOverHttp,
  REVISIONS,
} from './mcp-client.ts';
import { newsletterZone, sendNewsletter } from './newsletter.ts';

const QUERY = '?allow_writes=true&structured=true';

/** Each tool returns one response of an operation, or there is a reason why not. */
const WITHOUT_SCHEMA = {
  explain_check: 'calls no operation',
  get_feedback: 'two operations: sources and advice',
  list_alerts: 'two operations: incidents and rules',
};

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, validateFormats: false });
const validators = new Map<string, ValidateFunction>();

/** Many tools have the same schema, and compiling one takes a while. */
function validatorOf(schema: object): ValidateFunction {
  const key = JSON.stringify(schema);
  const validator = validators.get(key) ?? ajv.compile(schema);
  validators.set(key, validator);
  return validator;
}

/** By the client, which compiles all schemas again with each list. */
const schemas = new WeakMap<AnyClient, Promise<Map<string, object | undefined>>>();

const listSchemas = async (client: AnyClient) =>
  new Map((await client.listTools()).tools.map((tool) => [tool.name, tool.outputSchema]));

/** Calls a tool, and asserts that its structured content is what the schema in tools/list says. */
async function structuredOf(client: AnyClient, name: string, args: Record<string, unknown>) {
  const listed = schemas.get(client) ?? listSchemas(client);
  schemas.set(client, listed);
  const schema = (await listed).get(name);
  const { text, structured, isError } = await callTool(client, name, args);
  assert.ok(!isError, text);
  const validate = validatorOf(schema!);
  assert.ok(validate(structured), `${name}: ${ajv.errorsText(validate.errors)}`);
  const content = structured as Record<string, unknown>;
  assert.equal(content.data_note, DATA_NOTE);
  assert.ok(JSON.stringify(content).length <= MAX_STRUCTURED);
  return { text, content };
}

test('Only clients that ask for it get output schemas, which name every field and are short', async (t) => {
  const service = await startTestService(t);
  const plain = await connectOverHttp(t, service, '?allow_writes=true');
  const { tools } = await plain.listTools();
  assert.ok(tools.every(({ outputSchema }) => outputSchema === undefined));
  const client = await connectOverHttp(t, service, QUERY);
  const listed = (await client.listTools()).tools;
  const without = listed.filter(({ outputSchema }) => outputSchema === undefined);
  assert.deepEqual(
    without.map(({ name }) => name).toSorted(),
    Object.keys(WITHOUT_SCHEMA).toSorted(),
  );
  for (const { name, outputSchema, ...rest } of listed) {
    assert.deepEqual(
      rest,
      (({ name: _, ...other }) => other)(tools.find((tool) => tool.name === name)!),
    );
    if (!outputSchema) continue;
    validatorOf(outputSchema);
    assert.equal(outputSchema.type, 'object', name);
    assert.ok(Object.keys(outputSchema.properties!).length > 3, name);
    // What an object or a list is made of comes without the texts of the API reference.
    assert.ok(JSON.stringify(outputSchema).length < 10_000, name);
  }
  assert.ok(JSON.stringify(listed).length < 100_000);
  const answer = await callTool(plain, 'list_tests');
  assert.equal(answer.structured, undefined);
  assert.equal((await service.call('POST', '/mcp?structured=yes', { json: {} })).status, 422);
});

for (const revision of REVISIONS)
  test(`Clients of ${revision} get the response of the operation beside the same text`, async (t) => {
    const zone = newsletterZone();
    const service = await startTestService(t, { zone });
    await sendNewsletter(service);
    const query = '?allow_writes=true';
    const plain = await connectModernOverHttp(t, service, { query, revision });
    const client = await connectModernOverHttp(t, service, { query: QUERY, revision });
    const { id } = (await service.call<{ data: { id: string }[] }>('GET', '/v1/tests')).body
      .data[0]!;
    const reads: [name: string, args: Record<string, unknown>, path: string | null][] = [
      ['list_tests', { q: 'newsletter' }, '/v1/tests?q=newsletter'],
      ['list_tests', { q: 'nothing' }, '/v1/tests?q=nothing'],
      ['get_test', { id }, `/v1/tests/${id}`],
      ['get_test', { id, check: 'spf' }, null],
      ['list_domains', {}, '/v1/domains'],
      ['list_domains', { q: 'nothing' }, '/v1/domains?q=nothing'],
      ['compare_domains', {}, '/v1/domains/table'],
      ['compare_domains', { tag: 'nothing' }, '/v1/domains/table?tag=nothing'],
      ['look_up_domain', { name: 'shop.example' }, '/v1/domain_lookup?name=shop.example'],
      ['check_domain', { domain: 'shop.example' }, null],
      ['get_domain', { domain: 'shop.example' }, null],
      ['plan_dns', { domain: 'shop.example' }, null],
    ];
    for (const [name, args, path] of reads) {
      const { text, content } = await structuredOf(client, name, args);
      // Times of checks can differ by a second.
      const comparable = (value: string) => value.replace(/\d\d:\d\d:\d\d\.\d+Z/g, '');
      const answer = await callTool(plain, name, args);
      assert.equal(comparable(text), comparable(answer.text));
      if (path === null) continue;
      const { data_note: _, left_out, ...response } = content;
      assert.equal(left_out, 0);
      const { body } = await service.call('GET', path);
      assert.deepEqual(Object.keys(response), Object.keys(body), name);
    }
    const { content: found } = await structuredOf(client, 'get_test', { id, check: 'spf' });
    const { checks } = found as { checks: { id: string }[] };
    assert.deepEqual(
      checks.map((check) => check.id),
      ['spf'],
    );
    const rule = { name: 'Low', condition: 'score_below', threshold: 70, channels: ['email'] };
    const message = 'From: a@b.example\nSubject: x\u200b\u202e\n\nHello';
    const writes: [name: string, args: Record<string, unknown>, object: string][] = [
      ['check_message', { message }, 'test'],
      ['create_test', { name: 'structured' }, 'test'],
      ['reanalyze_test', { id }, 'test'],
      ['add_domain', { name: 'other.example' }, 'domain'],
      ['verify_domain', { domain: 'other.example' }, 'domain'],
      ['create_alert', rule, 'alert'],
    ];
    for (const [name, args, object] of writes) {
      const { content } = await structuredOf(client, name, args);
      assert.equal(content.object, object, name);
      assert.doesNotMatch(JSON.stringify(content), /[\u200b\u202e]/);
    }
    // Errors have none.
    const failed = await callTool(client, 'get_test', { id: 'test_none' });
    assert.deepEqual([failed.isError, failed.structured], [true, undefined]);
    const tested = new Set([...reads, ...writes].map(([name]) => name));
    // These have tests of their own.
    for (const name of ['apply_dns', 'undo_dns', 'get_source', ...Object.keys(WITHOUT_SCHEMA)])
      tested.add(name);
    assert.deepEqual(
      TOOLS.map(({ name }) => name).filter((name) => !tested.has(name)),
      [],
    );
  });

test('get_feedback names the sources of a domain, and get_source returns one', async (t) => {
  const feedback = await startFeedback(t);
  await feedback.upload(dmarc({ records: record() }));
  await named(feedback);
  const client = await connectModernOverHttp(t, feedback.service, { query: QUERY });
  const { text } = await callTool(client, 'get_feedback', { domain: feedback.domain.name });
  assert.match(text, /^DMARC policy .*; advice: /);
  const [source] = /src_\w+/.exec(text) ?? [];
  assert.ok(source, text);
  const { content, text: own } = await structuredOf(client, 'get_source', { id: source });
  assert.equal(content.id, source);
  assert.match(own, /Period: /);
});
