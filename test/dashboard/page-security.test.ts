/** What every page must hold, and attacks that comparable products have published advisories about. */

// @one-database: about pages; the operations behind them run on both.

import assert from 'node:assert/strict';
import { request } from 'node:http';
import { type TestContext, test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { ROUTES } from '../../src/features.ts';
import { isPage } from '../../src/http/request-context.ts';
import type { Route } from '../../src/http/route.ts';
import type { Test } from '../../src/mailtests/schema.ts';
import type { TestService } from '../helpers/app.ts';
import { sendMail } from '../helpers/send.ts';
import { PASSWORD } from '../team/browser.ts';
import { type Member, startWithOwner } from './member.ts';
import { getPage, postForm } from './pages.ts';

/** Requests a path as it is: `fetch` would resolve `..` first. */
function getRaw({ http }: TestService, path: string, cookie: string): Promise<number> {
  return new Promise((resolve, reject) => {
    request({ port: http.port, path, headers: { cookie } }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode!));
    })
      .on('error', reject)
      .end();
  });
}

const pageRoutes = (): Route[] => ROUTES.filter((route) => route.method === 'GET' && isPage(route));

/** The pages that exist without an object, and those of one test. */
async function openPages(service: TestService, member: Member): Promise<[string, Response][]> {
  const { id } = await service.createTest();
  const opened: [string, Response][] = [];
  for (const { path } of pageRoutes()) {
    const real = path.replace('/tests/:id', `/tests/${id}`).replace(/:\w+/g, 'nothing_0');
    const headers = { cookie: member.cookie, accept: 'text/html' };
    opened.push([path, await fetch(service.url + real, { headers, redirect: 'manual' })]);
  }
  return opened;
}

test('Every page has a policy without scripts from elsewhere, and cannot be framed', async (t) => {
  const { service, owner } = await startWithOwner(t);
  for (const [path, { status, headers }] of await openPages(service, owner)) {
    assert.ok(status < 500, `${path}: ${status}`);
    const policy = headers.get('content-security-policy')!;
    assert.match(policy, /default-src 'none'/, path);
    assert.match(policy, /frame-ancestors 'none'/, path);
    assert.equal(headers.get('x-frame-options'), 'DENY', path);
    assert.equal(headers.get('x-content-type-options'), 'nosniff', path);
    const scripts = /script-src ([^;]*)/.exec(policy)?.[1] ?? '';
    assert.match(scripts, /^('self'|'sha256-[\w+/=]+'| )*$/, `${path}: ${scripts}`);
    // Reports have inline styles: the policy applies to the message in their frame too. The page of a test becomes one.
    const isReport = path === '/tests/:id' || !policy.includes("style-src 'self'");
    if (!isReport) assert.doesNotMatch(policy, /unsafe/, path);
    const withoutStyles = policy.replace(/style-src [^;]*/, '');
    assert.doesNotMatch(withoutStyles, /unsafe/, path);
  }
});

