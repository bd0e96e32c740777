/** The page to sign in, and the way out. */

import * as v from 'valibot';
import type { App } from '../app.ts';
import type { Actor } from '../http/actor.ts';
import { clearedSessionCookie, readSessionCookies } from '../http/cookies.ts';
import { route } from '../http/route.ts';
import { type AppError, ERROR_STATUS } from '../lib/errors.ts';
import type { MemberRow } from '../store/tables.generated.ts';
import {
  beginJourney,
  CALLBACK_PATH,
  clearedJourneyCookie,
  endJourney,
  oidcHost,
  readJourney,
  signInByClaims,
} from '../team/oidc.ts';
import { reauthorize } from '../team/permissions.ts';
import { cookieOf } from '../team/session-routes.ts';
import { identifySession } from '../team/sessions.ts';
import { deviceCookie, endOwnSession, signIn } from '../team/sign-in.ts';
import {
  anyWrong,
  Field,
  FORM,
  PageQuery,
  readForm,
  refused,
  Said,
  Submit,
  type Wrong,
} from './form.tsx';
import { pageResponse, seeOther } from './page.tsx';

const SIGN_IN_PATH = '/sign-in';
/** Said once, after something else led here. */
const DONE_TEXTS: Record<string, string> = {
  password: 'Your password is set. You can sign in with it now.',
  'signed-out': 'You are signed out.',
};

interface SignInState {
  /** The host of the provider by which one may sign in too. */
  provider: string | null;
  email?: string;
  wrong?: Wrong;
  /** What is wrong with both fields together. */
  refused?: string;
  done?: string;
}

function SignIn({ provider, email, wrong = {}, refused, done }: SignInState) {
  const wrongNote = refused ? 'refused' : undefined;
  return (
    <>
      {done && <Said tone="pass">{done}</Said>}
      {refused && (
        <Said tone="fail" id="refused">
          {refused}
        </Said>
      )}
      <form method="post" action={SIGN_IN_PATH}>
        <Field
          name="email"
          label="E-mail address"
          type="email"
          autocomplete="username"
          value={email}
          wrong={wrong.email}
          wrongNote={wrongNote}
          focus={!wrong.password && !refused}
        />
        <Field
          name="password"
          label="Password"
          type="password"
          autocomplete="current-password"
          wrong={wrong.password}
          wrongNote={wrongNote}
          focus={Boolean(refused || (wrong.password && !wrong.email))}
        />
        <Submit>Sign in</Submit>
      </form>
      {provider && (
        // A link: a form may not lead to another site.
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
  summary: 'The page to sign in',
  query: PageQuery,
  produces: ['text/html'],
  async handle(call) {
    if (await signedIn(call)) return seeOther('/');
    const { done = '' } = call.query;
    // Anybody writes an address, and every object has a `constructor`.
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
  summary: 'Sign in by the form',
  consumes: FORM,
  produces: ['text/html'],
  async handle(call) {
    const field = readForm(call.raw);
    const email = field('email').trim();
    const password = field('password');
    const wrong = {
      email: email ? undefined : 'Enter your e-mail address.',
      password: password ? undefined : 'Enter your password.',
    };
    if (anyWrong(wrong)) return renderSignIn(call.app, { email, wrong }, 422);
    const { done, error } = await refused(['unauthenticated', 'rate_limited', 'unavailable'], () =>
      signIn(call, { email, password }),
    );
    if (error)
      return renderSignIn(
        call.app,
        { email, refused: error.detail },
        ERROR_STATUS[error.code],
        error.headers,
      );
    return enter(call.app, done);
  },
});

const signOut = route({
  method: 'POST',
  path: '/sign-out',
  operation: 'submitSignOut',
  role: 'public',
  writes: true,
  summary: 'Sign out by the button',
  consumes: FORM,
  produces: ['text/html'],
  async handle(call) {
    const actor = await signedIn(call);
    if (actor?.sessionId)
      await refused(['not_found', 'unauthenticated'], () =>
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

// The way to sign in by OpenID Connect: off to the provider, and what its answer leads to.

const OIDC_PATH = '/sign-in/oidc';

function renderOidcFailure({ code, detail }: AppError): Response {
  return pageResponse({
    title: 'You are not signed in',
    status: ERROR_STATUS[code],
    children: (
      <>
        <Said tone="fail">{detail}</Said>
        <p class="links">
          <a href="/sign-in">Go to sign-in</a>
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
  summary: 'Go to the OpenID Connect provider to sign in',
  query: PageQuery,
  produces: ['text/html'],
  async handle(call) {
    if (await signedIn(call)) return seeOther('/');
    const { done, error } = await refused(['not_found', 'unavailable'], () => beginJourney(call));
    if (error) return renderOidcFailure(error);
    call.setHeader('set-cookie', done.cookie);
    return seeOther(done.location);
  },
});

const endOidc = route({
  method: 'GET',
  path: CALLBACK_PATH,
  operation: 'endOidcSignIn',
  role: 'public',
  writes: true,
  summary: 'Come back from the OpenID Connect provider, signed in',
  query: v.record(v.string(), v.string()),
  produces: ['text/html'],
  async handle(call) {
    const { app, headers, query } = call;
    const journey = readJourney(app, headers.get('cookie'));
    const codes: AppError['code'][] = [
      'not_found',
      'unavailable',
      'malformed_request',
      'forbidden',
      'conflict',
    ];
    const { done, error } = await refused(codes, async () =>
      signInByClaims(call, await endJourney(call, journey, query)),
    );
    if (!error) return enter(app, done, clearedJourneyCookie(app));
    call.setHeader('set-cookie', clearedJourneyCookie(app));
    return renderOidcFailure(error);
  },
});

export const oidcPages = [beginOidc, endOidc];

// Who is signed in at a page that everybody may open, and the way in for who has just signed in.

export async function signedIn({
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

/** To the first page, with the cookies of the session and of the browser; `before` are more of them. */
export function enter(
  app: App,
  { token, member }: { token: string; member: MemberRow },
  ...before: string[]
): Response {
  const response = seeOther('/');
  // Several of one name, so not by `setHeader`, which has one.
  for (const cookie of [...before, cookieOf(app, token), deviceCookie(app, member)])
    if (cookie !== null) response.headers.append('set-cookie', cookie);
  return response;
}
