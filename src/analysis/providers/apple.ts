/** Apple's requirements for senders to iCloud Mail, as published in 2026. */

import type { FindFact } from '../consequences.ts';
import {
  dblOutcome,
  dmarcPolicyRule,
  FORMAT_CHECKS,
  failsOnWarning,
  needsRsa,
  needsRsaOrSpf,
  type ProviderRules,
  TRUE_SENDER,
} from './rule.ts';

/** From Apple's postmaster page. It defines no volume for bulk mail and publishes no status codes; those here are in its replies. */
export const apple: ProviderRules = {
  provider: 'apple',
  name: 'Apple',
  reference: {
    name: 'Apple: Postmaster information for iCloud Mail',
    url: 'https://support.apple.com/102322',
  },
  rules: [
    {
      id: 'spf_or_dkim',
      title: 'Mail passes SPF or DKIM, which iCloud Mail uses to authenticate all mail.',
      applies: 'any',
      needs: [['spf'], ['dkim']],
      evaluate: needsRsaOrSpf(null),
      error: null,
      consequences: ['unauthenticated'],
    },
    dmarcPolicyRule({ error: null, verifiesEd25519: null }),
    {
      id: 'sender_domain',
      title: 'The domain of the envelope sender (MAIL FROM) exists and can receive bounces.',
      applies: 'any',
      needs: [['return_path']],
      error: '450 4.1.8',
      listedIf: (find) => isQueried(find, 'return_path'),
      evaluate: failsOnWarning('return_path'),
    },
    {
      id: 'domain_not_listed',
      title: 'The Spamhaus DBL lists no sender domain.',
      applies: 'any',
      needs: [['domain_blocklists']],
      error: '550 5.7.1',
      consequences: ['listed_domain'],
      listedIf: (find) => isQueried(find, 'domain_blocklists'),
      evaluate: (find) => dblOutcome(find, 'domain_blocklists'),
    },
    {
      id: 'links_not_listed',
      title: 'The Spamhaus DBL lists no domain of a link.',
      applies: 'any',
      needs: [['link_blocklists']],
      error: '550 5.7.1',
      consequences: ['listed_link'],
      listedIf: (find) => isQueried(find, 'link_blocklists'),
      evaluate: (find) => dblOutcome(find, 'link_blocklists'),
    },
    TRUE_SENDER,
    {
      id: 'spf',
      title: 'SPF passes.',
      applies: 'bulk',
      needs: [['spf']],
      error: null,
    },
    {
      id: 'dkim',
      title: 'DKIM passes.',
      applies: 'bulk',
      needs: [['dkim']],
      evaluate: needsRsa(null),
      error: null,
    },
    {
      id: 'dmarc_record',
      title: 'The From domain publishes a DMARC policy.',
      applies: 'bulk',
      needs: [['dmarc_policy']],
      error: null,
    },
    {
      id: 'reverse_dns',
      title: 'The sending IP address has reverse DNS.',
      applies: 'bulk',
      needs: [['ptr', 'fcrdns']],
      error: null,
      consequences: ['no_reverse_dns'],
    },
    {
      id: 'format',
      title: 'The message follows RFC 5321 and RFC 5322.',
      applies: 'bulk',
      needs: [['from', ...FORMAT_CHECKS]],
      error: null,
    },
    {
      id: 'unsubscribe_link',
      title: 'Marketing mail has an unsubscribe link that takes effect immediately.',
      applies: 'bulk',
      marketingOnly: true,
      needs: [['unsubscribe_link']],
      error: null,
    },
    {
      id: 'consistent_sender',
      title:
        'IP addresses, domains and the From field stay the same, with separate ones for marketing and transactional mail.',
      applies: 'bulk',
      needs: [],
      error: null,
    },
    {
      id: 'arc',
      title: 'Forwarded mail has ARC header fields.',
      applies: 'bulk',
      needs: [],
      error: null,
    },
    {
      id: 'subscribed',
      title: 'Mail goes only to people who subscribed, and stops for addresses that bounce.',
      applies: 'bulk',
      needs: [],
      error: null,
    },
  ],
};

/** Only Apple's replies show these rules, so they are left out if nothing was looked up. */
const isQueried = (find: FindFact, check: string): boolean => {
  const fact = find(check);
  return fact !== undefined && (fact.status !== 'skipped' || fact.failedCauses.length > 0);
};
