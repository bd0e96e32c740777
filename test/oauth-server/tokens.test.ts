/** Tokens: how codes and refresh tokens are exchanged, what ends a connection, and where a token is valid. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HOUR_MS, MINUTE_MS } from '../../src/lib/durations.ts';
import { expireAssistants } from '../../src/team/assistants.ts';
import { testClock } from '../helpers/clock.ts';
import { connectOverHttp, toolNames } from '../mcp/mcp-client.ts';
import { givePassword, signIn } from '../team/browser.ts';
import { auditOf } from '../team/team-service.ts';
import {
  authorizePath,
  clientId,
  connectAgain,
  connectAssistant,
  consent,
  FORM,
  mcpStatus,
  REDIRECT,
  redeem,
  refresh,
  revoke,
  startOAuthService,
  VERIFIER,
} from './oauth-client.ts';

const newCode = async (connection: Awaited<ReturnType<typeof connectAssistant>>) => {
  const { service, browser, id } = connection;
  const target = await consent(service, browser, authorizePath(id));
  return target.searchParams.get('code')!;
};

test('A code becomes tokens for one hour, and answers are not cached', async (t) => {
  const { service, tokens } = await connectAssistant(t);
  const { access_token, refresh_token, ...rest } = tokens;
  assert.match(access_token, /^dlv_access_[\w-]{43}$/);
  assert.match(refresh_token, /^dlv_refresh_[\w-]{43}$/);
  assert.ok(rest.expires_in > 3590 && rest.expires_in <= 3600);
  assert.deepEqual(
    { ...rest, expires_in: 0 },
    { token_type: 'Bearer', expires_in: 0, scope: 'mcp' },
  );
  assert.equal(await mcpStatus(service, access_token), 200);
});

test('A code needs its client, its redirect URI, its verifier and this resource', async (t) => {
  const connection = await connectAssistant(t);
  const { service, id } = connection;
  const other = await clientId(service, { client_name: 'Other' });
  const wrong: [more: Record<string, string>, status: number, error: string][] = [
    [{ client_id: other }, 400, 'invalid_grant'],
    [{ client_id: 'unknown' }, 401, 'invalid_client'],
    [{ client_id: '' }, 401, 'invalid_client'],
    [{ redirect_uri: `${REDIRECT}/other` }, 400, 'invalid_request'],
    [{ code_verifier: 'x'.repeat(43) }, 400, 'invalid_grant'],
    [{ code_verifier: '' }, 400, 'invalid_grant'],
    [{ code_verifier: 'too-short' }, 400, 'invalid_request'],
    [{ resource: 'https://other.example/mcp' }, 400, 'invalid_target'],
    [{ grant_type: 'password' }, 400, 'unsupported_grant_type'],
    [{ grant_type: 'client_credentials' }, 400, 'unsupported_grant_type'],
    [{ grant_type: '' }, 400, 'invalid_request'],
    [{ grant_type: 'other' }, 400, 'unsupported_grant_type'],
    [{ code: 'unknown' }, 400, 'invalid_grant'],
  ];
  for (const [more, status, error] of wrong) {
    const answer = await redeem(service, id, await newCode(connection), more);
    assert.equal(answer.status, status, `${JSON.stringify(more)}: ${answer.text}`);
    assert.equal(answer.body.error, error, JSON.stringify(more));
    assert.equal(answer.headers.get('cache-control'), 'no-store');
  }
  // A verifier that was wrong once leaves no second attempt.
  const code = await newCode(connection);
  await redeem(service, id, code, { code_verifier: 'x'.repeat(43) });
  assert.equal((await redeem(service, id, code)).body.error, 'invalid_grant');
  // OAuth 2.1 §10.2: the redirect URI may be left out.
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    client_id: id,
    code: await newCode(connection),
    code_verifier: VERIFIER,
  });
  const without = await fetch(`${service.url}/oauth/token`, { method: 'POST', body });
  assert.equal(without.status, 200);
});

test('A repeated parameter is rejected', async (t) => {
  const { service, id } = await connectAssistant(t);
  for (const path of ['/oauth/token', '/oauth/revoke']) {
    const answer = await service.call<{ error: string }>('POST', path, {
      key: null,
      headers: FORM,
      body: `client_id=${id}&client_id=${id}`,
    });
    assert.equal(answer.status, 400);
    assert.equal(answer.body.error, 'invalid_request');
  }
});

test('A second use of a code ends the connection that the first one began', async (t) => {
  const { service, id, code, tokens } = await connectAssistant(t);
  assert.equal(await mcpStatus(service, tokens.access_token), 200);
  const replayed = await redeem(service, id, code);
  assert.equal(replayed.body.error, 'invalid_grant');
  assert.equal(await mcpStatus(service, tokens.access_token), 401);
  assert.equal((await refresh(service, id, tokens.refresh_token)).body.error, 'invalid_grant');
  const entries = await auditOf(service, { action: 'connected_assistant.token_reused' });
  assert.equal(entries.length, 1);
});

test('A code expires after a minute, an access token after an hour, and a connection after 60 unused days', async (t) => {
  const clock = testClock();
  const connection = await connectAssistant(t, { clock });
  const { service, id, tokens } = connection;
  const code = await newCode(connection);
  clock.advance(MINUTE_MS);
  assert.equal((await redeem(service, id, code)).body.error, 'invalid_grant');
  clock.advance(58 * MINUTE_MS);
  assert.equal(await mcpStatus(service, tokens.access_token), 200);
  clock.advance(MINUTE_MS);
  assert.equal(await mcpStatus(service, tokens.access_token), 401);
  const { body: next } = await refresh(service, id, tokens.refresh_token);
  assert.equal(await mcpStatus(service, next.access_token), 200);
  clock.advance(60 * 24 * HOUR_MS);
  assert.equal((await refresh(service, id, next.refresh_token)).body.error, 'invalid_grant');
  await expireAssistants(service.app);
  for (const table of ['connected_assistants', 'assistant_tokens'] as const)
    assert.deepEqual(await service.app.db.selectFrom(table).selectAll().execute(), []);
});

test('A refresh token that is used again later ends the connection', async (t) => {
  const clock = testClock();
  const { service, id, tokens } = await connectAssistant(t, { clock });
  const { body: next } = await refresh(service, id, tokens.refresh_token);
  clock.advance(30_000);
  const replayed = await refresh(service, id, tokens.refresh_token);
  assert.equal(replayed.status, 400);
  assert.equal(replayed.body.error, 'invalid_grant');
  assert.equal(await mcpStatus(service, next.access_token), 401);
  assert.equal((await refresh(service, id, next.refresh_token)).body.error, 'invalid_grant');
  const entries = await auditOf(service, { action: 'connected_assistant.token_reused' });
  assert.equal(entries.length, 1);
});

test('A client that lost the response can refresh again within 30 seconds; a thief who does is detected', async (t) => {
  const clock = testClock();
  const { service, id, tokens } = await connectAssistant(t, { clock });
  const { body: one } = await refresh(service, id, tokens.refresh_token);
  clock.advance(29_000);
  const { body: other } = await refresh(service, id, tokens.refresh_token);
  assert.equal(await mcpStatus(service, one.access_token), 200);
  assert.equal(await mcpStatus(service, other.access_token), 200);
  clock.advance(HOUR_MS);
  const { status } = await refresh(service, id, one.refresh_token);
  assert.equal(status, 200);
  clock.advance(HOUR_MS);
  assert.equal((await refresh(service, id, other.refresh_token)).body.error, 'invalid_grant');
  const entries = await auditOf(service, { action: 'connected_assistant.token_reused' });
  assert.equal(entries.length, 1);
});

test('Two parties that each got a token from the same one do not both stay, however fast they are', async (t) => {
  const { service, id, tokens } = await connectAssistant(t, { clock: testClock() });
  const { body: one } = await refresh(service, id, tokens.refresh_token);
  const { body: other } = await refresh(service, id, tokens.refresh_token);
  const { body: next } = await refresh(service, id, one.refresh_token);
  assert.equal(await mcpStatus(service, next.access_token), 200);
  assert.equal((await refresh(service, id, other.refresh_token)).body.error, 'invalid_grant');
  assert.equal(await mcpStatus(service, next.access_token), 401);
  assert.equal((await auditOf(service, { action: 'connected_assistant.token_reused' })).length, 1);
});

test('Once its successor was used, a refresh token is not accepted again', async (t) => {
  const { service, id, tokens } = await connectAssistant(t, { clock: testClock() });
  const { body: one } = await refresh(service, id, tokens.refresh_token);
  assert.equal((await refresh(service, id, one.refresh_token)).status, 200);
  assert.equal((await refresh(service, id, tokens.refresh_token)).body.error, 'invalid_grant');
});

test('A refresh token belongs to its client, and is no access token', async (t) => {
  const { service, id, tokens } = await connectAssistant(t);
  const other = await clientId(service, { client_name: 'Other' });
  assert.equal((await refresh(service, other, tokens.refresh_token)).body.error, 'invalid_grant');
  assert.equal((await refresh(service, id, tokens.access_token)).body.error, 'invalid_grant');
  assert.equal(await mcpStatus(service, tokens.refresh_token), 401);
  assert.equal((await refresh(service, id, tokens.refresh_token)).status, 200);
});

test('Revoking either token ends the connection, but only for its client', async (t) => {
  const connection = await connectAssistant(t);
  const { service, browser, id } = connection;
  const other = await clientId(service, { client_name: 'Other' });
  for (const kind of ['access_token', 'refresh_token'] as const) {
    const { tokens } = await connectAgain(service, browser, id);
    assert.equal((await revoke(service, other, tokens[kind])).status, 200);
    assert.equal((await revoke(service, id, 'unknown')).status, 200);
    assert.equal(await mcpStatus(service, tokens.access_token), 200);
    assert.equal((await revoke(service, id, tokens[kind])).status, 200);
    assert.equal(await mcpStatus(service, tokens.access_token), 401);
  }
  assert.equal(await mcpStatus(service, connection.tokens.access_token), 200);
});

test('A token is valid for /mcp only, and its tools call the API', async (t) => {
  const { service, tokens } = await connectAssistant(t);
  const key = tokens.access_token;
  for (const path of ['/v1/me', '/v1/tests', '/v1/api_keys', '/v1/connected_assistants', '/team'])
    assert.equal((await service.call('GET', path, { key })).status, 401, path);
  assert.equal((await service.call('POST', '/v1/tests', { key, json: {} })).status, 401);
  const client = await connectOverHttp(t, { url: service.url, key });
  const created = await client.callTool({ name: 'create_test', arguments: {} });
  assert.ok(!created.isError);
  // In the URL, no token is accepted.
  const inUrl = await service.call('POST', `/mcp?access_token=${key}`, { key: null, json: {} });
  assert.equal(inUrl.status, 401);
});

test('The member decides about changes of settings and the mode; the URL does not', async (t) => {
  const { service, browser, id } = await connectAssistant(t);
  const namesFor = async (choices: Record<string, string>) => {
    const { tokens } = await connectAgain(service, browser, id, choices);
    const key = tokens.access_token;
    return toolNames(await connectOverHttp(t, { url: service.url, key }, '?allow_writes=true'));
  };
  const reading = await namesFor({ role: 'admin' });
  assert.ok(!reading.includes('add_domain') && reading.includes('create_test'));
  const writing = await namesFor({ role: 'admin', writes: 'on' });
  assert.ok(writing.includes('add_domain') && writing.includes('create_alert'));
  const inTestMode = await namesFor({ role: 'admin', writes: 'on', mode: 'test' });
  assert.ok(!inTestMode.includes('add_domain') && inTestMode.includes('create_test'));
  assert.deepEqual(await namesFor({ role: 'viewer', writes: 'on' }), [
    'get_test',
    'list_tests',
    'explain_check',
    'look_up_domain',
  ]);
});

test('Demoting or removing a member limits or ends the access of their assistants', async (t) => {
  const service = await startOAuthService(t);
  const id = await clientId(service);
  const member = await service.makeMember('admin');
  await givePassword(service, member.email);
  const browser = await signIn(service, member.email);
  const { tokens } = await connectAgain(service, browser, id, { role: 'admin', writes: 'on' });
  const names = async () =>
    toolNames(await connectOverHttp(t, { url: service.url, key: tokens.access_token }));
  assert.ok((await names()).includes('create_alert'));
  await service.call('PATCH', `/v1/team/members/${member.id}`, { json: { role: 'viewer' } });
  assert.deepEqual(await names(), ['get_test', 'list_tests', 'explain_check', 'look_up_domain']);
  await service.call('DELETE', `/v1/team/members/${member.id}`);
  assert.equal(await mcpStatus(service, tokens.access_token), 401);
  assert.equal((await refresh(service, id, tokens.refresh_token)).body.error, 'invalid_grant');
  assert.deepEqual(await service.app.db.selectFrom('assistant_tokens').selectAll().execute(), []);
});

test('A token for another URL of the service, or from before OAuth was turned off, is rejected', async (t) => {
  const { service, id, tokens } = await connectAssistant(t);
  assert.equal(await mcpStatus(service, tokens.access_token), 200);
  const { config } = service.app;
  const { BASE_URL, APP_URL } = config;
  Object.assign(config, { BASE_URL: 'https://new.example.com' });
  assert.equal(await mcpStatus(service, tokens.access_token), 401);
  const { body } = await refresh(service, id, tokens.refresh_token);
  assert.equal(body.error, 'invalid_grant');
  Object.assign(config, { BASE_URL, APP_URL, MCP_OAUTH: false });
  assert.equal(await mcpStatus(service, tokens.access_token), 401);
  assert.equal((await refresh(service, id, tokens.refresh_token)).status, 404);
});

test('A 401 of /mcp says where to get a token; that of other operations does not', async (t) => {
  const service = await startOAuthService(t);
  const metadata = `resource_metadata="${service.url}/.well-known/oauth-protected-resource/mcp", scope="mcp"`;
  const challengeOf = async (path: string, key: string | null) =>
    (await service.call('POST', path, { key, json: {} })).headers.get('www-authenticate');
  assert.equal(await challengeOf('/mcp', null), `Bearer ${metadata}`);
  assert.equal(
    await challengeOf('/mcp', 'dlv_access_x'),
    `Bearer ${metadata}, error="invalid_token"`,
  );
  assert.equal(await challengeOf('/v1/tests', 'dlv_access_x'), 'Bearer');
});
