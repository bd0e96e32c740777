/** What the operator has configured that a result depends on; plain data, told with each analysis. */

import type { BlocklistInUse } from './reputation/blocklist.ts';

export interface Setup {
  /** The lists that are switched on, with what their last test showed. */
  blocklists: BlocklistInUse[];
  /** `tcp://host:port` of spamd; null where there is none. */
  spamd: string | null;
  /** `http://host:port` of Rspamd; null where there is none. */
  rspamd: string | null;
  /** Whether the links of a message may be asked (HEAD alone). */
  checkLinks: boolean;
}

/** Nothing configured: no lists, no engines, no links asked. */
export const NO_SETUP: Setup = { blocklists: [], spamd: null, rspamd: null, checkLinks: false };
