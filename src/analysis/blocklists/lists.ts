/** Every supported blocklist and allowlist. To add a list, add an entry here. */

import type { Blocklist, BlocklistKind } from './blocklist.ts';

/** RFC 5782 §5: 127.0.0.2 is always listed, 127.0.0.1 never. */
const ADDRESS_TEST = { listed: '2.0.0.127', unlisted: '1.0.0.127' };

/** https://www.spamhaus.org/faqs/dnsbl-usage/ */
const SPAMHAUS_ERRORS = {
  '127.255.255.252': 'The list does not recognize the queried zone',
  '127.255.255.254':
    'The list refuses queries from public resolvers and from resolvers with a generic host name',
  '127.255.255.255': 'The list refuses queries: this resolver sends too many',
};

const ADDRESS_LIST = {
  kind: 'ip',
  errors: {},
  test: ADDRESS_TEST,
  byDefault: false,
  ipv6: false,
} as const;

const PBL_ADVICE =
  'Send through the outgoing mail server of your provider. If this is your own mail server with a static IP address, remove it from the list.';

const UCEPROTECT = {
  ...ADDRESS_LIST,
  tier: 3,
  delisting: 'https://www.uceprotect.net/en/rblcheck.php',
} as const;

/** RFC 5782 §5: for names, TEST is always listed and INVALID never. */
const NAME_TEST = { listed: 'test', unlisted: 'invalid' };
/** https://spameatingmonkey.com/faq.html */
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

/** https://www.dnswl.org/?page_id=15: the third octet is the category, the fourth the trust level. */
const DNSWL_CATEGORIES: Record<number, string> = {
  2: 'financial services',
  3: 'email service provider',
  4: 'organization',
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
  15: 'email marketing provider',
  20: 'no category',
};
const DNSWL_TRUST = ['no', 'low', 'medium', 'high'];
const DNSWL_CODES = Object.fromEntries(
  Object.entries(DNSWL_CATEGORIES).flatMap(([category, name]) =>
    DNSWL_TRUST.map((trust, level) => [`127.0.${category}.${level}`, `${name}, ${trust} trust`]),
  ),
);

/** 127.0.2.2 to 127.0.2.24: the last octet is the age of the domain in hours, rounded up. */
const ZRD_CODES = Object.fromEntries(
  Array.from({ length: 23 }, (_, index) => index + 2).map((hour) => [
    `127.0.2.${hour}`,
    `a domain first seen less than ${hour} hours ago`,
  ]),
);

/**
 * In display order. Only active lists with documented codes and test points. Do not add SORBS, NiXSpam
 * or CBL: they have shut down.
 */
