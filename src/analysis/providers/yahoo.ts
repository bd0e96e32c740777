/** Yahoo's requirements for senders to its mailboxes (including AOL), as published in 2026. */

import type { Json } from '../check.ts';
import { dmarcPolicyRule, FORMAT_CHECKS, failsOnWarning, type ProviderRules } from './rule.ts';

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
      error: '554 5.7.9',
    },
    {
      id: 'reverse_dns',
      title: 'The sending IP address has valid forward and reverse DNS.',
      applies: 'any',
      needs: [['ptr', 'fcrdns']],
      error: null,
    },
    {
      id: 'format',
      title: 'The message follows RFC 5321 and RFC 5322.',
      applies: 'any',
      needs: [['from', ...FORMAT_CHECKS]],
      error: null,
    },
    dmarcPolicyRule('554 5.7.9'),
    {
      id: 'not_listed',
      title: 'Spamhaus does not list the sending IP address.',
      applies: 'any',
      needs: [['ip_blocklists']],
      dependsOnThirdParty: true,
      error: null,
      // Only the answer of Spamhaus counts. The check may rest on other lists when Spamhaus does not answer.
      evaluate(find) {
        const lists = find('ip_blocklists')?.evidence.lists;
        const zen = (Array.isArray(lists) ? lists : []).find(
          (entry) => isObject(entry) && entry.zone === 'zen.spamhaus.org',
        );
        if (!isObject(zen)) return { status: 'unknown', detail: 'Spamhaus was not queried.' };
        if (zen.status === 'listed')
          return { status: 'not_met', detail: 'Spamhaus lists the sending IP address.' };
        return zen.status === 'not_listed'
          ? { status: 'met', detail: 'Spamhaus does not list the sending IP address.' }
          : { status: 'unknown', detail: 'Spamhaus did not respond.' };
      },
    },
    {
      id: 'spam_rate',
      title: 'The spam complaint rate stays below 0.3%.',
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
      error: '554 5.7.9',
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
          ? { status: 'met', detail: field.title }
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

const isObject = (value: Json | undefined): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
