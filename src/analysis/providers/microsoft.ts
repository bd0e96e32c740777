/** What Microsoft asks of senders to Outlook.com, Hotmail and Live, as published in 2026. */

import { ALIGNED, dmarcPolicyKept, FORMAT, failsOnWarning, type ProviderRules } from './rule.ts';

const REJECTED = '550 5.7.515';

/** Its policies, and its announcement for senders of more than 5,000 messages a day (May 2025). */
export const microsoft: ProviderRules = {
  provider: 'microsoft',
  name: 'Microsoft',
  reference: {
    name: 'Outlook.com: Policies, Practices, and Guidelines',
    url: 'https://postmaster.live.com/pm/policies.aspx',
  },
  rules: [
    {
      id: 'reverse_dns',
      title: 'The sending server has valid reverse DNS.',
      applies: 'any',
      needs: [['ptr', 'fcrdns']],
      error: null,
    },
    {
      id: 'format',
      title: 'The message complies with the standards for Internet mail (RFC 5321, RFC 5322).',
      applies: 'any',
      needs: [['from', ...FORMAT]],
      error: null,
    },
    dmarcPolicyKept('550 5.7.509'),
    {
      id: 'spf',
      title: 'SPF passes.',
      applies: 'bulk',
      needs: [['spf']],
      error: REJECTED,
    },
    {
      id: 'dkim',
      title: 'DKIM passes.',
      applies: 'bulk',
      needs: [['dkim']],
      error: REJECTED,
    },
    {
      id: 'dmarc_record',
      title: 'The From domain has a DMARC record; its policy may be none.',
      applies: 'bulk',
      needs: [['dmarc_policy']],
      error: REJECTED,
    },
    {
      id: 'alignment',
      title: 'The domain in From is aligned with that of SPF or of DKIM.',
      applies: 'bulk',
      needs: ALIGNED,
      error: REJECTED,
    },
    {
      id: 'sender_address',
      title: 'The addresses in From and Reply-To are valid and can receive answers.',
      applies: 'bulk',
      needs: [['from', 'reply_to', 'mx']],
      error: null,
    },
    {
      id: 'unsubscribe_link',
      title: 'Marketing mail has a way to unsubscribe that is easy to find and works.',
      applies: 'bulk',
      marketingOnly: true,
      needs: [['unsubscribe_link']],
      judge: failsOnWarning('unsubscribe_link'),
      error: null,
    },
  ],
};
