/** Request and response schemas of the team (contract §6). */

import * as v from 'valibot';
import { ROLES } from '../http/actor.ts';
import { described, Name, PAGE_QUERY, QueryTime, Time } from '../http/schemas.ts';
import type { ApiKeyRow, AuditRow, MemberRow } from '../store/tables.generated.ts';
import { MAX_EMAIL_LENGTH, normalizeEmail } from './members.ts';
import { EnteredPassword, NewPassword } from './password-rules.ts';

/** Roles that admins and the owner can assign. Only a transfer changes the owner. */
const ASSIGNABLE_ROLES = ['admin', 'member', 'viewer'] as const;
const AssignableRole = v.picklist(
  ASSIGNABLE_ROLES,
  `must be one of ${ASSIGNABLE_ROLES.join(', ')}`,
);
const Role = v.picklist(ROLES, `must be one of ${ROLES.join(', ')}`);
const Id = v.pipe(
  v.string('must be a string'),
  v.maxLength(100, 'must have at most 100 characters'),
);

export const ListQuery = v.strictObject(PAGE_QUERY);

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
  role: v.optional(AssignableRole),
});

/** The response of a DELETE request. */
export function deletedOf<const Kind extends string>(kind: Kind) {
  return v.object({ id: v.string(), object: v.literal(kind), deleted: v.literal(true) });
}

/** A single address, normalized: in lower case, with the domain as A-labels. */
export const EmailAddress = v.pipe(
  v.string('must be a string'),
  v.maxLength(MAX_EMAIL_LENGTH, `must have at most ${MAX_EMAIL_LENGTH} characters`),
  v.check((text) => normalizeEmail(text) !== null, 'must be an email address'),
  v.metadata({ jsonSchema: { type: 'string', format: 'email', maxLength: MAX_EMAIL_LENGTH } }),
  v.transform((text) => normalizeEmail(text)!),
);

export const NewInvitation = v.strictObject({
  email: EmailAddress,
  role: v.optional(AssignableRole, 'member'),
});
export type NewInvitation = v.InferOutput<typeof NewInvitation>;

const INVITATION = {
  id: v.string(),
  object: v.literal('team_invitation'),
  email: v.string(),
  role: AssignableRole,
  status: v.picklist(['pending', 'accepted', 'revoked', 'expired']),
  email_status: described(
    v.picklist(['not_configured', 'queued', 'sent', 'failed']),
    'The status of the invitation email. `not_configured`: outgoing email is not configured.',
  ),
  invited_by: described(v.string(), 'The ID of the member who sent the invitation.'),
  created_at: Time,
  expires_at: Time,
};
export const TeamInvitation = v.object(INVITATION);
export type TeamInvitation = v.InferOutput<typeof TeamInvitation>;
/** For the create and resend operations. No other response contains the link. */
export const InvitationWithLink = v.object({
  ...INVITATION,
  accept_url: described(v.string(), 'The link to accept the invitation.'),
});

const LinkToken = described(
  v.pipe(v.string('must be a string'), v.maxLength(200, 'must have at most 200 characters')),
  'The last path segment of the link.',
);

