/** Public reports: formats, headers, expiry, view counts and secrecy of the token. */

// @one-database: about pages; the queries of shared links run on both in another test.

import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { getPage, postForm } from '../dashboard/pages.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { pdfInfo, pdfWords } from '../helpers/pdf.ts';
import { rejectUpdates } from '../helpers/stored-bytes.ts';
import { type Sharing, startSharing } from './sharing.ts';

const JSON_TYPE = 'application/json';
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

const PRIVATE = {
  'x-robots-tag': 'noindex',
  'referrer-policy': 'no-referrer',
  'cache-control': 'private, no-store',
  'x-content-type-options': 'nosniff',
};

function assertPrivate(headers: Headers, what: string) {
  for (const [name, value] of Object.entries(PRIVATE))
    assert.equal(headers.get(name), value, `${what}: ${name}`);
}

/** Every format of the report. */
const formsOf = (token: string): [path: string, accept: string][] => [
  [`/reports/public/${token}`, BROWSER],
  [`/reports/public/${token}`, JSON_TYPE],
  [`/reports/public/${token}.pdf`, '*/*'],
];

test('Public reports are served as page, JSON and PDF without credentials', {
  skip: skipUnlessInstalled('pdftotext'),
}, async (t) => {
  const { service, analysed, share, read } = await startSharing(t);
  const first = await analysed(goodMessage({ Subject: 'Tea and biscuits' }));
  const second = await analysed(goodMessage({ Subject: 'Bread & butter' }));
  const made = await share({ test_ids: [second.id, first.id], title: 'The <b>spring</b> mails' });
  const path = `/reports/public/${made.token}`;
  const page = await read(path, BROWSER);
  assert.equal(page.status, 200);
  assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
  assert.match(page.headers.get('content-security-policy')!, /^default-src 'none'.*style-src/);
  for (const text of ['Tea and biscuits', 'Bread &amp; butter'])
    assert.ok(page.text.includes(text));
  assert.ok(page.text.includes('&lt;b>spring') || page.text.includes('&lt;b&gt;spring'));
  assert.ok(!page.text.includes('<b>spring'));

  type Told = { tests: Record<string, unknown>[] };
  const { headers, body } = await read<Told>(path, JSON_TYPE);
  assert.equal(headers.get('content-type'), JSON_TYPE);
  const { tests, ...rest } = body;
  assert.deepEqual(rest, {
    object: 'public_report',
    title: made.title,
    created_at: made.created_at,
    expires_at: made.expires_at,
    deleted_tests: 0,
    domains: null,
  });
  assert.deepEqual(
    tests.map(({ id }) => id),
    [second.id, first.id],
  );
  const [{ checks, providers, placement, ...told }] = tests as [Record<string, unknown>];
  const { body: own } = await service.call('GET', `/v1/tests/${second.id}`);
  const hidden = [
    'address',
    'token',
    'seed_addresses',
    'metadata',
    'livemode',
    'domain_id',
    'monitor_id',
    'inbox_id',
    'envelope',
    'report_url',
    'tags',
  ];
  const shown = Object.keys(own).filter((name) => !hidden.includes(name));
  assert.deepEqual(Object.keys(tests[0]!).toSorted(), shown.toSorted());
  // An upload was received when its header says so, which is unknown here.
  const { received_at, ...others } = told;
  assert.equal(received_at, null);
  for (const [name, value] of Object.entries(others)) assert.deepEqual(value, own[name], name);
  assert.ok((checks as []).length > 30 && (providers as []).length > 3);
  assert.deepEqual(placement, []);

  const pdf = await fetch(`${service.url}${path}.pdf`);
  assert.equal(pdf.headers.get('content-type'), 'application/pdf');
  assert.equal(pdf.headers.get('content-disposition'), 'inline; filename="report.pdf"');
  const bytes = new Uint8Array(await pdf.arrayBuffer());
  assert.match(pdfInfo(bytes), /spring/);
  assert.match(pdfWords(bytes), /Tea and biscuits/);
});

