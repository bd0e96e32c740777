/** Hostile requests to every operation: no server errors, no internal details, no effects of rejected requests. */

import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { sql } from 'kysely';
import { readConfig } from '../../src/config/config.ts';
import { appendEvent } from '../../src/events/events.ts';
import { DOCUMENTED_API, DOCUMENTED_ROUTES, ROUTES } from '../../src/features.ts';
import { describeApi } from '../../src/health/describe-api.ts';
import type { Role } from '../../src/http/actor.ts';
import type { Route } from '../../src/http/route.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { presentListed } from '../../src/mailtests/present.ts';
import { newTestRow } from '../../src/mailtests/queries.ts';
import { zoneResolver } from '../../src/net/dns/zone.ts';
import { assembleService } from '../../src/service.ts';
import { type Db, transact } from '../../src/store/open.ts';
import { createApiKey } from '../../src/team/api-keys.ts';
import { makeOwner } from '../../src/team/owner.ts';
import { insertSession } from '../../src/team/sessions.ts';
import { contentsOf, INSIDE } from '../e2e/inside.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { isFullSize } from '../helpers/full-size.ts';
import { onPostgres, openTestStore } from '../helpers/store.ts';
import { tableNames } from '../helpers/stored-bytes.ts';
import { documentValidator } from '../http/document-validator.ts';
import { type Hostile, hostileRequest, REAL } from '../http/hostile-requests.ts';

const SEED = 20_261_121;
const REQUESTS = isFullSize ? 21_000 : 4_000;
/** What a few requests to each operation may not reach. */
const RARE_STATUSES = isFullSize ? [202, 409] : [];

/** Request data that a page contains unescaped. */
const UNESCAPED = /<script>alert|"><img src=x/;

const DATA_FOLDER = new RegExp(`${tmpdir()}/deliverability-\\w{6}`, 'g');

type Row = Record<string, unknown>;

/** Grows with each changed row. */
async function changesOf(db: Db): Promise<number> {
  const changes = onPostgres ? sql`(select last_value from changes)` : sql`total_changes()`;
  const { rows } = await sql<{ n: number }>`select ${changes} as n`.execute(db);
  return rows[0]!.n;
}

/** PostgreSQL itself counts the changes of all connections only after a delay. */
async function countChanges(db: Db): Promise<void> {
  if (!onPostgres) return;
  await sql`CREATE SEQUENCE changes`.execute(db);
  await sql`
    CREATE FUNCTION count_change() RETURNS trigger LANGUAGE plpgsql
    AS 'BEGIN PERFORM nextval(''changes''); RETURN NULL; END'`.execute(db);
  for (const name of await tableNames(db))
    await sql`
      CREATE TRIGGER count_change AFTER INSERT OR UPDATE OR DELETE ON ${sql.table(name)}
      FOR EACH ROW EXECUTE FUNCTION count_change()`.execute(db);
}

/** The application without sockets and jobs, with a fixed clock; emails stay in the outbox. */
async function assemble(t: TestContext) {
  const { config } = readConfig({
    DELIVERABILITY_DATA_DIR: temporaryFolder(t),
    DELIVERABILITY_INBOX_DOMAIN: 'inbox.test',
    DELIVERABILITY_WORKERS: '1',
    DELIVERABILITY_BLOCKLISTS: '-all',
    DELIVERABILITY_RATE_LIMIT: '0',
    DELIVERABILITY_MAIL_URL: 'smtp://127.0.0.1:9',
    DELIVERABILITY_MAIL_FROM: 'no-reply@example.com',
  });
  const faults: unknown[] = [];
  const ignore = () => {};
  const record = (message: string, fields?: object) => void faults.push([message, fields]);
  const assembled = await assembleService(config, '0.0.0-test', {
    store: await openTestStore(t),
    clock: testClock(),
    resolver: zoneResolver({}),
    log: { debug: ignore, info: ignore, warn: ignore, error: record },
    isSmtpListening: () => true,
  });
  t.after(() => assembled.close());
  return { ...assembled, faults };
}

type Assembled = Awaited<ReturnType<typeof assemble>>;

