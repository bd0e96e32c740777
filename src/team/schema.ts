/** Request and response schemas of the team (contract §6). */

import * as v from 'valibot';
import { ROLES } from '../http/actor.ts';
import { readLimit } from '../http/limited.ts';
import {
  described,
  exampleId,
  idOf,
  maxCharacters,
  Name,
  named,
  oneOf,
  PAGE_QUERY,
  QueryTime,
  queryInteger,
  Time,
  TimeZone,
  typeField,
  Url,
} from '../http/schemas.ts';
import { Tags } from '../http/tags.ts';
import { canonicalLocale } from '../lib/locales.ts';
import type { ApiKeyRow, AuditRow, MemberRow } from '../store/tables.generated.ts';
import { MAX_EMAIL_LENGTH, normalizeEmail } from './members.ts';
import { EnteredPassword, NewPassword } from './password-rules.ts';

/** Roles that admins and the owner can assign. Only a transfer changes the owner. */
const ASSIGNABLE_ROLES = ['admin', 'member', 'viewer'] as const;
const AssignableRole = oneOf(ASSIGNABLE_ROLES);
/** An address in a response. */
const Email = v.pipe(v.string(), v.metadata({ format: 'email' }));
const Role = oneOf(ROLES);
const Id = v.pipe(
  v.string('must be a string'),
  maxCharacters(100, 'must have at most 100 characters'),
);

export const ListQuery = v.strictObject(PAGE_QUERY);

/** All members fit on one page. The parameters are accepted for clients that page through every list. */
export const MemberListQuery = v.strictObject({
  limit: described(
    v.optional(queryInteger(1, 100), '100'),
    'Has no effect: the response has all members, and `has_more` is always false.',
  ),
  starting_after: v.optional(
    described(v.string(), 'The ID of a member. Returns only the members after this one.'),
  ),
  ending_before: v.optional(
    described(v.string(), 'The ID of a member. Returns only the members before this one.'),
  ),
});

const ROLE_TEXT =
  'Each role includes the permissions of those before it: `viewer`, `member`, `admin`, `owner`.';

const LIMIT_TEXT =
  'The tags to which access is limited: only domains and tests with one of them are visible. Null for no limit.';

/** In a response. `more`: whose limit applies too. */
export const limitField = (more = '') =>
  described(v.nullable(v.array(v.string())), LIMIT_TEXT + more, ['client:acme']);

/** Of a member, an invitation or a key. */
export const LimitTags = described(
  v.nullable(v.pipe(Tags, v.minLength(1, 'must have a tag, or be null for everything'))),
  LIMIT_TEXT,
  ['client:acme'],
);

export const TeamMember = named(
  'TeamMember',
  v.object({
    id: idOf('mem'),
    object: typeField('team_member'),
    email: described(Email, 'The email address, in lower case.'),
    name: described(v.string(), 'The name of the member.'),
    role: described(Role, ROLE_TEXT),
    tags: limitField(),
    joined_at: described(Time, 'When the member joined the team.'),
    linked_account: described(
      v.nullable(
        named(
          'LinkedAccount',
          v.object({
            object: typeField('linked_account'),
            issuer: described(Url, 'The issuer URL of the provider.', 'https://login.example.com'),
            linked_at: described(Time, 'When the member first signed in with the account.'),
          }),
          'The account of a member at the identity provider.',
        ),
      ),
      'The account with which the member signs in by single sign-on. Null until they first do.',
    ),
  }),
  'A person on your team.',
  {
    name: 'Alex Morgan',
    role: 'admin',
    tags: null,
    joined_at: '2026-11-20T09:12:00.000Z',
    linked_account: null,
  },
);

export type TeamMember = v.InferOutput<typeof TeamMember>;

export const MemberPatch = named(
  'UpdateTeamMember',
  v.strictObject({
    name: described(v.optional(Name), 'The name of the member.'),
    role: described(
      v.optional(AssignableRole),
      'The new role. It ends the sessions of the member.',
    ),
    tags: v.optional(LimitTags),
  }),
  'The changes to a member. Omitted fields keep their value.',
  { name: 'Alex Morgan', role: 'admin' },
);

/** A single address, normalized: in lower case, with the domain as A-labels. */
export const EmailAddress = v.pipe(
  v.string('must be a string'),
  maxCharacters(MAX_EMAIL_LENGTH, `must have at most ${MAX_EMAIL_LENGTH} characters`),
  v.check((text) => normalizeEmail(text) !== null, 'must be an email address'),
  v.metadata({ jsonSchema: { type: 'string', format: 'email', maxLength: MAX_EMAIL_LENGTH } }),
  v.transform((text) => normalizeEmail(text)!),
);

