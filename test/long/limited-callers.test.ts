/** Callers who are limited to a client: every operation and every page shows them nothing of anybody else. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ROUTES } from '../../src/features.ts';
import type { Role } from '../../src/http/actor.ts';
import type { Route } from '../../src/http/route.ts';
import { createApiKey } from '../../src/team/api-keys.ts';
import { findOwner } from '../../src/team/members.ts';
import { insertSession } from '../../src/team/sessions.ts';
import { CLIENTS, type Client, startWorld, type World } from './clients-world.ts';

interface Caller {
  name: string;
  client: Client;
  role: Role;
  headers(): Promise<Record<string, string>>;
}

async function limitedMember({ service }: World, role: 'viewer' | 'member', tags: string[]) {
  const made = await service.makeMember(role);
  const { status, text } = await service.call('PATCH', `/v1/team/members/${made.id}`, {
    json: { tags },
  });
  assert.equal(status, 200, text);
  return made;
}

const bearer = (key: string) => async () => ({ authorization: `Bearer ${key}` });

async function callersOf(world: World): Promise<Caller[]> {
  const { app } = world.service;
  const callers: Caller[] = [];
  for (const client of ['alpha', 'beta'] as const)
    for (const role of ['viewer', 'member'] as const) {
      const { id, key } = await limitedMember(world, role, [CLIENTS[client]]);
      callers.push({ name: `a ${role} of ${client}`, client, role, headers: bearer(key) });
      callers.push({
        name: `the session of a ${role} of ${client}`,
        client,
        role,
        async headers() {
          const { token } = await app.db
            .transaction()
            .execute((tx) => insertSession(tx, app, id, { ip: null, userAgent: null }));
          return { cookie: `deliverability=${token}`, 'sec-fetch-site': 'same-origin' };
        },
      });
    }
  const owner = (await findOwner(app.db))!;
  const { key } = await createApiKey(app, {
    memberId: owner.id,
    name: 'limited',
    role: 'member',
    livemode: true,
    tags: [CLIENTS.alpha],
  });
  return [
    ...callers,
    { name: "the owner's key for alpha", client: 'alpha', role: 'member', headers: bearer(key) },
  ];
}

interface Answer {
  status: number;
  /** With the header fields. */
  text: string;
}