test('Public report content negotiation prefers HTML unless JSON is preferred', async (t) => {
  const { analysed, share, read } = await startSharing(t);
  const { token } = await share({ test_ids: [(await analysed()).id] });
  for (const [accept, expected] of [
    ['*/*', 'text/html'],
    ['', 'text/html'],
    ['application/json', JSON_TYPE],
    ['Application/JSON; charset=utf-8', JSON_TYPE],
    ['text/html;q=0.5, application/json', JSON_TYPE],
    ['text/html, application/json', 'text/html'],
    ['application/json;q=0, */*', 'text/html'],
    ['image/png', 'text/html'],
  ] as const) {
    const { status, headers } = await read(`/reports/public/${token}`, accept);
    assert.equal(status, 200);
    assert.ok(headers.get('content-type')!.startsWith(expected), accept);
    assert.match(headers.get('vary') ?? '', /Accept/);
  }
});

test('Public report page links to its PDF', async (t) => {
  const { service, analysed, share, read } = await startSharing(t);
  const { token } = await share({ test_ids: [(await analysed()).id] });
  const path = `/reports/public/${token}`;
  const [, href] = /href="([^"]*)">Open as PDF/.exec((await read(path, BROWSER)).text)!;
  const pdf = await fetch(new URL(href!, service.url + path), { headers: { accept: BROWSER } });
  assert.equal(pdf.headers.get('content-type'), 'application/pdf');
  assertPrivate(pdf.headers, 'PDF');
  assert.equal(
    (await read(`${path}?format=else`)).headers.get('content-type'),
    'text/html; charset=utf-8',
  );
});

test('Public reports ignore added query parameters', async (t) => {
  const { analysed, share, read } = await startSharing(t);
  const { token } = await share({ test_ids: [(await analysed()).id] });
  for (const [path, accept] of formsOf(token))
    assert.equal((await read(`${path}?utm_source=mail&utm_source=again`, accept)).status, 200);
});

test('Public reports send noindex, no-referrer and no-store, also on errors', async (t) => {
  const { service, analysed, share, read } = await startSharing(t);
  const { id, token } = await share({ test_ids: [(await analysed()).id] });
  for (const [path, accept] of formsOf(token)) {
    const { status, headers } = await read(path, accept);
    assert.equal(status, 200);
    assertPrivate(headers, `${path} ${accept}`);
    assert.equal(headers.get('x-frame-options'), 'DENY');
    assert.equal(headers.get('etag'), null);
  }
  const unknown = 'x'.repeat(43);
  const refused = async (tokens: string, code: number) => {
    for (const [path, accept] of formsOf(tokens)) {
      const { status, headers, text } = await read(path, accept);
      assert.equal(status, code);
      assertPrivate(headers, `${path} ${accept}`);
      assert.ok(!text.includes(tokens), 'no error contains the token');
      assert.ok(!JSON.stringify([...headers]).includes(tokens));
    }
  };
  await refused(unknown, 404);
  await service.call('DELETE', `/v1/reports/shared/${id}`);
  await refused(token, 410);
});

test('Public report links answer 410 once expired or revoked', async (t) => {
  const { service, clock, analysed, share, read } = await startSharing(t);
  const { id } = await analysed();
  const live = await share({ test_ids: [id], expires_in: 60 });
  const revoked = await share({ test_ids: [id], expires_in: 600 });
  const statuses = async (token: string) => {
    const found = [];
    for (const [path, accept] of formsOf(token)) found.push((await read(path, accept)).status);
    return found;
  };
  clock.advance(59_999);
  assert.deepEqual(await statuses(live.token), [200, 200, 200]);
  clock.advance(1);
  assert.deepEqual(await statuses(live.token), [410, 410, 410]);
  assert.deepEqual(await statuses(revoked.token), [200, 200, 200]);
  await service.call('DELETE', `/v1/reports/shared/${revoked.id}`);
  assert.deepEqual(await statuses(revoked.token), [410, 410, 410]);
  for (const [token, word] of [
    [live.token, 'expired'],
    [revoked.token, 'been revoked'],
  ] as const) {
    const path = `/reports/public/${token}`;
    for (const link of [path, `${path}.pdf`]) {
      const page = await read(link, BROWSER);
      assert.match(page.headers.get('content-type')!, /^text\/html/);
      assert.ok(page.text.includes(`This link has ${word}.`));
    }
    for (const accept of [JSON_TYPE, '*/*']) {
      const { headers, body } = await read(path, accept);
      assert.equal(headers.get('content-type'), 'application/problem+json');
      assert.deepEqual([body.code, body.status], ['gone', 410]);
    }
  }
});

