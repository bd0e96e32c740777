/** A certificate authority of a test's own, and the certificates for servers that it issues. */

import { issueCertificate, type KeyPair, makeAuthority } from '../../src/lib/certificates.ts';

const DAY = 86_400_000;
const NAME = 'An authority for tests';

export interface Authority {
  /** PEM: what a client is to trust. */
  ca: string;
  /** Key and certificate, in PEM, for a server of these names and addresses. */
  issue(names: [string, ...string[]]): Promise<KeyPair>;
}

export async function makeTestAuthority(now = Date.now()): Promise<Authority> {
  const authority = await makeAuthority(NAME, now);
  return {
    ca: authority.cert,
    issue: (names) =>
      issueCertificate({ names, authority, authorityName: NAME, now, lifetime: 10 * DAY }),
  };
}
