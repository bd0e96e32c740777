/** The operations by which a member signs in and out (contract §6), with those on their own account. */

import type { App } from '../app.ts';
import { route } from '../http/route.ts';
import { listOf } from '../http/schemas.ts';
import { clearedSessionCookie, sessionCookie } from '../http/session-cookie.ts';
import { AppError } from '../lib/errors.ts';
import type { SessionRow } from '../store/tables.ts';
import { deviceCookie } from './device-cookie.ts';
import { meRoutes } from './me-routes.ts';
import { passwordRoutes } from './password-routes.ts';
import { ownStanding } from './permissions.ts';
import { deletedOf, ListQuery } from './schema.ts';
import { endOwnSession } from './session-end.ts';
import { Session, SignIn } from './session-schema.ts';
import { signIn } from './session-sign-in.ts';
import { LONGEST_MS, listSessions } from './sessions.ts';

function presentSession({ hash: _, ...row }: SessionRow, current: string | null): Session {
  return { ...row, object: 'session', current: row.id === current };
}

/** The `Set-Cookie` of a session that was begun. */
export function cookieOf({ config }: Pick<App, 'config'>, token: string): string {
  return sessionCookie(token, config, LONGEST_MS / 1000);
}

const createSession = route({
  method: 'POST',
  path: '/v1/sessions',
  operation: 'createSession',
  role: 'public',
  summary: 'Sign in; the answer sets the cookie of the session, in the place of one sent along',
  body: SignIn,
  status: 201,
  location: ({ id }) => `/v1/sessions/${id}`,
  response: Session,
  errors: ['unauthenticated', 'rate_limited', 'unavailable'],
  async handle(call) {
    const { token, session, member } = await signIn(call, call.body);
    call.setHeader('set-cookie', cookieOf(call.app, token));
    const device = deviceCookie(call.app, member);
    if (device) call.setHeader('set-cookie', device);
    return presentSession(session, session.id);
  },
});

const list = route({
  method: 'GET',
  path: '/v1/sessions',
  operation: 'listSessions',
  role: 'viewer',
  summary: 'List your own sessions, newest first; a key needs your own role for it',
  query: ListQuery,
  response: listOf(Session),
  async handle(call) {
    const { app, actor, query } = call;
    await ownStanding(app.db, call);
    const { rows, hasMore } = await listSessions(app, actor.memberId, query);
    const data = rows.map((row) => presentSession(row, actor.sessionId));
    return { object: 'list' as const, data, has_more: hasMore };
  },
});

const Deleted = deletedOf('session');

const endCurrent = route({
  method: 'DELETE',
  path: '/v1/sessions/current',
  operation: 'deleteCurrentSession',
  role: 'viewer',
  live: true,
  sessionOnly: true,
  summary: 'Sign out: end the session that asks and clear its cookie',
  response: Deleted,
  errors: ['not_found'],
  async handle(call) {
    const { sessionId } = call.actor;
    if (sessionId === null)
      throw new AppError('not_found', 'An API key asks here, and no session.');
    await endOwnSession(call, sessionId);
    call.setHeader('set-cookie', clearedSessionCookie(call.app.config));
    return { id: sessionId, object: 'session' as const, deleted: true as const };
  },
});

const end = route({
  method: 'DELETE',
  path: '/v1/sessions/:id',
  operation: 'deleteSession',
  role: 'viewer',
  live: true,
  summary: 'End one of your own sessions; a key needs your own role for it',
  response: Deleted,
  async handle(call) {
    const id = call.params.id!;
    await endOwnSession(call, id);
    if (id === call.actor.sessionId)
      call.setHeader('set-cookie', clearedSessionCookie(call.app.config));
    return { id, object: 'session' as const, deleted: true as const };
  },
});

/** `current` stands before `:id`: the first that matches answers. */
export const sessionRoutes = [createSession, list, endCurrent, end, ...passwordRoutes, ...meRoutes];