export const NewInvitation = named(
  'CreateInvitation',
  v.strictObject({
    email: described(EmailAddress, 'The email address of the person to invite.'),
    role: described(v.optional(AssignableRole, 'member'), 'The role of the new member.'),
    tags: v.optional(LimitTags, null),
  }),
  'An invitation to the team.',
  { role: 'member' },
);
export type NewInvitation = v.InferOutput<typeof NewInvitation>;

const INVITATION_STATUSES = ['pending', 'accepted', 'revoked', 'expired'] as const;
export type InvitationStatus = (typeof INVITATION_STATUSES)[number];

export const InvitationQuery = v.strictObject({
  ...PAGE_QUERY,
  status: described(
    v.optional(oneOf(INVITATION_STATUSES)),
    'Only invitations with this status.',
    'pending',
  ),
});

const INVITATION = {
  id: idOf('inv'),
  object: typeField('team_invitation'),
  email: described(Email, 'The email address of the invited person.'),
  role: described(AssignableRole, 'The role of the new member.'),
  tags: limitField(),
  status: described(v.picklist(INVITATION_STATUSES), 'Only `pending` invitations can be accepted.'),
  email_status: described(
    v.picklist(['not_configured', 'queued', 'sent', 'failed']),
    'The status of the invitation email. `not_configured`: outgoing email is not configured.',
  ),
  invited_by: described(v.string(), 'The ID of the member who sent the invitation.'),
  created_at: Time,
  expires_at: described(Time, 'When the link expires, seven days after it was created.'),
};
const EXAMPLE_INVITATION = {
  role: 'member',
  tags: null,
  status: 'pending',
  email_status: 'sent',
  invited_by: exampleId('mem'),
} as const;
export const TeamInvitation = named(
  'TeamInvitation',
  v.object(INVITATION),
  'An invitation to the team, without its link.',
  EXAMPLE_INVITATION,
);
export type TeamInvitation = v.InferOutput<typeof TeamInvitation>;
/** For the create and resend operations. No other response contains the link. */
export const InvitationWithLink = named(
  'TeamInvitationWithLink',
  v.object({
    ...INVITATION,
    accept_url: described(Url, 'The link to accept the invitation.'),
  }),
  'An invitation to the team with its link. Only the responses to creation and resending include it.',
  { ...EXAMPLE_INVITATION, accept_url: 'https://mail.example.com/invitations/q3v9k2m7x5t1w8b4' },
);

const LinkToken = described(
  v.pipe(v.string('must be a string'), maxCharacters(200, 'must have at most 200 characters')),
  'The last path segment of the link.',
  'the-token-of-the-link',
);

export const Acceptance = named(
  'AcceptInvitation',
  v.strictObject({
    token: LinkToken,
    name: described(Name, 'Your name.', 'Alex Morgan'),
    password: described(NewPassword, 'Your new password.', 'four words make one'),
  }),
  'The token of an invitation, and the new account.',
  {},
);
export type Acceptance = v.InferOutput<typeof Acceptance>;

export const OwnershipTransferRequest = named(
  'TransferOwnership',
  v.strictObject({ new_owner_id: described(Id, 'The ID of the member who becomes the owner.') }),
  'The member who becomes the owner.',
  { new_owner_id: exampleId('mem') },
);
export const OwnershipTransfer = named(
  'OwnershipTransfer',
  v.object({
    object: typeField('ownership_transfer'),
    success: described(v.literal(true), 'Always true.'),
    message: described(v.string(), 'What happened, for people.', 'Alex Morgan is now the owner.'),
    new_owner: described(
      named(
        'NewOwner',
        v.object({
          id: idOf('mem'),
          email: Email,
          role: described(v.literal('owner'), 'Always `owner`.'),
        }),
        'The member who became the owner.',
      ),
      'The new owner. The previous one is now an admin.',
    ),
  }),
  'Confirms a transfer of ownership.',
);

const MIN_KEY_LIFETIME_S = 60;
const MAX_KEY_LIFETIME_S = 10 * 365 * 86_400;

export const NewApiKey = named(
  'CreateApiKey',
  v.strictObject({
    name: described(Name, 'What the key is for.'),
    role: described(v.optional(Role, 'member'), 'The role of the key, up to your own role.'),
    tags: v.optional(LimitTags, null),
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
          v.examples([7_776_000]),
        ),
      ),
    ),
  }),
  'A new API key.',
  { name: 'Build pipeline', role: 'member' },
);

