/** A certificate authority for tests. */

import { issueCertificate, type KeyPair, makeAuthority } from '../../src/lib/certificates.ts';

const DAY_MS = 86_400_000;
const NAME = 'An authority for tests';

export interface Authority {
  /** The CA certificate in PEM, for clients to trust. */
  ca: string;
  /** Issues a key and a certificate in PEM for host names and IP addresses. */
  issue(names: [string, ...string[]]): Promise<KeyPair>;
}

export async function makeTestAuthority(now = Date.now()): Promise<Authority> {
  const authority = await makeAuthority(NAME, now);
  return {
    ca: authority.cert,
    issue: (names) =>
      issueCertificate({ names, authority, authorityName: NAME, now, lifetime: 10 * DAY_MS }),
  };
}
