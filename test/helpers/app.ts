/** Starts the whole service on free ports with its own database; it stops when the test ends. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import * as v from 'valibot';
import type { Overrides } from '../../src/app.ts';
import { readConfig } from '../../src/config/config.ts';
import { ROUTES } from '../../src/features.ts';
import type { Role } from '../../src/http/actor.ts';
import type { Schema } from '../../src/http/route.ts';
import { isoTime } from '../../src/lib/clock.ts';
import type { Log } from '../../src/lib/log.ts';
import type { Test } from '../../src/mailtests/schema.ts';
import { type Zone, zoneResolver } from '../../src/net/dns/zone.ts';
import { type Service, startService } from '../../src/service.ts';
import { createApiKey } from '../../src/team/api-keys.ts';
import { findOwner } from '../../src/team/members.ts';
import { makeOwner } from '../../src/team/owner.ts';
import { releasePostgresDatabase } from './postgres.ts';
import { storeSmtpKeyPair } from './smtp-key-pair.ts';
import { databaseEnvironment, storeEmptyDatabase } from './store.ts';
import { reuseWorker } from './threads.ts';

export interface ApiResponse<T = unknown> {
  status: number;
  headers: Headers;
  body: T;
  text: string;
}

export interface TestMember {
  id: string;
  email: string;
  key: string;
}

export interface TestService extends Service {
  url: string;
  folder: string;
  /** A live API key of the owner. */
  key: string;
  logged: { level: string; message: string; fields: Record<string, unknown> }[];
  /** Sends a request, by default with the owner's key; `json` becomes the body. */
  call<T = Record<string, unknown>>(
    method: string,
    path: string,
    options?: CallOptions,
  ): Promise<ApiResponse<T>>;
  /** Creates an API key, by default for the owner. */
  makeKey(role: Role, livemode?: boolean, memberId?: string): Promise<string>;
  /** Creates a member, `<role><n>@example.com`, with a live key of the same role. */
  makeMember(role: Exclude<Role, 'owner'>): Promise<TestMember>;
  createTest(body?: object): Promise<Test>;
  getTest(id: string, query?: string): Promise<Test>;
}

export interface CallOptions {
  json?: unknown;
  body?: string | Uint8Array;
  headers?: Record<string, string>;
  /** Null for no credentials. */
  key?: string | null;
}

export interface ServiceOptions extends Overrides {
  zone?: Zone;
  env?: Record<string, string>;
  folder?: string;
}

/** A hash takes 2 ms: for all tests except those of the cost itself. */
export const CHEAP_PASSWORDS = { N: 2 ** 9, r: 8, p: 1 };

export async function startTestService(
  t: TestContext,
  options: ServiceOptions = {},
): Promise<TestService> {
  const { zone, env, folder = temporaryFolder(t), ...overrides } = options;
  const logged: TestService['logged'] = [];
  await storeSmtpKeyPair(folder);
  if (!options.folder) storeEmptyDatabase(folder);
  const { config } = readConfig({
    DELIVERABILITY_DATA_DIR: folder,
    DELIVERABILITY_HTTP_PORT: '0',
    DELIVERABILITY_SMTP_PORT: '0',
    DELIVERABILITY_SMTP_NAME: 'mx.inbox.test',
    DELIVERABILITY_INBOX_DOMAIN: 'inbox.test',
    DELIVERABILITY_SMTP_PROXY_PROTOCOL: '127.0.0.1',
    DELIVERABILITY_WORKERS: '1',
    // Blocklists fail their test queries in an empty zone; tests of reputation switch them on.
    DELIVERABILITY_BLOCKLISTS: '-all',
    // Some tests exceed the normal limit; tests of rate limits set one.
    DELIVERABILITY_RATE_LIMIT: '0',
    ...(await databaseEnvironment(folder)),
    ...env,
  });
  const service = await startService(config, '0.0.0-test', {
    resolver: zoneResolver(zone ?? {}),
    log: recordingLog(logged),
    passwordCost: CHEAP_PASSWORDS,
    startWorker: reuseWorker,
    ...overrides,
  });
  t.after(() => service.stop());
  const { app } = service;
  const url = `http://127.0.0.1:${service.http.port}`;
  const owner =
    (await findOwner(app.db)) ?? (await makeOwner(contextOf(app), 'owner@example.com')).owner;
  const makeKey = async (role: Role, livemode = true, memberId = owner.id) =>
    (await createApiKey(app, { memberId, name: role, role, livemode })).key;
  let members = 0;
  const makeMember: TestService['makeMember'] = async (role) => {
    const id = app.newId('mem');
    const email = `${role}${++members}@example.com`;
    const joined_at = isoTime(app.clock.now());
    const row = { id, email, name: `The ${role}`, role, joined_at };
    await app.db.insertInto('members').values(row).execute();
    return { id, email, key: await makeKey(role, true, id) };
  };
  const key = await makeKey('owner');
  const call: TestService['call'] = (method, path, callOptions) =>
    request(url, key, method, path, callOptions) as never;
  return {
    ...service,
    url,
    folder,
    key,
    logged,
    call,
    makeKey,
    makeMember,
    async createTest(body = {}) {
      return (await call<Test>('POST', '/v1/tests', { json: body })).body;
    },
    async getTest(id, query = '') {
      return (await call<Test>('GET', `/v1/tests/${id}${query}`)).body;
    },
  };
}

/** Without subscribers, the team begins without alert rules. */
const contextOf = ({ db, clock, newId }: Service['app']) => ({ db, clock, newId });

export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'deliverability-'));
  t.after(() => {
    releasePostgresDatabase(folder);
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

function recordingLog(into: TestService['logged']): Log {
  const at =
    (level: string) =>
    (message: string, fields: object = {}) => {
      into.push({ level, message, fields: { ...fields } });
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

async function request(
  url: string,
  ownerKey: string,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<ApiResponse> {
  const key = options.key === undefined ? ownerKey : options.key;
  const headers: Record<string, string> = { ...options.headers };
  if (key !== null) headers.authorization = `Bearer ${key}`;
  if (options.json !== undefined) headers['content-type'] = 'application/json';
  const body = options.json === undefined ? options.body : JSON.stringify(options.json);
  const response = await fetch(url + path, { method, headers, body: body as never });
  const text = await response.text();
  const isJson =
    text !== '' && /[/+]json$/.test((response.headers.get('content-type') ?? '').split(';')[0]!);
  const answer = {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? JSON.parse(text) : text,
  };
  assertDeclared(method, path, answer);
  return answer;
}

/** Asserts that a successful response matches the declared schema, which the service does not check itself. */
function assertDeclared(method: string, path: string, { status, body }: ApiResponse): void {
  if (status !== 200 && status !== 201) return;
  const { pathname } = new URL(path, 'http://x');
  const route = ROUTES.find(
    (r) =>
      r.method === method && new RegExp(`^${r.path.replace(/:\w+/g, '[^/]+')}$`).test(pathname),
  );
  // The parsed value equals the body only if the body has no undeclared fields.
  if (route?.response) assert.deepEqual(v.parse(route.response as Schema, body), body);
}
