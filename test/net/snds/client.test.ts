/** Requests to Microsoft SNDS: forms of URLs, refused keys, servers that misbehave, and that no error shows the key. */

// @one-database: about requests to Microsoft.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { AccountError, type AccountProblem } from '../../../src/net/account-error.ts';
import { zoneResolver } from '../../../src/net/dns/zone.ts';
import { createTrustedWebClient } from '../../../src/net/http/client.ts';
import { openSnds } from '../../../src/net/snds/client.ts';
import { HOSTILE_RESPONSES, type HttpFault, startHttpScript } from '../../helpers/http-script.ts';
import {
  blockedRange,
  type SndsRefusal,
  servedAddress,
  startSndsServer,
} from '../../helpers/snds-server.ts';

const web = createTrustedWebClient(zoneResolver({}));
const KEY = 'snds-key';
const DAY = '2026-11-20';

const open = (
  { url }: { url: string },
  { key = KEY, path = '', signal = new AbortController().signal } = {},
) => openSnds({ web, baseUrl: `${url}${path}`, access: { key }, signal });

async function failure(
  operation: Promise<unknown>,
  problem: AccountProblem,
  key = KEY,
): Promise<AccountError> {
  const error = await operation.then(
    (value) => assert.fail(`No error, but ${JSON.stringify(value)?.slice(0, 200)}`),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof AccountError, String(error));
  assert.equal(error.problem, problem, error.message);
  assert.ok(!inspect(error, { depth: 9, showHidden: true }).includes(key), inspect(error));
  return error;
}

test('The figures of a day are read by address, and whether addresses are blocked', async (t) => {
  const server = await startSndsServer(t);
  server.days[DAY] = [
    servedAddress('192.0.2.1', DAY, {
      trapHits: '0',
      sampleHelo: 'mail.example.com',
      sampleMailFrom: 'news@example.com',
    }),
    servedAddress('192.0.2.2', DAY, {
      filterResult: 'RED',
      complaintRate: '0.3%',
      trapHits: '7',
      comments: 'Mail for one, two and "three"',
    }),
  ];
  server.ranges = [blockedRange('192.0.2.1', '192.0.2.3')];
  const snds = open(server);
  assert.deepEqual(await snds.data(DAY), {
    skipped: 0,
    rows: [
      {
        address: '192.0.2.1',
        startedAt: '2026-11-20T08:00:00.000Z',
        endedAt: '2026-11-21T07:00:00.000Z',
        rcptCommands: 1200,
        dataCommands: 1100,
        recipients: 1150,
        filterResult: 'GREEN',
        complaintRate: 0.001,
        isBelowRate: true,
        comments: null,
      },
      {
        address: '192.0.2.2',
        startedAt: '2026-11-20T08:00:00.000Z',
        endedAt: '2026-11-21T07:00:00.000Z',
        rcptCommands: 1200,
        dataCommands: 1100,
        recipients: 1150,
        filterResult: 'RED',
        complaintRate: 0.003,
        isBelowRate: false,
        comments: 'Mail for one, two and "three"',
      },
    ],
  });
  assert.deepEqual(await snds.status(), {
    skipped: 0,
    rows: [
      {
        firstAddress: '192.0.2.1',
        lastAddress: '192.0.2.3',
        blocked: true,
        details: 'Blocked due to user complaints or other evidence of spamming',
      },
    ],
  });
  assert.equal(await snds.data('2026-11-19'), null);
  assert.equal(server.exchanges[0]!.query.get('date'), '112026');
});

const FORMS: [string, string[], { aspx: boolean; folders: boolean }][] = [
  ['', ['/snds/data.aspx', '/snds/ipStatus.aspx'], { aspx: true, folders: true }],
  // The second call knows which form works.
  ['', ['/snds/data.aspx', '/snds/data/', '/snds/ipStatus/'], { aspx: false, folders: true }],
  ['/data.aspx', ['/snds/data.aspx', '/snds/ipStatus.aspx'], { aspx: true, folders: false }],
  ['/data', ['/snds/data/', '/snds/ipStatus/'], { aspx: false, folders: true }],
];
for (const [path, paths, forms] of FORMS) {
  const base = path === '' ? 'without a form' : `of the form ${path}`;
  const served = Object.keys(forms).filter((form) => forms[form as keyof typeof forms]);
  test(`A base URL ${base} works if the server has ${served.join(' and ')}`, async (t) => {
    const server = await startSndsServer(t, { forms });
    server.days[DAY] = [servedAddress('192.0.2.1', DAY)];
    const snds = open(server, { path });
    assert.equal((await snds.data(DAY))!.rows.length, 1);
    await snds.status();
    assert.deepEqual(
      server.exchanges.map((exchange) => exchange.path),
      paths,
    );
  });
}

const REFUSALS: SndsRefusal[] = ['page', 'redirect', 400, 401, 403];
for (const refusal of REFUSALS)
  test(`A key that is refused with ${refusal} is an error that does not show it`, async (t) => {
    const server = await startSndsServer(t, { refusal });
    const key = 'wrong key/+&date=1';
    const { message } = await failure(open(server, { key }).data(DAY), 'refused', key);
    assert.match(message, /does not accept the key/);
    assert.doesNotMatch(message, /wrong|%2F/);
    await failure(open(server, { key }).status(), 'refused', key);
    // It is one parameter, whatever it contains.
    assert.ok(server.exchanges.every(({ query }) => query.get('key') === key));
  });