test('No page contains inline scripts, event handlers, or resources of other hosts', async (t) => {
  const { service, owner } = await startWithOwner(t);
  for (const [path, response] of await openPages(service, owner)) {
    const html = await response.text();
    // The API reference and reports are complete without the service: their one script is allowed by its hash.
    const isSelfContained = !html.includes('/assets/');
    if (!isSelfContained) assert.doesNotMatch(html, /<script(?![^>]* src="\/assets\/)[^>]*>/, path);
    assert.doesNotMatch(html, /<[^>]+ on\w+="/, path);
    assert.doesNotMatch(html, /<(script|img|link|iframe)[^>]* (src|href)="(https?:)?\/\//, path);
  }
});

test('The next page after sign-in is always one of this service', async (t) => {
  const { service } = await startWithOwner(t);
  const targets = [
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example/',
    '\\\\evil.example',
    '/\t/evil.example',
    '/%0d%0aset-cookie:x=1',
    'javascript:alert(1)',
    'evil.example',
    '/a\r\nlocation: https://evil.example',
  ];
  for (const next of targets) {
    const answer = await postForm(service, `/sign-in?next=${encodeURIComponent(next)}`, {
      email: 'owner@example.com',
      password: PASSWORD,
    });
    assert.equal(answer.status, 303);
    const { origin, pathname } = new URL(answer.location!, service.url);
    assert.equal(origin, service.url, next);
    if (!next.startsWith('/%0d')) assert.equal(pathname, '/', next);
    assert.equal(answer.headers.get('x'), null);
  }
  const kept = await postForm(service, '/sign-in?next=%2Ftests%3Fq%3Da', {
    email: 'owner@example.com',
    password: PASSWORD,
  });
  assert.equal(kept.location, '/tests?q=a');
});

test('Sign-in never adopts a session that somebody else has chosen', async (t) => {
  const { service } = await startWithOwner(t);
  const planted = 'deliverability=chosen-by-an-attacker';
  const answer = await postForm(
    service,
    '/sign-in',
    { email: 'owner@example.com', password: PASSWORD },
    { cookie: planted },
  );
  assert.notEqual(answer.cookie, planted);
  const own = answer.headers.getSetCookie()[0]!;
  assert.match(own, /; HttpOnly; SameSite=Lax$/);
  assert.match((await getPage(service, '/sign-in', { cookie: planted })).html, /<form/);
});

test('The mode is switched by a form of this site only, and returns to this site', async (t) => {
  const { service, owner } = await startWithOwner(t);
  const switched = await owner.post('/mode', { mode: 'test', next: '//evil.example' });
  assert.deepEqual([switched.status, switched.location], [303, '/']);
  assert.match(switched.headers.getSetCookie()[0]!, /-mode=test; Path=\/; HttpOnly; SameSite=Lax/);
  const forged = await postForm(
    service,
    '/mode',
    { mode: 'test' },
    { cookie: owner.cookie, 'sec-fetch-site': 'cross-site' },
  );
  assert.equal(forged.status, 403);
});

test('IDs that try to leave their path find nothing', async (t) => {
  const { service, owner } = await startWithOwner(t);
  const ids = [
    '..',
    '../../../../etc/passwd',
    '..%2f..%2f..%2fetc%2fpasswd',
    '..%5c..%5cwindows%5cwin.ini',
    '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
    '%252e%252e%252fetc%252fpasswd',
    'x%00.html',
    '%ff%fe',
    "'%20or%201=1--",
    '%24%7b7*7%7d',
    'constructor',
    '__proto__',
  ];
  const routes = ROUTES.filter(({ method, path }) => method === 'GET' && path.includes('/:'));
  assert.ok(routes.length > 20);
  for (const { path } of routes)
    for (const id of ids) {
      const status = await getRaw(service, path.replace(/:\w+/g, id), owner.cookie);
      const isRefused = [303, 400, 404, 410, 422].includes(status);
      // Without its last segment, a path may be that of a list.
      assert.ok(isRefused || (id === '..' && status === 200), `${path} with ${id}: ${status}`);
    }
});

test('Every operation bounds its body', async (t) => {
  const { service, owner } = await startWithOwner(t);
  const bodies = ROUTES.filter(({ method }) => method !== 'GET');
  for (const { method, path, consumes, operation } of bodies) {
    const status = await declareBody(service, {
      method,
      path: path.replace(/:\w+/g, 'nothing_0'),
      cookie: owner.cookie,
      type: consumes?.type ?? 'application/json',
      length: 64 * 1024 * 1024,
    });
    assert.ok([400, 403, 404, 413, 415].includes(status), `${operation}: ${status}`);
  }
});

interface Declared {
  method: string;
  path: string;
  cookie: string;
  type: string;
  length: number;
}

/** Announces a large body and sends its beginning: the response must not wait for the rest. */
function declareBody({ http }: TestService, declared: Declared): Promise<number> {
  const { method, path, cookie, type, length } = declared;
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        port: http.port,
        method,
        path,
        headers: {
          cookie,
          'content-type': type,
          'content-length': String(length),
          'sec-fetch-site': 'same-origin',
        },
      },
      (response) => {
        resolve(response.statusCode!);
        sent.destroy();
      },
    );
    sent.on('error', reject);
    sent.write('{');
  });
}

