/** A service for tests of shared reports, with a test clock, completed tests and requests without credentials. */

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Test } from '../../src/mailtests/schema.ts';
import type { Share } from '../../src/shares/schema.ts';
import {
  type ApiResponse,
  type ServiceOptions,
  startTestService,
  type TestService,
} from '../helpers/app.ts';
import { type TestClock, testClock } from '../helpers/clock.ts';
import { goodMessage } from '../helpers/good-message.ts';

export const DAY_MS = 86_400_000;
export const WEEK_MS = 7 * DAY_MS;

/** The response to the creator of a shared report. */
export type Made = Share & { url: string; token: string };

export interface Sharing {
  service: TestService;
  clock: TestClock;
  /** Creates a completed test. Default: with the owner's live key. */
  analysed(message?: string, key?: string): Promise<Test>;
  share(json: object, key?: string): Promise<Made>;
  get(id: string, key?: string): Promise<Share>;
  /** Sends no credentials. */
  read<T = Record<string, unknown>>(path: string, accept?: string): Promise<ApiResponse<T>>;
}

export async function startSharing(t: TestContext, options: ServiceOptions = {}): Promise<Sharing> {
  const clock = testClock();
  const service = await startTestService(t, { clock, ...options });
  const { call } = service;
  return {
    service,
    clock,
    async analysed(message = goodMessage(), key = service.key) {
      const sent = await call<Test>('POST', '/v1/tests?client_ip=192.0.2.1&helo=a.example', {
        body: message,
        headers: { 'content-type': 'message/rfc822' },
        key,
      });
      const ended = await call<Test>('GET', `/v1/tests/${sent.body.id}?wait=50`, { key });
      assert.equal(ended.body.status, 'completed');
      return ended.body;
    },
    async share(json, key) {
      const { status, body, text } = await call<Made>('POST', '/v1/reports/share', { json, key });
      assert.equal(status, 201, text);
      return body;
    },
    async get(id, key) {
      const { status, body, text } = await call<Share>('GET', `/v1/reports/shared/${id}`, { key });
      assert.equal(status, 200, text);
      return body;
    },
    read: (path, accept) => call('GET', path, { key: null, headers: accept ? { accept } : {} }),
  };
}

/** The invalid fields of a response with their messages. */
export const wrongFields = ({ body }: ApiResponse<unknown>): string[] =>
  (body as { errors: { param: string; message: string }[] }).errors.map(
    ({ param, message }) => `${param} ${message}`,
  );
