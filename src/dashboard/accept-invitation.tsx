/** The page of a link by which an invited person joins the team. */

import * as v from 'valibot';
import type { App } from '../app.ts';
import { route } from '../http/route.ts';
import { Name } from '../http/schemas.ts';
import { ERROR_STATUS } from '../lib/errors.ts';
import type { InvitationRow } from '../store/tables.generated.ts';
import { acceptInvitation, openInvitation } from '../team/accept-invitation.ts';
import { findMember } from '../team/members.ts';
import { type SignInRequest, startSession } from '../team/sign-in.ts';
import { signInGuardOf } from '../team/sign-in-guard.ts';
import {
  anyWrong,
  asSentence,
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
import { enter } from './sign-in.tsx';

const PATH = '/invitations/:token';
const SIGN_IN = { href: '/sign-in', text: 'Go to sign-in' };
const ROLES = { admin: 'an admin', member: 'a member', viewer: 'a viewer' };

interface Invited {
  token: string;
  invitation: InvitationRow;
  /** Who invited, by name; null where they have left. */
  inviter: string | null;
}

interface State extends Invited {
  name?: string;
  wrong?: Wrong;
  refused?: string;
}

function answer(state: State, status?: number): Response {
  const { token, invitation, inviter, name, wrong = {}, refused } = state;
  const { role, email } = invitation;
  return pageResponse({
    title: 'Join the team',
    status,
    children: (
      <>
        <p>
          {inviter ?? 'The team'} invites <strong>{email}</strong> as {ROLES[role]}.
        </p>
        {refused && <Said tone="fail">{refused}</Said>}
        <form method="post" action={`/invitations/${encodeURIComponent(token)}`}>
          <Field
            name="name"
            label="Your name"
            autocomplete="name"
            value={name}
            wrong={wrong.name}
            focus={Boolean(wrong.name) || !anyWrong(wrong)}
          />
          <NewPasswordFields
            email={email}
            wrong={wrong}
            otherWrong={Boolean(wrong.name) || !anyWrong(wrong)}
          />
          <Submit>Join the team</Submit>
        </form>
      </>
    ),
  });
}

async function invited({ db, clock }: App, token: string): Promise<Invited> {
  const invitation = await openInvitation(db, token, clock.now());
  const inviter = await findMember(db, invitation.invited_by);
  return { token, invitation, inviter: inviter?.name ?? null };
}

const show = route({
  method: 'GET',
  path: PATH,
  secretParams: ['token'],
  operation: 'showAcceptInvitation',
  role: 'public',
  summary: 'The page to join the team by a link',
  query: PageQuery,
  produces: ['text/html'],
  async handle({ app, params }) {
    const { done, error } = await refused(['not_found', 'gone'], () => invited(app, params.token!));
    return error ? deadLink(error, SIGN_IN) : answer(done);
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
  summary: 'Join the team by the form',
  consumes: FORM,
  produces: ['text/html'],
  async handle(call) {
    const found = await refused(['not_found', 'gone'], () => invited(call.app, call.params.token!));
    if (found.error) return deadLink(found.error, SIGN_IN);
    const field = readForm(call.raw);
    const name = field('name').trim();
    const wrong = {
      name: nameFault(name),
      ...newPasswordFaults(field, found.done.invitation.email),
    };
    if (anyWrong(wrong)) return answer({ ...found.done, name, wrong }, 422);
    const { done, error } = await refused(['not_found', 'gone', 'conflict', 'unavailable'], () =>
      join(call, { token: found.done.token, name, password: field('password') }),
    );
    if (error?.code === 'unavailable')
      return answer({ ...found.done, name, refused: error.detail }, ERROR_STATUS.unavailable);
    if (error) return deadLink(error, SIGN_IN);
    // Who has been removed again meanwhile is told so at sign-in.
    return done ? enter(call.app, done) : seeOther('/sign-in');
  },
});

function nameFault(name: string): string | undefined {
  if (name === '') return 'Enter your name.';
  const { issues } = v.safeParse(Name, name);
  return issues && asSentence(issues[0].message);
}

/** A new member, signed in at once. */
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
