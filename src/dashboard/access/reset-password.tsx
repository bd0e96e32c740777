/** The pages to request a password link and to set a new password with it. */

import { route } from '../../http/route.ts';
import { ERROR_STATUS } from '../../lib/errors.ts';
import { requestPasswordReset, resetPassword, verifyPasswordLink } from '../../team/passwords.ts';
import { deviceCookie } from '../../team/sign-in.ts';
import {
  catchErrors,
  Field,
  type FieldErrors,
  FORM,
  hasErrors,
  NewPasswordFields,
  Notice,
  newPasswordErrors,
  PageQuery,
  readForm,
  Submit,
} from '../frame/form.tsx';
import { invalidLinkPage, pageResponse, seeOther } from '../frame/page.tsx';
import { redirectSignedIn } from './sign-in.tsx';

const SET_PASSWORD_PATH = '/password/:token';
const REQUEST_NEW_LINK = { href: '/forgot-password', text: 'Get a new link' };

interface SetPasswordState {
  token: string;
  email: string;
  isFirst: boolean;
  fieldErrors?: FieldErrors;
  /** An error of the whole form. */
  formError?: string;
}

function renderSetPassword(
  { token, email, isFirst, fieldErrors = {}, formError }: SetPasswordState,
  status?: number,
): Response {
  return pageResponse({
    title: isFirst ? 'Choose a password' : 'Set a new password',
    status,
    children: (
      <>
        <p>
          {isFirst
            ? `You sign in as ${email}.`
            : 'Setting a new password signs you out of all browsers.'}
        </p>
        {formError && <Notice tone="fail">{formError}</Notice>}
        <form method="post" action={`/password/${encodeURIComponent(token)}`}>
          <NewPasswordFields email={email} errors={fieldErrors} />
          <Submit>{isFirst ? 'Set password and sign in' : 'Set password'}</Submit>
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
  summary: 'Show the page to set a new password',
  query: PageQuery,
  produces: ['text/html'],
  async handle({ app, params }) {
    const token = params.token!;
    const { result, error } = await catchErrors(['not_found', 'gone'], () =>
      verifyPasswordLink(app.db, app.clock.now(), token),
    );
    return error
      ? invalidLinkPage(error, REQUEST_NEW_LINK)
      : renderSetPassword({ token, ...result });
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
  summary: 'Set a new password with the form',
  consumes: FORM,
  produces: ['text/html'],
  async handle(call) {
    const { app, params, raw } = call;
    const token = params.token!;
    const link = await catchErrors(['not_found', 'gone'], () =>
      verifyPasswordLink(app.db, app.clock.now(), token),
    );
    if (link.error) return invalidLinkPage(link.error, REQUEST_NEW_LINK);
    const state = { token, ...link.result };
    const field = readForm(raw);
    const fieldErrors = newPasswordErrors(field, state.email);
    if (hasErrors(fieldErrors)) return renderSetPassword({ ...state, fieldErrors }, 422);
    const { result, error } = await catchErrors(['not_found', 'gone', 'unavailable'], () =>
      resetPassword(call, { token, password: field('password') }, { startsSession: true }),
    );
    if (error?.code === 'unavailable')
      return renderSetPassword({ ...state, formError: error.detail }, ERROR_STATUS.unavailable);
    if (error) return invalidLinkPage(error, REQUEST_NEW_LINK);
    const { member, sessionToken } = result;
    if (sessionToken !== null) return redirectSignedIn(app, { token: sessionToken, member });
    // A reset doesn't start a session, because its link may have been opened on another person's screen. The
    // device cookie keeps password guessing by others from delaying the next sign-in here.
    const device = deviceCookie(app, member);
    if (device) call.setHeader('set-cookie', device);
    return seeOther('/sign-in?done=password');
  },
});

export const setPasswordPages = [showSetPassword, submitSetPassword];

// The page to request a password link.

const FORGOT_PASSWORD_PATH = '/forgot-password';
const FORGOT_PASSWORD_TITLE = 'Forgot your password?';
/** RFC 5321 §4.5.3.1.3. */
const MAX_EMAIL_LENGTH = 254;

interface ForgotPasswordState {
  email?: string;
  emailError?: string;
  /** An error of the whole form. */
  formError?: string;
}

function ForgotPasswordForm({ email, emailError, formError }: ForgotPasswordState) {
  return (
    <>
      <p>
        Enter your email address. If it belongs to a team member, you'll get a link to set a new
        password.
      </p>
      {formError && (
        <Notice tone="fail" id="form-error">
          {formError}
        </Notice>
      )}
      <form method="post" action={FORGOT_PASSWORD_PATH}>
        <Field
          name="email"
          label="Email address"
          type="email"
          autocomplete="username"
          value={email}
          error={emailError}
          errorNoticeId={formError ? 'form-error' : undefined}
          focus
        />
        <Submit>Send link</Submit>
      </form>
      <BackToSignIn />
    </>
  );
}

function LinkSent() {
  return (
    <>
      <Notice tone="info">
        If that address belongs to a team member, a link to set a new password is on its way. It
        works once and expires after an hour.
      </Notice>
      <p>
        No email? Check your spam folder, then try again in a minute. If it still doesn't arrive,
        ask an admin which address your account uses. You can get up to five links an hour.
      </p>
      <BackToSignIn />
    </>
  );
}

/** Shown if outgoing email isn't configured, because then only an administrator can help. */
function NoMail({ program }: { program: string }) {
  return (
    <>
      <p>This server doesn't send email, so it can't send you a link. Ask your administrator.</p>
      <p>
        If you're the owner, they can run <code>{program} owner EMAIL</code> on the server to get a
        link. Otherwise, an admin can remove you and invite you again.
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
  summary: 'Show the page to request a password link',
  query: PageQuery,
  produces: ['text/html'],
  handle({ app, query }) {
    if (app.mailer === null)
      return pageResponse({
        title: FORGOT_PASSWORD_TITLE,
        children: <NoMail program={app.program} />,
      });
    if (query.done === 'sent')
      return pageResponse({ title: 'Check your inbox', children: <LinkSent /> });
    return renderForgotPassword({});
  },
});

const submitForgotPassword = route({
  method: 'POST',
  path: FORGOT_PASSWORD_PATH,
  operation: 'submitForgotPassword',
  role: 'public',
  writes: true,
  summary: 'Request a password link with the form',
  consumes: FORM,
  produces: ['text/html'],
  async handle(call) {
    const email = readForm(call.raw)('email').trim();
    if (email === '' || email.length > MAX_EMAIL_LENGTH)
      return renderForgotPassword({ email, emailError: 'Enter your email address.' }, 422);
    const { error } = await catchErrors(['rate_limited'], () => requestPasswordReset(call, email));
    if (error)
      return renderForgotPassword(
        { email, formError: error.detail },
        ERROR_STATUS[error.code],
        error.headers,
      );
    return seeOther(`${FORGOT_PASSWORD_PATH}?done=sent`);
  },
});

export const forgotPasswordPages = [showForgotPassword, submitForgotPassword];
