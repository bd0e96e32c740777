/** Apple's requirements for senders to iCloud Mail, as published in 2026. */

import { dmarcPolicyRule, FORMAT_CHECKS, type ProviderRules } from './rule.ts';

/** From Apple's postmaster page. It defines no volume for bulk mail and publishes no status codes. */
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
      error: null,
    },
    dmarcPolicyRule(null),
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
