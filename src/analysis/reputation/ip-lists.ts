/** The declared lists of client addresses, and what each of their codes means. */

import type { Blocklist } from './blocklist.ts';

/** RFC 5782 §5: 127.0.0.2 is always listed, 127.0.0.1 never. */
export const ADDRESS_TEST = { listed: '2.0.0.127', unlisted: '1.0.0.127' };

/** https://www.spamhaus.org/faqs/dnsbl-usage/ */
export const SPAMHAUS_ERRORS = {
  '127.255.255.252': 'It does not know the zone that was asked',
  '127.255.255.254':
    'It refuses questions that come through a public resolver, or one without a name of its own',
  '127.255.255.255': 'It refuses: too many questions come from this resolver',
};

const PBL_ADVICE =
  'Send through the outgoing mail server of your provider, or, where this is a mail server of your own with a fixed address, have it taken off the list.';

const UCEPROTECT = {
  kind: 'ip',
  tier: 3,
  errors: {},
  test: ADDRESS_TEST,
  delisting: 'https://www.uceprotect.net/en/rblcheck.php',
  ipv6: false,
} as const;

export const IP_LISTS: Blocklist[] = [
  {
    zone: 'zen.spamhaus.org',
    name: 'Spamhaus ZEN',
    kind: 'ip',
    tier: 1,
    listed: {
      codes: {
        '127.0.0.2': 'a source of spam (SBL)',
        '127.0.0.3': 'a sender of mail of low reputation, found automatically (CSS)',
        '127.0.0.4': 'an infected or hijacked machine (XBL)',
        '127.0.0.9': 'a network in the hands of criminals (DROP)',
        '127.0.0.10': 'an address that should not send mail directly, as its network says (PBL)',
        '127.0.0.11': 'an address that should not send mail directly, as Spamhaus says (PBL)',
        '127.0.0.30': 'a control server of a botnet (BCL)',
      },
    },
    errors: SPAMHAUS_ERRORS,
    test: ADDRESS_TEST,
    delisting: 'https://check.spamhaus.org/',
    advice: { '127.0.0.10': PBL_ADVICE, '127.0.0.11': PBL_ADVICE },
    byDefault: true,
    ipv6: true,
    keyedZone: '<key>.zen.dq.spamhaus.net',
    terms: 'Refuses public resolvers; with a key of the Data Query Service (DQS) any will do.',
  },
  {
    zone: 'bl.spamcop.net',
    name: 'SpamCop',
    kind: 'ip',
    tier: 2,
    listed: { codes: { '127.0.0.2': 'a source of mail that people report as spam' } },
    errors: {},
    test: ADDRESS_TEST,
    delisting: 'https://www.spamcop.net/bl.shtml',
    byDefault: true,
    ipv6: false,
  },
  {
    zone: 'bl.mailspike.net',
    name: 'Mailspike BL',
    kind: 'ip',
    tier: 2,
    listed: {
      codes: {
        '127.0.0.2': 'part of a wave of spam that is going on',
        '127.0.0.10': 'a sender of the worst reputation (L5)',
        '127.0.0.11': 'a sender of very bad reputation (L4)',
        '127.0.0.12': 'a sender of bad reputation (L3)',
      },
    },
    errors: {},
    test: ADDRESS_TEST,
    delisting: 'https://mailspike.org/iplookup.html',
    byDefault: true,
    ipv6: false,
  },
  {
    zone: 'psbl.surriel.com',
    name: 'PSBL',
    kind: 'ip',
    tier: 2,
    listed: { codes: { '127.0.0.2': 'a sender of mail to spam traps' } },
    errors: {},
    test: ADDRESS_TEST,
    delisting: 'https://psbl.org/remove',
    byDefault: true,
    ipv6: false,
  },
  {
    zone: 'bl.spameatingmonkey.net',
    name: 'SpamEatingMonkey SEM-BLACK',
    kind: 'ip',
    tier: 2,
    listed: { codes: { '127.0.0.2': 'a sender of mail to spam traps, or of unwanted mail' } },
    errors: {},
    test: ADDRESS_TEST,
    delisting: 'https://spameatingmonkey.com/lookup',
    byDefault: true,
    ipv6: false,
  },
  {
    ...UCEPROTECT,
    zone: 'dnsbl-1.uceprotect.net',
    name: 'UCEPROTECT level 1',
    listed: { codes: { '127.0.0.2': 'a sender of mail to spam traps in the last seven days' } },
    byDefault: true,
  },
  {
    ...UCEPROTECT,
    zone: 'dnsbl-2.uceprotect.net',
    name: 'UCEPROTECT level 2',
    listed: { codes: { '127.0.0.2': 'part of a network with several listed addresses' } },
    byDefault: false,
  },
  {
    ...UCEPROTECT,
    zone: 'dnsbl-3.uceprotect.net',
    name: 'UCEPROTECT level 3',
    listed: { codes: { '127.0.0.2': 'part of a provider with many listed addresses' } },
    byDefault: false,
  },
  {
    zone: 'b.barracudacentral.org',
    name: 'Barracuda',
    kind: 'ip',
    tier: 2,
    listed: { codes: { '127.0.0.2': 'a sender of poor reputation' } },
    errors: {},
    test: ADDRESS_TEST,
    delisting: 'https://www.barracudacentral.org/rbl/removal-request',
    byDefault: false,
    ipv6: false,
    terms: 'The address of the resolver must be registered (free of charge).',
  },
  {
    zone: 'bl.score.senderscore.com',
    name: 'Validity RPBL',
    kind: 'ip',
    tier: 2,
    listed: {
      bits: {
        1: 'an address that behaves as part of a botnet',
        2: 'a sender of mail without authentication',
        4: 'a sender of mail to spam traps that were never anybody’s address',
        8: 'a sender of suspicious attachments',
        16: 'a sender of a low Sender Score',
      },
    },
    errors: {
      '127.255.255.255':
        'It refuses: the resolver is not registered, or too many questions come from it',
    },
    test: ADDRESS_TEST,
    delisting: 'https://senderscore.org/',
    byDefault: false,
    ipv6: false,
    terms: 'The address of the resolver must be registered at my.validity.com.',
  },
  {
    zone: 'ips.backscatterer.org',
    name: 'Backscatterer',
    kind: 'ip',
    tier: 3,
    listed: { codes: { '127.0.0.2': 'a sender of bounces to people who never wrote' } },
    errors: {},
    test: ADDRESS_TEST,
    delisting: 'https://www.backscatterer.org/?target=test',
    byDefault: false,
    ipv6: false,
  },
  {
    zone: 'all.s5h.net',
    name: 's5h.net',
    kind: 'ip',
    tier: 3,
    listed: { codes: { '127.0.0.2': 'a source of spam by mail or on web pages' } },
    errors: {},
    test: ADDRESS_TEST,
    delisting: 'https://www.usenix.org.uk/content/rblremove',
    byDefault: false,
    ipv6: true,
  },
];
