/** Declared lists of client addresses that tell more than listed or not, and are off by default. */

import type { Blocklist } from './blocklist.ts';
import { ADDRESS_TEST } from './ip-lists.ts';

export const MORE_IP_LISTS: Blocklist[] = [
  {
    zone: 'rep.mailspike.net',
    name: 'Mailspike reputation',
    kind: 'ip',
    tier: 3,
    listed: {
      codes: {
        '127.0.0.10': 'a sender of the worst reputation (L5)',
        '127.0.0.11': 'a sender of very bad reputation (L4)',
        '127.0.0.12': 'a sender of bad reputation (L3)',
        '127.0.0.13': 'a sender that behaves suspiciously (L2)',
      },
    },
    noted: {
      '127.0.0.14': 'neutral, probably spam (L1)',
      '127.0.0.15': 'neutral (H0)',
      '127.0.0.16': 'neutral, probably legitimate (H1)',
      '127.0.0.17': 'possibly legitimate (H2)',
      '127.0.0.18': 'good reputation (H3)',
      '127.0.0.19': 'very good reputation (H4)',
      '127.0.0.20': 'excellent reputation (H5)',
    },
    errors: {},
    test: ADDRESS_TEST,
    delisting: 'https://mailspike.org/iplookup.html',
    byDefault: false,
    ipv6: false,
  },
  {
    zone: 'dnsbl.dronebl.org',
    name: 'DroneBL',
    kind: 'ip',
    tier: 3,
    listed: {
      codes: {
        '127.0.0.3': 'a drone on IRC',
        '127.0.0.5': 'a bottler',
        '127.0.0.6': 'an unknown worm or spam bot',
        '127.0.0.7': 'part of an attack that floods others',
        '127.0.0.8': 'an open SOCKS proxy',
        '127.0.0.9': 'an open HTTP proxy',
        '127.0.0.10': 'part of a chain of proxies',
        '127.0.0.11': 'a proxy on a web page',
        '127.0.0.12': 'an open DNS resolver',
        '127.0.0.13': 'a guesser of passwords',
        '127.0.0.14': 'an open Wingate proxy',
        '127.0.0.15': 'a hijacked router or gateway',
        '127.0.0.16': 'a worm that breaks into others',
        '127.0.0.17': 'part of a botnet, found automatically',
        '127.0.0.18': 'a DNS or mail host seen on IRC, possibly hijacked',
        '127.0.0.19': 'an abused VPN service',
        '127.0.0.255': 'a threat of no known class',
      },
    },
    noted: { '127.0.0.1': 'an entry for tests', '127.0.0.2': 'a sample' },
    errors: {},
    test: ADDRESS_TEST,
    delisting: 'https://dronebl.org/lookup',
    byDefault: false,
    ipv6: true,
  },
];
