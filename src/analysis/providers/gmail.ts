/** Gmail's requirements for senders to personal accounts, as published in 2026. */

import { SPAM_LIMIT_TEXT } from '../../figures/gmail.ts';
import type { FindFact } from '../consequences.ts';
import {
  ALIGNMENT_CHECKS,
  attachmentRule,
  dmarcPolicyRule,
  FORMAT_CHECKS,
  failsOnWarning,
  metIfSkipped,
  needsAlignedRsa,
  needsRsa,
  needsRsaOrSpf,
  type ProviderRules,
  type RuleOutcome,
  TRUE_SENDER,
} from './rule.ts';

/** From Gmail's guidelines (support.google.com/a/answer/81126), FAQ (14229414) and SMTP errors (3726730). */
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
      title: 'Mail passes SPF, or DKIM with a key of at least 1024 bits.',
      applies: 'any',
      needs: [['spf'], ['dkim']],
      evaluate: needsRsaOrSpf(false),
      error: '550 5.7.26, 421 4.7.26',
      consequences: ['unauthenticated', 'ed25519_without_spf'],
    },
    {
      id: 'reverse_dns',
      title:
        'The sending IP address has a PTR record, and its host name resolves back to the IP address.',
      applies: 'any',
      needs: [['ptr', 'fcrdns']],
      error: '550 5.7.25, 451 4.7.23',
      consequences: ['no_reverse_dns'],
    },
    {
      id: 'tls',
      title: 'Mail is sent over TLS.',
      applies: 'any',
      needs: [['tls']],
      // Any version is TLS.
      evaluate: (find) =>
        find('tls')?.status === 'error' && find('tls')?.evidence.used === true
          ? { status: 'met' }
          : null,
      error: '550 5.7.29, 421 4.7.29',
      consequences: ['no_tls'],
    },
    {
      id: 'format',
      title:
        'The message follows RFC 5322, with a valid Message-ID and no duplicate header fields.',
      applies: 'any',
      needs: [FORMAT_CHECKS],
      error: '550 5.7.1, 554 5.6.0',
      consequences: ['invalid_message_id', 'duplicate_fields', 'malformed_lines'],
    },
    {
      id: 'visible_content',
      title: 'HTML and CSS do not hide content from the recipient.',
      applies: 'any',
      needs: [['hidden_text']],
      error: null,
      consequences: ['hidden_text'],
      evaluate: metIfSkipped('hidden_text', failsOnWarning('hidden_text')),
    },
    {
      id: 'size',
      title: 'The HTML is smaller than about 102 KB. Gmail clips larger messages.',
      applies: 'any',
      needs: [['html_size']],
      error: null,
      consequences: ['clipped'],
      evaluate: metIfSkipped('html_size'),
    },
    attachmentRule(
      'gmail',
      'No attachment is of a type that Gmail blocks, such as .exe or .js, in archives too.',
      '552 5.7.0',
    ),
    TRUE_SENDER,
    {
      id: 'single_from',
      title: 'From contains exactly one valid address.',
      applies: 'any',
      needs: [['from']],
      error: '550 5.7.1',
      // RFC 5322 allows several addresses with a Sender field, so the check only warns. Gmail rejects them.
      evaluate(find) {
        const from = find('from');
        const addresses = from?.evidence.addresses;
        return from?.status === 'warn' && Array.isArray(addresses) && addresses.length > 1
          ? { status: 'not_met', because: ['from'] }
          : null;
      },
      consequences: ['missing_from', 'invalid_from'],
    },
    {
      id: 'no_gmail_from',
      title: 'From does not impersonate a Gmail address.',
      applies: 'any',
      needs: [['dmarc']],
      error: null,
      // Only mail from a Gmail address can impersonate Gmail, and DMARC shows whether it does.
      evaluate(find) {
        const domain = domainOfFrom(find);
        if (domain === null) return { status: 'unknown', detail: 'From has no domain to compare.' };
        if (domain === 'gmail.com' || domain === 'googlemail.com') return null;
        return { status: 'met', detail: `From uses ${domain}, which is not a Gmail domain.` };
      },
    },
    dmarcPolicyRule({ error: '550 5.7.26', verifiesEd25519: false }),
    {
      id: 'forwarding',
      title: 'Forwarding servers add an ARC set, and mailing lists also a List-Id field.',
      applies: 'bulk',
      needs: [['arc', 'forwarding']],
      error: null,
      // For those who manage a forwarding service, which the author of a single message does not.
      listedIf: (find) => forwardingKind(find) !== null,
      evaluate: forwarderOutcome,
    },
    {
      id: 'spam_rate',
      title: `The spam rate in Postmaster Tools stays below ${SPAM_LIMIT_TEXT}.`,
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
      evaluate: needsRsa(false),
      error: '550 5.7.30, 421 4.7.30',
    },
    {
      id: 'dmarc_record',
      title: 'The From domain has a DMARC record. The policy p=none is enough.',
      applies: 'bulk',
      needs: [['dmarc_policy']],
      error: '550 5.7.40',
    },
    {
      id: 'alignment',
      title: 'The From domain aligns with the SPF or DKIM domain.',
      applies: 'bulk',
      needs: ALIGNMENT_CHECKS,
      evaluate: needsAlignedRsa(false),
      consequences: ['unaligned_bulk', 'ed25519_only'],
      error: '4.7.32, 5.7.32',
    },
    {
      id: 'one_click',
      title: 'Marketing mail supports one-click unsubscribe (RFC 8058).',
      applies: 'bulk',
      marketingOnly: true,
      needs: [['one_click', 'one_click_signed']],
      evaluate: failsOnWarning('one_click'),
      error: null,
      consequences: ['one_click'],
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
      title: 'Unsubscribe requests are processed within 48 hours.',
      applies: 'bulk',
      marketingOnly: true,
      needs: [],
      error: null,
    },
  ],
};

function forwardingKind(find: FindFact): 'forwarded' | 'list' | null {
  const kind = find('forwarding')?.evidence.kind;
  return kind === 'forwarded' || kind === 'list' ? kind : null;
}

function forwarderOutcome(find: FindFact): RuleOutcome {
  const arc = find('arc');
  const isList = forwardingKind(find) === 'list';
  if (isList && find('forwarding')?.evidence.list_id === false)
    return { status: 'not_met', detail: 'The mailing list adds no List-Id field.' };
  if (!arc || arc.status === 'error' || arc.status === 'skipped') return { status: 'unknown' };
  const { result } = arc.evidence;
  if (result === 'pass') return { status: 'met', because: ['arc'] };
  if (result === null) return { status: 'unknown', because: ['arc'] };
  const what = result === 'fail' ? 'no valid ARC set' : 'no ARC set';
  const server = isList ? 'mailing list' : 'forwarding server';
  return { status: 'not_met', detail: `The ${server} adds ${what}. Only its administrator can.` };
}

function domainOfFrom(find: FindFact): string | null {
  const domain = find('dmarc')?.evidence.from_domain;
  if (typeof domain === 'string') return domain === '' ? null : domain;
  const address = find('from')?.evidence.address;
  if (typeof address !== 'string') return null;
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase() || null;
}
