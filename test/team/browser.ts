/** A browser as the API sees it: it signs in, stores its cookie, and sends same-origin requests. */

import assert from 'node:assert/strict';
import { hashPassword, type PasswordCost } from '../../src/lib/crypto.ts';
import type { ApiResponse, CallOptions, TestService } from '../helpers/app.ts';

export interface Session {
  id: string;
  object: 'session';
  member_id: string;
  created_at: string;
  last_seen_at: string;
  expires_at: string;
  ip: string | null;
  user_agent: string | null;
  current: boolean;
}

export interface Browser {
  session: Session;
  /** The value and the name of the cookie. */
  token: string;
  cookie: string;
  call<T = Record<string, unknown>>(
    method: string,
    path: string,
    options?: CallOptions,
  ): Promise<ApiResponse<T>>;
}

/** The password of everybody in these tests, unless it is changed. */
export const PASSWORD = 'correct horse battery';
const hashes = new Map<PasswordCost, Promise<string>>();

/** Sets the password of a member. */
export async function givePassword({ app }: TestService, email: string): Promise<void> {
  const hash = hashes.get(app.passwordCost) ?? hashPassword(PASSWORD, app.passwordCost);
  hashes.set(app.passwordCost, hash);
  const { numUpdatedRows } = await app.db
    .updateTable('members')
    .set({ password_hash: await hash })
    .where('email', '=', email)
    .executeTakeFirstOrThrow();
  assert.equal(numUpdatedRows, 1n);
}

export function trySignIn<T = Session>(
  { call }: TestService,
  json: { email: string; password: string },
  headers: Record<string, string> = {},
): Promise<ApiResponse<T>> {
  return call<T>('POST', '/v1/sessions', { key: null, json, headers });
}

export async function signIn(service: TestService, email: string): Promise<Browser> {
  const answer = await trySignIn(service, { email, password: PASSWORD });
  assert.equal(answer.status, 201, answer.text);
  return browserOf(service, answer);
}

export function browserOf({ call }: TestService, answer: ApiResponse<Session>): Browser {
  const cookie = (answer.headers.getSetCookie()[0] ?? '').split(';')[0]!;
  return {
    session: answer.body,
    cookie,
    token: cookie.slice(cookie.indexOf('=') + 1),
    call: (method, path, options = {}) =>
      call(method, path, {
        key: null,
        ...options,
        headers: { cookie, 'sec-fetch-site': 'same-origin', ...options.headers },
      }),
  };
}

/** The owner with a password, signed in. */
export async function ownerBrowser(service: TestService): Promise<Browser> {
  await givePassword(service, 'owner@example.com');
  return signIn(service, 'owner@example.com');
}
