/** Operations on members, and the transfer of ownership (contract §6). */

import { route } from '../http/route.ts';
import { listSchema } from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import { queueMail, SEND_JOB } from '../outbox/queue.ts';
import { afterCommit } from '../store/open.ts';
import { audit } from './audit.ts';
import { newOwnerMail, previousOwnerMail } from './mails.ts';
import { listMembers, memberOr404, removeMember, renameMember, setRole } from './members.ts';
import { transferOwnership } from './owner.ts';
import { requireCanChange, requireCanRemove, requireRole } from './permissions.ts';
import {
  deletedOf,
  ListQuery,
  MemberPatch,
  OwnershipTransfer,
  presentMember,
  TeamMember,
  Transfer,
} from './schema.ts';

const list = route({
  method: 'GET',
  path: '/v1/team/members',
  operation: 'listMembers',
  role: 'member',
  summary: 'List team members',
  description: 'Returns the members of the team, newest first.',
  query: ListQuery,
  response: listSchema(TeamMember),
  async handle({ app, query }) {
    const { rows, hasMore } = await listMembers(app.db, query);
    return { object: 'list' as const, data: rows.map(presentMember), has_more: hasMore };
  },
});

const get = route({
  method: 'GET',
  path: '/v1/team/members/:id',
  operation: 'getMember',
  role: 'member',
  summary: 'Get a team member',
  etag: true,
  response: TeamMember,
  async handle({ app, params }) {
    return presentMember(await memberOr404(app.db, params.id!));
  },
});

const update = route({
  method: 'PATCH',
  path: '/v1/team/members/:id',
  operation: 'updateMember',
  role: 'admin',
  liveOnly: true,
  summary: 'Update a team member',
  description: 'Changes the name or the role of a member. A new role ends their sessions.',
  etag: true,
  body: MemberPatch,
  response: TeamMember,
  errors: ['conflict', 'precondition_failed'],
  async handle(call) {
    const { app, params, body } = call;
    return call.transact(async (tx, { role }) => {
      const target = await memberOr404(tx, params.id!);
      requireCanChange(role, target);
      call.ifMatch(presentMember(target));
      const next = { name: body.name ?? target.name, role: body.role ?? target.role };
      const details: Record<string, unknown> = {};
      if (next.name !== target.name) {
        await renameMember(tx, target.id, next.name);
        details.name = { from: target.name, to: next.name };
      }
      if (next.role !== target.role) {
        const ended = await setRole(tx, target, next.role, isoTime(app.clock.now()));
        Object.assign(details, { role: { from: target.role, to: next.role }, ...ended });
      }
      const object = { type: 'team_member', id: target.id };
      if (Object.keys(details).length > 0)
        await audit(tx, call, { action: 'member.changed', object, details });
      return presentMember({ ...target, ...next });
    });
  },
});

const remove = route({
  method: 'DELETE',
  path: '/v1/team/members/:id',
  operation: 'removeMember',
  // All members but the owner may leave. Only admins and the owner may remove others.
  role: 'viewer',
  liveOnly: true,
  summary: 'Remove a team member',
  description:
    'Removes a member, ends their sessions and revokes their API keys. All members except the owner can remove themselves to leave the team.',
  response: deletedOf('team_member'),
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
      const ended = await removeMember(tx, target, isoTime(app.clock.now()));
      await audit(tx, call, {
        action: 'member.removed',
        object: { type: 'team_member', id },
        details: { email: target.email, role: target.role, ...ended },
      });
      return { id, object: 'team_member', deleted: true };
    });
  },
});

const transfer = route({
  method: 'POST',
  path: '/v1/team/transfer-ownership',
  operation: 'transferOwnership',
  role: 'owner',
  liveOnly: true,
  summary: 'Transfer ownership',
  description:
    "Makes another member the owner. You become an admin, and you can't undo the transfer.",
  body: Transfer,
  response: OwnershipTransfer,
  errors: ['conflict'],
  async handle(call) {
    const { app, body } = call;
    return call.transact(async (tx) => {
      const handover = await transferOwnership(tx, call, body.new_owner_id);
      const { id, email } = handover.owner;
      await queueMail(tx, app, newOwnerMail(app.config, handover));
      await queueMail(tx, app, previousOwnerMail(app.config, handover));
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

export const memberRoutes = [list, get, update, remove, transfer];
