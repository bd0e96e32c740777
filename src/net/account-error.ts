/** What can go wrong when an account at a provider is read, in words for administrators. */

export type AccountProblem =
  | 'unreachable'
  | 'tls_failed'
  | 'sign_in_failed'
  /** Nobody has signed in to the account with OAuth 2 yet. */
  | 'sign_in_required'
  /** The provider no longer accepts the stored sign-in. */
  | 'sign_in_expired'
  /** The sign-in belongs to another account. */
  | 'wrong_account'
  | 'throttled'
  | 'timeout'
  | 'closed'
  | 'bad_response'
  | 'refused';

/** Errors that are usually transient. */
export const TRANSIENT_ERRORS: string[] = [
  'unreachable',
  'timeout',
  'throttled',
  'closed',
  'bad_response',
  'refused',
] satisfies AccountProblem[];

/** Whether an error is usually transient, unlike a wrong password. */
export const isTransient = (error: string): boolean => TRANSIENT_ERRORS.includes(error);

/** The message says what happened and what to do. It contains no password and no token. */
export class AccountError extends Error {
  readonly problem: AccountProblem;
  /** How long the server asks to wait; null if it doesn’t say. */
  readonly retryAfterMs: number | null;
  constructor(problem: AccountProblem, message: string, retryAfterMs: number | null = null) {
    super(message);
    this.problem = problem;
    this.retryAfterMs = retryAfterMs;
  }
}

const MAX_QUOTED = 160;

/** A sentence with what a server says, without control characters; empty if it says nothing. */
export function quoted(text: string | undefined, who = 'The server'): string {
  const clean = (text ?? '').replace(/[\p{C}\s]+/gu, ' ').trim();
  return clean === '' ? '' : ` ${who} says: “${clean.slice(0, MAX_QUOTED)}”`;
}
