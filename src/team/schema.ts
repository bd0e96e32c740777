/** The team as the API takes and answers it (contract §6). */

import * as v from 'valibot';
import { ROLES } from '../http/actor.ts';
import { Name, PAGE, QueryTime, Time } from '../http/schemas.ts';
import type { ApiKeyRow, AuditRow, MemberRow } from '../store/tables.generated.ts';
import { EMAIL_MAX, normalizeEmail } from './members.ts';
import { GivenPassword, NewPassword } from './password-rules.ts';

/**
 * What an admin or the owner can give, so none above their own; the owner is made by a transfer
 * alone.
 */
const GIVEN_ROLES = ['admin', 'member', 'viewer'] as const;
const GivenRole = v.picklist(GIVEN_ROLES, `must be one of ${GIVEN_ROLES.join(', ')}`);
const Role = v.picklist(ROLES, `must be one of ${ROLES.join(', ')}`);
const Id = v.pipe(v.string('must be text'), v.maxLength(100, 'must have at most 100 characters'));

export const ListQuery = v.strictObject(PAGE);

export const TeamMember = v.object({
  id: v.string(),
  object: v.literal('team_member'),
  email: v.string(),
  name: v.string(),
  role: Role,
  joined_at: Time,
});

export type TeamMember = v.InferOutput<typeof TeamMember>;

export const MemberPatch = v.strictObject({
  name: v.optional(Name),
  role: v.optional(GivenRole),
});

/** What a delete answers. */
export function deletedOf<const Kind extends string>(kind: Kind) {
  return v.object({ id: v.string(), object: v.literal(kind), deleted: v.literal(true) });
}

/** One address, as it is kept: lower case, the domain in A-labels. */
export const EmailAddress = v.pipe(
  v.string('must be text'),
  v.maxLength(EMAIL_MAX, `must have at most ${EMAIL_MAX} characters`),
  v.check((text) => normalizeEmail(text) !== null, 'must be an e-mail address'),
  v.metadata({ jsonSchema: { type: 'string', format: 'email', maxLength: EMAIL_MAX } }),
  v.transform((text) => normalizeEmail(text)!),
);

export const NewInvitation = v.strictObject({
  email: EmailAddress,
  role: v.optional(GivenRole, 'member'),
});
export type NewInvitation = v.InferOutput<typeof NewInvitation>;

const INVITATION = {
  id: v.string(),
  object: v.literal('team_invitation'),
  email: v.string(),
  role: GivenRole,
  status: v.picklist(['pending', 'accepted', 'revoked', 'expired']),
  email_status: v.picklist(['not_configured', 'queued', 'sent', 'failed']),
  invited_by: v.string(),
  created_at: Time,
  expires_at: Time,
};
export const TeamInvitation = v.object(INVITATION);
export type TeamInvitation = v.InferOutput<typeof TeamInvitation>;
/** The answers to creation and resend alone have the link. */
export const InvitationWithLink = v.object({ ...INVITATION, accept_url: v.string() });

export const Acceptance = v.strictObject({
  token: v.pipe(v.string('must be text'), v.maxLength(200, 'must have at most 200 characters')),
  name: Name,
  password: NewPassword,
});
export type Acceptance = v.InferOutput<typeof Acceptance>;

export const Transfer = v.strictObject({ new_owner_id: Id });
export const OwnershipTransfer = v.object({
  object: v.literal('ownership_transfer'),
  success: v.literal(true),
  message: v.string(),
  new_owner: v.object({ id: v.string(), email: v.string(), role: v.literal('owner') }),
});

const KEY_MIN_SECONDS = 60;
const KEY_MAX_SECONDS = 10 * 365 * 86_400;

export const NewApiKey = v.strictObject({
  name: Name,
  role: v.optional(Role, 'member'),
  livemode: v.optional(v.boolean('must be true or false')),
  expires_in: v.optional(
    v.nullable(
      v.pipe(
        v.number('must be a number of seconds'),
        v.integer('must be a whole number'),
        v.minValue(KEY_MIN_SECONDS, `must be at least ${KEY_MIN_SECONDS}`),
        v.maxValue(KEY_MAX_SECONDS, `must be at most ${KEY_MAX_SECONDS}`),
      ),
    ),
  ),
});

