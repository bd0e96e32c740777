/** The sign-in page, sign-out, and sign-in with OpenID Connect. */

import * as v from 'valibot';
import type { App } from '../../app.ts';
import type { Actor } from '../../http/actor.ts';
import { clearedSessionCookie, readSessionCookies } from '../../http/cookies.ts';
import { route } from '../../http/route.ts';
import { type AppError, ERROR_STATUS } from '../../lib/errors.ts';
import type { MemberRow } from '../../store/tables.generated.ts';
import {
  CALLBACK_PATH,
  clearedOidcStateCookie,
  completeOidcSignIn,
  oidcHost,
  readOidcState,
  startOidcSignIn,
} from '../../team/oidc.ts';
import { signInWithClaims } from '../../team/oidc-sign-in.ts';
import { reauthorize } from '../../team/permissions.ts';
import { newSessionCookie } from '../../team/session-routes.ts';
import { identifySession } from '../../team/sessions.ts';
import { deviceCookie, endOwnSession, signIn } from '../../team/sign-in.ts';
import {
  catchErrors,
  Field,
  type FieldErrors,
  FORM,
  hasErrors,
  Notice,
  readForm,
  Submit,
} from '../frame/form.tsx';
import { localPath, pageResponse, seeOther } from '../frame/page.tsx';

const SIGN_IN_PATH = '/sign-in';
const SignInQuery = v.strictObject({
  done: v.optional(v.string()),
  /** The page to open after signing in. */
  next: v.optional(v.string()),
});

const withNext = (path: string, next: string): string =>
  next === '/' ? path : `${path}?next=${encodeURIComponent(next)}`;

/** The sign-in page, from which the browser returns to the path. */
export const signInPath = (next: string): string => withNext(SIGN_IN_PATH, next);

/** Notices, by the action that redirected here. */
const DONE_TEXTS: Record<string, string> = {
  password: 'Your password is set. You can now sign in.',
  'signed-out': "You're signed out.",
  left: 'You left the team.',
  transferred: 'Ownership transferred. You are now an admin. Sign in again.',
};

interface SignInState {
  /** The host of the OpenID Connect provider; null if none is configured. */
  provider: string | null;
  /** The path to open after signing in. */
  next: string;
  email?: string;
  fieldErrors?: FieldErrors;
  /** An error that concerns both fields. */
  formError?: string;
  /** An action of the member that ended the session, as a sentence. */
  done?: string;
  /** Set if the session ended before a form was sent: its script then leads back to the form. */
  hasEnded?: boolean;
}

function SignIn(state: SignInState) {
  const { provider, next, email, fieldErrors = {}, formError, done, hasEnded } = state;
  const errorNoticeId = formError ? 'form-error' : undefined;
  const focusPassword = Boolean(formError || (fieldErrors.password && !fieldErrors.email));
  return (
    <>
      {done && <Notice tone="pass">{done}</Notice>}
      {formError && (
        <Notice tone="fail" id="form-error">
          {formError}
        </Notice>
      )}
      <form
        method="post"
        action={signInPath(next)}
        data-sign-in={done ? 'on-purpose' : hasEnded ? 'ended' : 'yes'}
      >
        <Field
          name="email"
          label="Email address"
          type="email"
          autocomplete="username"
          value={email}
          error={fieldErrors.email}
          errorNoticeId={errorNoticeId}
          focus={!focusPassword}
        />
        <Field
          name="password"
          label="Password"
          type="password"
          autocomplete="current-password"
          error={fieldErrors.password}
          errorNoticeId={errorNoticeId}
          focus={focusPassword}
        />
        <Submit>Sign in</Submit>
      </form>
      {provider && (
        // A link, because the CSP allows no form to redirect to another site.
        <a class="submit secondary" href={withNext(OIDC_PATH, next)}>
          Sign in with {provider}
        </a>
      )}
      <p class="links">
        <a href="/forgot-password">Forgot your password?</a>
      </p>
    </>
  );
}

function renderSignIn(
  { config }: App,
  state: Omit<SignInState, 'provider'>,
  status?: number,
  headers?: Record<string, string>,
): Response {
  const children = <SignIn {...state} provider={oidcHost(config)} />;
  return pageResponse({ title: 'Sign in', status, headers, children });
}

/** The response to a form that was sent after the session had ended. `next` is used in browsers without scripts. */
export function endedSessionPage({ config }: App, status: number, next: string): Response {
  return pageResponse({
    title: 'Your session has ended',
    status,
    children: (
      <>
        <Notice tone="warn">
          Nothing was changed, because you are no longer signed in. Sign in to return to your form.
        </Notice>
        <noscript>
          <p>
            To keep what you entered, sign in in another tab first. Then go back to the form and
            send it again.
          </p>
        </noscript>
        <SignIn provider={oidcHost(config)} next={next} hasEnded />
      </>
    ),
  });
}

const showSignIn = route({
  method: 'GET',
  path: SIGN_IN_PATH,
  operation: 'showSignIn',
  role: 'public',
  summary: 'Show the sign-in page',
  query: SignInQuery,
  produces: ['text/html'],
  async handle(call) {
    const { done = '' } = call.query;
    const next = localPath(call.query.next);
    if (await findSignedInActor(call)) return seeOther(next);
    // `hasOwn`, because the query may name inherited properties such as `constructor`.
    return renderSignIn(call.app, {
      next,
      done: Object.hasOwn(DONE_TEXTS, done) ? DONE_TEXTS[done] : undefined,
    });
  },
});

