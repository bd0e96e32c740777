/** The page of the team and its forms: invitations, and the transfer of ownership. */

import { clearedSessionCookie } from '../../http/cookies.ts';
import { invalidParams } from '../../lib/errors.ts';
import { invitationOperations } from '../../team/invitation-routes.ts';
import { memberOperations } from '../../team/member-routes.ts';
import type { NewInvitation, TeamInvitation } from '../../team/schema.ts';
import type { PageCall } from '../frame/app-page.tsx';
import { PageQuery, readForm, submit } from '../frame/form.tsx';
import { operationForm } from '../frame/operation-form.ts';
import { seeOther } from '../frame/page.tsx';
import { form, page } from '../frame/page-route.ts';
import { splitTags, tagLabels } from '../frame/tags-field.tsx';
import { INVITATION_PATH } from './invitations.tsx';
import { readTags } from './limit.tsx';
import { renderTeam, TEAM_PATH } from './team-page.tsx';

const show = page({
  path: TEAM_PATH,
  operation: 'showTeam',
  role: 'member',
  summary: 'Show the team',
  query: PageQuery,
  handle: (call) => renderTeam(call, { done: call.query.done }),
});

const TRANSFER_LABELS = { member: 'new owner', confirmation: 'email address' };

const transfer = form({
  path: `${TEAM_PATH}/transfer`,
  operation: 'submitOwnershipTransfer',
  role: 'owner',
  summary: 'Transfer ownership with the form',
  async handle(call) {
    const field = readForm(call.raw);
    const values = { member: field('member'), confirmation: field('confirmation') };
    const { problem } = await submit(TRANSFER_LABELS, async () => {
      await requireTypedAddress(call, values);
      await call.invoke(memberOperations.transfer, { body: { new_owner_id: values.member } });
    });
    if (problem) return renderTeam(call, { transfer: { values, problem } });
    // A new role ends all sessions of a member, also this one.
    call.setHeader('set-cookie', clearedSessionCookie(call.app.config));
    return seeOther('/sign-in?done=transferred');
  },
});

/** Throws `validation_failed` unless the address is that of the chosen member. */
async function requireTypedAddress(
  call: PageCall,
  { member: id, confirmation }: { member: string; confirmation: string },
): Promise<void> {
  const { data: members } = await call.invoke(memberOperations.list);
  const member = members.find((candidate) => candidate.id === id);
  if (!member)
    throw invalidParams([
      { param: 'member', code: 'invalid', message: 'must be a member of the team' },
    ]);
  if (confirmation.trim().toLowerCase() === member.email) return;
  const message = `must match the address of the new owner: ${member.email}`;
  throw invalidParams([{ param: 'confirmation', code: 'invalid', message }]);
}

const INVITATION_LABELS = { email: 'email address', role: 'role' };

const invite = operationForm({
  path: INVITATION_PATH,
  operation: 'submitInvitation',
  summary: 'Invite someone with the form',
  route: invitationOperations.create,
  read(raw) {
    const field = readForm(raw);
    return { email: field('email').trim(), role: field('role'), tags: field('tags') };
  },
  body: ({ email, role, tags }) => ({
    email,
    role: role as NewInvitation['role'],
    tags: readTags(tags),
  }),
  labels: ({ tags }) => ({ ...INVITATION_LABELS, ...tagLabels(splitTags(tags)) }),
  // The link is in this response only, so there is no redirect.
  next: (result, call) => renderTeam(call, { invitation: { created: linkOf(result) } }),
  onProblem: (call, problem, values) => renderTeam(call, { invitation: { values, problem } }),
});

const linkOf = ({ email, accept_url, email_status }: TeamInvitation & { accept_url: string }) => ({
  email,
  url: accept_url,
  isMailed: email_status !== 'not_configured',
});

const resend = operationForm({
  path: `${INVITATION_PATH}/:id/resend`,
  operation: 'submitInvitationResend',
  summary: 'Resend an invitation with the button',
  route: invitationOperations.resend,
  next: (result, call) => renderTeam(call, { invitation: { created: linkOf(result) } }),
  onProblem: (call, listProblem) => renderTeam(call, { invitation: { listProblem } }),
});

const revoke = operationForm({
  path: `${INVITATION_PATH}/:id/revoke`,
  operation: 'submitInvitationRevocation',
  summary: 'Revoke an invitation with the button',
  route: invitationOperations.revoke,
  next: () => `${TEAM_PATH}?done=revoked`,
  onProblem: (call, listProblem) => renderTeam(call, { invitation: { listProblem } }),
});

export const teamPages = [show, transfer, invite, resend, revoke];
