/** Opens the client of Google Postmaster Tools for tests. */

import assert from 'node:assert/strict';
import { AccountError, type AccountProblem } from '../../../src/net/account-error.ts';
import { zoneResolver } from '../../../src/net/dns/zone.ts';
import { openPostmaster, type Postmaster } from '../../../src/net/google-postmaster/client.ts';
import { createTrustedWebClient } from '../../../src/net/http/client.ts';

export const web = createTrustedWebClient(zoneResolver({}));

export const open = (
  { url }: { url: string },
  { accessToken = 'access', signal = new AbortController().signal } = {},
): Postmaster => openPostmaster({ web, baseUrl: url, accessToken, signal });

/** The error of an operation, which must have this problem and no secret. */
export async function failure(
  operation: Promise<unknown>,
  problem: AccountProblem | null,
  secret = 'access',
): Promise<AccountError> {
  const error = await operation.then(
    (value) => assert.fail(`No error, but ${JSON.stringify(value)?.slice(0, 200)}`),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof AccountError, String(error));
  if (problem !== null) assert.equal(error.problem, problem, error.message);
  const texts = [error.message, error.stack, JSON.stringify(error)].join();
  assert.ok(!new RegExp(`\\b${secret}\\b(?! token)`).test(texts), texts);
  return error;
}
