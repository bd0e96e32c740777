/** Requests to a running service for tests of the team. */

import { isoTime } from '../../src/lib/clock.ts';
import type { ApiResponse, TestService } from '../helpers/app.ts';

export interface List<T> {
  object: 'list';
  data: T[];
  has_more: boolean;
}

export interface Member {
  id: string;
  object: 'team_member';
  email: string;
  name: string;
  role: string;
  joined_at: string;
  linked_account: { issuer: string; linked_at: string } | null;
}

export interface Problem {
  code: string;
  detail: string;
  errors?: { param: string; code: string; message: string }[];
}

export interface Invitation {
  id: string;
  email: string;
  role: string;
  status: string;
  email_status: string;
  invited_by: string;
  expires_at: string;
  created_at: string;
  accept_url: string;
}

export async function membersOf({ call }: TestService): Promise<Member[]> {
  return (await call<List<Member>>('GET', '/v1/team/members?limit=100')).body.data;
}

/** Action and details of the matching entries, newest first. */
export async function auditOf(
  { call }: TestService,
  filters: Record<string, string>,
): Promise<[string, object][]> {
  const query = new URLSearchParams({ limit: '100', ...filters });
  const { body } = await call<List<{ action: string; details: object }>>(
    'GET',
    `/v1/audit_log?${query}`,
  );
  return body.data.map(({ action, details }) => [action, details]);
}

/** Inserts a session of a member and returns its cookie token. */
export async function signIn({ app }: TestService, member_id: string): Promise<void> {
  const time = '2036-11-21T10:00:00.000Z';
  const id = app.newId('ses');
  const times = { created_at: time, last_seen_at: time, expires_at: time };
  await app.db
    .insertInto('sessions')
    .values({ id, member_id, hash: id, ...times })
    .execute();
}

export function invite(
  { call }: TestService,
  json: object,
  key?: string,
): Promise<ApiResponse<Invitation>> {
  return call<Invitation>('POST', '/v1/team/invitations', { json, key });
}

/** Makes all emails a minute older, so that the same address may get another one. */
export async function ageMail({ app }: Pick<TestService, 'app'>): Promise<void> {
  const created_at = isoTime(app.clock.now() - 60_000);
  await app.db.updateTable('outbox').set({ created_at }).execute();
}

/** The token of the link in the response to creation or resend. */
export const tokenOf = ({ body }: ApiResponse<Invitation>): string =>
  body.accept_url.split('/').at(-1)!;

const PASSWORD = 'correct horse battery';

export function accept<T = Member>(
  { call }: TestService,
  token: string,
  more: object = {},
): Promise<ApiResponse<T>> {
  const json = { token, name: 'New', password: PASSWORD, ...more };
  return call<T>('POST', '/v1/team/invitations/accept', { key: null, json });
}
