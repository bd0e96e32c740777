/** Checks that a sign-in through Microsoft Graph belongs to the configured mailbox. Mail servers check that themselves. */

import type { SeedMailbox } from '../config/seed-mailboxes.ts';
import { AccountError } from '../net/account-error.ts';
import type { GraphMailbox } from '../net/graph/mailbox.ts';
import { type SignIn, signInAdvice } from '../sign-ins/sign-in.ts';

/** What is wrong with the account; null if it is right, or if the permissions don’t tell. Rejects with a AccountError. */
export async function accountFault(
  mailbox: GraphMailbox,
  seed: Pick<SeedMailbox, 'address' | 'graphUser'> & SignIn,
): Promise<AccountError | null> {
  const addresses = await mailbox.ownAddresses();
  const expected = seed.graphUser ?? seed.address;
  if (addresses === null || addresses.includes(expected)) return null;
  const alias =
    seed.graphUser === null
      ? ` If that account has both addresses, set "user" to ${addresses[0]}. Otherwise, sign in again.`
      : '';
  return new AccountError(
    'wrong_account',
    `The sign-in belongs to ${addresses[0]}, not to ${expected}.${alias} ${signInAdvice(seed)}`,
  );
}
