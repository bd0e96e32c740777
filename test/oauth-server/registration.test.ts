/** Registration and metadata: what clients read and say about themselves, and which limits hold for strangers. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { register, startOAuthService } from './oauth-client.ts';

test('The metadata names the endpoints, for scripts of any site too', async (t) => {
  const service = await startOAuthService(t);
  const { url } = service;
  const get = async (path: string) => {
    const { status, headers, body } = await service.call('GET', path, { key: null });
    assert.equal(status, 200, path);
    assert.equal(headers.get('access-control-allow-origin'), '*');
    assert.equal(headers.get('set-cookie'), null);
    return body;
  };
  const resource = await get('/.well-known/oauth-protected-resource/mcp');
  assert.deepEqual(resource, await get('/.well-known/oauth-protected-resource'));
  assert.deepEqual(resource, {
    resource: `${url}/mcp`,
    authorization_servers: [url],
    scopes_supported: ['mcp'],
    bearer_methods_supported: ['header'],
    resource_name: 'Deliverability',
  });
  const server = await get('/.well-known/oauth-authorization-server');
  assert.equal(server.issuer, url);
  assert.deepEqual(server.code_challenge_methods_supported, ['S256']);
  assert.equal(server.client_id_metadata_document_supported, true);
  for (const name of ['authorization', 'token', 'registration', 'revocation'])
    assert.match(String(server[`${name}_endpoint`]), new RegExp(`^${url}/oauth/`));
  // This is no OpenID provider: clients look for the other document first.
  const probe = await service.call('GET', '/.well-known/openid-configuration', { key: null });
  assert.equal(probe.status, 404);
});

test('If pages and API have different URLs, the issuer is that of the pages, and the resource that of the API', async (t) => {
  const env = {
    DELIVERABILITY_BASE_URL: 'https://api.example/mail',
    DELIVERABILITY_APP_URL: 'https://app.example/mail',
  };
  const { call } = await startOAuthService(t, { env });
  const resource = 'https://api.example/mail';
  const issuer = 'https://app.example/mail';
  const challenged = await call('POST', '/mcp', { key: null, json: {} });
  const metadataUrl = `${resource}/.well-known/oauth-protected-resource/mcp`;
  const header = challenged.headers.get('www-authenticate')!;
  assert.ok(header.includes(`resource_metadata="${metadataUrl}"`));
  // As that header says, and as RFC 9728 §3.1 and RFC 8414 §3.1 say.
  for (const path of [
    new URL(metadataUrl).pathname,
    '/.well-known/oauth-protected-resource/mail/mcp',
  ]) {
    const { body } = await call('GET', path, { key: null });
    assert.equal(body.resource, `${resource}/mcp`);
    assert.deepEqual(body.authorization_servers, [issuer]);
  }
  const { body: server } = await call('GET', '/.well-known/oauth-authorization-server/mail', {
    key: null,
  });
  assert.equal(server.issuer, issuer);
  assert.equal(server.token_endpoint, `${issuer}/oauth/token`);
});

test('Preflight requests of any site succeed for the OAuth endpoints only', async (t) => {
  const service = await startOAuthService(t);
  for (const path of [
    '/.well-known/oauth-authorization-server',
    '/.well-known/oauth-protected-resource/mcp',
    '/oauth/token',
    '/oauth/register',
    '/oauth/revoke',
  ]) {
    const { status, headers } = await fetch(service.url + path, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://inspector.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,mcp-protocol-version',
      },
    });
    assert.equal(status, 204, path);
    assert.equal(headers.get('access-control-allow-origin'), '*');
    assert.equal(headers.get('access-control-allow-credentials'), null);
    assert.match(headers.get('access-control-allow-headers')!, /mcp-protocol-version/);
  }
  for (const path of ['/mcp', '/v1/tests', '/oauth/authorize']) {
    const { status, headers } = await fetch(service.url + path, { method: 'OPTIONS' });
    assert.equal(status, 405, path);
    assert.equal(headers.get('access-control-allow-origin'), null);
  }
  // An error can be read too.
  const refused = await fetch(`${service.url}/oauth/token`, {
    method: 'POST',
    headers: { origin: 'https://inspector.example' },
    body: new URLSearchParams({ grant_type: 'refresh_token' }),
  });
  assert.equal(refused.status, 401);
  assert.equal(refused.headers.get('access-control-allow-origin'), '*');
});

test('Registrations are not stored, however many there are', async (t) => {
  const service = await startOAuthService(t);
  const { status, body } = await register(service, {
    token_endpoint_auth_method: 'client_secret_basic',
    scope: 'everything',
    logo_uri: 'javascript:alert(1)',
  });
  assert.equal(status, 201);
  const { client_id, client_id_issued_at: _, ...rest } = body as unknown as Record<string, unknown>;
  assert.match(String(client_id), /^dlv_client_[\w-]+$/);
  assert.deepEqual(rest, {
    client_name: 'Assistant',
    redirect_uris: ['https://assistant.example/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  });
  const statuses = [];
  for (let i = 0; i < 100; i++)
    statuses.push((await register(service, { client_name: `Flood ${i}` })).status);
  assert.deepEqual([...new Set(statuses)], [201, 429]);
  const rows = await service.app.db.selectFrom('connected_assistants').selectAll().execute();
  assert.deepEqual(rows, []);
});

test('Registration rejects a client that cannot work with this service', async (t) => {
  const service = await startOAuthService(t);
  const wrong: [more: object, error: string][] = [
    [{ redirect_uris: undefined }, 'invalid_redirect_uri'],
    [{ redirect_uris: [] }, 'invalid_redirect_uri'],
    [{ redirect_uris: 'https://a.example/' }, 'invalid_redirect_uri'],
    ...[
      'javascript:alert(1)',
      'data:text/html,x',
      'http://assistant.example/callback',
      'com.example.app:/callback',
      'cursor://anysphere/callback',
      'https://assistant.example/callback#x',
      'https://assistant.example/callback#',
      'https://user:password@assistant.example/callback',
      'https://assistant.example/call back',
      '//assistant.example/callback',
      'http://127.0.0.2/callback',
      'http://localhost.evil.example/callback',
      `https://assistant.example/${'x'.repeat(500)}`,
      7,
    ].map((uri): [object, string] => [{ redirect_uris: [uri] }, 'invalid_redirect_uri']),
    [{ grant_types: ['client_credentials'] }, 'invalid_client_metadata'],
    [{ response_types: ['token'] }, 'invalid_client_metadata'],
    [
      { redirect_uris: [1, 2, 3].map((n) => `https://assistant.example/${n}${'x'.repeat(300)}`) },
      'invalid_client_metadata',
    ],
  ];
  for (const [more, error] of wrong) {
    const { status, body } = await register(service, more);
    assert.equal(status, 400, JSON.stringify(more));
    assert.equal(body.error, error, JSON.stringify(more));
  }
  for (const body of ['', '[]', '"x"', 'null', '{', '[['.repeat(100)]) {
    const headers = { 'content-type': 'application/json' };
    const answer = await service.call('POST', '/oauth/register', { key: null, headers, body });
    assert.equal(answer.status, 400, body);
  }
});

test('A client without a name gets the name of its host, and a long name is shortened', async (t) => {
  const service = await startOAuthService(t);
  const nameOf = async (client_name: unknown) =>
    (await register(service, { client_name })).body.client_name;
  for (const name of [undefined, '', ' \u200b\u202e', 7, { a: 1 }])
    assert.equal(await nameOf(name), 'assistant.example');
  assert.equal([...(await nameOf('é'.repeat(200)))].length, 80);
  assert.equal(await nameOf('Two\nlines\u0007'), 'Two lines·');
});