async function credentialsOf({ app }: Assembled): Promise<Record<string, string>[]> {
  const { owner } = await makeOwner(app, 'owner@example.com');
  const joined_at = isoTime(app.clock.now());
  const member = async (role: Exclude<Role, 'owner'>) => {
    const id = app.newId('mem');
    const row = { id, email: `${role}@example.org`, name: role, role, joined_at };
    await app.db.insertInto('members').values(row).execute();
    return id;
  };
  const key = async (memberId: string, role: Role, livemode = true) => {
    const created = await createApiKey(app, { memberId, name: role, role, livemode });
    return { authorization: `Bearer ${created.key}` };
  };
  const { token } = await app.db
    .transaction()
    .execute((tx) => insertSession(tx, app, owner.id, { ip: null, userAgent: null }));
  return [
    await key(owner.id, 'owner'),
    await key(await member('admin'), 'admin'),
    await key(await member('member'), 'member'),
    await key(await member('viewer'), 'viewer'),
    await key(owner.id, 'owner', false),
    { cookie: `deliverability=${token}`, 'sec-fetch-site': 'same-origin' },
    {},
    { authorization: 'Bearer' },
    { authorization: `Bearer ${"'".repeat(300)}` },
  ];
}

const TABLE_OF = [
  [/^\/v1\/tests/, 'tests'],
  [/^\/v1\/events/, 'events'],
  [/^\/v1\/webhooks\/endpoints/, 'webhook_endpoints'],
  [/^\/v1\/webhooks\/deliveries/, 'webhook_deliveries'],
  [/^\/v1\/domains/, 'domains'],
  [/^\/v1\/monitors/, 'monitors'],
  [/^\/v1\/alerts/, 'alerts'],
  [/^\/v1\/reports\/schedules/, 'report_schedules'],
  [/^\/v1\/reports\/shared/, 'shared_reports'],
  [/^\/v1\/team\/members/, 'members'],
  [/^\/v1\/team\/invitations/, 'invitations'],
  [/^\/v1\/api_keys/, 'api_keys'],
  [/^\/v1\/connected_assistants/, 'connected_assistants'],
  [/^\/v1\/sessions/, 'sessions'],
] as const;

/** The newest object of the route, but never one that the requests themselves need. */
async function realId({ app }: Assembled, { path }: Route, kept: Set<string>): Promise<string> {
  const table = TABLE_OF.find(([pattern]) => pattern.test(path))?.[1];
  if (!table) return 'none';
  const rows = await app.db.selectFrom(table).select('id').orderBy('id', 'desc').limit(1).execute();
  const id = rows[0]?.id ?? 'none';
  return kept.has(id) ? 'none' : id;
}

function requestOf(route: Route, hostile: Hostile, id: string, credential: Record<string, string>) {
  let next = 0;
  const path = route.path.replace(/:\w+/g, () => {
    const param = hostile.params[next++]!;
    return param === REAL ? id : param;
  });
  const query = new URLSearchParams(hostile.query).toString();
  const headers = new Headers();
  for (const [name, value] of [...hostile.headers, ...Object.entries(credential)])
    headers.set(name, value);
  if (hostile.type !== null && hostile.body !== null) headers.set('content-type', hostile.type);
  const { method } = route;
  const body = hostile.body as never;
  return new Request(`http://127.0.0.1${path}${query && `?${query}`}`, { method, headers, body });
}

function checkResponse(request: Request, { status, headers }: Response, text: string) {
  const summary = `${request.method} ${request.url.slice(0, 300)}: ${status} ${text.slice(0, 500)}`;
  assert.ok(status < 500, summary);
  assert.match(headers.get('x-request-id') ?? '', /^req_\w+$/, summary);
  const fields = JSON.stringify([...headers]);
  assert.doesNotMatch(fields, INSIDE, summary);
  assert.doesNotMatch(fields, /evil\.example/, summary);
  const type = headers.get('content-type') ?? '';
  if (type.startsWith('text/html')) assert.doesNotMatch(text, UNESCAPED, summary);
  else if (status >= 400 && type === 'application/json') {
    // The protocol of assistants has its own errors, once the request is authorized, and so has OAuth.
    const { pathname } = new URL(request.url);
    if (pathname === '/mcp') assert.equal(JSON.parse(text).jsonrpc, '2.0', summary);
    else {
      assert.match(pathname, /^\/oauth\/(register|token|revoke)$/, summary);
      assert.match(JSON.parse(text).error, /^[a-z_]+$/, summary);
    }
  } else if (status >= 400) {
    const problem = JSON.parse(text);
    assert.equal(type, 'application/problem+json', summary);
    assert.deepEqual([problem.object, problem.status], ['error', status], summary);
    assert.ok(text.length < 60_000, summary);
  }
  // The settings on the System page include the data folder.
  const isSystemPage = status === 200 && new URL(request.url).pathname === '/system';
  assert.doesNotMatch(isSystemPage ? text.replace(DATA_FOLDER, '') : text, INSIDE, summary);
}

