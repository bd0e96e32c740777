/** What Yahoo asks of senders to its mailboxes (AOL's too), as published in 2026. */

import type { Json } from '../check.ts';
import type { Find, Judgement, ProviderRules } from './rule.ts';
import { FORMAT, policyKept, withoutWeakness } from './rule.ts';

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
    policyKept('554 5.7.9'),
    {
      id: 'not_listed',
      title: 'The sending address is not listed by Spamhaus.',
      applies: 'any',
      needs: [['ip_blocklists']],
      judge: bySpamhaus,
      toldByOthers: true,
      error: null,
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
      judge: byMail,
      error: null,
    },
    {
      id: 'unsubscribe_link',
      title: 'Marketing mail has an unsubscribe link in its body that is clearly visible.',
      applies: 'bulk',
      marketingOnly: true,
      needs: [['unsubscribe_link']],
      judge: withoutWeakness('unsubscribe_link'),
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

/** Yahoo recommends one-click unsubscribe, but a mail address in the field will do. */
function byMail(find: Find): Judgement | null {
  const field = find('list_unsubscribe');
  const mailto = field?.evidence.mailto;
  return field?.status === 'pass' && Array.isArray(mailto) && mailto.length > 0
    ? { status: 'met', detail: field.title }
    : null;
}

/** Only what Spamhaus itself said counts: other lists may have answered in its silence. */
function bySpamhaus(find: Find): Judgement | null {
  const lists = find('ip_blocklists')?.evidence.lists;
  const zen = (Array.isArray(lists) ? lists : []).find(
    (entry) => isEntry(entry) && entry.zone === 'zen.spamhaus.org',
  );
  if (!isEntry(zen)) return { status: 'unknown', detail: 'Spamhaus was not asked.' };
  if (zen.status === 'listed')
    return { status: 'not_met', detail: 'Spamhaus lists the sending address.' };
  return zen.status === 'not_listed'
    ? { status: 'met', detail: 'Spamhaus does not list the sending address.' }
    : { status: 'unknown', detail: 'Spamhaus did not answer.' };
}

const isEntry = (value: Json | undefined): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
