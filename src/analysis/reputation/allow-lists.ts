/** The declared allowlists: being on one of them helps. */

import type { Blocklist } from './blocklist.ts';
import { ADDRESS_TEST } from './ip-lists.ts';

/** https://www.dnswl.org/?page_id=15: the third octet. */
const CATEGORIES: Record<number, string> = {
  2: 'financial services',
  3: 'e-mail service provider',
  4: 'organisation',
  5: 'network provider',
  6: 'personal or private server',
  7: 'travel and leisure',
  8: 'public sector',
  9: 'media and technology',
  10: 'special case',
  11: 'education',
  12: 'health care',
  13: 'manufacturing',
  14: 'retail and services',
  15: 'e-mail marketing provider',
  20: 'without a category',
};

/** The fourth octet. */
const TRUST = ['no', 'low', 'medium', 'high'];

export const ALLOW_LISTS: Blocklist[] = [
  {
    zone: 'list.dnswl.org',
    name: 'DNSWL',
    kind: 'allow',
    tier: 3,
    listed: { codes: trustLevels() },
    errors: { '127.0.0.255': 'It refuses: too many questions come from this resolver' },
    // Those who go on after a refusal get "high trust" for every address: the unlisted point tells.
    test: ADDRESS_TEST,
    delisting: 'https://www.dnswl.org/s/',
    byDefault: true,
    ipv6: true,
  },
  {
    zone: 'wl.mailspike.net',
    name: 'Mailspike WL',
    kind: 'allow',
    tier: 3,
    listed: {
      codes: {
        '127.0.0.17': 'possibly legitimate (H2)',
        '127.0.0.18': 'good reputation (H3)',
        '127.0.0.19': 'very good reputation (H4)',
        '127.0.0.20': 'excellent reputation (H5)',
      },
    },
    errors: {},
    test: ADDRESS_TEST,
    delisting: 'https://mailspike.org/iplookup.html',
    byDefault: false,
    ipv6: false,
  },
];

/** 127.0.x.y: x is the category, y the trust. */
function trustLevels(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(CATEGORIES).flatMap(([category, name]) =>
      TRUST.map((trust, level) => [`127.0.${category}.${level}`, `${name}, ${trust} trust`]),
    ),
  );
}