const FAULTS: [HttpFault, AccountProblem, number | null][] = [
  ['throttled', 'throttled', 120_000],
  ['unavailable', 'unreachable', null],
  ['broken', 'unreachable', null],
  ['truncated', 'unreachable', null],
];
for (const [fault, problem, retryAfterMs] of FAULTS)
  test(`A server that is ${fault} makes both operations fail as ${problem}`, async (t) => {
    const server = await startSndsServer(t, { fault: () => fault });
    assert.equal((await failure(open(server).data(DAY), problem)).retryAfterMs, retryAfterMs);
    await failure(open(server).status(), problem);
    assert.equal(server.exchanges.length, 2);
  });

test('A request to a silent server ends with the signal', async (t) => {
  const server = await startSndsServer(t, { fault: () => 'slow' });
  await failure(open(server, { signal: AbortSignal.timeout(50) }).data(DAY), 'timeout');
});

test('A server that cannot be reached, or resolved, is an error that does not show the key', async () => {
  await failure(open({ url: 'http://127.0.0.1:1' }).data(DAY), 'unreachable');
  await failure(open({ url: 'https://nowhere.example/snds' }).status(), 'unreachable');
});

for (const [what, respond] of HOSTILE_RESPONSES)
  test(`A server that sends ${what} has no data`, async (t) => {
    const script = await startHttpScript(t, respond);
    const problem = /redirect|not JSON/.test(what) ? 'refused' : 'bad_response';
    await failure(open(script).data(DAY), problem);
    await failure(open(script).status(), problem);
  });

// The REST API.

const rest = ({ url }: { url: string }, accessToken = 'access') =>
  openSnds({
    web,
    baseUrl: url,
    access: { accessToken },
    signal: new AbortController().signal,
  });

for (const format of ['csv', 'json'] as const)
  test(`The REST API is read by day and for all blocks, as ${format}`, async (t) => {
    const server = await startSndsServer(t, { format });
    server.days[DAY] = [
      servedAddress('192.0.2.1', DAY, { comments: 'Mail for one, two and "three"' }),
      servedAddress('2001:db8::1', DAY, { filterResult: 'YELLOW', complaintRate: '0.3%' }),
    ];
    server.ranges = [
      blockedRange('192.0.2.1'),
      { first: '192.0.2.2', last: '192.0.2.9', blocked: 'False', details: '' },
    ];
    const { rows, skipped } = (await rest(server).data(DAY))!;
    assert.equal(skipped, 0);
    assert.deepEqual(rows[0], {
      address: '192.0.2.1',
      startedAt: '2026-11-20T08:00:00.000Z',
      endedAt: '2026-11-21T07:00:00.000Z',
      rcptCommands: 1200,
      dataCommands: 1100,
      recipients: 1150,
      filterResult: 'GREEN',
      complaintRate: 0.001,
      isBelowRate: true,
      comments: 'Mail for one, two and "three"',
    });
    assert.deepEqual([rows[1]!.filterResult, rows[1]!.complaintRate], ['YELLOW', 0.003]);
    const status = (await rest(server).status())!;
    assert.deepEqual(
      status.rows.map(({ firstAddress, blocked }) => [firstAddress, blocked]),
      [
        ['192.0.2.1', true],
        ['192.0.2.2', false],
      ],
    );
    assert.deepEqual(
      server.exchanges.map(({ path }) => path.replace('/snds', '')),
      ['/api/report/data/2026-11-20', '/api/report/status/ip'],
    );
    assert.equal(await rest(server).data('2026-11-21'), null, '404');
    server.isExpired = true;
    assert.equal(await rest(server).status(), null, '404, too');
  });

test('An error of the REST API is quoted, without the access token', async (t) => {
  const server = await startSndsServer(t);
  const { message } = await failure(rest(server, 'other').status(), 'sign_in_failed', 'other');
  assert.match(message, /does not accept the sign-in\. Sign in again\.$/);
  const answers: [number, string, AccountProblem, RegExp][] = [
    [
      403,
      '{"message":"No access for access-7."}',
      'refused',
      /does not let this account.* “No access for …\.” Sign in with/,
    ],
    [403, '{"error":{"code":"x","message":"Terms."}}', 'refused', /“Terms\.”/],
    [302, '', 'sign_in_failed', /Sign in again/],
    [
      400,
      'Invalid date',
      'refused',
      /rejected the request \(HTTP 400\)\. The server says: “Invalid date”/,
    ],
    [410, '<html>Gone</html>', 'refused', /rejected the request \(HTTP 410\)\.$/],
    [429, '', 'throttled', /rate-limiting/],
    [200, '<html>Sign in</html>', 'sign_in_failed', /Sign in again/],
    [200, '{"value":7}', 'bad_response', /invalid SNDS data/],
  ];
  for (const [code, body, problem, words] of answers) {
    const script = await startHttpScript(t, ({ response }) => {
      response.writeHead(code, { 'retry-after': '60' }).end(body);
    });
    const error = await failure(rest(script, 'access-7').data(DAY), problem, 'access-7');
    assert.match(error.message, words);
    assert.equal(error.retryAfterMs, code === 429 ? 60_000 : null);
  }
});

test('The test server rejects days and paths that the REST API does not have', async (t) => {
  const server = await startSndsServer(t);
  const get = async (path: string) =>
    (
      await fetch(`${server.url}/api/report/${path}`, {
        headers: { authorization: 'Bearer access' },
      })
    ).status;
  assert.deepEqual(
    [
      await get('data/112026'),
      await get('data/2026-13-40'),
      await get('data'),
      await get('status'),
    ],
    [400, 400, 404, 404],
  );
});
