/** What protects sign-in, kept in memory for the whole service. */

import type { Clock } from '../lib/clock.ts';
import { createPasswordWork, type PasswordWork } from './password-work.ts';
import { createDelays, type Delays } from './session-delays.ts';

export interface SignInGuard {
  /** Hashes and checks passwords, a few at once. */
  passwords: PasswordWork;
  /** Slows down who guesses passwords. */
  tries: Delays;
  /** Slows down who asks for links to set one. */
  resets: Delays;
}

export function createSignInGuard(clock: Clock): SignInGuard {
  return {
    passwords: createPasswordWork(),
    tries: createDelays(clock),
    resets: createDelays(clock),
  };
}
