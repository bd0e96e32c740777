/** Rows of the team as the API answers them. */

import type { ApiKeyRow, AuditRow, MemberRow } from '../store/tables.ts';
import { type InvitationState, invitationStatus } from './invitations.ts';
import type { ApiKey, AuditEntry, TeamInvitation, TeamMember } from './schema.ts';

export function presentMember({ id, email, name, role, joined_at }: MemberRow): TeamMember {
  return { id, object: 'team_member', email, name, role, joined_at };
}

/** `now` decides whether it has expired. */
export function presentInvitation(row: InvitationState, now: number): TeamInvitation {
  const { id, email, role, email_status, invited_by, created_at, expires_at } = row;
  return {
    id,
    object: 'team_invitation',
    email,
    role,
    status: invitationStatus(row, now),
    email_status,
    invited_by,
    created_at,
    expires_at,
  };
}

export function presentApiKey(row: ApiKeyRow): ApiKey {
  const { id, name, role, livemode, prefix, member_id, created_at, expires_at, last_used_at } = row;
  return {
    id,
    object: 'api_key',
    name,
    role,
    livemode: livemode === 1,
    prefix,
    member_id,
    created_at,
    expires_at,
    last_used_at,
  };
}

export function presentAuditEntry({ details, ...row }: AuditRow): AuditEntry {
  return { ...row, object: 'audit_entry', details: JSON.parse(details) };
}