const API_KEY = {
  id: idOf('key'),
  object: typeField('api_key'),
  name: described(v.string(), 'What the key is for.'),
  role: described(
    Role,
    'The role of the key. It never has more permissions than the current role of its member.',
  ),
  livemode: described(v.boolean(), 'False for a test-mode key.'),
  tags: limitField(' The limit of its member applies too.'),
  prefix: described(v.string(), 'The first characters of the key.'),
  member_id: described(v.string(), 'The ID of the member who created the key.'),
  created_at: Time,
  expires_at: described(v.nullable(Time), 'When the key expires. Null if it never does.'),
  last_used_at: described(
    v.nullable(Time),
    'The last use, accurate to the minute. Null if the key has never been used.',
  ),
};
const EXAMPLE_KEY = {
  name: 'Build pipeline',
  role: 'member',
  tags: null,
  livemode: true,
  prefix: 'dlv_live_q3v9',
  expires_at: null,
  last_used_at: null,
} as const;
export const ApiKey = named(
  'ApiKey',
  v.object(API_KEY),
  'The credentials of a program, without the key itself.',
  EXAMPLE_KEY,
);
export type ApiKey = v.InferOutput<typeof ApiKey>;
export const ApiKeyWithSecret = named(
  'ApiKeyWithSecret',
  v.object({
    ...API_KEY,
    key: described(v.string(), 'The key itself. No other response contains it.'),
  }),
  'A new API key, with the key itself.',
  { ...EXAMPLE_KEY, key: 'dlv_live_q3v9…' },
);

export const AuditEntry = named(
  'AuditEntry',
  v.object({
    id: idOf('aud'),
    object: typeField('audit_entry'),
    created_at: described(Time, 'When it happened.'),
    action: described(v.string(), 'The type of object and the action, such as `member.removed`.'),
    object_type: described(v.string(), 'The type of the changed object.'),
    object_id: described(v.string(), 'The ID of the changed object.'),
    member_id: described(
      v.nullable(v.string()),
      'The member who made the change. Null for the service itself.',
    ),
    member_email: described(
      v.nullable(v.string()),
      'The email address of that member at the time. Null for the service itself.',
    ),
    key_id: described(
      v.nullable(v.string()),
      'The API key or the connected assistant of the request. Null without one.',
    ),
    session_id: described(v.nullable(v.string()), 'The session of the request. Null without one.'),
    ip: described(
      v.nullable(v.string()),
      'The IPv4 or IPv6 address of the request. Null if it is not known.',
    ),
    details: described(v.record(v.string(), v.unknown()), 'What changed.', {
      email: 'alex@example.com',
    }),
  }),
  'A change, with who made it and when.',
  {
    action: 'member.removed',
    object_type: 'team_member',
    object_id: exampleId('mem'),
    member_email: 'robin@example.com',
    session_id: null,
    ip: '203.0.113.7',
  },
);
export type AuditEntry = v.InferOutput<typeof AuditEntry>;

const AUDIT_FILTERS = {
  action: described(v.optional(Id), 'Only entries of this action.', 'member.removed'),
  object_id: described(v.optional(Id), 'Only changes to this object.', exampleId('mem')),
  member_id: described(v.optional(Id), 'Only changes by this member.', exampleId('mem')),
  created_after: described(v.optional(QueryTime), 'Only entries at or after this time.'),
  created_before: described(v.optional(QueryTime), 'Only entries before this time.'),
};
const AuditFilters = v.object(AUDIT_FILTERS);
export type AuditFilters = v.InferOutput<typeof AuditFilters>;
export const AuditQuery = v.strictObject({ ...PAGE_QUERY, ...AUDIT_FILTERS });

// Sessions, passwords, and the caller's own account (contract §6).

/** Not checked for validity: an invalid address has no account. */
const AccountEmail = v.pipe(
  v.string('must be a string'),
  v.minLength(1, 'must not be empty'),
  maxCharacters(MAX_EMAIL_LENGTH, `must have at most ${MAX_EMAIL_LENGTH} characters`),
);

export const SignIn = named(
  'CreateSession',
  v.strictObject({
    email: described(AccountEmail, 'The email address of your account.'),
    password: described(EnteredPassword, 'Your password.'),
  }),
  'An email address and a password.',
  { password: 'four words make one' },
);

export const Session = named(
  'Session',
  v.object({
    id: idOf('ses'),
    object: typeField('session'),
    member_id: described(v.string(), 'The ID of the signed-in member.'),
    created_at: described(Time, 'When the session started.'),
    last_seen_at: described(Time, 'The last request of the session, accurate to the minute.'),
    expires_at: described(
      Time,
      'When the session expires. It also ends after 12 hours without a request.',
    ),
    ip: described(v.nullable(v.string()), 'The IPv4 or IPv6 address at sign-in.'),
    user_agent: described(v.nullable(v.string()), 'The user agent at sign-in.'),
    current: described(v.boolean(), 'Whether this session sent the request.'),
  }),
  'A signed-in browser.',
  {
    last_seen_at: '2026-11-21T12:30:00.000Z',
    expires_at: '2026-12-21T10:00:00.000Z',
    ip: '203.0.113.7',
    user_agent: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/145.0',
    current: true,
  },
);
export type Session = v.InferOutput<typeof Session>;

