/** What Gmail asks of senders to personal accounts, as published in 2026. */

import {
  ALIGNED,
  dmarcPolicyKept,
  type Find,
  FORMAT,
  failsOnWarning,
  type ProviderRules,
} from './rule.ts';

/** Its guidelines (support.google.com/a/answer/81126), their FAQ (14229414) and its SMTP errors (3726730). */
export const gmail: ProviderRules = {
  provider: 'gmail',
  name: 'Gmail',
  reference: {
    name: 'Gmail: Email sender guidelines',
    url: 'https://support.google.com/a/answer/81126',
  },
  rules: [
    {
      id: 'spf_or_dkim',
      title: 'Mail is authenticated by SPF or by DKIM, with a key of at least 1,024 bits.',
      applies: 'any',
      needs: [['spf'], ['dkim']],
      error: '550 5.7.26, 421 4.7.26',
    },
    {
      id: 'reverse_dns',
      title: 'The sending address has a PTR record whose name resolves back to it.',
      applies: 'any',
      needs: [['ptr', 'fcrdns']],
      error: '550 5.7.25, 451 4.7.23',
    },
    {
      id: 'tls',
      title: 'Mail is sent over TLS.',
      applies: 'any',
      needs: [['tls']],
      error: '550 5.7.29, 421 4.7.29',
    },
    {
      id: 'format',
      title: 'The message is formatted by RFC 5322, with a valid Message-ID and no doubled field.',
      applies: 'any',
      needs: [FORMAT],
      error: '550 5.7.1, 554 5.6.0',
    },
    {
      id: 'single_from',
      title: 'From holds exactly one valid address.',
      applies: 'any',
      needs: [['from']],
      error: '550 5.7.1',
      // The standard allows several beside a Sender field, and the check warns; Gmail refuses them.
      judge(find) {
        const from = find('from');
        const addresses = from?.evidence.addresses;
        return from?.status === 'warn' && Array.isArray(addresses) && addresses.length > 1
          ? { status: 'not_met', detail: from.title }
          : null;
      },
    },
    {
      id: 'no_gmail_from',
      title: 'From does not pretend to be a Gmail address.',
      applies: 'any',
      needs: [['dmarc']],
      error: null,
      // Only mail that claims to be from Gmail can impersonate it; that is for DMARC to tell.
      judge(find) {
        const domain = domainOfFrom(find);
        if (domain === null)
          return { status: 'unknown', detail: 'From names no domain to compare.' };
        if (domain === 'gmail.com' || domain === 'googlemail.com') return null;
        return { status: 'met', detail: `From is at ${domain}, which is not Gmail's.` };
      },
    },
    dmarcPolicyKept('550 5.7.26'),
    {
      id: 'spam_rate',
      title: 'Fewer than 0.3 % of the messages are reported as spam, as Postmaster Tools shows.',
      applies: 'any',
      needs: [],
      error: null,
    },
    {
      id: 'spf',
      title: 'SPF passes.',
      applies: 'bulk',
      needs: [['spf']],
      error: '550 5.7.27, 421 4.7.27',
    },
    {
      id: 'dkim',
      title: 'DKIM passes.',
      applies: 'bulk',
      needs: [['dkim']],
      error: '550 5.7.30, 421 4.7.30',
    },
    {
      id: 'dmarc_record',
      title: 'The From domain has a DMARC record; its policy may be none.',
      applies: 'bulk',
      needs: [['dmarc_policy']],
      error: '550 5.7.40',
    },
    {
      id: 'alignment',
      title: 'The domain in From is aligned with that of SPF or of DKIM.',
      applies: 'bulk',
      needs: ALIGNED,
      error: '4.7.32, 5.7.32',
    },
    {
      id: 'one_click',
      title: 'Marketing mail supports one-click unsubscribe (RFC 8058).',
      applies: 'bulk',
      marketingOnly: true,
      needs: [['one_click', 'one_click_signed']],
      judge: failsOnWarning('one_click'),
      error: null,
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
      title: 'Requests to unsubscribe are honoured within 48 hours.',
      applies: 'bulk',
      marketingOnly: true,
      needs: [],
      error: null,
    },
  ],
};

function domainOfFrom(find: Find): string | null {
  const domain = find('dmarc')?.evidence.from_domain;
  if (typeof domain === 'string') return domain === '' ? null : domain;
  const address = find('from')?.evidence.address;
  if (typeof address !== 'string') return null;
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase() || null;
}
