/** Every declared list, in the order in which they are shown. */

import { ALLOW_LISTS } from './allow-lists.ts';
import type { Blocklist } from './blocklist.ts';
import { DOMAIN_LISTS } from './domain-lists.ts';
import { IP_LISTS } from './ip-lists.ts';
import { MORE_IP_LISTS } from './more-ip-lists.ts';

/**
 * Only lists that are alive, and whose codes and test points are known: SORBS, NiXSpam and CBL, which
 * are gone, are not to come back.
 */
export const LISTS: Blocklist[] = [...IP_LISTS, ...MORE_IP_LISTS, ...DOMAIN_LISTS, ...ALLOW_LISTS];