const waitForReport = async (service: TestService, id: string): Promise<Test> =>
  (await service.call<Test>('GET', `/v1/tests/${id}?wait=30`)).body;

async function sendRaw(t: TestContext, raw: Uint8Array) {
  const { service, owner } = await startWithOwner(t);
  const { id, address } = await service.createTest();
  await sendMail({ port: service.smtp.port, to: address, raw });
  return { service, owner, test: await waitForReport(service, id) };
}

const HEAD = 'From: a@example.com\r\nTo: b@example.net\r\nSubject: Hello\r\nMIME-Version: 1.0\r\n';

test('A DATA line of 20 MB is one more message, and the service goes on', async (t) => {
  const line = Buffer.alloc(20 * 1024 * 1024, 'x');
  const raw = Buffer.concat([Buffer.from(`${HEAD}\r\n`), line, Buffer.from('\r\n')]);
  const { test: done, service } = await sendRaw(t, raw);
  assert.ok(['completed', 'failed'].includes(done.status), done.status);
  assert.equal((await fetch(`${service.url}/healthz`)).status, 200);
});

/** A PNG whose header announces 50,000 × 50,000 pixels: 10 GB if it were decoded. */
function hugePng(): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(50_000, 0);
  header.writeUInt32BE(50_000, 4);
  header.set([8, 6, 0, 0, 0], 8);
  const chunk = (type: string, data: Buffer) => {
    const head = Buffer.alloc(8);
    head.writeUInt32BE(data.length, 0);
    head.write(type, 4, 'latin1');
    return Buffer.concat([head, data, Buffer.alloc(4)]);
  };
  const pixels = deflateSync(Buffer.alloc(1_000_000));
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', pixels),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

test('An image that announces 10 GB of pixels is decoded neither for the page nor for the PDF', async (t) => {
  const image = hugePng().toString('base64').replace(/.{76}/g, '$&\r\n');
  const raw = Buffer.from(
    `${HEAD}Content-Type: multipart/related; boundary=b\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n` +
      `<p>Hello</p><img src="cid:i">\r\n--b\r\nContent-Type: image/png\r\nContent-ID: <i>\r\n` +
      `Content-Transfer-Encoding: base64\r\n\r\n${image}\r\n--b--\r\n`,
  );
  const { service, test: done } = await sendRaw(t, raw);
  assert.equal(done.status, 'completed');
  const before = process.memoryUsage().rss;
  for (const format of ['html', 'pdf']) {
    const { status } = await service.call('GET', `/v1/tests/${done.id}/report.${format}`);
    assert.equal(status, 200, format);
  }
  assert.ok(process.memoryUsage().rss - before < 1_000_000_000);
});

test('The message is shown in a frame without scripts, forms, and requests', async (t) => {
  const raw = Buffer.from(
    `${HEAD}Content-Type: text/html\r\n\r\n<script>alert(1)</script><img src="https://evil.example/x.png" onerror="alert(1)">` +
      `<form action="https://evil.example"><input></form><base href="https://evil.example"><meta http-equiv="refresh" content="0;url=https://evil.example">\r\n`,
  );
  const { service, test: done } = await sendRaw(t, raw);
  const { text } = await service.call('GET', `/v1/tests/${done.id}/report.html`);
  const frames = [...text.matchAll(/<iframe((?:[^>"]|"[^"]*")*)>/g)].map(
    ([, attributes]) => attributes!,
  );
  assert.ok(frames.length > 0);
  for (const attributes of frames) {
    const sandbox = /\ssandbox(?:="([^"]*)")?/.exec(attributes);
    assert.ok(sandbox, attributes);
    assert.equal(sandbox[1] ?? '', '');
    // The frame has a policy of its own too, and nothing that takes effect in spite of it.
    assert.match(attributes, /Content-Security-Policy&quot; content=&quot;default-src 'none'/);
    assert.doesNotMatch(attributes, /&lt;base|&lt;meta http-equiv=&quot;refresh/i);
  }
});
