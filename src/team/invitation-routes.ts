/** Operations on invitations (contract §6). */

import { route } from '../http/route.ts';
import { deletedOf, idOf, listOf, listSchema } from '../http/schemas.ts';
import { SEND_JOB } from '../outbox/queue.ts';
import { afterCommit } from '../store/open.ts';
import { acceptInvitation, requirePendingInvitation } from './accept-invitation.ts';
import {
  createInvitation,
  type IssuedInvitation,
  invitationOr404,
  listInvitations,
  presentInvitation,
  resendInvitation,
  revokeInvitation,
} from './invitations.ts';
import { checkPassword } from './password-rules.ts';
import {
  Acceptance,
  InvitationQuery,
  InvitationWithLink,
  NewInvitation,
  presentMember,
  TeamInvitation,
  TeamMember,
} from './schema.ts';
import { signInGuardOf } from './sign-in-guard.ts';

const INVITATION_ID = idOf('inv', 'The ID of the invitation.');

const presentLinked = ({ invitation, url }: IssuedInvitation, now: number) => ({
  ...presentInvitation(invitation, now),
  accept_url: url,
});

const create = route({
  method: 'POST',
  path: '/v1/team/invitations',
  operation: 'createInvitation',
  role: 'admin',
  summary: 'Create an invitation',
  description:
    'Invites a person to the team by email. The response also contains the link to accept the invitation.',
  body: NewInvitation,
  status: 201,
  location: ({ id }) => `/v1/team/invitations/${id}`,
  response: InvitationWithLink,
  errors: ['conflict', 'rate_limited'],
  async handle(call) {
    const { app, body } = call;
    return call.transact(async (tx, { member }) => {
      const linked = await createInvitation(tx, call, member, body);
      afterCommit(tx, () => app.scheduler.wake(SEND_JOB));
      return presentLinked(linked, app.clock.now());
    });
  },
});

const list = route({
  method: 'GET',
  path: '/v1/team/invitations',
  operation: 'listInvitations',
  role: 'admin',
  summary: 'List invitations',
  description: 'Returns the invitations of the team, newest first.',
  query: InvitationQuery,
  response: listSchema(TeamInvitation),
  async handle({ app, query: { status, ...page } }) {
    const now = app.clock.now();
    const { rows, hasMore } = await listInvitations(app.db, page, { status, now });
    const data = rows.map((row) => presentInvitation(row, now));
    return listOf(data, hasMore);
  },
});

const get = route({
  method: 'GET',
  path: '/v1/team/invitations/:id',
  params: { id: INVITATION_ID },
  operation: 'getInvitation',
  role: 'admin',
  summary: 'Get an invitation',
  description: 'Returns an invitation without its link.',
  response: TeamInvitation,
  async handle({ app, params }) {
    return presentInvitation(await invitationOr404(app.db, params.id!), app.clock.now());
  },
});

const revoke = route({
  method: 'DELETE',
  path: '/v1/team/invitations/:id',
  params: { id: INVITATION_ID },
  operation: 'revokeInvitation',
  role: 'admin',
  summary: 'Revoke an invitation',
  description: 'Revokes a pending invitation. Its link stops working.',
  response: deletedOf('team_invitation', 'inv'),
  errors: ['conflict'],
  async handle(call) {
    const { params } = call;
    const id = params.id!;
    return call.transact(async (tx) => {
      await revokeInvitation(tx, call, id);
      return { id, object: 'team_invitation', deleted: true };
    });
  },
});

const resend = route({
  method: 'POST',
  path: '/v1/team/invitations/:id/resend',
  params: { id: INVITATION_ID },
  operation: 'resendInvitation',
  role: 'admin',
  summary: 'Resend an invitation',
  description: 'Sends an invitation again with a new link. The previous link stops working.',
  response: InvitationWithLink,
  errors: ['conflict', 'rate_limited'],
  async handle(call) {
    const { app, params } = call;
    return call.transact(async (tx, { member }) => {
      const linked = await resendInvitation(tx, call, member, params.id!);
      afterCommit(tx, () => app.scheduler.wake(SEND_JOB));
      return presentLinked(linked, app.clock.now());
    });
  },
});

const accept = route({
  method: 'POST',
  path: '/v1/team/invitations/accept',
  operation: 'acceptInvitation',
  role: 'public',
  writes: true,
  limit: { requests: 20, seconds: 60 },
  summary: 'Accept an invitation',
  description: 'Adds the invited person to the team. Requires the token of the invitation link.',
  body: Acceptance,
  linkToken: ({ token }) => token,
  status: 201,
  response: TeamMember,
  errors: ['not_found', 'gone', 'conflict', 'unavailable'],
  async handle(call) {
    const { app, body } = call;
    const { token, name, password } = body;
    const { email } = await requirePendingInvitation(app.db, token, app.clock.now());
    checkPassword(password, email);
    // Outside the transaction, because hashing takes a while.
    const passwordHash = await signInGuardOf(app).passwords.hash(password, call.signal);
    return call.transact(async (tx) => {
      const member = await acceptInvitation(tx, call, { token, name, passwordHash });
      return presentMember(member);
    });
  },
});

export const invitationOperations = { create, list, accept, get, revoke, resend };
