/** `link_status` against a real web server on loopback that is reached under public names. */

import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { type TestContext, test } from 'node:test';
import type { CheckStatus } from '../../../src/analysis/check.ts';
import { linkStatus, requestLinks } from '../../../src/analysis/checks/link-status.ts';
import type { Resolver } from '../../../src/net/dns/resolver.ts';
import { type Zone, zoneResolver } from '../../../src/net/dns/zone.ts';
import { createWebClient } from '../../../src/net/http/client.ts';
import type { WebClient, WebRequest } from '../../../src/net/http/web.ts';
import { type CheckInput, runCheck } from '../../helpers/analysis.ts';
import { goodMessage } from '../../helpers/good-message.ts';
import { type Canary, dialTo, startCanary } from '../../net/canary.ts';

const zone: Zone = {
  'site.example.com': { A: ['1.2.3.4'] },
  'other.example.com': { A: ['1.2.3.5'] },
  'private.example.com': { A: ['10.0.0.1'] },
  'broken.example.com': { fails: 'servfail' },
};

/** The redirect targets of `/hop/0`, `/hop/1` and so on, which their own URLs don't reveal. */
const HOPS = ['/', '/unsubscribe', '/ok?token=1', '/q/1?x'];

/** `/404` responds with 404, and `/to/x` redirects to `x`. */
const answer: RequestListener = (request, response) => {
  const [, code] = /^\/(\d{3})$/.exec(request.url!) ?? [];
  const [, target] = /^\/to\/(.*)$/.exec(request.url!) ?? [];
  const [, steps] = /^\/steps\/(\d+)$/.exec(request.url!) ?? [];
  if (code) response.writeHead(Number(code));
  else if (target) response.writeHead(302, { Location: decodeURIComponent(target) });
  else if (Number(steps) > 0) response.writeHead(307, { Location: `/steps/${Number(steps) - 1}` });
  else if (request.url!.startsWith('/hop/'))
    response.writeHead(302, { Location: HOPS[Number(request.url!.slice(5))] });
  else if (request.url === '/circle') response.writeHead(301, { Location: '/circle#x' });
  else if (request.url === '/circle/a') response.writeHead(308, { Location: '/circle/b' });
  else if (request.url === '/circle/b') response.writeHead(303, { Location: '/circle/a' });
  else if (request.url === '/cookie')
    response.writeHead(302, { Location: '/cookie', 'Set-Cookie': 'seen=1' });
  else if (request.url === '/nowhere') response.writeHead(302);
  else if (request.url === '/utf8')
    response.writeHead(302, { Location: Buffer.from('/größe').toString('latin1') });
  else if (request.url === '/cut') request.socket.destroy();
  else if (request.url === '/plain') response.writeHead(200);
  else if (request.url !== '/gr%C3%B6%C3%9Fe' && !/^\/(?:\d+|ok.*|steps\/0)?$/.test(request.url!))
    response.writeHead(404);
  response.end();
};

interface Site {
  canary: Canary;
  scene: Omit<CheckInput, 'message'>;
}

async function startSite(t: TestContext, listener = answer): Promise<Site> {
  const canary = await startCanary(t, listener);
  const { dial } = dialTo(canary.port);
  const web = createWebClient({ resolver: zoneResolver(zone), dial });
  return { canary, scene: { web, setup: { checkLinks: true } } };
}

const html = (hrefs: string[], changes = {}) =>
  goodMessage(
    { 'Content-Type': 'text/html; charset=utf-8', ...changes },
    hrefs.map((href, i) => `<p><a href="${href}">Offer ${i}</a></p>\n`).join(''),
  );

const at = (path: string) => `http://site.example.com/${path}`;

interface Shown {
  href: string;
  status: string;
  reason: string;
}

async function check({ scene }: Site, message: string, changes: Partial<CheckInput> = {}) {
  const finding = await runCheck(linkStatus, { message, ...scene, ...changes });
  const links = (finding.evidence?.links ?? []) as unknown as Shown[];
  for (const { reason } of links) assert.match(reason, /^[a-z].*[^.]$/, 'half a sentence');
  return { finding, links };
}

