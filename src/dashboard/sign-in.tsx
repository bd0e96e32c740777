/** The sign-in page, sign-out, and sign-in with OpenID Connect. */

import * as v from 'valibot';
import type { App } from '../app.ts';
import type { Actor } from '../http/actor.ts';
import { clearedSessionCookie, readSessionCookies } from '../http/cookies.ts';
import { route } from '../http/route.ts';
import { type AppError, ERROR_STATUS } from '../lib/errors.ts';
import type { MemberRow } from '../store/tables.generated.ts';
import {
  CALLBACK_PATH,
  clearedOidcStateCookie,
  completeOidcSignIn,
  oidcHost,
  readOidcState,
  signInWithClaims,
  startOidcSignIn,
} from '../team/oidc.ts';
import { reauthorize } from '../team/permissions.ts';
import { newSessionCookie } from '../team/session-routes.ts';
import { identifySession } from '../team/sessions.ts';
import { deviceCookie, endOwnSession, signIn } from '../team/sign-in.ts';
import {
  catchErrors,
  Field,
  type FieldErrors,
  FORM,
  hasErrors,
  Notice,
  PageQuery,
  readForm,
  Submit,
} from './form.tsx';
import { pageResponse, seeOther } from './page.tsx';

const SIGN_IN_PATH = '/sign-in';
/** Notices, by the action that redirected here. */
const DONE_TEXTS: Record<string, string> = {
  password: 'Your password is set. Sign in with it now.',
  'signed-out': "You're signed out.",
};

interface SignInState {
  /** The host of the OpenID Connect provider; null if none is configured. */
  provider: string | null;
  email?: string;
  fieldErrors?: FieldErrors;
  /** An error that concerns both fields. */
  formError?: string;
  done?: string;
}

function SignIn({ provider, email, fieldErrors = {}, formError, done }: SignInState) {
  const errorNoticeId = formError ? 'form-error' : undefined;
  return (
    <>
      {done && <Notice tone="pass">{done}</Notice>}
      {formError && (
        <Notice tone="fail" id="form-error">
          {formError}
        </Notice>
      )}
      <form method="post" action={SIGN_IN_PATH}>
        <Field
          name="email"
          label="Email address"
          type="email"
          autocomplete="username"
          value={email}
          error={fieldErrors.email}
          errorNoticeId={errorNoticeId}
          focus={!fieldErrors.password && !formError}
        />
        <Field
          name="password"
          label="Password"
          type="password"
          autocomplete="current-password"
          error={fieldErrors.password}
          errorNoticeId={errorNoticeId}
          focus={Boolean(formError || (fieldErrors.password && !fieldErrors.email))}
        />
        <Submit>Sign in</Submit>
      </form>
      {provider && (
        // A link, because the CSP allows no form to redirect to another site.
        <a class="submit secondary" href="/sign-in/oidc">
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

const showSignIn = route({
  method: 'GET',
  path: SIGN_IN_PATH,
  operation: 'showSignIn',
  role: 'public',
  summary: 'Show the sign-in page',
  query: PageQuery,
  produces: ['text/html'],
  async handle(call) {
    if (await findSignedInActor(call)) return seeOther('/');
    const { done = '' } = call.query;
    // `hasOwn`, because the query may name inherited properties such as `constructor`.
    return renderSignIn(call.app, {
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
  consumes: FORM,
  produces: ['text/html'],
  async handle(call) {
    const field = readForm(call.raw);
    const email = field('email').trim();
    const password = field('password');
    const fieldErrors = {
      email: email ? undefined : 'Enter your email address.',
      password: password ? undefined : 'Enter your password.',
    };
    if (hasErrors(fieldErrors)) return renderSignIn(call.app, { email, fieldErrors }, 422);
    const { result, error } = await catchErrors(
      ['unauthenticated', 'rate_limited', 'unavailable'],
      () => signIn(call, { email, password }),
    );
    if (error)
      return renderSignIn(
        call.app,
        { email, formError: error.detail },
        ERROR_STATUS[error.code],
        error.headers,
      );
    return redirectSignedIn(call.app, result);
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
  query: PageQuery,
  produces: ['text/html'],
  async handle(call) {
    if (await findSignedInActor(call)) return seeOther('/');
    const { result, error } = await catchErrors(['not_found', 'unavailable'], () =>
      startOidcSignIn(call),
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
    if (!error) return redirectSignedIn(app, result, clearedOidcStateCookie(app));
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

/** Redirects to the home page and sets the session and device cookies, after `otherCookies`. */
export function redirectSignedIn(
  app: App,
  { token, member }: { token: string; member: MemberRow },
  ...otherCookies: string[]
): Response {
  const response = seeOther('/');
  for (const cookie of [...otherCookies, newSessionCookie(app, token), deviceCookie(app, member)])
    if (cookie !== null) response.headers.append('set-cookie', cookie);
  return response;
}
