/** The operations by which a forgotten password is replaced (contract §6). */

import { route } from '../http/route.ts';
import { deviceCookie } from './device-cookie.ts';
import { resetPassword } from './password-changes.ts';
import { requestPasswordReset } from './password-requests.ts';
import { PasswordReset, ResetConfirmation, ResetRequest } from './session-schema.ts';

/** An Idempotency-Key would add nothing: whoever asks, and however often, the answer is the same. */
const requestReset = route({
  method: 'POST',
  path: '/v1/password_resets',
  operation: 'requestPasswordReset',
  role: 'public',
  summary:
    'Ask for an e-mail with a link to set a password; the answer is the same for any address',
  body: ResetRequest,
  status: 202,
  response: PasswordReset,
  errors: ['rate_limited'],
  async handle(call) {
    await requestPasswordReset(call, call.body.email);
    return { object: 'password_reset' as const, status: 'requested' as const };
  },
});

const confirmReset = route({
  method: 'POST',
  path: '/v1/password_resets/confirm',
  operation: 'confirmPasswordReset',
  role: 'public',
  limit: { requests: 20, seconds: 60 },
  summary: 'Set the password by the token of a link; all sessions of the member end',
  body: ResetConfirmation,
  linkToken: ({ token }) => token,
  response: PasswordReset,
  errors: ['not_found', 'gone', 'unavailable'],
  async handle(call) {
    const done = { object: 'password_reset' as const, status: 'completed' as const };
    const member = await resetPassword(call, call.body, (tx) => call.keep(tx, done));
    // Whoever guesses at the account meanwhile: this browser signs in with the new password.
    const device = deviceCookie(call.app, member);
    if (device) call.setHeader('set-cookie', device);
    return done;
  },
});

export const passwordRoutes = [requestReset, confirmReset];