const SINGLE: [path: string, status: Shown['status'], expected?: RegExp][] = [
  [at(''), 'works', /200/],
  [at('204'), 'works'],
  [at('404'), 'dead', /404/],
  [at('410'), 'dead', /410/],
  ...[400, 401, 403, 405, 418, 429, 500, 501, 503, 999, 304].map((code): [string, string] => [
    at(String(code)),
    'unknown',
  ]),
  [at('cut'), 'unknown'],
  [at('nowhere'), 'unknown'],
  ['http://none.example.com/', 'dead', /does not resolve/],
  ['http://broken.example.com/', 'unknown', /DNS lookup failed/],
  ['http://private.example.com/', 'unknown', /not public/],
  ['http://127.0.0.1/', 'unknown', /not public/],
  ['http://site.example.com:22/', 'not_asked', /port/],
  ['http://user:secret@site.example.com/', 'not_asked', /user name/],
  [at('to/ok'), 'dead', /in a loop/],
  [at('to/..%2F404'), 'dead', /404/],
  [at('hop/0'), 'works'],
  [at('to/%2Fok'), 'works'],
  [at('to/%2F404'), 'dead'],
  [at('to/http%3A%2F%2Fother.example.com%2Fok'), 'works'],
  [at('to/http%3A%2F%2Fnone.example.com%2F'), 'dead', /redirect target/],
  [at('to/http%3A%2F%2F127.0.0.1%2Fok'), 'unknown', /not public/],
  [at('to/http%3A%2F%2Fprivate.example.com%2F'), 'unknown', /not public/],
  [at('to/http%3A%2F%2F2130706433%2F'), 'unknown', /not public/],
  [at('to/http%3A%2F%2F169.254.169.254%2Fok'), 'unknown', /not public/],
  [at('to/file%3A%2F%2F%2Fetc%2Fhosts'), 'unknown', /neither http nor https/],
  [at('to/javascript%3Aalert'), 'unknown', /neither http nor https/],
  [at('to/http%3A%2F%2Fsite.example.com%3A22%2F'), 'unknown', /port/],
  [at('steps/5'), 'works'],
  [at('steps/6'), 'unknown', /more than 5/],
  [at('circle'), 'dead', /in a loop/],
  [at('circle/a'), 'dead', /in a loop/],
  [at('cookie'), 'unknown', /without cookies/],
  [at('utf8'), 'works'],
];

const VERDICTS: Record<string, CheckStatus> = {
  works: 'pass',
  dead: 'fail',
  unknown: 'error',
  not_asked: 'skipped',
};

test('link_status check classifies a single link as works, dead or unknown', async (t) => {
  const site = await startSite(t);
  for (const [href, status, expected] of SINGLE) {
    const { finding, links } = await check(site, html([href]));
    assert.equal(links.length, 1);
    assert.equal(links[0]!.status, status, `${href} ${links[0]!.reason}`);
    if (expected) assert.match(links[0]!.reason, expected, href);
    assert.equal(finding.status, VERDICTS[status], href);
    if (status === 'dead') assert.ok(finding.fix?.text);
  }
  await site.canary.clientClosed();
});

test('link_status check does not believe a resolver that denies every name', async () => {
  const resolver: Resolver = async () => ({ status: 'nxdomain' });
  const web = createWebClient({ resolver });
  const scene = { resolver, web, setup: { checkLinks: true } };
  const finding = await runCheck(linkStatus, { message: html([at('ok')]), ...scene });
  assert.equal(finding.status, 'error');
  assert.match(JSON.stringify(finding.evidence), /reports every name as missing/);
});

test('link_status check sends HEAD once per distinct URL', async (t) => {
  const site = await startSite(t);
  const hrefs = [at('ok'), at('ok#a'), at('ok#b'), at('ok?x'), 'HTTP://SITE.example.com:80/ok'];
  const { finding } = await check(site, html(hrefs));
  assert.equal(finding.status, 'pass');
  assert.deepEqual(site.canary.requests.sort(), ['HEAD /ok', 'HEAD /ok?x']);
});

const MIXED: [paths: string[], status: CheckStatus, expected?: RegExp][] = [
  [['ok1', 'ok2', '404'], 'warn', /1 of 3 checked links/],
  [['ok1', '404', '410', 'ok2'], 'fail', /2 of 4 checked links/],
  [['404', '503', '500'], 'warn'],
  [['404', '503'], 'fail'],
  [['ok1', '503'], 'pass', /No dead links.*1 gave no clear result/s],
  [['ok1', '503', '500'], 'error', /2 of 3 checked links/],
  [['503', '500'], 'error'],
  [['ok1', 'unsubscribe'], 'pass', /1 was not checked/],
  [['unsubscribe', 'confirm'], 'skipped', /All 2 links were skipped/],
];

for (const [paths, status, expected] of MIXED)
  test(`link_status check reports ${status}: ${paths.join(', ')}`, async (t) => {
    const site = await startSite(t);
    const { finding, links } = await check(site, html(paths.map(at)));
    assert.equal(finding.status, status, finding.title);
    assert.equal(links.length, paths.length);
    if (expected) assert.match(`${finding.title} ${finding.detail}`, expected);
  });

test('link_status check never requests or follows links that may trigger an action', async (t) => {
  const site = await startSite(t);
  const left = [at('unsubscribe'), at('reset?x=1'), at('ok/550e8400-e29b-41d4-a716-446655440000')];
  const behind = [at('hop/1'), at('hop/2'), at('hop/3')];
  const message = html([...left, ...behind, at('q/1?u=7')], {
    'List-Unsubscribe': '<http://site.example.com/q/1?u=8>',
  });
  const { finding, links } = await check(site, message);
  assert.deepEqual(
    site.canary.requests.sort(),
    behind.map((href) => `HEAD ${new URL(href).pathname}`).sort(),
  );
  assert.equal(links.filter(({ status }) => status === 'not_asked').length, 4);
  assert.equal(
    links.filter(({ reason }) => /redirects to a URL that was not checked/.test(reason)).length,
    3,
  );
  assert.equal(finding.status, 'error');
  assert.doesNotMatch(JSON.stringify(finding), /446655440000/);
});

