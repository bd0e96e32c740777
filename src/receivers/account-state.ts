/** Whether an account at a receiver works. */

import type { ReceiverRow } from '../store/tables.generated.ts';

export const ACCOUNT_STATES = ['waiting', 'working', 'failing', 'not_signed_in'] as const;
export type AccountState = (typeof ACCOUNT_STATES)[number];

/** Problems that only somebody who signs in can solve. */
const SIGN_IN_PROBLEMS = ['sign_in_required', 'sign_in_expired'];

export function accountState(
  row: Pick<ReceiverRow, 'problem' | 'fetched_at'> | undefined,
): AccountState {
  const problem = row?.problem ?? null;
  if (problem !== null) return SIGN_IN_PROBLEMS.includes(problem) ? 'not_signed_in' : 'failing';
  return row && row.fetched_at !== null ? 'working' : 'waiting';
}
