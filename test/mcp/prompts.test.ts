/** The prompts: who gets which, what they say, and the completion of domains. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TOOLS } from '../../src/features.ts';
import { PROMPTS } from '../../src/mcp/prompts.ts';
import { startTestService } from '../helpers/app.ts';
import { connectModernOverHttp, toolNames } from './mcp-client.ts';

const textOf = async (
  client: Awaited<ReturnType<typeof connectModernOverHttp>>,
  name: string,
  args?: Record<string, string>,
): Promise<string> => {
  const { messages } = await client.getPrompt({ name, ...(args ? { arguments: args } : {}) });
  assert.equal(messages.length, 1);
  const [{ role, content }] = messages as [(typeof messages)[number]];
  assert.equal(role, 'user');
  assert.equal(content.type, 'text');
  return (content as { text: string }).text;
};

test('A key has only the prompts whose tools it has, and they name no other tool', async (t) => {
  const service = await startTestService(t);
  const all = TOOLS.map(({ name }) => name);
  for (const { tools } of PROMPTS) for (const name of tools) assert.ok(all.includes(name), name);
  const expected = {
    owner: ['explain_spam', 'prepare_reject'],
    member: ['explain_spam', 'prepare_reject'],
    viewer: ['explain_spam'],
  } as const;
  for (const role of ['owner', 'member', 'viewer'] as const) {
    const key = await service.makeKey(role);
    const client = await connectModernOverHttp(t, { url: service.url, key });
    const { prompts } = await client.listPrompts();
    assert.deepEqual(
      prompts.map(({ name }) => name),
      expected[role],
    );
    const available = await toolNames(client);
    for (const { name, title, description, arguments: args } of prompts) {
      assert.ok(title && description && args?.[0]?.description, name);
      assert.deepEqual(Object.keys(args[0]).toSorted(), ['description', 'name', 'required']);
      const text = await textOf(client, name, { domain: 'shop.example', newsletter: 'spring' });
      const named = all.filter((tool) => new RegExp(`\\b${tool}\\b`).test(text));
      assert.ok(named.length >= 2, text);
      for (const tool of named) assert.ok(available.includes(tool), `${role}: ${tool}`);
    }
    if (role === 'viewer')
      await assert.rejects(
        client.getPrompt({ name: 'prepare_reject', arguments: { domain: 'a.example' } }),
        { code: -32602, message: /^There is no prompt "prepare_reject"\. prompts\/list/ },
      );
  }
});

test('A prompt has what the user entered, on one line and without hidden characters', async (t) => {
  const service = await startTestService(t);
  const client = await connectModernOverHttp(t, service);
  assert.match(await textOf(client, 'explain_spam'), /^Why does my newsletter land in spam\?\n/);
  const newsletter = `spring\n«sale»\u202e${'x'.repeat(1000)}`;
  const text = await textOf(client, 'explain_spam', { newsletter });
  assert.match(
    text,
    /^Why does my newsletter "spring "sale"x+…" land in spam\?\n1\. .* list_tests \(q\)/,
  );
  assert.ok(text.length < 1500);
  assert.match(
    await textOf(client, 'prepare_reject', { domain: 'shop.example' }),
    /^Prepare p=reject for shop\.example\.\n1\. .* Use get_feedback/,
  );
  for (const args of [{}, { domain: ' \u200b' }, { other: 'x' }])
    await assert.rejects(
      client.getPrompt({ name: 'prepare_reject', arguments: args as Record<string, string> }),
      { code: -32602, message: 'Missing required argument: domain.' },
    );
  await assert.rejects(client.getPrompt({ name: 'x\u200b«' }), {
    code: -32602,
    message: /^There is no prompt "x""\./,
  });
});

test('The domain of a prompt is completed from the domains of the team', async (t) => {
  const service = await startTestService(t);
  for (const name of ['shop.example', 'news.shop.example', 'other.example'])
    await service.call('POST', '/v1/domains', { json: { name } });
  const client = await connectModernOverHttp(t, service);
  const complete = async (
    ref: Parameters<typeof client.complete>[0]['ref'],
    name: string,
    value: string,
  ) => (await client.complete({ ref, argument: { name, value } })).completion.values;
  const ref = { type: 'ref/prompt', name: 'prepare_reject' } as const;
  assert.deepEqual((await complete(ref, 'domain', 'shop')).toSorted(), [
    'news.shop.example',
    'shop.example',
  ]);
  assert.equal((await complete(ref, 'domain', '')).length, 3);
  assert.deepEqual(await complete(ref, 'other', ''), []);
  assert.deepEqual(
    await complete({ type: 'ref/prompt', name: 'explain_spam' }, 'newsletter', ''),
    [],
  );
  const uri = 'deliverability://tests/{id}';
  assert.deepEqual(await complete({ type: 'ref/resource', uri }, 'id', ''), []);
  await assert.rejects(complete({ type: 'ref/prompt', name: 'none' }, 'domain', ''), {
    code: -32602,
  });
});
