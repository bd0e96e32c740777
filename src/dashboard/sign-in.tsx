/** The page to sign in, and the way out. */

import type { App } from '../app.ts';
import { route } from '../http/route.ts';
import { clearedSessionCookie } from '../http/session-cookie.ts';
import { ERROR_STATUS } from '../lib/errors.ts';
import { oidcHost } from '../team/oidc-provider.ts';
import { endOwnSession } from '../team/session-end.ts';
import { signIn } from '../team/session-sign-in.ts';
import { Field, Said, Submit } from './form.tsx';
import { anyWrong, FORM, PageQuery, readForm, refused, type Wrong } from './form-body.ts';
import { pageResponse, seeOther } from './page.tsx';
import { enter, signedIn } from './signed-in.ts';

const PATH = '/sign-in';
/** Said once, after something else led here. */
const DONE: Record<string, string> = {
  password: 'Your password is set. You can sign in with it now.',
  'signed-out': 'You are signed out.',
};

interface State {
  /** The host of the provider by which one may sign in too. */
  provider: string | null;
  email?: string;
  wrong?: Wrong;
  /** What is wrong with both fields together. */
  refused?: string;
  done?: string;
}

function SignIn({ provider, email, wrong = {}, refused, done }: State) {
  const wrongNote = refused ? 'refused' : undefined;
  return (
    <>
      {done && <Said tone="pass">{done}</Said>}
      {refused && (
        <Said tone="fail" id="refused">
          {refused}
        </Said>
      )}
      <form method="post" action={PATH}>
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

function answer(
  { config }: App,
  state: Omit<State, 'provider'>,
  status?: number,
  headers?: Record<string, string>,
): Response {
  const children = <SignIn {...state} provider={oidcHost(config)} />;
  return pageResponse({ title: 'Sign in', status, headers, children });
}

const show = route({
  method: 'GET',
  path: PATH,
  operation: 'showSignIn',
  role: 'public',
  summary: 'The page to sign in',
  query: PageQuery,
  produces: ['text/html'],
  async handle(call) {
    if (await signedIn(call)) return seeOther('/');
    const { done = '' } = call.query;
    // Anybody writes an address, and every object has a `constructor`.
    return answer(call.app, { done: Object.hasOwn(DONE, done) ? DONE[done] : undefined });
  },
});

const submit = route({
  method: 'POST',
  path: PATH,
  operation: 'submitSignIn',
  role: 'public',
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
    if (anyWrong(wrong)) return answer(call.app, { email, wrong }, 422);
    const { done, error } = await refused(['unauthenticated', 'rate_limited', 'unavailable'], () =>
      signIn(call, { email, password }),
    );
    if (error)
      return answer(
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
  summary: 'Sign out by the button',
  consumes: FORM,
  produces: ['text/html'],
  async handle(call) {
    const actor = await signedIn(call);
    if (actor?.sessionId)
      await refused(['not_found', 'unauthenticated'], () =>
        endOwnSession({ ...call, actor }, actor.sessionId!),
      );
    call.setHeader('set-cookie', clearedSessionCookie(call.app.config));
    return seeOther(`${PATH}?done=signed-out`);
  },
});

export const signInPages = [show, submit, signOut];