test('Public report tokens are case-sensitive and must match exactly', async (t) => {
  const { analysed, share, read } = await startSharing(t);
  const { id, token } = await share({ test_ids: [(await analysed()).id] });
  const flipped = token.replace(/[a-z]/i, (c) =>
    c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase(),
  );
  for (const wrong of [flipped, token.slice(0, -1), `${token}x`, id, '%00', '..%2f', `${token}%2e`])
    assert.equal((await read(`/reports/public/${wrong}`, JSON_TYPE)).status, 404, wrong);
  assert.equal((await read(`/reports/public/${token}.pdf.pdf`, JSON_TYPE)).status, 404);
  assert.equal((await read(`/reports/public/${token}.txt`, JSON_TYPE)).status, 404);
});

const views = async ({ service }: Sharing, id: string) => {
  const { view_count, last_viewed_at } = await service.app.db
    .selectFrom('shared_reports')
    .select(['view_count', 'last_viewed_at'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return [view_count, last_viewed_at];
};

/** Views are counted in the background: this waits until the number is reached, or a second. */
async function viewsAfter(sharing: Sharing, id: string, count: number) {
  const start = performance.now();
  while (Number((await views(sharing, id))[0]) < count && performance.now() - start < 1000)
    await nextTurn();
  return views(sharing, id);
}

const head = (service: Sharing['service'], path: string) =>
  fetch(service.url + path, { method: 'HEAD' });

test('Public report views are counted for GET in every format, not for HEAD', async (t) => {
  const sharing = await startSharing(t);
  const { service, clock, analysed, share, read, get } = sharing;
  const { id, token } = await share({ test_ids: [(await analysed()).id] });
  for (const [path] of formsOf(token)) {
    const { status, headers } = await head(service, path);
    assert.equal(status, 200);
    assertPrivate(headers, path);
    assert.equal(headers.has('content-security-policy'), true);
  }
  assert.deepEqual(await views(sharing, id), [0, null]);
  let count = 0;
  for (const [path, accept] of formsOf(token)) {
    clock.advance(1000);
    await read(path, accept);
    assert.deepEqual(await viewsAfter(sharing, id, ++count), [
      count,
      new Date(clock.now()).toISOString(),
    ]);
  }
  await Promise.all(formsOf(token).map(([path, accept]) => read(path, accept)));
  await viewsAfter(sharing, id, 6);
  assert.equal((await get(id)).view_count, 6);
  await service.call('DELETE', `/v1/reports/shared/${id}`);
  await read(`/reports/public/${token}`);
  await read(`/badges/${token}.svg`);
  assert.equal((await get(id)).view_count, 6, 'rejected requests are not counted');
});

test('Forty concurrent readers of a public report are all served', async (t) => {
  const sharing = await startSharing(t);
  const { analysed, share, read } = sharing;
  const { id, token } = await share({ test_ids: [(await analysed()).id] });
  // More than the reporter's queue accepts.
  const crowd = await Promise.all(
    Array.from({ length: 40 }, (_, n) => read(`/reports/public/${token}${n % 2 ? '.pdf' : ''}`)),
  );
  assert.deepEqual(new Set(crowd.map(({ status }) => status)), new Set([200]));
  const lengths = crowd.map(({ headers }) => headers.get('content-length'));
  assert.equal(new Set(lengths).size, 2);
  assert.equal((await viewsAfter(sharing, id, 40))[0], 40);
});

test('A public report is served even if the view cannot be counted', async (t) => {
  const sharing = await startSharing(t);
  const { service, analysed, share, read } = sharing;
  const { id, token } = await share({ test_ids: [(await analysed()).id] });
  await rejectUpdates(service.app.db, 'shared_reports');
  for (const [path, accept] of formsOf(token)) assert.equal((await read(path, accept)).status, 200);
  assert.deepEqual(await views(sharing, id), [0, null]);
  const warnings = () => service.logged.filter(({ level }) => level === 'warn');
  const start = performance.now();
  while (warnings().length < 3 && performance.now() - start < 1000) await nextTurn();
  const warned = warnings();
  assert.equal(warned.length, 3);
  assert.ok(!JSON.stringify(warned).includes(token));
});

test('Guessing public report tokens gets 429 after 120 attempts', async (t) => {
  const { service, clock, analysed, share, read } = await startSharing(t);
  const { token } = await share({ test_ids: [(await analysed()).id] });
  let last = await read(`/reports/public/${'g'.repeat(43)}`, JSON_TYPE);
  for (let n = 1; n < 120; n++) {
    assert.equal(last.status, 404);
    const end = n % 2 ? '.pdf' : '';
    last = await read(`/reports/public/${String(n).padStart(43, 'g')}${end}`, JSON_TYPE);
  }
  assert.equal(last.status, 404);
  for (const [path, accept] of formsOf(token)) {
    const { status, headers } = await read(path, accept);
    assert.equal(status, 429, 'a valid token is rate limited too');
    assert.ok(Number(headers.get('retry-after')) > 0);
  }
  assert.equal((await service.call('GET', '/v1/tests')).status, 200, 'the team is not affected');
  clock.advance(61_000);
  assert.equal((await read(`/reports/public/${token}`, JSON_TYPE)).status, 200);
});

/** Sends the path unchanged; fetch would normalize it. */
function rawGet(url: string, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    request(url, { path }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode!));
    })
      .on('error', reject)
      .end();
  });
}

