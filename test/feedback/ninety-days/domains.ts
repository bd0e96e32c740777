/** The domains of the team: their DMARC records, and who sends with them in From, day by day. */

import type { SourceKind } from '../../../src/feedback/sources/kind.ts';
import type { DmarcPolicy } from '../../../src/feedback/sources/policy-step.ts';
import { reverseName } from '../../../src/lib/addresses.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';

export const DAYS = 90;

/** What happens, by day of the story. `play.ts` describes it. */
export const EVENTS = {
  sendgridFails: { from: 10, to: 12 },
  companyQuarantines: 70,
  postmarkFixed: 45,
  newSender: 60,
  shopRejects: 75,
  bankIsSilent: { from: 40, to: 46 },
  tlsFails: 50,
  complaints: 66,
} as const;

export const within = (day: number, { from, to }: { from: number; to: number }): boolean =>
  day >= from && day <= to;

/** What receivers find out about a message. */
export interface Outcome {
  dkim: 'pass' | 'fail';
  spf: 'pass' | 'fail';
  /** Domain, selector and result of each signature. */
  signatures: [domain: string, selector: string, result: string][];
  mailFrom: [domain: string, result: string];
  reason?: string;
}

export interface Sender {
  /** The name and kind that its source must get. */
  name: string;
  kind: SourceKind;
  /** With the host name of each. */
  addresses: Record<string, string>;
  /** Messages that all reporters together count on a working day. */
  perDay: number;
  /** The first day of the story on which it sends. */
  since?: number;
  /** The outcomes with their shares. */
  outcomes(day: number): [share: number, outcome: Outcome][];
}

export interface StoryDomain {
  name: string;
  policy(day: number): DmarcPolicy;
  /** Days on which its record requests no reports. */
  silent?: { from: number; to: number };
  spf: string;
  senders: Sender[];
  /** Networks of spoofers, of which some send on each day; with the first day of each. */
  spoofers: Record<string, number>;
  /** Messages of a network on a day, in all reports. */
  perSpoofer: { from: number; to: number };
}

/** Sent through servers that the domain names, and signed. */
const aligned = (domain: string, selector: string): Outcome => ({
  dkim: 'pass',
  spf: 'pass',
  signatures: [[domain, selector, 'pass']],
  mailFrom: [domain, 'pass'],
});

/** Signed for the domain; bounces go to another. */
const signed = (domain: string, selector: string, returnPath: string): Outcome => ({
  dkim: 'pass',
  spf: 'fail',
  signatures: [[domain, selector, 'pass']],
  mailFrom: [returnPath, 'pass'],
});

/** Only the service itself is authenticated. */
const unaligned = (service: string): Outcome => ({
  dkim: 'fail',
  spf: 'fail',
  signatures: [[service, 'k1', 'pass']],
  mailFrom: [`bounces.${service}`, 'pass'],
});

/** Changed on its way. */
const broken = (
  domain: string,
  selector: string,
  returnPath: string,
  reason?: string,
): Outcome => ({
  dkim: 'fail',
  spf: 'fail',
  reason,
  signatures: [[domain, selector, 'fail']],
  mailFrom: [returnPath, 'pass'],
});

export const spoofed = (domain: string): Outcome => ({
  dkim: 'fail',
  spf: 'fail',
  signatures: [],
  mailFrom: [domain, 'fail'],
});

const always =
  (...outcomes: [share: number, outcome: Outcome][]): Sender['outcomes'] =>
  () =>
    outcomes;

/** It collects reports first, and then moves to quarantine as the advice says. */
const company: StoryDomain = {
  name: 'example.com',
  policy: (day) => (day < EVENTS.companyQuarantines ? 'none' : 'quarantine'),
  spf: 'v=spf1 ip4:192.0.2.10 include:sendgrid.net -all',
  senders: [
    {
      name: 'mail.example.com',
      kind: 'own',
      perDay: 300,
      addresses: { '192.0.2.10': 'mail.example.com' },
      outcomes: always([1, aligned('example.com', 'mail')]),
    },
    {
      name: 'Mailchimp',
      kind: 'service',
      perDay: 500,
      addresses: {
        '198.2.128.7': 'mail7.mcsv.net',
        '198.2.129.19': 'mail19.mcsv.net',
        '205.201.131.4': 'mail4.rsgsv.net',
      },
      // A few messages are changed on their way to their recipients.
      outcomes: always(
        [0.994, signed('example.com', 'k2', 'mail7.mcsv.net')],
        [0.006, broken('example.com', 'k2', 'mail7.mcsv.net')],
      ),
    },
    {
      name: 'SendGrid',
      kind: 'service',
      perDay: 80,
      addresses: { '149.72.1.9': 'o1.ptr9.sendgrid.net', '149.72.2.8': 'o2.ptr8.sendgrid.net' },
      outcomes: (day) =>
        within(day, EVENTS.sendgridFails)
          ? [[1, unaligned('sendgrid.net')]]
          : [[1, aligned('example.com', 's1')]],
    },
    {
      name: 'Forward Email',
      kind: 'forwarder',
      perDay: 20,
      addresses: { '203.0.114.40': 'mx1.forwardemail.net' },
      outcomes: always([1, signed('example.com', 'mail', 'forwardemail.net')]),
    },
    {
      name: 'university.example',
      kind: 'forwarder',
      perDay: 15,
      addresses: { '203.0.114.50': 'lists.university.example' },
      outcomes: always([
        1,
        broken('example.com', 'mail', 'lists.university.example', 'mailing_list'),
      ]),
    },
  ],
  spoofers: { '203.0.116': 0, '203.0.117': 0, '203.0.118': 0, '203.0.119': 20 },
  // A policy of none stops nobody, so that only few messages raise no alert.
  perSpoofer: { from: 1, to: 5 },
};