export const EndedSessions = named(
  'EndedSessions',
  v.object({
    object: typeField('ended_sessions'),
    count: described(
      v.pipe(v.number(), v.integer(), v.minValue(0)),
      'The number of sessions that ended.',
      2,
    ),
  }),
  'Confirms that sessions ended.',
);

export const ResetRequest = named(
  'CreatePasswordReset',
  v.strictObject({ email: described(AccountEmail, 'The email address of the account.') }),
  'The account whose password to reset.',
  {},
);

export const ResetConfirmation = named(
  'ConfirmPasswordReset',
  v.strictObject({
    token: LinkToken,
    password: described(NewPassword, 'Your new password.'),
  }),
  'The token of a password link, and the new password.',
  { password: 'four words make one' },
);

export const PasswordReset = named(
  'PasswordReset',
  v.object({
    object: typeField('password_reset'),
    status: described(
      v.picklist(['requested', 'completed']),
      '`requested`: if the account exists, it gets an email. `completed`: the password was changed.',
    ),
  }),
  'The status of a password reset.',
);

/** Contains no field that a request changes, such as `last_used_at`, to keep its ETag stable. */
export const Me = named(
  'Me',
  v.object({
    object: typeField('me'),
    member: described(TeamMember, 'The member of the request.'),
    role: described(
      v.picklist(ROLES),
      "The effective role: your role or, with an API key, the lower of that and the key's role.",
    ),
    livemode: described(v.boolean(), 'False with a test-mode key.'),
    tags: limitField(' With a key, its own limit applies too.'),
    time_zone: described(
      v.nullable(v.string()),
      'The IANA time zone in which pages show you times. Null: the time zone of the browser.',
      'Europe/Berlin',
    ),
    date_locale: described(
      v.nullable(v.string()),
      'The BCP 47 language tag of the format in which pages show you dates. Null: the language of the browser.',
      'en-GB',
    ),
    api_key: described(
      v.nullable(
        named(
          'CurrentApiKey',
          v.object({
            id: idOf('key'),
            object: typeField('api_key'),
            name: described(v.string(), 'What the key is for.', 'Build pipeline'),
            prefix: described(v.string(), 'The first characters of the key.', 'dlv_live_q3v9'),
          }),
          'The API key of a request.',
        ),
      ),
      'The API key of the request. Null with a session.',
    ),
    session: described(
      v.nullable(
        named(
          'CurrentSession',
          v.object({
            id: idOf('ses'),
            object: typeField('session'),
            created_at: described(Time, 'When the session started.'),
            expires_at: Time,
          }),
          'The session of a request.',
        ),
      ),
      'The session of the request. Null with an API key.',
    ),
  }),
  'The caller: member, effective role, and credentials.',
);
export type Me = v.InferOutput<typeof Me>;

const DateLocale = v.pipe(
  v.string('must be a string'),
  v.check(
    (text) => canonicalLocale(text) !== null,
    'must be a language tag without extensions, such as en-GB',
  ),
  v.metadata({ jsonSchema: { type: 'string', minLength: 2, maxLength: 35 } }),
  v.transform((text) => canonicalLocale(text)!),
);

export const MePatch = named(
  'UpdateMe',
  v.strictObject({
    name: described(v.optional(Name), 'Your name.'),
    time_zone: described(
      v.optional(v.nullable(TimeZone)),
      'The IANA time zone in which pages show you times. Null: the time zone of the browser.',
      'Europe/Berlin',
    ),
    date_locale: described(
      v.optional(v.nullable(DateLocale)),
      'The BCP 47 language tag of the format in which pages show you dates. Null: the language of the browser.',
      'en-GB',
    ),
    password: described(
      v.optional(NewPassword),
      'Your new password. Requires `current_password`.',
      'four words make one',
    ),
    current_password: described(
      v.optional(EnteredPassword),
      'Your current password.',
      'correct horse battery staple',
    ),
  }),
  'The changes to your account. Omitted fields keep their value.',
  { name: 'Alex Morgan' },
);

// Converts rows of the team to API objects.

export function presentMember(row: MemberRow): TeamMember {
  const { id, email, name, role, joined_at, oidc_issuer: issuer, oidc_linked_at } = row;
  return {
    id,
    object: 'team_member',
    email,
    name,
    role,
    tags: readLimit(row.tags),
    joined_at,
    linked_account:
      issuer === null ? null : { object: 'linked_account', issuer, linked_at: oidc_linked_at! },
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
    tags: readLimit(row.tags),
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
