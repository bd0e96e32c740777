/** The operations on invitations (contract §6). */

import { route } from '../http/route.ts';
import { listOf } from '../http/schemas.ts';
import { SEND_JOB } from '../outbox/queue.ts';
import { acceptInvitation, openInvitation } from './accept-invitation.ts';
import {
  createInvitation,
  invitationOr404,
  type LinkedInvitation,
  listInvitations,
  presentInvitation,
  resendInvitation,
  revokeInvitation,
} from './invitations.ts';
import { checkPassword } from './password-rules.ts';
import { reauthorize } from './permissions.ts';
import {
  Acceptance,
  deletedOf,
  InvitationWithLink,
  ListQuery,
  NewInvitation,
  presentMember,
  TeamInvitation,
  TeamMember,
} from './schema.ts';
import { signInGuardOf } from './sign-in-guard.ts';

const presentLinked = ({ invitation, url }: LinkedInvitation, now: number) => ({
  ...presentInvitation(invitation, now),
  accept_url: url,
});

const create = route({
  method: 'POST',
  path: '/v1/team/invitations',
  operation: 'createInvitation',
  role: 'admin',
  live: true,
  summary: 'Invite somebody to the team by e-mail; the link to accept is in this answer too',
  body: NewInvitation,
  status: 201,
  location: ({ id }) => `/v1/team/invitations/${id}`,
  response: InvitationWithLink,
  errors: ['conflict', 'rate_limited'],
  async handle(call) {
    const { app, body } = call;
    const answer = await app.db.transaction().execute(async (tx) => {
      const { member } = await reauthorize(tx, call, 'admin');
      const linked = await createInvitation(tx, call, member, body);
      const presented = presentLinked(linked, app.clock.now());
      await call.keep(tx, presented);
      return presented;
    });
    app.scheduler.wake(SEND_JOB);
    return answer;
  },
});

const list = route({
  method: 'GET',
  path: '/v1/team/invitations',
  operation: 'listInvitations',
  role: 'admin',
  summary: 'List invitations, newest first',
  query: ListQuery,
  response: listOf(TeamInvitation),
  async handle({ app, query }) {
    const { rows, hasMore } = await listInvitations(app.db, query);
    const now = app.clock.now();
    const data = rows.map((row) => presentInvitation(row, now));
    return { object: 'list' as const, data, has_more: hasMore };
  },
});

const get = route({
  method: 'GET',
  path: '/v1/team/invitations/:id',
  operation: 'getInvitation',
  role: 'admin',
  summary: 'Get an invitation',
  response: TeamInvitation,
  async handle({ app, params }) {
    return presentInvitation(await invitationOr404(app.db, params.id!), app.clock.now());
  },
});

const revoke = route({
  method: 'DELETE',
  path: '/v1/team/invitations/:id',
  operation: 'revokeInvitation',
  role: 'admin',
  live: true,
  summary: 'Revoke an invitation: its link works no more',
  response: deletedOf('team_invitation'),
  errors: ['conflict'],
  async handle(call) {
    const { app, params } = call;
    const id = params.id!;
    await app.db.transaction().execute(async (tx) => {
      await reauthorize(tx, call, 'admin');
      await revokeInvitation(tx, call, id);
    });
    return { id, object: 'team_invitation' as const, deleted: true as const };
  },
});

const resend = route({
  method: 'POST',
  path: '/v1/team/invitations/:id/resend',
  operation: 'resendInvitation',
  role: 'admin',
  live: true,
  summary: 'Send an invitation again with a new link; the old one dies',
  response: InvitationWithLink,
  errors: ['conflict', 'rate_limited'],
  async handle(call) {
    const { app, params } = call;
    const answer = await app.db.transaction().execute(async (tx) => {
      const { member } = await reauthorize(tx, call, 'admin');
      const linked = await resendInvitation(tx, call, member, params.id!);
      const presented = presentLinked(linked, app.clock.now());
      await call.keep(tx, presented);
      return presented;
    });
    app.scheduler.wake(SEND_JOB);
    return answer;
  },
});

const accept = route({
  method: 'POST',
  path: '/v1/team/invitations/accept',
  operation: 'acceptInvitation',
  role: 'public',
  limit: { requests: 20, seconds: 60 },
  summary: 'Join the team with the token of an invitation',
  body: Acceptance,
  linkToken: ({ token }) => token,
  status: 201,
  location: ({ id }) => `/v1/team/members/${id}`,
  response: TeamMember,
  errors: ['not_found', 'gone', 'conflict', 'unavailable'],
  async handle(call) {
    const { app, body } = call;
    const { token, name, password } = body;
    const { email } = await openInvitation(app.db, token, app.clock.now());
    checkPassword(password, email);
    // Outside of the transaction: it takes a while.
    const passwordHash = await signInGuardOf(app).passwords.hash(password, call.signal);
    return app.db.transaction().execute(async (tx) => {
      const member = await acceptInvitation(tx, call, { token, name, passwordHash });
      const presented = presentMember(member);
      await call.keep(tx, presented);
      return presented;
    });
  },
});

export const invitationRoutes = [create, list, accept, get, revoke, resend];
