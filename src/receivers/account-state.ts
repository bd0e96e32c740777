/** Whether an account at a receiver works, and for how long. */

import { type ReceiverAccount, SNDS_PAGE } from '../config/receivers.ts';
import { DAY_MS } from '../lib/durations.ts';
import { isTransient } from '../net/account-error.ts';
import type { ReceiverRow } from '../store/tables.generated.ts';

export const ACCOUNT_STATES = [
  'waiting',
  'working',
  'expiring',
  'failing',
  'not_signed_in',
] as const;
export type AccountState = (typeof ACCOUNT_STATES)[number];

/** Problems that only somebody who signs in can solve. */
const SIGN_IN_PROBLEMS = ['sign_in_required', 'sign_in_expired'];
/** Whether a problem usually ends by itself. */
export const isPassing = (problem: string): boolean =>
  problem !== 'refused' && isTransient(problem);

export function accountState(
  row: Pick<ReceiverRow, 'problem' | 'fetched_at'> | undefined,
): Exclude<AccountState, 'expiring'> {
  const problem = row?.problem ?? null;
  if (problem !== null) return SIGN_IN_PROBLEMS.includes(problem) ? 'not_signed_in' : 'failing';
  return row && row.fetched_at !== null ? 'working' : 'waiting';
}

/** Microsoft ends the access to addresses ten months after it was approved or confirmed, and a key after 30 days. */
const SIGN_IN_DAYS = { warn: 274, end: 304 };
const KEY_DAYS = { warn: 25, end: 30 };

export const renewalAdvice = ({ name, oauth }: ReceiverAccount): string =>
  oauth
    ? `Microsoft ends access that is not confirmed about every ten months. Confirm it at ${SNDS_PAGE}, then run: deliverability receivers sign-in ${name}`
    : `Keys last 30 days. Copy a new key from ${SNDS_PAGE}, or remove "key" and sign in instead.`;

/** What will soon keep a working account from being read; null if nothing will. */
export function expiryOf(
  account: ReceiverAccount,
  row: Pick<ReceiverRow, 'problem' | 'fetched_at' | 'access_since'> | undefined,
  now: number,
): { code: 'access_expiring'; message: string } | null {
  if (account.receiver !== 'microsoft_snds' || accountState(row) !== 'working') return null;
  const days = Math.floor((now - Date.parse(row!.access_since ?? '')) / DAY_MS);
  const { warn, end } = account.oauth ? SIGN_IN_DAYS : KEY_DAYS;
  // A time that is not known is NaN.
  if (!(days >= warn)) return null;
  const since = account.oauth
    ? `Nobody has confirmed the access for ${days >= end ? 'ten' : 'nine'} months.`
    : `The key has been in use for ${days} days.`;
  const message = `${since} ${renewalAdvice(account)}`;
  return { code: 'access_expiring', message };
}
