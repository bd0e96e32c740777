/** A domain with all kinds of senders, as its reporters see it day by day. The same from the same start. */

import { dmarc, record } from './reading/builders.ts';

/** Senders that the story has, with the kind that each must get. */
export const SENDERS = {
  own: '192.0.2.10',
  mailchimp: '198.2.128.7',
  sendgrid: '149.72.1.9',
  forwarder: '203.0.114.40',
  newcomer: '203.0.114.60',
  spoofers: ['203.0.114.90', '198.51.100.91', '198.51.100.92'],
} as const;

const arpa = (address: string) => `${address.split('.').reverse().join('.')}.in-addr.arpa`;

const confirmed = (address: string, host: string) => ({
  [arpa(address)]: { PTR: [host] },
  [host]: { A: [address] },
});

/** SendGrid is set up without DKIM; the newcomer is a host that nobody knows. */
export const STORY_ZONE = {
  'example.com': {
    A: ['192.0.2.1'],
    TXT: ['v=spf1 ip4:192.0.2.10 include:servers.mcsv.net include:sendgrid.net -all'],
  },
  '_dmarc.example.com': { TXT: ['v=DMARC1; p=none; rua=mailto:a@example.com'] },
  ...confirmed(SENDERS.own, 'mail.example.com'),
  ...confirmed(SENDERS.mailchimp, 'mail7.mcsv.net'),
  ...confirmed(SENDERS.sendgrid, 'o1.ptr9.sendgrid.net'),
  ...confirmed(SENDERS.forwarder, 'mx1.forwardemail.net'),
  ...confirmed(SENDERS.newcomer, 'out.crm-host.example.net'),
};

const REPORTERS = [
  'Google.com',
  'Yahoo',
  'Enterprise Outlook',
  'AMAZON-SES',
  'Fastmail',
  'mail.ru',
];
const DAY_S = 86_400;

interface DayOptions {
  reporters: number;
  /** Whether SendGrid signs for the domain by now. */
  sendgridSigns: boolean;
  newcomer: boolean;
}

/** The reports of one day; `begin` in seconds. */
export function reportsOfDay(
  begin: number,
  { reporters, sendgridSigns, newcomer }: DayOptions,
): string[] {
  return REPORTERS.slice(0, reporters).map((orgName, index) =>
    dmarc({
      orgName,
      id: `${orgName}-${begin}`,
      begin: String(begin),
      end: String(begin + DAY_S - 1),
      records: [
        record({ source: SENDERS.own, count: '20' }),
        record({ source: SENDERS.mailchimp, count: '40', spf: 'fail' }),
        record({
          source: SENDERS.sendgrid,
          count: '10',
          spf: 'fail',
          dkim: sendgridSigns ? 'pass' : 'fail',
          results: sendgridSigns
            ? undefined
            : '<auth_results><dkim><domain>sendgrid.net</domain><selector>s1</selector><result>pass</result></dkim><spf><domain>em1.sendgrid.net</domain><result>pass</result></spf></auth_results>',
        }),
        record({
          source: SENDERS.forwarder,
          count: '3',
          spf: 'fail',
          reasons: '<reason><type>forwarded</type></reason>',
        }),
        ...(newcomer ? [record({ source: SENDERS.newcomer, count: '12', spf: 'fail' })] : []),
        ...SENDERS.spoofers.slice(0, 1 + (index % 3)).map((source, position) =>
          record({
            source,
            count: String(5 + position),
            dkim: 'fail',
            spf: 'fail',
            results:
              '<auth_results><spf><domain>example.com</domain><result>fail</result></spf></auth_results>',
          }),
        ),
      ].join(''),
    }),
  );
}
