/** A real service with additional routes, and clients that can send any header. */

import { request as httpRequest } from 'node:http';
import type { TestContext } from 'node:test';
import { ROUTES } from '../../src/features.ts';
import type { Actor } from '../../src/http/actor.ts';
import type { Route } from '../../src/http/route.ts';
import { createRouter } from '../../src/http/router.ts';
import { identifyKey } from '../../src/team/api-keys.ts';
import { reauthorize } from '../../src/team/permissions.ts';
import { insertSession } from '../../src/team/sessions.ts';
import { type ServiceOptions, startTestService, type TestService } from '../helpers/app.ts';
import { listen } from './listener.ts';

export interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  /** The text as parsed JSON, if it is JSON. */
  json: Record<string, unknown>;
}

export interface Sent {
  headers?: Record<string, string>;
  /** Sent as JSON. */
  json?: unknown;
  body?: string | Uint8Array;
}

export type Send = (method: string, path: string, sent?: Sent) => Promise<Reply>;

/** Sends exactly the given headers with node:http. */
export function sender(port: number): Send {
  return (method, path, { headers = {}, json, body } = {}) =>
    new Promise((resolve, reject) => {
      const content = json === undefined ? body : JSON.stringify(json);
      const fields: Record<string, string> = {
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        // Otherwise, Node sends the body of a DELETE request without its length.
        ...(content === undefined ? {} : { 'content-length': `${Buffer.byteLength(content)}` }),
      };
      const request = httpRequest({ port, method, path, headers: { ...fields, ...headers } });
      request.on('error', reject);
      request.on('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const isJson = /[/+]json/.test(response.headers['content-type'] ?? '') && text !== '';
          resolve({
            status: response.statusCode!,
            headers: response.headers,
            text,
            json: isJson ? JSON.parse(text) : {},
          });
        });
      });
      request.end(content);
    });
}

export interface RoutedService extends TestService {
  send: Send;
}

/** The session `good` belongs to the owner; all others are invalid. */
export async function startRoutedService(
  t: TestContext,
  routes: Route[],
  options?: ServiceOptions,
): Promise<RoutedService> {
  const service = await startTestService(t, options);
  const { app, key } = service;
  const owner = (await identifyKey(app, key)) as Actor;
  // Changes reauthorize the session, so it must exist.
  const { row } = await app.db
    .transaction()
    .execute((tx) => insertSession(tx, app, owner.memberId, { ip: null, userAgent: null }));
  const fetch = createRouter({
    app,
    routes: [...routes, ...ROUTES],
    reauthorize,
    identify: async ({ kind, token }) =>
      kind === 'key'
        ? identifyKey(app, token)
        : token === 'good'
          ? { ...owner, keyId: null, sessionId: row.id }
          : null,
  });
  const { port } = await listen(t, { fetch });
  return { ...service, send: sender(port) };
}

export const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
