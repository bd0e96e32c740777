/** Operations on sessions and passwords, and on the member's account (contract §6). */

import type { App } from '../app.ts';
import { clearedSessionCookie, sessionCookie } from '../http/cookies.ts';
import { route, type Transact } from '../http/route.ts';
import { deletedOf, idOf, listOf, listSchema } from '../http/schemas.ts';
import { AppError } from '../lib/errors.ts';
import type { Tx } from '../store/open.ts';
import type { SessionRow } from '../store/tables.generated.ts';
import { requestPasswordReset, resetPassword } from './passwords.ts';
import { reauthorizeOwnRole } from './permissions.ts';
import {
  EndedSessions,
  ListQuery,
  PasswordReset,
  ResetConfirmation,
  ResetRequest,
  Session,
  SignIn,
} from './schema.ts';
import { listSessions, MAX_SESSION_LIFETIME_MS } from './sessions.ts';
import { deviceCookie, endOtherSessions, endOwnSession, signIn } from './sign-in.ts';

const SESSION_ID = idOf('ses', 'The ID of the session.');

// Password resets (contract §6).

/** Needs no `Idempotency-Key`, because all requests get the same response. */
const requestReset = route({
  method: 'POST',
  path: '/v1/password_resets',
  operation: 'requestPasswordReset',
  role: 'public',
  writes: true,
  summary: 'Request a password reset',
  description:
    'Emails a link to set a new password if the address belongs to a member. The response is the same for all addresses.',
  body: ResetRequest,
  status: 202,
  response: PasswordReset,
  errors: ['rate_limited'],
  async handle(call) {
    await requestPasswordReset(withoutStoredResponse(call), call.body.email);
    return { object: 'password_reset' as const, status: 'requested' as const };
  },
});

const confirmReset = route({
  method: 'POST',
  path: '/v1/password_resets/confirm',
  operation: 'confirmPasswordReset',
  role: 'public',
  writes: true,
  limit: { requests: 20, seconds: 60 },
  summary: 'Set a new password',
  description: 'Requires the token of a password link. Ends all sessions of the member.',
  body: ResetConfirmation,
  linkToken: ({ token }) => token,
  response: PasswordReset,
  errors: ['not_found', 'gone', 'unavailable'],
  async handle(call) {
    const response = { object: 'password_reset' as const, status: 'completed' as const };
    const transact: Transact = (work) => call.transact(work, () => response);
    const { member } = await resetPassword({ ...call, transact }, call.body);
    // Password guessing by others must not delay the next sign-in in this browser.
    const device = deviceCookie(call.app, member);
    if (device) call.setHeader('set-cookie', device);
    return response;
  },
});

/** For work whose result isn't the response of the request. */
function withoutStoredResponse<C extends PublicCall>(
  call: C,
): Omit<C, 'transact'> & { transact: Transact } {
  return { ...call, transact: (work) => call.transact(work, () => undefined) };
}

interface PublicCall {
  transact<T>(work: (tx: Tx) => Promise<T>, responseOf: () => undefined): Promise<T>;
}

function presentSession({ hash: _, ...row }: SessionRow, currentSessionId: string | null): Session {
  return { ...row, object: 'session', current: row.id === currentSessionId };
}

/** The `Set-Cookie` of a new session. */
export function newSessionCookie({ config }: Pick<App, 'config'>, token: string): string {
  return sessionCookie(token, config, MAX_SESSION_LIFETIME_MS / 1000);
}

const createSessionRoute = route({
  method: 'POST',
  path: '/v1/sessions',
  operation: 'createSession',
  responseHeaders: ['Set-Cookie'],
  role: 'public',
  writes: true,
  summary: 'Sign in',
  description:
    'Starts a session and sets its cookie. If the request has a session cookie, that session ends.',
  body: SignIn,
  status: 201,
  response: Session,
  errors: ['unauthenticated', 'rate_limited', 'unavailable'],
  async handle(call) {
    const { token, session, member } = await signIn(withoutStoredResponse(call), call.body);
    call.setHeader('set-cookie', newSessionCookie(call.app, token));
    const device = deviceCookie(call.app, member);
    if (device) call.setHeader('set-cookie', device);
    return presentSession(session, session.id);
  },
});

const listSessionsRoute = route({
  method: 'GET',
  path: '/v1/sessions',
  operation: 'listSessions',
  limited: true,
  role: 'viewer',
  summary: 'List your sessions',
  description:
    'Returns your sessions, newest first. If you use an API key, it must have the same role as its member.',
  query: ListQuery,
  response: listSchema(Session),
  async handle(call) {
    const { app, actor, query } = call;
    await reauthorizeOwnRole(app.db, call);
    const { rows, hasMore } = await listSessions(app, actor.memberId, query);
    const data = rows.map((row) => presentSession(row, actor.sessionId));
    return listOf(data, hasMore);
  },
});

const DeletedSession = deletedOf('session', 'ses');

const endCurrentSessionRoute = route({
  method: 'DELETE',
  path: '/v1/sessions/current',
  operation: 'deleteCurrentSession',
  limited: true,
  changesCaller: true,
  responseHeaders: ['Set-Cookie'],
  role: 'viewer',
  sessionOnly: true,
  summary: 'Sign out',
  description: 'Ends the current session and clears its cookie.',
  response: DeletedSession,
  errors: ['not_found'],
  async handle(call) {
    const { sessionId } = call.actor;
    if (sessionId === null)
      throw new AppError('not_found', 'This endpoint requires a browser session.');
    const response = await call.transact(async (tx, currentActor) => {
      await endOwnSession(tx, call, currentActor, sessionId);
      return { id: sessionId, object: 'session', deleted: true };
    });
    call.setHeader('set-cookie', clearedSessionCookie(call.app.config));
    return response;
  },
});

const endSessionRoute = route({
  method: 'DELETE',
  path: '/v1/sessions/:id',
  params: { id: SESSION_ID },
  operation: 'deleteSession',
  limited: true,
  changesCaller: true,
  role: 'viewer',
  summary: 'End a session',
  description:
    'Ends one of your sessions. If you use an API key, it must have the same role as its member.',
  response: DeletedSession,
  async handle(call) {
    const id = call.params.id!;
    const response = await call.transact(async (tx, currentActor) => {
      await endOwnSession(tx, call, currentActor, id);
      return { id, object: 'session', deleted: true };
    });
    if (id === call.actor.sessionId)
      call.setHeader('set-cookie', clearedSessionCookie(call.app.config));
    return response;
  },
});

const endOtherSessionsRoute = route({
  method: 'DELETE',
  path: '/v1/sessions',
  operation: 'deleteOtherSessions',
  limited: true,
  changesCaller: true,
  role: 'viewer',
  summary: 'End your other sessions',
  description:
    'Ends all your sessions except the one of the request. If you use an API key, it must have the same role as its member.',
  response: EndedSessions,
  handle: (call) =>
    call.transact(async (tx, currentActor) => ({
      object: 'ended_sessions' as const,
      count: await endOtherSessions(tx, call, currentActor),
    })),
});

/** `current` comes before `:id`, because the first matching route wins. */
export const sessionOperations = {
  create: createSessionRoute,
  list: listSessionsRoute,
  endCurrent: endCurrentSessionRoute,
  end: endSessionRoute,
  endOthers: endOtherSessionsRoute,
  requestReset,
  confirmReset,
};