test('link_status check skips a URL that is risky in any place', async (t) => {
  const site = await startSite(t);
  const places = [`<a href="${at('ok')}">Shop</a>`, `<a href="${at('ok#x')}">Unsubscribe</a>`];
  for (const body of [places, places.toReversed()]) {
    const message = goodMessage({ 'Content-Type': 'text/html' }, `${body.join(' ')}\n`);
    assert.equal((await check(site, message)).finding.status, 'skipped');
  }
  assert.deepEqual(site.canary.requests, []);
});

test('link_status check requests nothing when not all links were seen', async (t) => {
  const site = await startSite(t);
  const { finding } = await check(site, html(Array.from({ length: 1001 }, (_, i) => at(`${i}`))));
  assert.equal(finding.status, 'error');
  assert.match(finding.detail, /first 1,000 links/);
  assert.deepEqual(site.canary.requests, []);
});

test('link_status check does not follow redirects to URLs with risky link text', async (t) => {
  const site = await startSite(t);
  const body = `<a href="${at('to/%2Fok%3Fu=7')}">Shop</a> <a href="${at('ok?u=7')}">Unsubscribe</a>`;
  await check(site, goodMessage({ 'Content-Type': 'text/html' }, `${body}\n`));
  assert.deepEqual(site.canary.requests, ['HEAD /to/%2Fok%3Fu=7']);
});

test('link_status check requests at most 30 links, ten at a time', async (t) => {
  let open = 0;
  let maxOpen = 0;
  const site = await startSite(t, (_, response) => {
    open += 1;
    maxOpen = Math.max(maxOpen, open);
    setImmediate(() => {
      open -= 1;
      response.end();
    });
  });
  const { finding, links } = await check(
    site,
    html(Array.from({ length: 70 }, (_, i) => at(`${i}`))),
  );
  assert.equal(finding.status, 'pass');
  assert.equal(site.canary.requests.length, 30);
  assert.ok(maxOpen <= 10, `${maxOpen} at once`);
  const { works, not_asked, dead, unknown } = finding.evidence!;
  assert.deepEqual([works, not_asked, dead, unknown], [30, 40, 0, 0]);
  assert.equal(links.length, 60, 'the list is bounded');
});

test('link_status check requests nothing offline, when disabled or without web links', async (t) => {
  const site = await startSite(t);
  const message = html([at('404')]);
  const offline = await check(site, message, { offline: true });
  const off = await check(site, message, { setup: { checkLinks: false } });
  const none = await check(site, goodMessage());
  const other = await check(
    site,
    html(['mailto:a@example.com', '/404', 'ftp://site.example.com/']),
  );
  for (const { finding } of [offline, off, none, other]) assert.equal(finding.status, 'skipped');
  assert.match(offline.finding.detail, /offline/i);
  assert.deepEqual(site.canary.requests, []);
});

test('requestLinks stops silent links in time and reports those not started', async (t) => {
  const canary = await startCanary(t, () => {});
  const { dial } = dialTo(canary.port);
  const web = createWebClient({ resolver: zoneResolver(zone), dial });
  const urls = Array.from({ length: 60 }, (_, i) => new URL(at(String(i))));
  const start = performance.now();
  const results = await requestLinks(urls, {
    web,
    skipReason: () => null,
    totalTimeoutMs: 300,
    requestTimeoutMs: 200,
  });
  assert.ok(performance.now() - start < 2000);
  const count = (status: string) => results.filter((result) => result.status === status).length;
  assert.equal(count('unknown') + count('not_asked'), 60);
  assert.ok(count('unknown') >= 20 && count('not_asked') >= 20, 'two rounds of ten, then no more');
  await canary.clientClosed();
});

test('link_status check with sixty silent links leaves time for the analysis', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const requests: WebRequest[] = [];
  const silent: WebClient = (request) => {
    requests.push(request);
    return new Promise((resolve) => {
      setTimeout(
        () => resolve({ status: 'failed', reason: 'timeout', detail: 'no response in time' }),
        request.timeoutMs,
      );
    });
  };
  const hrefs = Array.from({ length: 60 }, (_, i) => at(String(i)));
  let finding: Awaited<ReturnType<typeof linkStatus.run>> | undefined;
  const scene = { message: html(hrefs), web: silent, setup: { checkLinks: true } };
  void runCheck(linkStatus, scene).then((found) => {
    finding = found;
  });
  let ms = 0;
  for (; !finding && ms < 20_000; ms += 100) {
    await new Promise((resolve) => setImmediate(resolve));
    t.mock.timers.tick(100);
  }
  assert.ok(finding, 'ends');
  assert.equal(finding.status, 'error');
  assert.ok(ms <= 13_500, `after ${ms} ms`);
  assert.ok(requests.every(({ method, timeoutMs }) => method === 'HEAD' && timeoutMs === 5000));
});
