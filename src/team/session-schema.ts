/** Sessions, passwords and the one who asks, as the API takes and answers them (contract §6). */

import * as v from 'valibot';
import { ROLES } from '../http/actor.ts';
import { Name, Time } from '../http/schemas.ts';
import { EMAIL_MAX } from './email-address.ts';
import { GivenPassword, NewPassword } from './password-rules.ts';
import { TeamMember } from './schema.ts';

/** Whether it is one is not asked here: one that is none has no member. */
const Email = v.pipe(
  v.string('must be text'),
  v.minLength(1, 'must not be empty'),
  v.maxLength(EMAIL_MAX, `must have at most ${EMAIL_MAX} characters`),
);

export const SignIn = v.strictObject({ email: Email, password: GivenPassword });

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

export const ResetRequest = v.strictObject({ email: Email });

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
