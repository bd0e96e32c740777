/** The operations by which a member signs in and out (contract §6), with those on their own account. */

import type { App } from '../app.ts';
import { clearedSessionCookie, sessionCookie } from '../http/cookies.ts';
import { route, type Transact } from '../http/route.ts';
import { listOf } from '../http/schemas.ts';
import { AppError } from '../lib/errors.ts';
import type { Tx } from '../store/open.ts';
import type { SessionRow } from '../store/tables.generated.ts';
import { meRoutes } from './me.ts';
import { requestPasswordReset, resetPassword } from './passwords.ts';
import { reauthorizeOwnRole } from './permissions.ts';
import {
  deletedOf,
  ListQuery,
  PasswordReset,
  ResetConfirmation,
  ResetRequest,
  Session,
  SignIn,
} from './schema.ts';
import { LONGEST_MS, listSessions } from './sessions.ts';
import { deviceCookie, endOwnSession, signIn } from './sign-in.ts';

// The operations by which a forgotten password is replaced (contract §6).

/** An Idempotency-Key would add nothing: whoever asks, and however often, the answer is the same. */
const requestReset = route({
  method: 'POST',
  path: '/v1/password_resets',
  operation: 'requestPasswordReset',
  role: 'public',
  writes: true,
  summary:
    'Ask for an e-mail with a link to set a password; the answer is the same for any address',
  body: ResetRequest,
  status: 202,
  response: PasswordReset,
  errors: ['rate_limited'],
  async handle(call) {
    await requestPasswordReset(withoutAnswer(call), call.body.email);
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
  summary: 'Set the password by the token of a link; all sessions of the member end',
  body: ResetConfirmation,
  linkToken: ({ token }) => token,
  response: PasswordReset,
  errors: ['not_found', 'gone', 'unavailable'],
  async handle(call) {
    const done = { object: 'password_reset' as const, status: 'completed' as const };
    const transact: Transact = (work) => call.transact(work, () => done);
    const member = await resetPassword({ ...call, transact }, call.body);
    // Whoever guesses at the account meanwhile: this browser signs in with the new password.
    const device = deviceCookie(call.app, member);
    if (device) call.setHeader('set-cookie', device);
    return done;
  },
});

/** For work that returns something else than the answer of the request, which is kept nowhere. */
function withoutAnswer<C extends PublicCall>(
  call: C,
): Omit<C, 'transact'> & { transact: Transact } {
  return { ...call, transact: (work) => call.transact(work, () => undefined) };
}

interface PublicCall {
  transact<T>(work: (tx: Tx) => Promise<T>, answerOf: () => undefined): Promise<T>;
}

const passwordRoutes = [requestReset, confirmReset];

function presentSession({ hash: _, ...row }: SessionRow, current: string | null): Session {
  return { ...row, object: 'session', current: row.id === current };
}

/** The `Set-Cookie` of a session that was begun. */
export function cookieOf({ config }: Pick<App, 'config'>, token: string): string {
  return sessionCookie(token, config, LONGEST_MS / 1000);
}

const createSessionRoute = route({
  method: 'POST',
  path: '/v1/sessions',
  operation: 'createSession',
  role: 'public',
  writes: true,
  summary: 'Sign in; the answer sets the cookie of the session, in the place of one sent along',
  body: SignIn,
  status: 201,
  location: ({ id }) => `/v1/sessions/${id}`,
  response: Session,
  errors: ['unauthenticated', 'rate_limited', 'unavailable'],
  async handle(call) {
    const { token, session, member } = await signIn(withoutAnswer(call), call.body);
    call.setHeader('set-cookie', cookieOf(call.app, token));
    const device = deviceCookie(call.app, member);
    if (device) call.setHeader('set-cookie', device);
    return presentSession(session, session.id);
  },
});

const listSessionsRoute = route({
  method: 'GET',
  path: '/v1/sessions',
  operation: 'listSessions',
  role: 'viewer',
  summary: 'List your own sessions, newest first; a key needs your own role for it',
  query: ListQuery,
  response: listOf(Session),
  async handle(call) {
    const { app, actor, query } = call;
    await reauthorizeOwnRole(app.db, call);
    const { rows, hasMore } = await listSessions(app, actor.memberId, query);
    const data = rows.map((row) => presentSession(row, actor.sessionId));
    return { object: 'list' as const, data, has_more: hasMore };
  },
});

const DeletedSession = deletedOf('session');

const endCurrentSessionRoute = route({
  method: 'DELETE',
  path: '/v1/sessions/current',
  operation: 'deleteCurrentSession',
  role: 'viewer',
  live: true,
  sessionOnly: true,
  summary: 'Sign out: end the session that asks and clear its cookie',
  response: DeletedSession,
  errors: ['not_found'],
  async handle(call) {
    const { sessionId } = call.actor;
    if (sessionId === null)
      throw new AppError('not_found', 'An API key asks here, and no session.');
    const ended = await call.transact(async (tx, own) => {
      await endOwnSession(tx, call, own, sessionId);
      return { id: sessionId, object: 'session', deleted: true };
    });
    call.setHeader('set-cookie', clearedSessionCookie(call.app.config));
    return ended;
  },
});

const endSessionRoute = route({
  method: 'DELETE',
  path: '/v1/sessions/:id',
  operation: 'deleteSession',
  role: 'viewer',
  live: true,
  summary: 'End one of your own sessions; a key needs your own role for it',
  response: DeletedSession,
  async handle(call) {
    const id = call.params.id!;
    const ended = await call.transact(async (tx, own) => {
      await endOwnSession(tx, call, own, id);
      return { id, object: 'session', deleted: true };
    });
    if (id === call.actor.sessionId)
      call.setHeader('set-cookie', clearedSessionCookie(call.app.config));
    return ended;
  },
});

/** `current` stands before `:id`: the first that matches answers. */
export const sessionRoutes = [
  createSessionRoute,
  listSessionsRoute,
  endCurrentSessionRoute,
  endSessionRoute,
  ...passwordRoutes,
  ...meRoutes,
];
