/** What protects sign-in, kept in memory for the whole service. */

import { createRateLimit, type RateLimit } from '../http/rate-limit.ts';
import type { Clock } from '../lib/clock.ts';
import { createPasswordWork, type PasswordWork } from './password-work.ts';
import { createDelays, type Delays } from './session-delays.ts';

/** Requests for links to set a password, of one address. */
const RESETS = { requests: 20, seconds: 60 };

export interface SignInGuard {
  /** Hashes and checks passwords, a few at once. */
  passwords: PasswordWork;
  /** Slows down who guesses passwords. */
  tries: Delays;
  /** Slows down mail with links to set one, by the account alone: nobody is told. */
  resets: Delays;
  /** How many such links one client may ask for, whatever accounts it names. */
  resetLimit: RateLimit;
}

export function createSignInGuard(clock: Clock): SignInGuard {
  return {
    passwords: createPasswordWork(),
    tries: createDelays(clock),
    resets: createDelays(clock),
    resetLimit: createRateLimit('password_resets', RESETS, clock),
  };
}
