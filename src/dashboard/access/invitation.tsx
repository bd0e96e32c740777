/** The page on which an invited person joins the team. */

import * as v from 'valibot';
import type { App } from '../../app.ts';
import { route } from '../../http/route.ts';
import { Name } from '../../http/schemas.ts';
import { ERROR_STATUS } from '../../lib/errors.ts';
import type { InvitationRow } from '../../store/tables.generated.ts';
import { acceptInvitation, requirePendingInvitation } from '../../team/accept-invitation.ts';
import { findMember } from '../../team/members.ts';
import { type SignInRequest, startSession } from '../../team/sign-in.ts';
import { signInGuardOf } from '../../team/sign-in-guard.ts';
import {
  asSentence,
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

const PATH = '/invitations/:token';
const SIGN_IN = { href: '/sign-in', text: 'Sign in' };
const ROLES = { admin: 'an admin', member: 'a member', viewer: 'a viewer' };

interface Invitation {
  token: string;
  invitation: InvitationRow;
  /** The inviter's name; null if they have left the team. */
  inviter: string | null;
}

interface PageState extends Invitation {
  name?: string;
  fieldErrors?: FieldErrors;
  /** An error of the whole form. */
  formError?: string;
}

function renderPage(state: PageState, status?: number): Response {
  const { token, invitation, inviter, name, fieldErrors = {}, formError } = state;
  const focusName = Boolean(fieldErrors.name) || !hasErrors(fieldErrors);
  const { role, email } = invitation;
  return pageResponse({
    title: 'Join the team',
    status,
    children: (
      <>
        <p>
          {inviter ?? 'The team'} invited <strong>{email}</strong> to join as {ROLES[role]}.
        </p>
        {formError && <Notice tone="fail">{formError}</Notice>}
        <form method="post" action={`/invitations/${encodeURIComponent(token)}`}>
          <Field
            name="name"
            label="Your name"
            autocomplete="name"
            value={name}
            error={fieldErrors.name}
            focus={focusName}
          />
          <NewPasswordFields email={email} errors={fieldErrors} focusElsewhere={focusName} />
          <Submit>Join the team</Submit>
        </form>
      </>
    ),
  });
}

async function findInvitation({ db, clock }: App, token: string): Promise<Invitation> {
  const invitation = await requirePendingInvitation(db, token, clock.now());
  const inviter = await findMember(db, invitation.invited_by);
  return { token, invitation, inviter: inviter?.name ?? null };
}

const show = route({
  method: 'GET',
  path: PATH,
  secretParams: ['token'],
  operation: 'showAcceptInvitation',
  role: 'public',
  summary: 'Show the page to join the team',
  query: PageQuery,
  produces: ['text/html'],
  async handle({ app, params }) {
    const { result, error } = await catchErrors(['not_found', 'gone'], () =>
      findInvitation(app, params.token!),
    );
    return error ? invalidLinkPage(error, SIGN_IN) : renderPage(result);
  },
});

const submit = route({
  method: 'POST',
  path: PATH,
  secretParams: ['token'],
  operation: 'submitAcceptInvitation',
  role: 'public',
  writes: true,
  limit: 'acceptInvitation',
  summary: 'Join the team with the form',
  consumes: FORM,
  produces: ['text/html'],
  async handle(call) {
    const lookup = await catchErrors(['not_found', 'gone'], () =>
      findInvitation(call.app, call.params.token!),
    );
    if (lookup.error) return invalidLinkPage(lookup.error, SIGN_IN);
    const field = readForm(call.raw);
    const name = field('name').trim();
    const fieldErrors = {
      name: nameError(name),
      ...newPasswordErrors(field, lookup.result.invitation.email),
    };
    if (hasErrors(fieldErrors)) return renderPage({ ...lookup.result, name, fieldErrors }, 422);
    const { result, error } = await catchErrors(
      ['not_found', 'gone', 'conflict', 'unavailable'],
      () => join(call, { token: lookup.result.token, name, password: field('password') }),
    );
    if (error?.code === 'unavailable')
      return renderPage(
        { ...lookup.result, name, formError: error.detail },
        ERROR_STATUS.unavailable,
      );
    if (error) return invalidLinkPage(error, SIGN_IN);
    // The session is missing if the new member was removed in the meantime.
    return result ? redirectSignedIn(call.app, result) : seeOther('/sign-in');
  },
});

function nameError(name: string): string | undefined {
  if (name === '') return 'Enter your name.';
  const { issues } = v.safeParse(Name, name);
  return issues && asSentence('name', issues[0].message);
}

/** Adds the member and starts their session. */
async function join(
  request: SignInRequest,
  { token, name, password }: { token: string; name: string; password: string },
) {
  const { app, signal, transact } = request;
  const passwordHash = await signInGuardOf(app).passwords.hash(password, signal);
  const member = await transact((tx) =>
    acceptInvitation(tx, request, { token, name, passwordHash }),
  );
  return startSession(request, member);
}

export const acceptInvitationPages = [show, submit];
