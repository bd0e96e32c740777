/** Microsoft's requirements for senders to Outlook.com, Hotmail and Live, as published in 2026. */

import {
  ALIGNMENT_CHECKS,
  attachmentRule,
  dmarcPolicyRule,
  FORMAT_CHECKS,
  failsOnWarning,
  needsAlignedRsa,
  needsRsa,
  type ProviderRules,
  spamhausOutcome,
  TRUE_SENDER,
} from './rule.ts';

/** Microsoft's one reply for all authentication failures of bulk senders. */
const REJECTED = '550 5.7.515';

/** From Microsoft's policies and its announcement for senders of more than 5,000 messages a day (May 2025). */
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
      consequences: ['no_reverse_dns'],
    },
    {
      id: 'format',
      title: 'The message follows the Internet mail standards (RFC 5321 and RFC 5322).',
      applies: 'any',
      needs: [['from', ...FORMAT_CHECKS]],
      error: null,
      consequences: ['missing_from', 'invalid_from'],
    },
    {
      id: 'not_listed',
      title: 'Spamhaus does not list the sending IP address.',
      applies: 'any',
      needs: [['ip_blocklists']],
      error: '550 5.7.1',
      consequences: ['listed_address'],
      evaluate: (find) =>
        spamhausOutcome(find, {
          check: 'ip_blocklists',
          zone: 'zen.spamhaus.org',
          subject: 'the sending IP address',
        }),
    },
    attachmentRule(
      'microsoft',
      'No attachment is of a type that Outlook blocks, such as .exe or .js.',
      null,
    ),
    TRUE_SENDER,
    dmarcPolicyRule({ error: '550 5.7.509', verifiesEd25519: false }),
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
      evaluate: needsRsa(false),
      error: REJECTED,
    },
    {
      id: 'dmarc_record',
      title: 'The From domain has a DMARC record. The policy p=none is enough.',
      applies: 'bulk',
      needs: [['dmarc_policy']],
      error: REJECTED,
    },
    {
      id: 'alignment',
      title: 'The From domain aligns with the SPF or DKIM domain.',
      applies: 'bulk',
      needs: ALIGNMENT_CHECKS,
      evaluate: needsAlignedRsa(false),
      consequences: ['unaligned_bulk', 'ed25519_only'],
      error: REJECTED,
    },
    {
      id: 'sender_address',
      title: 'The addresses in From and Reply-To are valid and can receive replies.',
      applies: 'bulk',
      needs: [['from', 'reply_to', 'mx']],
      error: null,
    },
    {
      id: 'unsubscribe_link',
      title: 'Marketing mail has a working unsubscribe option that is easy to find.',
      applies: 'bulk',
      marketingOnly: true,
      needs: [['unsubscribe_link']],
      evaluate: failsOnWarning('unsubscribe_link'),
      error: null,
    },
  ],
};