async function ask(
  { service }: World,
  caller: Caller,
  method: string,
  path: string,
  more: { type?: string; body?: string } = {},
): Promise<Answer> {
  const headers: Record<string, string> = await caller.headers();
  if (more.type) headers['content-type'] = more.type;
  const response = await fetch(service.url + path, {
    method,
    headers,
    body: more.body,
    redirect: 'manual',
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const fields = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
  return { status: response.status, text: `${fields}\n\n${bytes.toString('latin1')}` };
}

/** IDs of each kind that belong to a client, or to nobody. */
const UNKNOWN = (id: string) => `${id.split('_')[0]}_${'0'.repeat(26)}`;

/** What is the same for any ID: without the ID itself and what changes with each request. */
const comparable = ({ status, text }: Answer, id: string): string =>
  `${status} ${text
    // Pages capitalize some words of a URL.
    .replace(new RegExp(id, 'gi'), 'ID')
    .replace(/z(beta|none)/gi, 'ID')
    .replace(
      /ratelimit[\w-]*: .*|req_\w+|date: .*|content-length: .*|nonce-[\w+/=-]+|nonce="[^"]+"|etag: .*/g,
      '',
    )}`;

/** The IDs that a route can have in its path: of one kind if it is documented, of every kind otherwise. */
function idsFor(route: Route, ids: string[]): string[] {
  const documented = /idOf|([a-z]+)_[0-9a-z]{26}/.exec(JSON.stringify(route.params ?? {}))?.[1];
  const fitting = documented ? ids.filter((id) => id.startsWith(`${documented}_`)) : ids;
  // One of each kind is enough.
  const kinds = new Map(fitting.map((id) => [id.split('_')[0], id]));
  return [...kinds.values()];
}

const isPage = ({ path }: Route) => !path.startsWith('/v1/');
const pathWith = (route: Route, id: string) => route.path.replace(/:\w+/g, id);

/** Does nothing if the object is hidden, and is valid if it is not. */
const bodyOf = (route: Route): { type?: string; body?: string } => {
  if (route.method === 'GET' || route.method === 'DELETE') return {};
  if (route.consumes) return { type: route.consumes.type, body: 'a=b' };
  return { type: 'application/json', body: '{}' };
};

/** Without what the service does by itself meanwhile. */
const settled = (rows: string[]): string[] =>
  rows
    .map((row) => JSON.parse(row) as Record<string, unknown>)
    .filter(
      ({ type, started_at, read_at }) =>
        started_at === undefined &&
        read_at === undefined &&
        !/^[a-z]+\.[a-z_]+$/.test(String(type)),
    )
    .map((row) =>
      JSON.stringify(
        Object.fromEntries(
          Object.entries(row).filter(
            ([key]) => !/^(health_|next_|lease|watched|records$|look|last_|status$)/.test(key),
          ),
        ),
      ),
    );

test('Limited callers see nothing of others, by any operation or page', {
  timeout: 900_000,
}, async (t) => {
  const world = await startWorld(t);
  const callers = await callersOf(world);
  const failures: string[] = [];
  const idsOf = new Map<Client, string[]>();
  const secretsOf = new Map<Client, string[]>();
  for (const client of Object.keys(CLIENTS) as Client[]) {
    const secrets = await world.secretsOf(client);
    secretsOf.set(client, secrets);
    idsOf.set(
      client,
      secrets.filter((secret) => /^[a-z]+_[0-9a-z]{26}$/.test(secret)),
    );
    assert.ok(idsOf.get(client)!.length > 25, `${client}: ${idsOf.get(client)}`);
  }
  const before = new Map<Client, string[]>();
  for (const client of ['beta', 'team'] as const)
    before.set(client, settled(await world.rowsOf(client)));
  let asked = 0;
  /** Asks, and looks for what belongs to others. */
  const look = async (caller: Caller, route: Route, path: string, said: string[] = []) => {
    const answer = await ask(world, caller, route.method, path, bodyOf(route));
    asked += 1;
    const where = `${route.operation} ${path} for ${caller.name}: ${answer.status}`;
    if (answer.status >= 500) failures.push(`${where} ${answer.text.slice(-300)}`);
    for (const [client, secrets] of secretsOf) {
      if (client === caller.client) continue;
      const found = secrets.find(
        (secret) => !said.includes(secret) && answer.text.includes(secret),
      );
      if (found) {
        const at = answer.text.indexOf(found);
        failures.push(
          `${where} shows ${found}: …${answer.text.slice(Math.max(0, at - 120), at + 60)}…`,
        );
      }
    }
    return { answer, where };
  };
  const routes = ROUTES.filter(
    ({ role, operation }) => role !== 'public' && operation !== 'callMcp',
  );
  const digestOf = (id: string) =>
    world.service.app.db
      .selectFrom('domain_digests')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
  // What is stored for all is hidden, and stays. Later, the job may read it again.
  const digest = await digestOf(world.owned.alpha.domain);
  const table = await ask(world, callers[2]!, 'GET', '/v1/domains/table');
  assert.ok(table.text.includes('zalpha.example') && !table.text.includes('zteam'), table.text);
  assert.deepEqual(await digestOf(world.owned.alpha.domain), digest);
  // What a caller without a limit has asked stays theirs.
  await world.service.call('GET', '/v1/domain_lookup?name=zbeta.example');
  // Pages that everyone may open, and that say more to members.
  const open = ROUTES.filter(
    (route) =>
      route.role === 'public' &&
      route.method === 'GET' &&
      isPage(route) &&
      !route.path.includes(':'),
  );
  for (const caller of callers)
    if (caller.name.startsWith('the session'))
      for (const route of open) await look(caller, route, route.path);
  for (const caller of callers)
    for (const route of routes) {
      // A browser opens pages, and a program the API.
      if (isPage(route) !== caller.name.startsWith('the session')) continue;
      // Only alpha changes something, and only through IDs of others.
      const reads = route.method === 'GET';
      if (!route.path.includes(':')) {
        if (!reads) continue;
        const { answer, where } = await look(caller, route, route.path);
        const isAllowed = route.limited && (caller.role === 'member' || route.role === 'viewer');
        if (
          isAllowed &&
          answer.status >= 400 &&
          !/connect|missing|required|must/i.test(answer.text)
        )
          failures.push(`${where} ${answer.text.slice(-400)}`);
        if (!route.limited && answer.status !== 403) failures.push(`${where} is not refused`);
        continue;
      }
      if (!route.limited) {
        const { answer, where } = await look(caller, route, pathWith(route, 'nothing_0'));
        if (answer.status !== 403) failures.push(`${where} is not refused`);
        continue;
      }
      if (reads)
        for (const id of idsFor(route, idsOf.get(caller.client)!)) {
          const { answer, where } = await look(caller, route, pathWith(route, id));
          const isKind = idsFor(route, idsOf.get(caller.client)!).length === 1;
          if (isKind && ![200, 403, 404, 409].includes(answer.status)) failures.push(where);
          if (answer.status === 403 && caller.role === 'member')
            failures.push(`${where} is refused`);
        }
      if (!reads && caller.client !== 'alpha') continue;
      for (const other of ['beta', 'team'] as const) {
        if (other === caller.client) continue;
        for (const id of idsFor(route, idsOf.get(other)!)) {
          const { answer } = await look(caller, route, pathWith(route, id), [id]);
          const unknown = UNKNOWN(id);
          const none = await ask(
            world,
            caller,
            route.method,
            pathWith(route, unknown),
            bodyOf(route),
          );
          if (comparable(answer, id) !== comparable(none, unknown))
            failures.push(
              `${route.operation} ${id} for ${caller.name}: ${answer.status}, but an unknown one ${none.status}\n${comparable(answer, id).slice(-500)}\n${comparable(none, unknown).slice(-500)}`,
            );
        }
      }
    }
  // Query parameters with what belongs to others are like those with what nobody has.
  for (const caller of callers.slice(2, 4))
    for (const route of routes) {
      // The page of the account lists a new session each time.
      if (route.method !== 'GET' || !route.limited || route.operation === 'showAccount') continue;
      if (isPage(route) !== caller.name.startsWith('the session')) continue;
      const { test: theirTest, domain } = world.owned.beta;
      const own = world.owned.alpha;
      const path = pathWith(route, route.path.includes('/tests/') ? own.test : own.domain);
      for (const key of Object.keys((route.query as { entries?: object })?.entries ?? {}))
        for (const value of [theirTest, domain, 'zbeta', 'client:zbeta', 'zbeta.example']) {
          const nobody = value.includes('_') ? UNKNOWN(value) : value.replace('zbeta', 'znone');
          const { answer, where } = await look(caller, route, `${path}?${key}=${value}`, [
            value,
            'zbeta',
          ]);
          const none = await ask(world, caller, 'GET', `${path}?${key}=${nobody}`);
          if (comparable(answer, value) !== comparable(none, nobody))
            failures.push(`${where} differs from ${nobody}: ${none.status}`);
        }
    }
  // What is their own, they can change.
  const { headers } = callers[2]!;
  const write = async (method: string, path: string, json?: object, status = 200) => {
    const answer = await world.service.call<{ id: string; data: { id: string }[] }>(method, path, {
      json,
      key: (await headers()).authorization!.slice('Bearer '.length),
    });
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`);
    return answer.body;
  };
  const own = world.owned.alpha;
  const sources = await write('GET', `/v1/feedback/sources?domain_id=${own.domain}`);
  await write('PATCH', `/v1/feedback/sources/${sources.data[0]!.id}`, { mark: 'own' });
  await write('POST', `/v1/monitors/${own.monitor}/run`);
  await write('PATCH', `/v1/monitors/${own.monitor}`, { name: 'zalpha renamed' });
  await write('POST', `/v1/domains/${own.domain}/verify`);
  await write('GET', `/v1/domains/${own.domain}/health`);
  await write('PATCH', `/v1/domains/${own.domain}`, { badge_enabled: true });
  await write('POST', `/v1/tests/${own.test}/reanalyze`);
  await write('POST', `/v1/tests/${own.test}/images`);
  const shared = await write('POST', '/v1/reports/share', { test_ids: [own.test] }, 201);
  await write('POST', '/v1/reports/share', { test_ids: [world.owned.beta.test] }, 422);
  await write('POST', '/v1/reports/share', { tags: [CLIENTS.beta] }, 422);
  await write('POST', '/v1/reports/share', { tags: [CLIENTS.alpha, CLIENTS.beta] }, 422);
  const status = await write('POST', '/v1/reports/share', { tags: [CLIENTS.alpha] }, 201);
  await write('DELETE', `/v1/reports/shared/${status.id}`);
  const { data: rows } = await write('GET', '/v1/domains/table');
  assert.deepEqual(
    rows.map(({ id }) => id),
    [own.domain],
  );
  await write('DELETE', `/v1/reports/shared/${shared.id}`);
  await write('DELETE', `/v1/monitors/${own.monitor}`);
  await write('DELETE', `/v1/inboxes/${own.inbox}`);
  await write('DELETE', `/v1/tests/${own.test}`);
  await write('PATCH', '/v1/me', { name: 'Another name' });
  const { member } = (await write('GET', '/v1/me')) as unknown as { member: { id: string } };
  t.diagnostic(`${asked} answers`);
  assert.deepEqual(failures.slice(0, 60), [], `${failures.length} failures`);
  for (const [client, rows] of before)
    assert.deepEqual(settled(await world.rowsOf(client)), rows, client);
  await write('DELETE', `/v1/team/members/${member.id}`);
});