const API_KEY = {
  id: v.string(),
  object: v.literal('api_key'),
  name: v.string(),
  role: Role,
  livemode: v.boolean(),
  prefix: v.string(),
  member_id: v.string(),
  created_at: Time,
  expires_at: v.nullable(Time),
  last_used_at: v.nullable(Time),
};
export const ApiKey = v.object(API_KEY);
export type ApiKey = v.InferOutput<typeof ApiKey>;
export const NewApiKeyAnswer = v.object({ ...API_KEY, key: v.string() });

export const AuditEntry = v.object({
  id: v.string(),
  object: v.literal('audit_entry'),
  created_at: Time,
  action: v.string(),
  object_type: v.string(),
  object_id: v.string(),
  member_id: v.nullable(v.string()),
  member_email: v.nullable(v.string()),
  key_id: v.nullable(v.string()),
  session_id: v.nullable(v.string()),
  ip: v.nullable(v.string()),
  details: v.record(v.string(), v.unknown()),
});
export type AuditEntry = v.InferOutput<typeof AuditEntry>;

const AUDIT_FILTERS = {
  action: v.optional(Id),
  object_id: v.optional(Id),
  member_id: v.optional(Id),
  created_after: v.optional(QueryTime),
  created_before: v.optional(QueryTime),
};
const AuditFilters = v.object(AUDIT_FILTERS);
export type AuditFilters = v.InferOutput<typeof AuditFilters>;
export const AuditQuery = v.strictObject({ ...PAGE, ...AUDIT_FILTERS });

// Sessions, passwords and the one who asks, as the API takes and answers them (contract §6).

/** Whether it is one is not asked here: one that is none has no member. */
const GivenEmail = v.pipe(
  v.string('must be text'),
  v.minLength(1, 'must not be empty'),
  v.maxLength(EMAIL_MAX, `must have at most ${EMAIL_MAX} characters`),
);

export const SignIn = v.strictObject({ email: GivenEmail, password: GivenPassword });

export const Session = v.object({
  id: v.string(),
  object: v.literal('session'),
  member_id: v.string(),
  created_at: Time,
  /** To the minute. */
  last_seen_at: Time,
  /** The end however much it is used; unused for twelve hours, it ends before. */
  expires_at: Time,
  ip: v.nullable(v.string()),
  user_agent: v.nullable(v.string()),
  /** Whether it is the one that asks. */
  current: v.boolean(),
});
export type Session = v.InferOutput<typeof Session>;

export const ResetRequest = v.strictObject({ email: GivenEmail });

export const ResetConfirmation = v.strictObject({
  token: v.pipe(v.string('must be text'), v.maxLength(200, 'must have at most 200 characters')),
  password: NewPassword,
});

export const PasswordReset = v.object({
  object: v.literal('password_reset'),
  status: v.picklist(['requested', 'completed']),
});

/** Nothing in it changes by being asked for, so that its ETag holds until it is changed. */
export const Me = v.object({
  object: v.literal('me'),
  member: TeamMember,
  /** The role that counts for this request: of a key, the lower of its role and the member's. */
  role: v.picklist(ROLES),
  livemode: v.boolean(),
  api_key: v.nullable(
    v.object({
      id: v.string(),
      object: v.literal('api_key'),
      name: v.string(),
      prefix: v.string(),
    }),
  ),
  session: v.nullable(
    v.object({
      id: v.string(),
      object: v.literal('session'),
      created_at: Time,
      expires_at: Time,
    }),
  ),
});
export type Me = v.InferOutput<typeof Me>;

export const MePatch = v.strictObject({
  name: v.optional(Name),
  password: v.optional(NewPassword),
  current_password: v.optional(GivenPassword),
});

// Rows of the team as the API answers them.

export function presentMember({ id, email, name, role, joined_at }: MemberRow): TeamMember {
  return { id, object: 'team_member', email, name, role, joined_at };
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
