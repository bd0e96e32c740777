/** The declared lists of names of domains, and what each of their codes or bits means. */

import type { Blocklist } from './blocklist.ts';
import { SPAMHAUS_ERRORS } from './ip-lists.ts';

/** RFC 5782 §5: for names, TEST is always listed and INVALID never. */
const NAME_TEST = { listed: 'test', unlisted: 'invalid' };
/** https://spameatingmonkey.com/faq.html: names of its own. */
const MONKEY_TEST = { listed: '_dnsbl_.test', unlisted: '_dnsblneg_.test' };

const MONKEY_URI = {
  kind: 'domain',
  errors: {},
  test: MONKEY_TEST,
  delisting: 'https://spameatingmonkey.com/lookup',
  byDefault: false,
  ipv6: false,
} as const;

export const DOMAIN_LISTS: Blocklist[] = [
  {
    zone: 'dbl.spamhaus.org',
    name: 'Spamhaus DBL',
    kind: 'domain',
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
    ipv6: false,
    keyedZone: '<key>.dbl.dq.spamhaus.net',
    terms: 'As Spamhaus ZEN.',
  },
  {
    zone: 'multi.surbl.org',
    name: 'SURBL',
    kind: 'domain',
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
    ipv6: false,
    addresses: true,
    terms: 'Refuses public resolvers.',
  },
  {
    zone: 'multi.uribl.com',
    name: 'URIBL',
    kind: 'domain',
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
    ipv6: false,
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
    zone: 'zrd.dq.spamhaus.net',
    name: 'Spamhaus ZRD',
    kind: 'domain',
    tier: 2,
    listed: { codes: hoursOld() },
    errors: {
      ...SPAMHAUS_ERRORS,
      '127.0.2.255': 'It was asked about an address, which it does not list',
    },
    test: NAME_TEST,
    delisting: 'https://check.spamhaus.org/',
    byDefault: false,
    ipv6: false,
    keyedZone: '<key>.zrd.dq.spamhaus.net',
    needsKey: true,
    terms: 'Only with a key of the Data Query Service (DQS).',
  },
];

/** 127.0.2.2 to 127.0.2.24: within how many hours the domain was first seen. */
function hoursOld(): Record<string, string> {
  const hours = Array.from({ length: 23 }, (_, index) => index + 2);
  return Object.fromEntries(
    hours.map((hour) => [`127.0.2.${hour}`, `a domain first seen less than ${hour} hours ago`]),
  );
}
