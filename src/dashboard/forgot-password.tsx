/** The page to ask for a link to set a new password. */

import { route } from '../http/route.ts';
import { ERROR_STATUS } from '../lib/errors.ts';
import { requestPasswordReset } from '../team/password-requests.ts';
import { Field, Said, Submit } from './form.tsx';
import { FORM, PageQuery, readForm, refused } from './form-body.ts';
import { pageResponse, seeOther } from './page.tsx';

const PATH = '/forgot-password';
const TITLE = 'Forgot your password?';
/** No address is longer (RFC 5321 §4.5.3.1.3). */
const LONGEST = 254;

interface State {
  email?: string;
  wrong?: string;
  refused?: string;
}

function Ask({ email, wrong, refused }: State) {
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
      <form method="post" action={PATH}>
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

function Sent() {
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

function answer(state: State, status?: number, headers?: Record<string, string>): Response {
  return pageResponse({ title: TITLE, status, headers, children: <Ask {...state} /> });
}

const show = route({
  method: 'GET',
  path: PATH,
  operation: 'showForgotPassword',
  role: 'public',
  summary: 'The page to ask for a link to set a password',
  query: PageQuery,
  produces: ['text/html'],
  handle({ app, query }) {
    if (app.mailer === null) return pageResponse({ title: TITLE, children: <NoMail /> });
    if (query.done === 'sent')
      return pageResponse({ title: 'Look into your inbox', children: <Sent /> });
    return answer({});
  },
});

const submit = route({
  method: 'POST',
  path: PATH,
  operation: 'submitForgotPassword',
  role: 'public',
  summary: 'Ask for a link by the form',
  consumes: FORM,
  produces: ['text/html'],
  async handle(call) {
    const email = readForm(call.raw)('email').trim();
    if (email === '' || email.length > LONGEST)
      return answer({ email, wrong: 'Enter your e-mail address.' }, 422);
    const { error } = await refused(['rate_limited'], () => requestPasswordReset(call, email));
    if (error)
      return answer({ email, refused: error.detail }, ERROR_STATUS[error.code], error.headers);
    return seeOther(`${PATH}?done=sent`);
  },
});

export const forgotPasswordPages = [show, submit];
