/** What Yahoo asks of senders to its mailboxes (AOL's too), as published in 2026. */

import type { Json } from '../check.ts';
import { dmarcPolicyKept, FORMAT, failsOnWarning, type ProviderRules } from './rule.ts';

/** Its requirements, and its page of SMTP errors; it publishes hardly any enhanced status codes. */
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
      title: 'Mail is authenticated by SPF or by DKIM.',
      applies: 'any',
      needs: [['spf'], ['dkim']],
      error: '554 5.7.9',
    },
    {
      id: 'reverse_dns',
      title: 'The sending address has valid forward and reverse DNS.',
      applies: 'any',
      needs: [['ptr', 'fcrdns']],
      error: null,
    },
    {
      id: 'format',
      title: 'The message complies with RFC 5321 and RFC 5322.',
      applies: 'any',
      needs: [['from', ...FORMAT]],
      error: null,
    },
    dmarcPolicyKept('554 5.7.9'),
    {
      id: 'not_listed',
      title: 'The sending address is not listed by Spamhaus.',
      applies: 'any',
      needs: [['ip_blocklists']],
      dependsOnThirdParty: true,
      error: null,
      // Only what Spamhaus itself said counts: other lists may have answered in its silence.
      judge(find) {
        const lists = find('ip_blocklists')?.evidence.lists;
        const zen = (Array.isArray(lists) ? lists : []).find(
          (entry) => isObject(entry) && entry.zone === 'zen.spamhaus.org',
        );
        if (!isObject(zen)) return { status: 'unknown', detail: 'Spamhaus was not asked.' };
        if (zen.status === 'listed')
          return { status: 'not_met', detail: 'Spamhaus lists the sending address.' };
        return zen.status === 'not_listed'
          ? { status: 'met', detail: 'Spamhaus does not list the sending address.' }
          : { status: 'unknown', detail: 'Spamhaus did not answer.' };
      },
    },
    {
      id: 'spam_rate',
      title: 'Fewer than 0.3 % of the messages are reported as spam.',
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
      error: null,
    },
    {
      id: 'dmarc_record',
      title: 'The From domain has a valid DMARC record; its policy may be none.',
      applies: 'bulk',
      needs: [['dmarc_policy']],
      error: null,
    },
    {
      id: 'dmarc',
      title: 'DMARC passes: the domain in From is aligned with that of SPF or of DKIM.',
      applies: 'bulk',
      needs: [['dmarc']],
      error: '554 5.7.9',
    },
    {
      id: 'list_unsubscribe',
      title:
        'Marketing mail has a List-Unsubscribe field with one-click unsubscribe (RFC 8058) or a mail address.',
      applies: 'bulk',
      marketingOnly: true,
      needs: [['list_unsubscribe', 'one_click']],
      error: null,
      // Yahoo recommends one-click unsubscribe, but a mail address in the field will do.
      judge(find) {
        const field = find('list_unsubscribe');
        const mailto = field?.evidence.mailto;
        return field?.status === 'pass' && Array.isArray(mailto) && mailto.length > 0
          ? { status: 'met', detail: field.title }
          : null;
      },
    },
    {
      id: 'unsubscribe_link',
      title: 'Marketing mail has an unsubscribe link in its body that is clearly visible.',
      applies: 'bulk',
      marketingOnly: true,
      needs: [['unsubscribe_link']],
      judge: failsOnWarning('unsubscribe_link'),
      error: null,
    },
    {
      id: 'unsubscribe_time',
      title: 'Requests to unsubscribe are honoured within two days.',
      applies: 'bulk',
      marketingOnly: true,
      needs: [],
      error: null,
    },
  ],
};

const isObject = (value: Json | undefined): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
