/** To whom mail of ours may go. */

import type { Config } from '../config.ts';
import { addressDomain } from '../lib/domain-names.ts';
import { refuseEach } from '../lib/refuse-each.ts';

/**
 * Throws `validation_failed` for addresses of our own: mail that came in as a test would be counted by
 * the next report, or raise the alert that it tells of.
 */
export function refuseOwnAddresses(
  { INBOX_DOMAIN }: Pick<Config, 'INBOX_DOMAIN'>,
  recipients: string[],
): void {
  refuseEach(
    'recipients',
    recipients,
    (email) => addressDomain(email) === INBOX_DOMAIN,
    'is an address of this service, at which tests arrive; name one that people read',
  );
}