export const LISTS: Blocklist[] = [
  // IP addresses.
  {
    ...ADDRESS_LIST,
    zone: 'zen.spamhaus.org',
    name: 'Spamhaus ZEN',
    tier: 1,
    listed: {
      codes: {
        '127.0.0.2': 'a source of spam (SBL)',
        '127.0.0.3': 'a low-reputation sender, detected automatically (CSS)',
        '127.0.0.4': 'an infected or compromised computer (XBL)',
        '127.0.0.9': 'a network controlled by criminals (DROP)',
        '127.0.0.10':
          'an address that should not send mail directly, according to its network (PBL)',
        '127.0.0.11': 'an address that should not send mail directly, according to Spamhaus (PBL)',
        '127.0.0.30': 'a botnet control server (BCL)',
      },
    },
    errors: SPAMHAUS_ERRORS,
    delisting: 'https://check.spamhaus.org/',
    advice: { '127.0.0.10': PBL_ADVICE, '127.0.0.11': PBL_ADVICE },
    byDefault: true,
    ipv6: true,
    keyedZone: '<key>.zen.dq.spamhaus.net',
    terms: 'Refuses public resolvers. With a Data Query Service (DQS) key, any resolver works.',
  },
  {
    ...ADDRESS_LIST,
    zone: 'bl.spamcop.net',
    name: 'SpamCop',
    tier: 2,
    listed: { codes: { '127.0.0.2': 'a source of mail that recipients report as spam' } },
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
        '127.0.0.2': 'part of a current spam wave',
        '127.0.0.10': 'a sender with the worst reputation (L5)',
        '127.0.0.11': 'a sender with a very bad reputation (L4)',
        '127.0.0.12': 'a sender with a bad reputation (L3)',
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
    listed: { codes: { '127.0.0.2': 'a source of mail to spam traps' } },
    delisting: 'https://psbl.org/remove',
    byDefault: true,
  },
  {
    ...ADDRESS_LIST,
    zone: 'bl.spameatingmonkey.net',
    name: 'SpamEatingMonkey SEM-BLACK',
    tier: 2,
    listed: { codes: { '127.0.0.2': 'a source of mail to spam traps, or of unwanted mail' } },
    delisting: 'https://spameatingmonkey.com/lookup',
    byDefault: true,
  },
  {
    ...UCEPROTECT,
    zone: 'dnsbl-1.uceprotect.net',
    name: 'UCEPROTECT level 1',
    listed: { codes: { '127.0.0.2': 'a source of mail to spam traps in the last seven days' } },
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
    listed: { codes: { '127.0.0.2': 'part of a provider network with many listed addresses' } },
  },
  {
    ...ADDRESS_LIST,
    zone: 'b.barracudacentral.org',
    name: 'Barracuda',
    tier: 2,
    listed: { codes: { '127.0.0.2': 'a sender with a poor reputation' } },
    delisting: 'https://www.barracudacentral.org/rbl/removal-request',
    terms: 'Register the IP address of your resolver (free).',
  },
  {
    ...ADDRESS_LIST,
    zone: 'bl.score.senderscore.com',
    name: 'Validity RPBL',
    tier: 2,
    listed: {
      bits: {
        1: 'an address that behaves like part of a botnet',
        2: 'a source of unauthenticated mail',
        4: 'a source of mail to spam traps that were never real addresses',
        8: 'a source of suspicious attachments',
        16: 'a sender with a low Sender Score',
      },
    },
    errors: {
      '127.255.255.255':
        'The list refuses queries: this resolver is not registered, or it sends too many',
    },
    delisting: 'https://senderscore.org/',
    terms: 'Register the IP address of your resolver at my.validity.com.',
  },
  {
    ...ADDRESS_LIST,
    zone: 'ips.backscatterer.org',
    name: 'Backscatterer',
    tier: 3,
    listed: {
      codes: { '127.0.0.2': 'a source of backscatter (bounces to people who sent nothing)' },
    },
    delisting: 'https://www.backscatterer.org/?target=test',
  },
  {
    ...ADDRESS_LIST,
    zone: 'all.s5h.net',
    name: 's5h.net',
    tier: 3,
    listed: { codes: { '127.0.0.2': 'a source of email or web spam' } },
    delisting: 'https://www.usenix.org.uk/content/rblremove',
    ipv6: true,
  },
  // IP addresses, with more results than listed or not listed.
  {
    ...ADDRESS_LIST,
    zone: 'rep.mailspike.net',
    name: 'Mailspike reputation',
    tier: 3,
    listed: {
      codes: {
        '127.0.0.10': 'a sender with the worst reputation (L5)',
        '127.0.0.11': 'a sender with a very bad reputation (L4)',
        '127.0.0.12': 'a sender with a bad reputation (L3)',
        '127.0.0.13': 'a sender with suspicious behavior (L2)',
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
        '127.0.0.3': 'a bot on IRC',
        '127.0.0.5': 'a bottler',
        '127.0.0.6': 'an unknown worm or spambot',
        '127.0.0.7': 'part of a DDoS attack',
        '127.0.0.8': 'an open SOCKS proxy',
        '127.0.0.9': 'an open HTTP proxy',
        '127.0.0.10': 'part of a proxy chain',
        '127.0.0.11': 'a web page proxy',
        '127.0.0.12': 'an open DNS resolver',
        '127.0.0.13': 'a source of brute-force attacks',
        '127.0.0.14': 'an open Wingate proxy',
        '127.0.0.15': 'a compromised router or gateway',
        '127.0.0.16': 'a worm that takes over other systems',
        '127.0.0.17': 'part of a botnet, detected automatically',
        '127.0.0.18': 'a DNS or mail host seen on IRC, possibly compromised',
        '127.0.0.19': 'an abused VPN service',
        '127.0.0.255': 'an uncategorized threat',
      },
    },
    noted: { '127.0.0.1': 'a test entry', '127.0.0.2': 'a sample' },
    delisting: 'https://dronebl.org/lookup',
    ipv6: true,
  },
  // Domains.
  {
    ...DOMAIN_LIST,
    zone: 'dbl.spamhaus.org',
    name: 'Spamhaus DBL',
    tier: 1,
    listed: {
      codes: {
        '127.0.1.2': 'a low-reputation domain',
        '127.0.1.3': 'a redirector used in spam',
        '127.0.1.4': 'a phishing domain',
        '127.0.1.5': 'a malware domain',
        '127.0.1.6': 'a botnet control domain',
        '127.0.1.102': 'a legitimate domain abused by spammers',
        '127.0.1.103': 'a legitimate redirector abused by spammers',
        '127.0.1.104': 'a legitimate domain abused for phishing',
        '127.0.1.105': 'a legitimate domain abused for malware',
        '127.0.1.106': 'a legitimate domain abused for botnet control',
      },
    },
    errors: {
      ...SPAMHAUS_ERRORS,
      '127.0.1.255': 'The query was for an IP address, which the list does not cover',
    },
    test: { listed: 'dbltest.com', unlisted: 'example.com' },
    delisting: 'https://check.spamhaus.org/',
    byDefault: true,
    keyedZone: '<key>.dbl.dq.spamhaus.net',
    terms: 'Same as Spamhaus ZEN.',
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
        64: 'a site advertised in spam (ABUSE)',
        128: 'a compromised site (CR)',
      },
    },
    // The test point sets all bits except the refusal bit, including the unused one.
    noted: {
      2: 'an unassigned bit',
      4: 'a domain for disposable addresses (DM)',
      32: 'a click tracker (CT)',
    },
    errors: { '127.0.0.1': 'The list refuses queries from this resolver' },
    test: { listed: 'surbl-org-permanent-test-point.com', unlisted: 'example.com' },
    delisting: 'https://surbl.org/surbl-analysis',
    byDefault: true,
    acceptsAddresses: true,
    terms: 'Refuses public resolvers.',
  },
  {
    ...DOMAIN_LIST,
    zone: 'multi.uribl.com',
    name: 'URIBL',
    tier: 2,
    listed: {
      bits: {
        2: 'a spammer domain (black)',
        4: 'a domain in unsolicited bulk mail (grey)',
      },
    },
    // The operator warns that it is automatic and risky, and filters give it almost no weight.
    noted: { 8: 'a very new or hidden domain (red)' },
    errors: { '127.0.0.1': 'The list refuses queries from this resolver' },
    test: { listed: 'test.uribl.com', unlisted: 'example.com' },
    delisting: 'https://lookup.uribl.com/',
    byDefault: true,
    acceptsAddresses: true,
    terms: 'Refuses public resolvers.',
  },
  {
    ...MONKEY_URI,
    zone: 'uribl.spameatingmonkey.net',
    name: 'SpamEatingMonkey SEM-URI',
    tier: 2,
    listed: { codes: { '127.0.0.2': 'a domain found in mail to spam traps' } },
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
      '127.0.2.255': 'The query was for an IP address, which the list does not cover',
    },
    delisting: 'https://check.spamhaus.org/',
    keyedZone: '<key>.zrd.dq.spamhaus.net',
    needsKey: true,
    terms: 'Requires a Data Query Service (DQS) key.',
  },
  // Allowlists.
  {
    ...ALLOWLIST,
    zone: 'list.dnswl.org',
    name: 'DNSWL',
    listed: { codes: DNSWL_CODES },
    errors: { '127.0.0.255': 'The list refuses queries: this resolver sends too many' },
    // Resolvers that ignore a refusal get "high trust" for every address, so the test of the unlisted
    // address fails.
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

const COVERS: Record<BlocklistKind, string> = {
  ip: 'addresses',
  domain: 'domains',
  allow: 'addresses',
};

/** The lists as a Markdown table for the documentation, without a final newline. */
export function blocklistTable(): string {
  return [
    '| List | Zone | Covers | Counts as | On by default | Notes |',
    '| --- | --- | --- | --- | --- | --- |',
    ...LISTS.map(row),
  ].join('\n');
}

function row(list: Blocklist): string {
  const { name, zone, kind, tier, ipv6, acceptsAddresses: addresses, byDefault, terms = '' } = list;
  const more = ipv6 ? ', including IPv6' : addresses ? ' and addresses in links' : '';
  const counts = kind === 'allow' ? 'allowlist' : `tier ${tier}`;
  const cells = [
    name,
    `\`${zone}\``,
    `${COVERS[kind]}${more}`,
    counts,
    byDefault ? 'yes' : '',
    terms,
  ];
  return `| ${cells.join(' | ')} |`;
}
