/** The operations on members, and the transfer of the ownership (contract §6). */

import { route } from '../http/route.ts';
import { listOf } from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import { queueMail, SEND_JOB } from '../outbox/queue.ts';
import { afterCommit } from '../store/open.ts';
import { audit } from './audit.ts';
import { formerOwnerMail, newOwnerMail } from './mails.ts';
import { listMembers, memberOr404, removeMember, renameMember, setRole } from './members.ts';
import { transferOwnership } from './owner.ts';
import { requireMayChange, requireMayRemove, requireRole } from './permissions.ts';
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
  summary: 'List the members of the team, newest first',
  query: ListQuery,
  response: listOf(TeamMember),
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
  summary: 'Get a member',
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
  live: true,
  summary: 'Change the name or the role of a member; another role signs them out',
  etag: true,
  body: MemberPatch,
  response: TeamMember,
  errors: ['conflict', 'precondition_failed'],
  async handle(call) {
    const { app, params, body } = call;
    return call.transact(async (tx, { role }) => {
      const present = await memberOr404(tx, params.id!);
      requireMayChange(role, present);
      call.ifMatch(presentMember(present));
      const wanted = { name: body.name ?? present.name, role: body.role ?? present.role };
      const details: Record<string, unknown> = {};
      if (wanted.name !== present.name) {
        await renameMember(tx, present.id, wanted.name);
        details.name = { from: present.name, to: wanted.name };
      }
      if (wanted.role !== present.role) {
        const ended = await setRole(tx, present, wanted.role, isoTime(app.clock.now()));
        Object.assign(details, { role: { from: present.role, to: wanted.role }, ...ended });
      }
      const object = { type: 'team_member', id: present.id };
      if (Object.keys(details).length > 0)
        await audit(tx, call, { action: 'member.changed', object, details });
      return presentMember({ ...present, ...wanted });
    });
  },
});

const remove = route({
  method: 'DELETE',
  path: '/v1/team/members/:id',
  operation: 'removeMember',
  // Everybody but the owner may leave; the others are for admins and the owner.
  role: 'viewer',
  live: true,
  summary: 'Remove a member, or leave the team; sessions and keys end at once',
  response: deletedOf('team_member'),
  errors: ['conflict', 'precondition_failed'],
  async handle(call) {
    const { app, params } = call;
    const id = params.id!;
    return call.transact(async (tx, own) => {
      // Who may not see the members does not learn here who they are.
      if (id !== own.member.id) requireRole(own.role, 'admin');
      const present = await memberOr404(tx, id);
      requireMayRemove(own, present);
      call.ifMatch(presentMember(present));
      const ended = await removeMember(tx, present, isoTime(app.clock.now()));
      await audit(tx, call, {
        action: 'member.removed',
        object: { type: 'team_member', id },
        details: { email: present.email, role: present.role, ...ended },
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
  live: true,
  summary: 'Hand the ownership to another member and become an admin; this cannot be undone',
  body: Transfer,
  response: OwnershipTransfer,
  errors: ['conflict'],
  async handle(call) {
    const { app, body } = call;
    return call.transact(async (tx) => {
      const handover = await transferOwnership(tx, call, body.new_owner_id);
      const { id, email } = handover.owner;
      await queueMail(tx, app, newOwnerMail(app.config, handover));
      await queueMail(tx, app, formerOwnerMail(app.config, handover));
      const done = {
        object: 'ownership_transfer' as const,
        success: true as const,
        message: `${email} is the owner now, and ${handover.former.email} an admin.`,
        new_owner: { id, email, role: 'owner' as const },
      };
      afterCommit(tx, () => app.scheduler.wake(SEND_JOB));
      return done;
    });
  },
});

export const memberRoutes = [list, get, update, remove, transfer];