test('Hostile requests to every operation cause no 5xx, leaks or unintended changes', {
  timeout: 240_000,
}, async (t) => {
  const assembled = await assemble(t);
  const { app, fetch, faults } = assembled;
  const { db } = app;
  const credentials = await credentialsOf(assembled);
  await countChanges(db);
  const data = presentListed(
    {
      ...newTestRow(app, { kind: 'auto', metadata: {}, expires_in: 3600, livemode: true }),
      status: 'failed',
      failure_reason: 'not_received',
    },
    app.config,
    [],
  );
  await transact(db, (tx) => appendEvent(tx, { type: 'test.failed', livemode: true, data }, app));
  const { rows: needed } = await sql<{ id: string }>`
    select id from members union select id from api_keys union select id from sessions`.execute(db);
  const kept = new Set(needed.map(({ id }) => id));
  const env = { incoming: { socket: { remoteAddress: '203.0.113.9' } } };
  const seen: Record<string, number> = {};
  let contents = await contentsOf(db);
  let changes = await changesOf(db);
  const { check } = documentValidator(describeApi(DOCUMENTED_API, app.config, app.version));
  const checkDocumented = (
    route: Route,
    { method, url }: Request,
    response: Response,
    text: string,
  ) => {
    const { status, headers } = response;
    // Unknown paths are not documented; neither are trailing slashes, which the service tolerates.
    if (!DOCUMENTED_ROUTES.includes(route) || status === 404 || status === 405) return;
    if (new URL(url).pathname.endsWith('/')) return;
    const body = /json$/.test(headers.get('content-type') ?? '') && text ? JSON.parse(text) : text;
    check(method, url, { status, headers, text, body });
  };
  const send = async (route: Route, hostile: Hostile) => {
    const id = await realId(assembled, route, kept);
    const request = requestOf(route, hostile, id, credentials[hostile.credential]!);
    const response = await fetch(request, env as never);
    const text = await response.text();
    checkResponse(request, response, text);
    checkDocumented(route, request, response, text);
    seen[response.status] = (seen[response.status] ?? 0) + 1;
    const now = await changesOf(db);
    if (now === changes) return;
    const current = await contentsOf(db);
    if (response.status >= 400)
      assert.equal(current, contents, `${request.method} ${request.url}: ${response.status}`);
    contents = current;
    changes = now;
  };
  const each = Math.ceil(REQUESTS / ROUTES.length);
  t.diagnostic(`seed ${SEED}, ${each} requests to each of ${ROUTES.length} operations`);
  for (const route of ROUTES) {
    const hostile = fc.asyncProperty(hostileRequest(route, credentials.length), (values) =>
      send(route, values),
    );
    await fc.assert(hostile, { seed: SEED, numRuns: each, endOnFailure: true });
    // Keeps the comparison of the whole database fast.
    await db.deleteFrom('tests').execute();
    await db.deleteFrom('messages').execute();
    [contents, changes] = [await contentsOf(db), await changesOf(db)];
  }
  t.diagnostic(`responses by status: ${JSON.stringify(seen)}`);
  assert.ok(Object.values(seen).reduce((a, b) => a + b) >= REQUESTS);
  // Not 412, which takes the ID of an object and a good body: `every-operation` has one for each operation.
  for (const status of [200, 201, 400, 401, 403, 404, 413, 415, 422, ...RARE_STATUSES])
    assert.ok(seen[status]! > 0, `no response has status ${status}: ${JSON.stringify(seen)}`);
  assert.deepEqual(faults, []);
  assert.equal(({} as Row).polluted, undefined);
});