/** It waits for one of its services to be set up, and then rejects. */
const shop: StoryDomain = {
  name: 'shop.example',
  policy: (day) => (day < EVENTS.shopRejects ? 'quarantine' : 'reject'),
  spf: 'v=spf1 ip4:192.0.2.20 -all',
  senders: [
    {
      name: 'mail.shop.example',
      kind: 'own',
      perDay: 150,
      addresses: { '192.0.2.20': 'mail.shop.example' },
      outcomes: always([1, aligned('shop.example', 'mail')]),
    },
    {
      name: 'Postmark',
      kind: 'service',
      perDay: 120,
      addresses: { '50.31.156.10': 'mta10.mtasv.net' },
      outcomes: (day) =>
        day < EVENTS.postmarkFixed
          ? [[1, unaligned('mtasv.net')]]
          : [[1, signed('shop.example', 'pm', 'pm.mtasv.net')]],
    },
    {
      name: 'Microsoft 365',
      kind: 'forwarder',
      perDay: 12,
      addresses: { '40.107.1.5': 'mail-db5.outbound.protection.outlook.com' },
      outcomes: always([1, signed('shop.example', 'mail', 'customer.example')]),
    },
    {
      name: 'Brevo',
      kind: 'service',
      perDay: 60,
      since: EVENTS.newSender,
      addresses: { '77.32.148.20': 'o20.mail.brevo.com' },
      outcomes: always([1, signed('shop.example', 'brevo1', 'bounces.brevo.com')]),
    },
  ],
  spoofers: { '203.0.120': 0, '203.0.121': 0, '203.0.122': 33, '203.0.123': 64 },
  perSpoofer: { from: 15, to: 40 },
};

/** Most of what is sent in its name is spoofed, and rejected. */
const bank: StoryDomain = {
  name: 'bank.example',
  policy: () => 'reject',
  silent: EVENTS.bankIsSilent,
  spf: 'v=spf1 ip4:192.0.2.30 ip6:2001:db8:30::/64 -all',
  senders: [
    {
      name: 'mail.bank.example',
      kind: 'own',
      perDay: 60,
      addresses: { '192.0.2.30': 'mail.bank.example', '2001:db8:30::25': 'mail.bank.example' },
      outcomes: always([1, aligned('bank.example', 'mail')]),
    },
    {
      name: 'Zendesk',
      kind: 'service',
      perDay: 40,
      addresses: { '192.161.147.10': 'out10.pod1.zdsys.com' },
      outcomes: always([1, signed('bank.example', 'zendesk1', 'pod1.zendesk.com')]),
    },
    {
      name: 'printshop.example',
      kind: 'unknown',
      perDay: 40,
      addresses: { '203.0.115.9': 'out.printshop.example' },
      outcomes: always(
        [0.6, signed('bank.example', 'print', 'printshop.example')],
        [0.4, broken('bank.example', 'print', 'printshop.example')],
      ),
    },
  ],
  spoofers: {
    '203.0.130': 0,
    '203.0.131': 0,
    '203.0.132': 0,
    '203.0.133': 0,
    '203.0.134': 15,
    '203.0.135': 30,
    '203.0.136': 52,
    '203.0.137': 80,
  },
  perSpoofer: { from: 40, to: 400 },
};

export const DOMAINS = [company, shop, bank];

export const isSilent = ({ silent }: StoryDomain, day: number): boolean =>
  silent !== undefined && within(day, silent);

/** Host names of all senders, confirmed in both directions, the SPF records, and the return path that shows who uses Postmark. */
export function sendersZone(): Zone {
  const zone: Record<
    string,
    { PTR?: string[]; A?: string[]; AAAA?: string[]; TXT?: string[]; CNAME?: string[] }
  > = { 'pm-bounces.shop.example': { CNAME: ['pm.mtasv.net'] } };
  for (const { name, spf, senders } of DOMAINS) {
    zone[name] = { TXT: [spf], A: ['192.0.2.1'] };
    for (const [address, host] of senders.flatMap(({ addresses }) => Object.entries(addresses))) {
      zone[reverseName(address)] = { PTR: [host] };
      const type = address.includes(':') ? 'AAAA' : 'A';
      const node = zone[host] ?? {};
      zone[host] = { ...node, [type]: [...(node[type] ?? []), address] };
    }
  }
  return zone;
}
