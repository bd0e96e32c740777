/** Every blocklist and allowlist that the program knows: an entry here is all that one needs. */

import type { Blocklist, BlocklistKind } from './blocklist.ts';

/** RFC 5782 §5: 127.0.0.2 is always listed, 127.0.0.1 never. */
const ADDRESS_TEST = { listed: '2.0.0.127', unlisted: '1.0.0.127' };

/** https://www.spamhaus.org/faqs/dnsbl-usage/ */
const SPAMHAUS_ERRORS = {
  '127.255.255.252': 'It does not know the zone that was asked',
  '127.255.255.254':
    'It refuses questions that come through a public resolver, or one without a name of its own',
  '127.255.255.255': 'It refuses: too many questions come from this resolver',
};

const ADDRESS_LIST = {
  kind: 'ip',
  errors: {},
  test: ADDRESS_TEST,
  byDefault: false,
  ipv6: false,
} as const;

const PBL_ADVICE =
  'Send through the outgoing mail server of your provider, or, where this is a mail server of your own with a fixed address, have it taken off the list.';

const UCEPROTECT = {
  ...ADDRESS_LIST,
  tier: 3,
  delisting: 'https://www.uceprotect.net/en/rblcheck.php',
} as const;

/** RFC 5782 §5: for names, TEST is always listed and INVALID never. */
const NAME_TEST = { listed: 'test', unlisted: 'invalid' };
/** https://spameatingmonkey.com/faq.html: names of its own. */
const MONKEY_TEST = { listed: '_dnsbl_.test', unlisted: '_dnsblneg_.test' };

const DOMAIN_LIST = {
  kind: 'domain',
  errors: {},
  test: NAME_TEST,
  byDefault: false,
  ipv6: false,
} as const;

const MONKEY_URI = {
  ...DOMAIN_LIST,
  test: MONKEY_TEST,
  delisting: 'https://spameatingmonkey.com/lookup',
} as const;

const ALLOWLIST = { ...ADDRESS_LIST, kind: 'allow', tier: 3 } as const;

