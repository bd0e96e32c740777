/** The permanent addresses of placement monitors. */

import type { Config } from '../config/config.ts';
import type { MonitorRow } from '../store/tables.generated.ts';

/** The address of a placement monitor; null for other monitors. */
export const monitorAddress = (
  { token }: Pick<MonitorRow, 'token'>,
  { INBOX_DOMAIN }: Pick<Config, 'INBOX_DOMAIN'>,
): string | null => (token === null ? null : `${token}@${INBOX_DOMAIN}`);