test('The log contains no public report tokens, however the URL is written', async (t) => {
  const { service, analysed, share, read } = await startSharing(t);
  const { id, token } = await share({ test_ids: [(await analysed()).id] });
  const paths = [
    `/reports/public/${token}`,
    `/reports/public/${token}/`,
    `/reports/public/${token}.pdf`,
    `/reports/public/${token}.PDF`,
    `/reports/public/${token}.pdf/`,
    `/reports/public/${token}/more`,
    `/reports//public/${token}.pdf`,
    `/Reports/Public/${token}`,
    `/reports/${token}`,
    `/reports/public/%20${token}`,
    `/reports/public/${token.slice(0, 12)}`,
    `/badges/${token}.svg`,
    `/badges/${token}.json`,
    `/badges/${token}.png`,
    `/badges/${token}`,
    `/x/reports/public/${token}.pdf`,
  ];
  for (const path of paths) await rawGet(service.url, path);
  await read(`/reports/public/${token}?again=${token}`, JSON_TYPE);
  await service.call('POST', `/reports/public/${token}`);
  await service.call('DELETE', `/v1/reports/shared/${id}`);
  for (const path of paths) await rawGet(service.url, path);
  const lines = service.logged.map((line) => JSON.stringify(line));
  const told = lines.filter((line) => /"\/[Rr]eports\/+[Pp]ublic\/:token"/.test(line));
  assert.ok(told.length > 20, 'the requests are logged');
  for (const line of lines) assert.ok(!line.includes(token.slice(0, 12)), line);
});

test('Public report URLs reject writes with 405', async (t) => {
  const { service, analysed, share } = await startSharing(t);
  const { token } = await share({ test_ids: [(await analysed()).id] });
  for (const method of ['POST', 'PATCH', 'DELETE', 'PUT'])
    for (const [path] of formsOf(token)) {
      const { status, headers } = await service.call(method, path);
      assert.equal(status, 405);
      assert.equal(headers.get('allow'), 'GET, HEAD');
    }
});

// Error pages of dead links.

const BROWSER_HEADERS = { accept: 'text/html,*/*;q=0.8' };
const TOKEN = 'x'.repeat(43);

test('Error pages of dead links send the same privacy headers as live ones', async (t) => {
  const { service, analysed, share } = await startSharing(t);
  const { id, token } = await share({ test_ids: [(await analysed()).id] });
  await service.call('DELETE', `/v1/reports/shared/${id}`);
  const answers = {
    unsubscribe: await getPage(service, `/unsubscribe/${TOKEN}`, BROWSER_HEADERS),
    'unsubscribe by form': await postForm(service, `/unsubscribe/${TOKEN}`, {
      'List-Unsubscribe': 'One-Click',
    }),
    unknown: await getPage(service, `/reports/public/${TOKEN}`, BROWSER_HEADERS),
    'unknown PDF': await getPage(service, `/reports/public/${TOKEN}.pdf`, BROWSER_HEADERS),
    revoked: await getPage(service, `/reports/public/${token}`, BROWSER_HEADERS),
  };
  for (const [what, { status, headers, html }] of Object.entries(answers)) {
    assert.equal(status, what === 'revoked' ? 410 : 404, what);
    assert.match(headers.get('content-type')!, /^text\/html/, what);
    assert.equal(headers.get('referrer-policy'), 'no-referrer', what);
    assert.equal(headers.get('x-robots-tag'), 'noindex', what);
    assert.match(headers.get('cache-control')!, /no-store/, what);
    assert.match(html, /<meta name="referrer" content="no-referrer"\/?>/, what);
    assert.ok(!html.includes(TOKEN) && !html.includes(token), what);
  }
});