const submitSignIn = route({
  method: 'POST',
  path: SIGN_IN_PATH,
  operation: 'submitSignIn',
  role: 'public',
  writes: true,
  summary: 'Sign in with the form',
  query: SignInQuery,
  consumes: FORM,
  produces: ['text/html'],
  async handle(call) {
    const field = readForm(call.raw);
    const next = localPath(call.query.next);
    const email = field('email').trim();
    const password = field('password');
    const fieldErrors = {
      email: email ? undefined : 'Enter your email address.',
      password: password ? undefined : 'Enter your password.',
    };
    if (hasErrors(fieldErrors)) return renderSignIn(call.app, { next, email, fieldErrors }, 422);
    const { result, error } = await catchErrors(
      ['unauthenticated', 'rate_limited', 'unavailable'],
      () => signIn(call, { email, password }),
    );
    if (error)
      return renderSignIn(
        call.app,
        { next, email, formError: error.detail },
        ERROR_STATUS[error.code],
        error.headers,
      );
    return redirectSignedIn(call.app, result, { next });
  },
});

const signOut = route({
  method: 'POST',
  path: '/sign-out',
  operation: 'submitSignOut',
  role: 'public',
  writes: true,
  summary: 'Sign out with the button',
  consumes: FORM,
  produces: ['text/html'],
  async handle(call) {
    const actor = await findSignedInActor(call);
    if (actor?.sessionId)
      await catchErrors(['not_found', 'unauthenticated'], () =>
        call.transact(async (tx) => {
          const author = { ...call, actor };
          await endOwnSession(
            tx,
            author,
            await reauthorize(tx, author, 'viewer'),
            actor.sessionId!,
          );
        }),
      );
    call.setHeader('set-cookie', clearedSessionCookie(call.app.config));
    // Removes private pages from the memory of the browser too, even if its scripts are disabled.
    call.setHeader('clear-site-data', '"cache"');
    return seeOther(`${SIGN_IN_PATH}?done=signed-out`);
  },
});

export const signInPages = [showSignIn, submitSignIn, signOut];

// Sign-in with OpenID Connect: the redirect to the provider, and its callback.

const OIDC_PATH = '/sign-in/oidc';

function renderOidcFailure({ code, detail }: AppError): Response {
  return pageResponse({
    title: 'Sign-in failed',
    status: ERROR_STATUS[code],
    children: (
      <>
        <Notice tone="fail">{detail}</Notice>
        <p class="links">
          <a href="/sign-in">Back to sign-in</a>
        </p>
      </>
    ),
  });
}

const beginOidc = route({
  method: 'GET',
  path: OIDC_PATH,
  operation: 'beginOidcSignIn',
  role: 'public',
  summary: 'Redirect to the OpenID Connect provider to sign in',
  query: SignInQuery,
  produces: ['text/html'],
  async handle(call) {
    const next = localPath(call.query.next);
    if (await findSignedInActor(call)) return seeOther(next);
    const { result, error } = await catchErrors(['not_found', 'unavailable'], () =>
      startOidcSignIn(call, next),
    );
    if (error) return renderOidcFailure(error);
    call.setHeader('set-cookie', result.cookie);
    return seeOther(result.location);
  },
});

const oidcCallback = route({
  method: 'GET',
  path: CALLBACK_PATH,
  operation: 'endOidcSignIn',
  role: 'public',
  writes: true,
  summary: 'Complete a sign-in with OpenID Connect',
  query: v.record(v.string(), v.string()),
  produces: ['text/html'],
  async handle(call) {
    const { app, headers, query } = call;
    const oidcState = readOidcState(app, headers.get('cookie'));
    const codes: AppError['code'][] = [
      'not_found',
      'unavailable',
      'malformed_request',
      'forbidden',
      'conflict',
    ];
    const { result, error } = await catchErrors(codes, async () =>
      signInWithClaims(call, await completeOidcSignIn(call, oidcState, query)),
    );
    if (!error)
      return redirectSignedIn(app, result, {
        next: localPath(oidcState?.next),
        cookies: [clearedOidcStateCookie(app)],
      });
    call.setHeader('set-cookie', clearedOidcStateCookie(app));
    return renderOidcFailure(error);
  },
});

export const oidcPages = [beginOidc, oidcCallback];

// Sessions on public pages.

/** The signed-in member on a public page; null without a valid session. */
export async function findSignedInActor({
  app,
  headers,
}: {
  app: App;
  headers: Headers;
}): Promise<Actor | null> {
  let actor: Actor | null = null;
  for (const token of readSessionCookies(headers.get('cookie'), app.config))
    actor ??= await identifySession(app, token);
  return actor;
}

/** Redirects to `next`, the home page by default, and sets the session and device cookies after other `cookies`. */
export function redirectSignedIn(
  app: App,
  { token, member }: { token: string; member: Pick<MemberRow, 'id' | 'password_hash'> },
  { next = '/', cookies = [] }: { next?: string; cookies?: string[] } = {},
): Response {
  const response = seeOther(next);
  for (const cookie of [...cookies, newSessionCookie(app, token), deviceCookie(app, member)])
    if (cookie !== null) response.headers.append('set-cookie', cookie);
  return response;
}
