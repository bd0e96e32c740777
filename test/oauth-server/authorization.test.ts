/** The authorization request: which ones a member is asked about, what the page shows, and where the browser goes. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { givePassword, ownerBrowser, signIn } from '../team/browser.ts';
import { auditOf } from '../team/team-service.ts';
import {
  authorizePath,
  clientId,
  consent,
  FORM,
  fieldsOf,
  mcpStatus,
  REDIRECT,
  redeem,
  startOAuthService,
  VERIFIER,
} from './oauth-client.ts';

const HTML = { accept: 'text/html' };

test('An invalid authorization request shows an error, and never redirects', async (t) => {
  const service = await startOAuthService(t);
  const browser = await ownerBrowser(service);
  const id = await clientId(service);
  const forged = `dlv_client_${Buffer.from('{"client_name":"x","redirect_uris":["javascript:alert(1)"]}').toString('base64url')}`;
  const wrong: [more: Record<string, string>, message: RegExp][] = [
    [{ client_id: '' }, /not registered here/],
    [{ client_id: 'unknown' }, /not registered here/],
    [{ client_id: `${id}x` }, /not registered here/],
    [{ client_id: forged, redirect_uri: 'javascript:alert(1)' }, /not registered here/],
    [{ redirect_uri: '' }, /does not belong/],
    [{ redirect_uri: `${REDIRECT}/` }, /does not belong/],
    [{ redirect_uri: `${REDIRECT}?x=1` }, /does not belong/],
    [{ redirect_uri: `${REDIRECT}#x` }, /does not belong/],
    [{ redirect_uri: REDIRECT.toUpperCase() }, /does not belong/],
    [{ redirect_uri: REDIRECT.replace('https:', 'http:') }, /does not belong/],
    [{ redirect_uri: 'https://assistant.example.evil.example/callback' }, /does not belong/],
    [{ redirect_uri: 'https://assistant.example:8443/callback' }, /does not belong/],
    [{ redirect_uri: 'javascript:alert(1)' }, /does not belong/],
    [{ response_type: 'token' }, /response_type/],
    [{ code_challenge: '' }, /PKCE/],
    [{ code_challenge_method: 'plain' }, /PKCE/],
    [{ code_challenge_method: '' }, /PKCE/],
    [{ code_challenge: VERIFIER.slice(1) }, /PKCE/],
    [{ resource: 'https://other.example/mcp' }, /asks for another service/],
    [{ resource: `${service.url}/v1` }, /asks for another service/],
    [{ resource: `${service.url}/mcp#x` }, /asks for another service/],
    [{ state: 'x'.repeat(1001) }, /state/],
  ];
  for (const [more, message] of wrong) {
    const path = authorizePath(id, more);
    const page = await browser.call<string>('GET', path, { headers: HTML });
    assert.equal(page.status, 400, JSON.stringify(more));
    assert.match(page.text, message, JSON.stringify(more));
    // The form is checked again.
    const query = new URL(path, service.url).searchParams;
    const body = new URLSearchParams({
      ...Object.fromEntries(query),
      role: 'member',
      mode: 'live',
      decision: 'allow',
    });
    const sent = await fetch(`${service.url}/oauth/authorize`, {
      method: 'POST',
      headers: { ...FORM, cookie: browser.cookie, 'sec-fetch-site': 'same-origin' },
      body,
      redirect: 'manual',
    });
    assert.equal(sent.status, 400, JSON.stringify(more));
    assert.equal(sent.headers.get('location'), null);
  }
  const rows = await service.app.db.selectFrom('connected_assistants').selectAll().execute();
  assert.deepEqual(rows, []);
});

test('A redirect URI on the same machine may have any port, but no other path', async (t) => {
  const service = await startOAuthService(t);
  const browser = await ownerBrowser(service);
  for (const host of ['127.0.0.1', 'localhost', '[::1]']) {
    const id = await clientId(service, { redirect_uris: [`http://${host}/callback`] });
    const own = `http://${host}:49152/callback`;
    const target = await consent(service, browser, authorizePath(id, { redirect_uri: own }));
    assert.equal(target.origin, `http://${host}:49152`);
    for (const redirect_uri of [
      `http://${host}:49152/other`,
      `https://${host}:49152/callback`,
      'http://127.0.0.2:49152/callback',
      `http://x@${host}:49152/callback`,
    ]) {
      const page = await browser.call('GET', authorizePath(id, { redirect_uri }), {
        headers: HTML,
      });
      assert.equal(page.status, 400, redirect_uri);
    }
  }
});

test('Parameters that are unknown or repeated change nothing', async (t) => {
  const service = await startOAuthService(t);
  const browser = await ownerBrowser(service);
  const path = authorizePath(await clientId(service));
  const fields = async (more = '') => {
    const page = await browser.call<string>('GET', path + more, { headers: HTML });
    assert.equal(page.status, 200, more);
    return fieldsOf(page.text);
  };
  const once = await fields();
  assert.equal(once.redirect_uri, REDIRECT);
  for (const more of [
    '&scope=mcp&prompt=none&nonce=x&ui_locales=de',
    '&redirect_uri=https%3A%2F%2Fevil.example',
    '&client_id=x',
    `&code_challenge=${'x'.repeat(43)}`,
  ])
    assert.deepEqual(await fields(more), once);
});

test('A visitor signs in first, and then returns to the whole request', async (t) => {
  const service = await startOAuthService(t);
  const path = authorizePath(await clientId(service), { resource: `${service.url}/mcp` });
  const response = await fetch(service.url + path, { headers: HTML, redirect: 'manual' });
  assert.equal(response.status, 303);
  const next = new URL(response.headers.get('location')!, service.url).searchParams.get('next');
  assert.equal(next, path);
  // The link of OpenID Connect and the form lead back too.
  const signInPage = await (await fetch(service.url + response.headers.get('location'))).text();
  assert.ok(signInPage.includes(encodeURIComponent(path)));
});

test('The consent page names the assistant, warns about the name, and cannot be framed', async (t) => {
  const service = await startOAuthService(t);
  const browser = await ownerBrowser(service);
  const id = await clientId(service, {
    client_name: '<script>alert(1)</script>\u202eedualC\u200b',
  });
  const page = await browser.call<string>('GET', authorizePath(id), { headers: HTML });
  assert.equal(page.status, 200);
  assert.ok(!page.text.includes('<script>alert'));
  assert.ok(page.text.includes('&lt;script>alert(1)&lt;/script>edualC'));
  assert.match(page.text, /<strong class="redirect-host">assistant\.example<\/strong>/);
  assert.match(page.text, /registered itself: anyone can choose its name/);
  assert.match(page.text, /owner@example\.com/);
  const policy = page.headers.get('content-security-policy')!;
  assert.match(policy, /frame-ancestors 'none'/);
  assert.match(policy, /default-src 'none'/);
  assert.equal(page.headers.get('x-frame-options'), 'DENY');
  assert.equal(page.headers.get('cache-control'), 'no-store');
});

test('A host name with letters of another script is shown in ASCII', async (t) => {
  const service = await startOAuthService(t);
  const browser = await ownerBrowser(service);
  const redirect_uri = 'https://xn--lude-0ve.example/callback';
  const id = await clientId(service, { client_name: 'Clаude', redirect_uris: [redirect_uri] });
  const page = await browser.call<string>('GET', authorizePath(id, { redirect_uri }), {
    headers: HTML,
  });
  assert.match(page.text, /<strong class="redirect-host">xn--lude-0ve\.example<\/strong>/);
});

test('The consent form is accepted only from this site and with a session', async (t) => {
  const service = await startOAuthService(t);
  const browser = await ownerBrowser(service);
  const path = authorizePath(await clientId(service));
  const page = await browser.call<string>('GET', path, { headers: HTML });
  const body = new URLSearchParams({
    ...fieldsOf(page.text),
    role: 'member',
    mode: 'live',
    decision: 'allow',
  });
  const send = (headers: Record<string, string>) =>
    fetch(`${service.url}/oauth/authorize`, {
      method: 'POST',
      headers: { ...FORM, ...headers },
      body,
      redirect: 'manual',
    });
  const { cookie } = browser;
  const elsewhere: Record<string, string>[] = [
    { cookie, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    { cookie, origin: 'null', 'sec-fetch-site': 'cross-site' },
    { cookie, 'sec-fetch-site': 'same-site' },
    { cookie },
    { authorization: `Bearer ${service.key}` },
  ];
  for (const headers of elsewhere) assert.equal((await send(headers)).status, 403);
  assert.equal((await send({ 'sec-fetch-site': 'same-origin' })).status, 401);
  assert.deepEqual(await auditOf(service, { action: 'connected_assistant.connected' }), []);
});

test('A member can grant at most their own role, and a viewer none', async (t) => {
  const service = await startOAuthService(t);
  const id = await clientId(service);
  for (const [role, roles] of [
    ['member', ['viewer', 'member']],
    ['admin', ['viewer', 'member', 'admin']],
  ] as const) {
    const member = await service.makeMember(role);
    await givePassword(service, member.email);
    const browser = await signIn(service, member.email);
    const page = await browser.call<string>('GET', authorizePath(id), { headers: HTML });
    const offered = [...page.text.matchAll(/<option value="(\w+)"/g)].map(([, value]) => value);
    assert.deepEqual(offered, [...roles, 'live', 'test']);
    const sent = await fetch(`${service.url}/oauth/authorize`, {
      method: 'POST',
      headers: { ...FORM, cookie: browser.cookie, 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams({
        ...fieldsOf(page.text),
        role: 'owner',
        mode: 'live',
        decision: 'allow',
      }),
      redirect: 'manual',
    });
    assert.equal(sent.status, 403);
  }
  const viewer = await service.makeMember('viewer');
  await givePassword(service, viewer.email);
  const browser = await signIn(service, viewer.email);
  assert.equal((await browser.call('GET', authorizePath(id), { headers: HTML })).status, 403);
});

test('Denying access returns to the assistant without a code', async (t) => {
  const service = await startOAuthService(t);
  const browser = await ownerBrowser(service);
  const id = await clientId(service);
  const target = await consent(service, browser, authorizePath(id), { decision: 'deny' });
  assert.deepEqual(Object.fromEntries(target.searchParams), {
    error: 'access_denied',
    state: 'the state',
    iss: service.url,
  });
  assert.deepEqual(await auditOf(service, { action: 'connected_assistant.connected' }), []);
});

test('A consent is audited without secrets,', async (t) => {
  const service = await startOAuthService(t);
  const browser = await ownerBrowser(service);
  const id = await clientId(service, { redirect_uris: [`${REDIRECT}?tenant=1`] });
  const path = authorizePath(id, { redirect_uri: `${REDIRECT}?tenant=1`, state: '' });
  const target = await consent(service, browser, path, { writes: 'on', role: 'admin' });
  const { code, ...rest } = Object.fromEntries(target.searchParams);
  assert.deepEqual(rest, { tenant: '1', iss: service.url });
  assert.deepEqual(await auditOf(service, { action: 'connected_assistant.connected' }), [
    [
      'connected_assistant.connected',
      {
        name: 'Assistant',
        host: 'assistant.example',
        role: 'admin',
        livemode: true,
        writes: true,
        verified_by: null,
      },
    ],
  ]);
  const more = { redirect_uri: `${REDIRECT}?tenant=1` };
  const { body } = await redeem(service, id, code!, more);
  assert.equal(await mcpStatus(service, body.access_token), 200);
  const logged = JSON.stringify(service.logged);
  for (const secret of [code!, body.access_token, body.refresh_token])
    assert.ok(!logged.includes(secret));
  const tables = await Promise.all(
    (['connected_assistants', 'assistant_tokens', 'audit_log'] as const).map((table) =>
      service.app.db.selectFrom(table).selectAll().execute(),
    ),
  );
  for (const secret of [code!, body.access_token, body.refresh_token])
    assert.ok(!JSON.stringify(tables).includes(secret));
});

for (const [why, env] of [
  ['it is switched off', { DELIVERABILITY_MCP_OAUTH: 'false' }],
  ['its URL is plain HTTP', { DELIVERABILITY_BASE_URL: 'http://mail.example.com' }],
] as const)
  test(`The authorization server has no endpoints if ${why}`, async (t) => {
    const service = await startOAuthService(t, { env });
    const browser = await ownerBrowser(service);
    for (const path of [
      '/.well-known/oauth-protected-resource',
      '/.well-known/oauth-protected-resource/mcp',
      '/.well-known/oauth-authorization-server',
    ])
      assert.equal((await service.call('GET', path, { key: null })).status, 404);
    assert.equal((await browser.call('GET', authorizePath('x'), { headers: HTML })).status, 404);
    assert.equal(
      (await service.call('POST', '/oauth/register', { key: null, json: {} })).status,
      404,
    );
    const challenged = await service.call('POST', '/mcp', { key: null, json: {} });
    assert.equal(challenged.headers.get('www-authenticate'), 'Bearer');
  });
