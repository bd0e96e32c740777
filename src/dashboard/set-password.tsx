/** The page of a link by which a password is set. */

import { route } from '../http/route.ts';
import { ERROR_STATUS } from '../lib/errors.ts';
import { deviceCookie } from '../team/device-cookie.ts';
import { resetPassword } from '../team/password-changes.ts';
import { openPasswordLink } from '../team/password-links.ts';
import { deadLink } from './dead-link.tsx';
import { Said, Submit } from './form.tsx';
import { anyWrong, FORM, PageQuery, readForm, refused, type Wrong } from './form-body.ts';
import { NewPasswordFields, newPasswordFaults } from './new-password.tsx';
import { pageResponse, seeOther } from './page.tsx';

const PATH = '/password/:token';
const AGAIN = { href: '/forgot-password', text: 'Ask for a new link' };

interface State {
  token: string;
  email: string;
  wrong?: Wrong;
  refused?: string;
}

function answer({ token, email, wrong = {}, refused }: State, status?: number): Response {
  return pageResponse({
    title: 'Set a new password',
    status,
    children: (
      <>
        <p>Browsers that are signed in with this account will be signed out.</p>
        {refused && <Said tone="fail">{refused}</Said>}
        <form method="post" action={`/password/${encodeURIComponent(token)}`}>
          <NewPasswordFields email={email} wrong={wrong} />
          <Submit>Set the password</Submit>
        </form>
      </>
    ),
  });
}

const show = route({
  method: 'GET',
  path: PATH,
  secretParams: ['token'],
  operation: 'showSetPassword',
  role: 'public',
  summary: 'The page to set a password by a link',
  query: PageQuery,
  produces: ['text/html'],
  async handle({ app, params }) {
    const token = params.token!;
    const { done, error } = await refused(['not_found', 'gone'], () =>
      openPasswordLink(app.db, app.clock.now(), token),
    );
    return error ? deadLink(error, AGAIN) : answer({ token, email: done.email });
  },
});

const submit = route({
  method: 'POST',
  path: PATH,
  secretParams: ['token'],
  operation: 'submitSetPassword',
  role: 'public',
  limit: 'confirmPasswordReset',
  summary: 'Set a password by the form',
  consumes: FORM,
  produces: ['text/html'],
  async handle(call) {
    const { app, params, raw } = call;
    const token = params.token!;
    const link = await refused(['not_found', 'gone'], () =>
      openPasswordLink(app.db, app.clock.now(), token),
    );
    if (link.error) return deadLink(link.error, AGAIN);
    const { email } = link.done;
    const field = readForm(raw);
    const wrong = newPasswordFaults(field, email);
    if (anyWrong(wrong)) return answer({ token, email, wrong }, 422);
    const { done, error } = await refused(['not_found', 'gone', 'unavailable'], () =>
      resetPassword(call, { token, password: field('password') }),
    );
    if (error?.code === 'unavailable')
      return answer({ token, email, refused: error.detail }, ERROR_STATUS.unavailable);
    if (error) return deadLink(error, AGAIN);
    // Not signed in by it: the link may have been opened on somebody else's screen. But known here, so
    // that nobody who guesses at the account holds up the sign-in that comes next.
    const device = deviceCookie(app, done);
    if (device) call.setHeader('set-cookie', device);
    return seeOther('/sign-in?done=password');
  },
});

export const setPasswordPages = [show, submit];
