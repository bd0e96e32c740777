/** Yahoo's requirements for senders to its mailboxes (including AOL), as published in 2026. */

import { SPAM_LIMIT_TEXT } from '../../figures/gmail.ts';
import {
  dmarcPolicyRule,
  FORMAT_CHECKS,
  failsOnWarning,
  needsAlignedRsa,
  needsRsa,
  needsRsaOrSpf,
  type ProviderRules,
  spamhausOutcome,
  TRUE_SENDER,
} from './rule.ts';

/** From Yahoo's requirements and its list of SMTP errors, which has few enhanced status codes. */
export const yahoo: ProviderRules = {
  provider: 'yahoo',
  name: 'Yahoo',
  reference: {
    name: 'Yahoo: Sender Requirements & Recommendations',
    url: 'https://senders.yahooinc.com/best-practices/',
  },
  rules: [
    {
      id: 'spf_or_dkim',
      title: 'Mail passes SPF or DKIM.',
      applies: 'any',
      needs: [['spf'], ['dkim']],
      evaluate: needsRsaOrSpf(null),
      error: '554 5.7.9',
      consequences: ['unauthenticated'],
    },
    {
      id: 'reverse_dns',
      title: 'The sending IP address has valid forward and reverse DNS.',
      applies: 'any',
      needs: [['ptr', 'fcrdns']],
      error: null,
      consequences: ['no_reverse_dns'],
    },
    {
      id: 'format',
      title: 'The message follows RFC 5321 and RFC 5322.',
      applies: 'any',
      needs: [['from', ...FORMAT_CHECKS]],
      error: null,
      consequences: ['missing_from', 'invalid_from'],
    },
    TRUE_SENDER,
    dmarcPolicyRule({ error: '554 5.7.9', verifiesEd25519: null }),
    {
      id: 'not_listed',
      title: 'Spamhaus does not list the sending IP address.',
      applies: 'any',
      needs: [['ip_blocklists']],
      error: '553 5.7.1',
      consequences: ['listed_address'],
      evaluate: (find) =>
        spamhausOutcome(find, {
          check: 'ip_blocklists',
          zone: 'zen.spamhaus.org',
          subject: 'the sending IP address',
        }),
    },
    {
      id: 'spam_rate',
      title: `The spam complaint rate stays below ${SPAM_LIMIT_TEXT}.`,
      applies: 'any',
      needs: [],
      error: null,
    },
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
      title: 'The From domain has a valid DMARC record. The policy p=none is enough.',
      applies: 'bulk',
      needs: [['dmarc_policy']],
      error: null,
    },
    {
      id: 'dmarc',
      title: 'DMARC passes: the From domain aligns with the SPF or DKIM domain.',
      applies: 'bulk',
      needs: [['dmarc']],
      evaluate: needsAlignedRsa(null),
      error: '554 5.7.9',
      consequences: ['unaligned_bulk'],
    },
    {
      id: 'list_unsubscribe',
      title:
        'Marketing mail has a List-Unsubscribe field with one-click unsubscribe (RFC 8058) or an email address.',
      applies: 'bulk',
      marketingOnly: true,
      needs: [['list_unsubscribe', 'one_click']],
      error: null,
      // Yahoo recommends one-click unsubscribe, but accepts an email address in the field.
      evaluate(find) {
        const field = find('list_unsubscribe');
        const mailto = field?.evidence.mailto;
        return field?.status === 'pass' && Array.isArray(mailto) && mailto.length > 0
          ? { status: 'met', because: ['list_unsubscribe'] }
          : null;
      },
    },
    {
      id: 'unsubscribe_link',
      title: 'Marketing mail has a clearly visible unsubscribe link in its body.',
      applies: 'bulk',
      marketingOnly: true,
      needs: [['unsubscribe_link']],
      evaluate: failsOnWarning('unsubscribe_link'),
      error: null,
    },
    {
      id: 'unsubscribe_time',
      title: 'Unsubscribe requests are processed within two days.',
      applies: 'bulk',
      marketingOnly: true,
      needs: [],
      error: null,
    },
  ],
};