export const Acceptance = v.strictObject({
  token: LinkToken,
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

const MIN_KEY_LIFETIME_S = 60;
const MAX_KEY_LIFETIME_S = 10 * 365 * 86_400;

export const NewApiKey = v.strictObject({
  name: Name,
  role: v.optional(Role, 'member'),
  livemode: v.optional(
    described(
      v.boolean('must be true or false'),
      'Set to `false` for a test-mode key. The default is `true`.',
    ),
  ),
  expires_in: v.optional(
    v.nullable(
      v.pipe(
        v.number('must be a number of seconds'),
        v.integer('must be a whole number'),
        v.minValue(MIN_KEY_LIFETIME_S, `must be at least ${MIN_KEY_LIFETIME_S}`),
        v.maxValue(MAX_KEY_LIFETIME_S, `must be at most ${MAX_KEY_LIFETIME_S}`),
        v.description('Seconds until the key expires. By default, it never expires.'),
      ),
    ),
  ),
});

const API_KEY = {
  id: v.string(),
  object: v.literal('api_key'),
  name: v.string(),
  role: Role,
  livemode: described(v.boolean(), 'False for a test-mode key.'),
  prefix: described(v.string(), 'The first characters of the key.'),
  member_id: v.string(),
  created_at: Time,
  expires_at: described(v.nullable(Time), 'Null if the key never expires.'),
  last_used_at: described(
    v.nullable(Time),
    'The last use, accurate to the minute. Null if the key has never been used.',
  ),
};
export const ApiKey = v.object(API_KEY);
export type ApiKey = v.InferOutput<typeof ApiKey>;
export const ApiKeyWithSecret = v.object({
  ...API_KEY,
  key: described(v.string(), 'The key itself. No other response contains it.'),
});

export const AuditEntry = v.object({
  id: v.string(),
  object: v.literal('audit_entry'),
  created_at: Time,
  action: described(v.string(), 'The type of object and the action, such as `member.removed`.'),
  object_type: v.string(),
  object_id: v.string(),
  member_id: v.nullable(v.string()),
  member_email: v.nullable(v.string()),
  key_id: v.nullable(v.string()),
  session_id: v.nullable(v.string()),
  ip: v.nullable(v.string()),
  details: described(v.record(v.string(), v.unknown()), 'What changed.'),
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
export const AuditQuery = v.strictObject({ ...PAGE_QUERY, ...AUDIT_FILTERS });

// Sessions, passwords, and the caller's own account (contract §6).

/** Not checked for validity: an invalid address has no account. */
const AccountEmail = v.pipe(
  v.string('must be a string'),
  v.minLength(1, 'must not be empty'),
  v.maxLength(MAX_EMAIL_LENGTH, `must have at most ${MAX_EMAIL_LENGTH} characters`),
);

export const SignIn = v.strictObject({ email: AccountEmail, password: EnteredPassword });

export const Session = v.object({
  id: v.string(),
  object: v.literal('session'),
  member_id: v.string(),
  created_at: Time,
  last_seen_at: described(Time, 'The last request of the session, accurate to the minute.'),
  expires_at: described(
    Time,
    'When the session expires. It also ends after 12 hours without a request.',
  ),
  ip: described(v.nullable(v.string()), 'The IP address at sign-in.'),
  user_agent: described(v.nullable(v.string()), 'The user agent at sign-in.'),
  current: described(v.boolean(), 'Whether this session sent the request.'),
});
export type Session = v.InferOutput<typeof Session>;

export const ResetRequest = v.strictObject({ email: AccountEmail });

export const ResetConfirmation = v.strictObject({
  token: LinkToken,
  password: NewPassword,
});

export const PasswordReset = v.object({
  object: v.literal('password_reset'),
  status: v.picklist(['requested', 'completed']),
});

/** Contains no field that a request changes, such as `last_used_at`, to keep its ETag stable. */
export const Me = v.object({
  object: v.literal('me'),
  member: TeamMember,
  role: described(
    v.picklist(ROLES),
    "The effective role: your role or, with an API key, the lower of that and the key's role.",
  ),
  livemode: described(v.boolean(), 'False with a test-mode key.'),
  api_key: described(
    v.nullable(
      v.object({
        id: v.string(),
        object: v.literal('api_key'),
        name: v.string(),
        prefix: v.string(),
      }),
    ),
    'The API key of the request. Null with a session.',
  ),
  session: described(
    v.nullable(
      v.object({
        id: v.string(),
        object: v.literal('session'),
        created_at: Time,
        expires_at: Time,
      }),
    ),
    'The session of the request. Null with an API key.',
  ),
});
export type Me = v.InferOutput<typeof Me>;

export const MePatch = v.strictObject({
  name: v.optional(Name),
  password: v.optional(NewPassword),
  current_password: v.optional(EnteredPassword),
});

// Converts rows of the team to API objects.

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