/** https://www.dnswl.org/?page_id=15: the third octet is the category, the fourth the trust. */
const DNSWL_CATEGORIES: Record<number, string> = {
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
const DNSWL_TRUST = ['no', 'low', 'medium', 'high'];
const DNSWL_CODES = Object.fromEntries(
  Object.entries(DNSWL_CATEGORIES).flatMap(([category, name]) =>
    DNSWL_TRUST.map((trust, level) => [`127.0.${category}.${level}`, `${name}, ${trust} trust`]),
  ),
);

/** 127.0.2.2 to 127.0.2.24: within how many hours the domain was first seen. */
const ZRD_CODES = Object.fromEntries(
  Array.from({ length: 23 }, (_, index) => index + 2).map((hour) => [
    `127.0.2.${hour}`,
    `a domain first seen less than ${hour} hours ago`,
  ]),
);

/**
 * In the order in which they are shown. Only lists that are alive, and whose codes and test points are
 * known: SORBS, NiXSpam and CBL, which are gone, are not to come back.
 */
export const LISTS: Blocklist[] = [
  // Of client addresses.
  {
    ...ADDRESS_LIST,
    zone: 'zen.spamhaus.org',
    name: 'Spamhaus ZEN',
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
    delisting: 'https://check.spamhaus.org/',
    advice: { '127.0.0.10': PBL_ADVICE, '127.0.0.11': PBL_ADVICE },
    byDefault: true,
    ipv6: true,
    keyedZone: '<key>.zen.dq.spamhaus.net',
    terms: 'Refuses public resolvers; with a key of the Data Query Service (DQS) any will do.',
  },
  {
    ...ADDRESS_LIST,
    zone: 'bl.spamcop.net',
    name: 'SpamCop',
    tier: 2,
    listed: { codes: { '127.0.0.2': 'a source of mail that people report as spam' } },
    delisting: 'https://www.spamcop.net/bl.shtml',
    byDefault: true,
  },
  {
    ...ADDRESS_LIST,
    zone: 'bl.mailspike.net',
    name: 'Mailspike BL',
    tier: 2,
    listed: {
      codes: {
        '127.0.0.2': 'part of a wave of spam that is going on',
        '127.0.0.10': 'a sender of the worst reputation (L5)',
        '127.0.0.11': 'a sender of very bad reputation (L4)',
        '127.0.0.12': 'a sender of bad reputation (L3)',
      },
    },
    delisting: 'https://mailspike.org/iplookup.html',
    byDefault: true,
  },
  {
    ...ADDRESS_LIST,
    zone: 'psbl.surriel.com',
    name: 'PSBL',
    tier: 2,
    listed: { codes: { '127.0.0.2': 'a sender of mail to spam traps' } },
    delisting: 'https://psbl.org/remove',
    byDefault: true,
  },
  {
    ...ADDRESS_LIST,
    zone: 'bl.spameatingmonkey.net',
    name: 'SpamEatingMonkey SEM-BLACK',
    tier: 2,
    listed: { codes: { '127.0.0.2': 'a sender of mail to spam traps, or of unwanted mail' } },
    delisting: 'https://spameatingmonkey.com/lookup',
    byDefault: true,
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
  },
  {
    ...UCEPROTECT,
    zone: 'dnsbl-3.uceprotect.net',
    name: 'UCEPROTECT level 3',
    listed: { codes: { '127.0.0.2': 'part of a provider with many listed addresses' } },
  },
  {
    ...ADDRESS_LIST,
    zone: 'b.barracudacentral.org',
    name: 'Barracuda',
    tier: 2,
    listed: { codes: { '127.0.0.2': 'a sender of poor reputation' } },
    delisting: 'https://www.barracudacentral.org/rbl/removal-request',
    terms: 'The address of the resolver must be registered (free of charge).',
  },
  {
    ...ADDRESS_LIST,
    zone: 'bl.score.senderscore.com',
    name: 'Validity RPBL',
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
    delisting: 'https://senderscore.org/',
    terms: 'The address of the resolver must be registered at my.validity.com.',
  },
  {
    ...ADDRESS_LIST,
    zone: 'ips.backscatterer.org',
    name: 'Backscatterer',
    tier: 3,
    listed: { codes: { '127.0.0.2': 'a sender of bounces to people who never wrote' } },
    delisting: 'https://www.backscatterer.org/?target=test',
  },
  {
    ...ADDRESS_LIST,
    zone: 'all.s5h.net',
    name: 's5h.net',
    tier: 3,
    listed: { codes: { '127.0.0.2': 'a source of spam by mail or on web pages' } },
    delisting: 'https://www.usenix.org.uk/content/rblremove',
    ipv6: true,
  },
  // Of client addresses too: these tell more than listed or not.
  {
    ...ADDRESS_LIST,
    zone: 'rep.mailspike.net',
    name: 'Mailspike reputation',
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
    delisting: 'https://mailspike.org/iplookup.html',
  },
  {
    ...ADDRESS_LIST,
    zone: 'dnsbl.dronebl.org',
    name: 'DroneBL',
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
    delisting: 'https://dronebl.org/lookup',
    ipv6: true,
  },
  // Of domains.
  {
    ...DOMAIN_LIST,
    zone: 'dbl.spamhaus.org',
    name: 'Spamhaus DBL',
    tier: 1,
    listed: {
      codes: {
        '127.0.1.2': 'a domain of low reputation',
        '127.0.1.3': 'a redirector used in spam',
        '127.0.1.4': 'a domain of phishing',
        '127.0.1.5': 'a domain of malware',
        '127.0.1.6': 'a control server of a botnet',
        '127.0.1.102': 'a legitimate domain abused by spammers',
        '127.0.1.103': 'a legitimate redirector abused by spammers',
        '127.0.1.104': 'a legitimate domain abused for phishing',
        '127.0.1.105': 'a legitimate domain abused for malware',
        '127.0.1.106': 'a legitimate domain abused to control a botnet',
      },
    },
    errors: {
      ...SPAMHAUS_ERRORS,
      '127.0.1.255': 'It was asked about an address, which it does not list',
    },
    test: { listed: 'dbltest.com', unlisted: 'example.com' },
    delisting: 'https://check.spamhaus.org/',
    byDefault: true,
    keyedZone: '<key>.dbl.dq.spamhaus.net',
    terms: 'As Spamhaus ZEN.',
  },
  {
    ...DOMAIN_LIST,
    zone: 'multi.surbl.org',
    name: 'SURBL',
    tier: 2,
    listed: {
      bits: {
        8: 'a phishing site (PH)',
        16: 'a malware site (MW)',
        64: 'a site in spam (ABUSE)',
        128: 'a cracked site (CR)',
      },
    },
    // Its test point sets all bits but the one of a refusal, the unused one too.
    noted: {
      2: 'a bit that is not in use',
      4: 'a domain of throw-away addresses (DM)',
      32: 'a click tracker (CT)',
    },
    errors: { '127.0.0.1': 'It refuses questions from this resolver' },
    test: { listed: 'surbl-org-permanent-test-point.com', unlisted: 'example.com' },
    delisting: 'https://surbl.org/surbl-analysis',
    byDefault: true,
    addresses: true,
    terms: 'Refuses public resolvers.',
  },
  {
    ...DOMAIN_LIST,
    zone: 'multi.uribl.com',
    name: 'URIBL',
    tier: 2,
    listed: {
      bits: {
        2: 'a domain of spammers (black)',
        4: 'a domain in unsolicited bulk mail (grey)',
      },
    },
    // Its operator calls it automatic and at one's own risk, and filters give it next to no weight.
    noted: { 8: 'a very young or hidden domain (red)' },
    errors: { '127.0.0.1': 'It refuses questions from this resolver' },
    test: { listed: 'test.uribl.com', unlisted: 'example.com' },
    delisting: 'https://lookup.uribl.com/',
    byDefault: true,
    addresses: true,
    terms: 'Refuses public resolvers.',
  },
  {
    ...MONKEY_URI,
    zone: 'uribl.spameatingmonkey.net',
    name: 'SpamEatingMonkey SEM-URI',
    tier: 2,
    listed: { codes: { '127.0.0.2': 'a domain in mail to spam traps' } },
  },
  {
    ...MONKEY_URI,
    zone: 'fresh.spameatingmonkey.net',
    name: 'SpamEatingMonkey SEM-FRESH',
    tier: 3,
    listed: { codes: { '127.0.0.2': 'a domain registered in the last five days' } },
  },
  {
    ...MONKEY_URI,
    zone: 'fresh15.spameatingmonkey.net',
    name: 'SpamEatingMonkey SEM-FRESH15',
    tier: 3,
    listed: { codes: { '127.0.0.2': 'a domain registered in the last fifteen days' } },
  },
  {
    ...DOMAIN_LIST,
    zone: 'zrd.dq.spamhaus.net',
    name: 'Spamhaus ZRD',
    tier: 2,
    listed: { codes: ZRD_CODES },
    errors: {
      ...SPAMHAUS_ERRORS,
      '127.0.2.255': 'It was asked about an address, which it does not list',
    },
    delisting: 'https://check.spamhaus.org/',
    keyedZone: '<key>.zrd.dq.spamhaus.net',
    needsKey: true,
    terms: 'Only with a key of the Data Query Service (DQS).',
  },
  // Allowlists: being on one of them helps.
  {
    ...ALLOWLIST,
    zone: 'list.dnswl.org',
    name: 'DNSWL',
    listed: { codes: DNSWL_CODES },
    errors: { '127.0.0.255': 'It refuses: too many questions come from this resolver' },
    // Those who go on after a refusal get "high trust" for every address: the unlisted point tells.
    delisting: 'https://www.dnswl.org/s/',
    byDefault: true,
    ipv6: true,
  },
  {
    ...ALLOWLIST,
    zone: 'wl.mailspike.net',
    name: 'Mailspike WL',
    listed: {
      codes: {
        '127.0.0.17': 'possibly legitimate (H2)',
        '127.0.0.18': 'good reputation (H3)',
        '127.0.0.19': 'very good reputation (H4)',
        '127.0.0.20': 'excellent reputation (H5)',
      },
    },
    delisting: 'https://mailspike.org/iplookup.html',
  },
];

// The declared lists as a table for the documentation.

const ASKED_ABOUT: Record<BlocklistKind, string> = {
  ip: 'addresses',
  domain: 'domains',
  allow: 'addresses',
};

/** Markdown, without an end of line. */
export function blocklistTable(): string {
  return [
    '| List | Zone | Asked about | Counts as | On | |',
    '| --- | --- | --- | --- | --- | --- |',
    ...LISTS.map(row),
  ].join('\n');
}

function row(list: Blocklist): string {
  const { name, zone, kind, tier, ipv6, addresses, byDefault, terms = '' } = list;
  const more = ipv6 ? ', IPv6 too' : addresses ? ' and addresses in links' : '';
  const counts = kind === 'allow' ? 'allowlist' : `tier ${tier}`;
  const cells = [
    name,
    `\`${zone}\``,
    `${ASKED_ABOUT[kind]}${more}`,
    counts,
    byDefault ? 'yes' : '',
    terms,
  ];
  return `| ${cells.join(' | ')} |`;
}
