/** A signed-in member who opens pages and submits forms like a browser without scripts. */

import type { TestContext } from 'node:test';
import type { Role } from '../../src/http/actor.ts';
import { type ServiceOptions, startTestService, type TestService } from '../helpers/app.ts';
import { givePassword, signIn } from '../team/browser.ts';
import { getPage, type PageAnswer } from './pages.ts';

export interface Member {
  email: string;
  /** `name=value` of the session cookie. */
  cookie: string;
  get(path: string, headers?: Record<string, string>): Promise<PageAnswer>;
  /** A field with several values is sent several times. */
  post(path: string, fields?: Record<string, string | string[]>): Promise<PageAnswer>;
}

/** Starts a service with a signed-in owner. */
export async function startWithOwner(
  t: TestContext,
  options: ServiceOptions = {},
): Promise<{ service: TestService; owner: Member }> {
  const service = await startTestService(t, options);
  return { service, owner: await memberOf(service, 'owner@example.com') };
}

/** Signs a new member with this role in. */
export async function newMember(
  service: TestService,
  role: Exclude<Role, 'owner'>,
): Promise<Member> {
  const { email } = await service.makeMember(role);
  return memberOf(service, email);
}

/** Signs an existing member in. */
export async function memberOf(service: TestService, email: string): Promise<Member> {
  await givePassword(service, email);
  const { cookie } = await signIn(service, email);
  return {
    email,
    cookie,
    get: (path, headers = {}) => getPage(service, path, { cookie, ...headers }),
    async post(path, fields = {}) {
      const body = new URLSearchParams();
      for (const [name, value] of Object.entries(fields))
        for (const item of [value].flat()) body.append(name, item);
      const response = await fetch(service.url + path, {
        method: 'POST',
        body,
        headers: { cookie, 'sec-fetch-site': 'same-origin' },
        redirect: 'manual',
      });
      return {
        status: response.status,
        headers: response.headers,
        html: await response.text(),
        location: response.headers.get('location'),
        cookie: response.headers.get('set-cookie')?.split(';')[0] ?? null,
      };
    },
  };
}
