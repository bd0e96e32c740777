/** Operations on members, and the transfer of ownership (contract §6). */

import { readLimit } from '../http/limited.ts';
import { editableBy } from '../http/response.ts';
import { route } from '../http/route.ts';
import { deletedOf, idOf, listOf, listSchema } from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import { queueMail, SEND_JOB } from '../outbox/queue.ts';
import { afterCommit } from '../store/open.ts';
import { audit } from './audit.ts';
import { AUDITED_MEMBER } from './audited.ts';
import { newOwnerMail, previousOwnerMail } from './mails.ts';
import {
  listMembers,
  memberOr404,
  NOT_LINKED,
  removeMember,
  renameMember,
  requireLimitable,
  setRole,
} from './members.ts';
import { transferOwnership } from './owner.ts';
import { requireCanChange, requireCanRemove, requireRole } from './permissions.ts';
import {
  MemberListQuery,
  MemberPatch,
  OwnershipTransfer,
  OwnershipTransferRequest,
  presentMember,
  TeamMember,
} from './schema.ts';

const MEMBER_ID = idOf('mem', 'The ID of the member.');
const editableMember = editableBy(MemberPatch);

const list = route({
  method: 'GET',
  path: '/v1/team/members',
  operation: 'listMembers',
  limited: true,
  role: 'member',
  summary: 'List team members',
  description:
    'Returns all members of the team: the owner first, then the others by name. There is only one page.',
  query: MemberListQuery,
  response: listSchema(TeamMember),
  async handle({ app, query }) {
    const members = await listMembers(app.db, query);
    return listOf(members.map(presentMember), false);
  },
});

const get = route({
  method: 'GET',
  path: '/v1/team/members/:id',
  params: { id: MEMBER_ID },
  operation: 'getMember',
  limited: true,
  role: 'member',
  summary: 'Get a team member',
  description: 'Returns the name, the email address and the role of a member.',
  etag: editableMember,
  response: TeamMember,
  async handle({ app, params }) {
    return presentMember(await memberOr404(app.db, params.id!));
  },
});

const update = route({
  method: 'PATCH',
  path: '/v1/team/members/:id',
  params: { id: MEMBER_ID },
  operation: 'updateMember',
  changesCaller: true,
  role: 'admin',
  summary: 'Update a team member',
  description:
    'Changes the name, the role or the limit of a member. A new role ends their sessions. A new limit takes effect at once.',
  etag: editableMember,
  body: MemberPatch,
  response: TeamMember,
  errors: ['conflict', 'precondition_failed'],
  async handle(call) {
    const { app, params, body } = call;
    return call.transact(async (tx, { role }) => {
      const target = await memberOr404(tx, params.id!);
      requireCanChange(role, target);
      call.ifMatch(presentMember(target));
      const before = readLimit(target.tags);
      const tags = body.tags === undefined ? before : body.tags;
      const next = { name: body.name ?? target.name, role: body.role ?? target.role };
      requireLimitable(next.role, tags);
      const details: Record<string, unknown> = {};
      if (next.name !== target.name) {
        await renameMember(tx, target.id, next.name);
        details.name = { from: target.name, to: next.name };
      }
      const stored = tags && JSON.stringify(tags.toSorted());
      if (stored !== target.tags) {
        await tx.updateTable('members').set({ tags: stored }).where('id', '=', target.id).execute();
        details.tags = { from: before, to: tags };
      }
      if (next.role !== target.role) {
        const revokedAccess = await setRole(
          tx,
          { ...target, tags: stored },
          next.role,
          isoTime(app.clock.now()),
        );
        Object.assign(details, { role: { from: target.role, to: next.role }, ...revokedAccess });
      }
      if (Object.keys(details).length > 0)
        await audit(tx, call, AUDITED_MEMBER, 'member.changed', target.id, details);
      return presentMember({ ...target, ...next, tags: stored });
    });
  },
});

const remove = route({
  method: 'DELETE',
  path: '/v1/team/members/:id',
  params: { id: MEMBER_ID },
  operation: 'removeMember',
  limited: true,
  changesCaller: true,
  // All members but the owner may leave. Only admins and the owner may remove others.
  role: 'viewer',
  summary: 'Remove a team member',
  description:
    'Removes a member, ends their sessions and revokes their API keys. All members except the owner can remove themselves to leave the team.',
  response: deletedOf('team_member', 'mem'),
  errors: ['conflict', 'precondition_failed'],
  async handle(call) {
    const { app, params } = call;
    const id = params.id!;
    return call.transact(async (tx, currentActor) => {
      // Viewers must not learn which members exist.
      if (id !== currentActor.member.id) requireRole(currentActor.role, 'admin');
      const target = await memberOr404(tx, id);
      requireCanRemove(currentActor, target);
      call.ifMatch(presentMember(target));
      const revokedAccess = await removeMember(tx, target, isoTime(app.clock.now()));
      await audit(tx, call, AUDITED_MEMBER, 'member.removed', id, {
        email: target.email,
        role: target.role,
        ...revokedAccess,
      });
      return { id, object: 'team_member', deleted: true };
    });
  },
});

const unlink = route({
  method: 'DELETE',
  path: '/v1/team/members/:id/linked_account',
  params: { id: MEMBER_ID },
  operation: 'unlinkMember',
  limited: true,
  changesCaller: true,
  // Everyone may unlink their own account. Only admins and the owner may unlink those of others.
  role: 'viewer',
  summary: 'Unlink the account of a member',
  description:
    'Unlinks the account at the identity provider with which a member signs in, for example because it was created again. The next sign-in with the verified address of the member links an account again. Sessions stay.',
  response: TeamMember,
  async handle(call) {
    const id = call.params.id!;
    return call.transact(async (tx, currentActor) => {
      if (id !== currentActor.member.id) requireRole(currentActor.role, 'admin');
      const target = await memberOr404(tx, id);
      if (target.id === currentActor.member.id) requireRole(currentActor.role, target.role);
      else requireCanChange(currentActor.role, target);
      if (target.oidc_issuer !== null) {
        await tx.updateTable('members').set(NOT_LINKED).where('id', '=', id).execute();
        await audit(tx, call, AUDITED_MEMBER, 'member.unlinked', id, {
          issuer: target.oidc_issuer,
        });
      }
      return presentMember({ ...target, ...NOT_LINKED });
    });
  },
});

const transfer = route({
  method: 'POST',
  path: '/v1/team/transfer-ownership',
  operation: 'transferOwnership',
  changesCaller: true,
  role: 'owner',
  summary: 'Transfer ownership',
  description:
    "Makes another member the owner. You become an admin, and you can't undo the transfer.",
  body: OwnershipTransferRequest,
  response: OwnershipTransfer,
  errors: ['conflict'],
  async handle(call) {
    const { app, body } = call;
    return call.transact(async (tx) => {
      const handover = await transferOwnership(tx, call, body.new_owner_id);
      const { id, email } = handover.owner;
      await queueMail(tx, app, newOwnerMail(app.config, handover));
      await queueMail(tx, app, previousOwnerMail(app, handover));
      const response = {
        object: 'ownership_transfer' as const,
        success: true as const,
        message: `${email} is now the owner, and ${handover.previous.email} is an admin.`,
        new_owner: { id, email, role: 'owner' as const },
      };
      afterCommit(tx, () => app.scheduler.wake(SEND_JOB));
      return response;
    });
  },
});

export const memberOperations = { list, get, update, remove, unlink, transfer };
