/** The page of a link by which a password is set. */

import { route } from '../http/route.ts';
import { ERROR_STATUS } from '../lib/errors.ts';
import { openPasswordLink, requestPasswordReset, resetPassword } from '../team/passwords.ts';
import { deviceCookie } from '../team/sign-in.ts';
import {
  anyWrong,
  Field,
  FORM,
  NewPasswordFields,
  newPasswordFaults,
  PageQuery,
  readForm,
  refused,
  Said,
  Submit,
  type Wrong,
} from './form.tsx';
import { deadLink, pageResponse, seeOther } from './page.tsx';

const SET_PASSWORD_PATH = '/password/:token';
const ASK_AGAIN = { href: '/forgot-password', text: 'Ask for a new link' };

interface SetPasswordState {
  token: string;
  email: string;
  wrong?: Wrong;
  refused?: string;
}

function renderSetPassword(
  { token, email, wrong = {}, refused }: SetPasswordState,
  status?: number,
): Response {
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

const showSetPassword = route({
  method: 'GET',
  path: SET_PASSWORD_PATH,
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
    return error ? deadLink(error, ASK_AGAIN) : renderSetPassword({ token, email: done.email });
  },
});

const submitSetPassword = route({
  method: 'POST',
  path: SET_PASSWORD_PATH,
  secretParams: ['token'],
  operation: 'submitSetPassword',
  role: 'public',
  writes: true,
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
    if (link.error) return deadLink(link.error, ASK_AGAIN);
    const { email } = link.done;
    const field = readForm(raw);
    const wrong = newPasswordFaults(field, email);
    if (anyWrong(wrong)) return renderSetPassword({ token, email, wrong }, 422);
    const { done, error } = await refused(['not_found', 'gone', 'unavailable'], () =>
      resetPassword(call, { token, password: field('password') }),
    );
    if (error?.code === 'unavailable')
      return renderSetPassword({ token, email, refused: error.detail }, ERROR_STATUS.unavailable);
    if (error) return deadLink(error, ASK_AGAIN);
    // Not signed in by it: the link may have been opened on somebody else's screen. But known here, so
    // that nobody who guesses at the account holds up the sign-in that comes next.
    const device = deviceCookie(app, done);
    if (device) call.setHeader('set-cookie', device);
    return seeOther('/sign-in?done=password');
  },
});

export const setPasswordPages = [showSetPassword, submitSetPassword];

// The page to ask for a link to set a new password.

const FORGOT_PASSWORD_PATH = '/forgot-password';
const FORGOT_PASSWORD_TITLE = 'Forgot your password?';
/** No address is longer (RFC 5321 §4.5.3.1.3). */
const MAX_EMAIL_LENGTH = 254;

interface ForgotPasswordState {
  email?: string;
  wrong?: string;
  refused?: string;
}

function ForgotPasswordForm({ email, wrong, refused }: ForgotPasswordState) {
  return (
    <>
      <p>
        Enter the e-mail address of your account. If it is on the team, you get a link to set a new
        password.
      </p>
      {refused && (
        <Said tone="fail" id="refused">
          {refused}
        </Said>
      )}
      <form method="post" action={FORGOT_PASSWORD_PATH}>
        <Field
          name="email"
          label="E-mail address"
          type="email"
          autocomplete="username"
          value={email}
          wrong={wrong}
          wrongNote={refused ? 'refused' : undefined}
          focus
        />
        <Submit>Send the link</Submit>
      </form>
      <BackToSignIn />
    </>
  );
}

function LinkSent() {
  return (
    <>
      <Said tone="info">
        If that address is on the team, a link to set a new password is on its way. It works once,
        within an hour.
      </Said>
      <p>
        Nothing in your inbox? Look into the spam folder too. Then ask again in a minute, or ask an
        admin of your team under which address you are known. No more than five such mails are sent
        within an hour.
      </p>
      <BackToSignIn />
    </>
  );
}

/** Who runs the server can always help; mail cannot. */
function NoMail() {
  return (
    <>
      <p>This server sends no e-mail, so it cannot send you a link. Ask whoever runs it.</p>
      <p>
        For the owner, <code>deliverability owner ADDRESS</code> prints a link at the server. Other
        members can be removed from the team and invited again.
      </p>
      <BackToSignIn />
    </>
  );
}

const BackToSignIn = () => (
  <p class="links">
    <a href="/sign-in">Back to sign-in</a>
  </p>
);

function renderForgotPassword(
  state: ForgotPasswordState,
  status?: number,
  headers?: Record<string, string>,
): Response {
  return pageResponse({
    title: FORGOT_PASSWORD_TITLE,
    status,
    headers,
    children: <ForgotPasswordForm {...state} />,
  });
}

const showForgotPassword = route({
  method: 'GET',
  path: FORGOT_PASSWORD_PATH,
  operation: 'showForgotPassword',
  role: 'public',
  summary: 'The page to ask for a link to set a password',
  query: PageQuery,
  produces: ['text/html'],
  handle({ app, query }) {
    if (app.mailer === null)
      return pageResponse({ title: FORGOT_PASSWORD_TITLE, children: <NoMail /> });
    if (query.done === 'sent')
      return pageResponse({ title: 'Look into your inbox', children: <LinkSent /> });
    return renderForgotPassword({});
  },
});

const submitForgotPassword = route({
  method: 'POST',
  path: FORGOT_PASSWORD_PATH,
  operation: 'submitForgotPassword',
  role: 'public',
  writes: true,
  summary: 'Ask for a link by the form',
  consumes: FORM,
  produces: ['text/html'],
  async handle(call) {
    const email = readForm(call.raw)('email').trim();
    if (email === '' || email.length > MAX_EMAIL_LENGTH)
      return renderForgotPassword({ email, wrong: 'Enter your e-mail address.' }, 422);
    const { error } = await refused(['rate_limited'], () => requestPasswordReset(call, email));
    if (error)
      return renderForgotPassword(
        { email, refused: error.detail },
        ERROR_STATUS[error.code],
        error.headers,
      );
    return seeOther(`${FORGOT_PASSWORD_PATH}?done=sent`);
  },
});

export const forgotPasswordPages = [showForgotPassword, submitForgotPassword];
