/** Domains as administrators know them: what is in DNS, who sends, and the right advice. Written down before the first run. */

import type { SourceKind, SourceMark } from '../../../src/feedback/sources/kind.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';

export interface Sender {
  ip: string;
  /** Its forward-confirmed host name. */
  host?: string;
  /** A day. */
  count?: number;
  /** What passes with alignment. Default both. */
  passes?: 'both' | 'dkim' | 'spf' | 'nothing';
  /** A domain of someone else with a valid signature, and one for which SPF passes. */
  signer?: string;
  mailFrom?: string;
  /** The domain in From. Default that of the story. */
  from?: string;
  forwarded?: boolean;
  /** The first and the last day. Default all. */
  days?: [number, number];
}

export interface Story {
  title: string;
  /** Beside the names of `senders`. */
  dns: Zone;
  /** At `_dmarc`. */
  dmarc: string | null;
  senders: Sender[];
  /** How the team classified sources. */
  marks?: Record<string, SourceMark>;
  /** A test of the team that arrived with SPF passing for this domain, and without alignment. */
  testThrough?: string;
  /** The kind of each source by name. */
  sources: Record<string, SourceKind>;
  state: string;
  /** The tag and the policy of the next step. */
  next: string | null;
  /** Patterns of the summary. */
  says: RegExp[];
  /** The record without `rua`, if there is a next step. */
  record?: string;
}

const OWN = 'example.com';
const WORKSPACE: Sender = { ip: '209.85.220.41', host: 'mail-sor-f41.google.com' };
const GOOGLE: Zone = {
  [OWN]: { MX: ['1 smtp.google.com'], TXT: ['v=spf1 include:_spf.google.com ~all'] },
  'google._domainkey.example.com': { TXT: ['v=DKIM1; p=MIIB'] },
};
const withSpf = (record: string): Zone => ({
  ...GOOGLE,
  [OWN]: { MX: ['1 smtp.google.com'], TXT: [record] },
});
const NOTHING: Zone = { [OWN]: { MX: ['0 .'], TXT: ['v=spf1 -all'] } };
const ALL_PASS = /All your sources pass DMARC\./;
const SPOOFER: Sender = { ip: '203.0.114.9', passes: 'nothing', count: 40 };
const SPOOFED = { '203.0.114.0/24': 'spoof' } as const;

const UNIVERSITY: Sender[] = [
  { ip: '192.0.2.10', host: 'mail.example.com', count: 200 },
  { ip: '192.0.2.20', host: 'mx.cs.example.com', from: 'cs.example.com', count: 30 },
  {
    ip: '192.0.2.20',
    host: 'mx.cs.example.com',
    from: 'cs.example.com',
    passes: 'nothing',
    count: 20,
  },
];
const CAMPUS: Zone = { [OWN]: { MX: ['10 mail.example.com'], TXT: ['v=spf1 mx -all'] } };

export const STORIES: Story[] = [
  {
    title: 'a shop on Shopify and Google Workspace',
    dns: GOOGLE,
    dmarc: 'v=DMARC1; p=none',
    senders: [WORKSPACE, { ip: '23.249.1.7', host: 'o7.shopifyemail.com', passes: 'dkim' }],
    sources: { 'Google Workspace': 'service', Shopify: 'service' },
    state: 'ready',
    next: 'p=quarantine',
    says: [/^You can change the policy to p=quarantine\. /, ALL_PASS],
    record: 'v=DMARC1; p=quarantine',
  },
  {
    title:
      'an agency whose SPF record includes a service that fails, and a stranger at another service',
    dns: withSpf('v=spf1 include:_spf.google.com include:spf.brevo.com ~all'),
    dmarc: 'v=DMARC1; p=none; fo=1',
    senders: [
      WORKSPACE,
      { ip: '185.41.28.7', host: 'r7.sender-sib.com', passes: 'nothing', signer: 'brevosend.com' },
      { ip: '205.201.137.4', host: 'mail4.mcsv.net', passes: 'nothing', count: 5 },
    ],
    sources: { 'Google Workspace': 'service', Brevo: 'misconfigured', Mailchimp: 'spoof' },
    state: 'not_ready',
    next: 'p=quarantine',
    says: [/failing mail from Brevo would go to spam/],
    record: 'v=DMARC1; p=quarantine; fo=1',
  },
  {
    title: 'a self-hosted Postfix, and a web server whose cron mail fails',
    dns: { [OWN]: { MX: ['10 mail.example.com'], TXT: ['v=spf1 mx -all'] } },
    dmarc: 'v=DMARC1; p=none; adkim=s',
    senders: [
      { ip: '192.0.2.10', host: 'mail.example.com', count: 100 },
      { ip: '192.0.2.11', host: 'www.example.com', passes: 'nothing', count: 3 },
    ],
    sources: { 'mail.example.com': 'own', 'www.example.com': 'misconfigured' },
    state: 'not_ready',
    next: 'p=quarantine',
    says: [/failing mail from www\.example\.com would go to spam/],
    record: 'v=DMARC1; p=quarantine; adkim=s',
  },
  {
    title: 'a parked domain that others forge',
    dns: NOTHING,
    dmarc: 'v=DMARC1; p=none; sp=none; pct=50',
    senders: [SPOOFER],
    sources: SPOOFED,
    state: 'ready',
    next: 'p=reject',
    says: [/sends no mail/, /p=reject/],
    record: 'v=DMARC1; p=reject',
  },
  {
    title: 'a parked domain without reports',
    dns: NOTHING,
    dmarc: 'v=DMARC1; p=none',
    senders: [],
    sources: {},
    state: 'ready',
    next: 'p=reject',
    says: [/sends no mail/],
    record: 'v=DMARC1; p=reject',
  },
  {
    title: 'a parked domain without a DMARC record',
    dns: NOTHING,
    dmarc: null,
    senders: [],
    sources: {},
    state: 'not_published',
    next: 'p=reject',
    says: [/sends no mail/],
    record: 'v=DMARC1; p=reject',
  },
  {
    title: 'a parked domain that rejects already',
    dns: NOTHING,
    dmarc: 'v=DMARC1; p=reject',
    senders: [SPOOFER],
    sources: SPOOFED,
    state: 'done',
    next: null,
    says: [/p=reject/],
  },
  {
    title: 'a domain that declares that it sends nothing, but one of whose servers someone knows',
    dns: NOTHING,
    dmarc: 'v=DMARC1; p=none',
    senders: [SPOOFER],
    marks: { '203.0.114.0/24': 'own' },
    sources: { '203.0.114.0/24': 'misconfigured' },
    state: 'not_ready',
    next: 'p=quarantine',
    says: [/would go to spam/],
    record: 'v=DMARC1; p=quarantine',
  },
  {
    title: 'a domain that declares that it sends nothing, but whose newsletter passes',
    dns: NOTHING,
    dmarc: 'v=DMARC1; p=none',
    senders: [{ ip: '205.201.137.4', host: 'mail4.mcsv.net', passes: 'dkim' }],
    sources: { Mailchimp: 'service' },
    state: 'ready',
    next: 'p=quarantine',
    says: [ALL_PASS],
    record: 'v=DMARC1; p=quarantine',
  },
  {
    title: 'a university whose failing department is under sp=none',
    dns: CAMPUS,
    dmarc: 'v=DMARC1; p=quarantine; sp=none',
    senders: UNIVERSITY,
    sources: { 'mail.example.com': 'own', 'mx.cs.example.com': 'misconfigured' },
    state: 'ready',
    next: 'p=reject',
    says: [/p=reject/, /sp=none/],
    record: 'v=DMARC1; p=reject; sp=none',
  },
  {
    title: 'a university that rejects, and whose failing department is under sp=none',
    dns: CAMPUS,
    dmarc: 'v=DMARC1; p=reject; sp=none',
    senders: UNIVERSITY,
    sources: { 'mail.example.com': 'own', 'mx.cs.example.com': 'misconfigured' },
    state: 'not_ready',
    next: 'sp=quarantine',
    says: [/Not ready for sp=quarantine/, /mx\.cs\.example\.com/],
    record: 'v=DMARC1; p=reject; sp=quarantine',
  },
  {
    title: 'a university that rejects, with sp=none and subdomains that pass',
    dns: CAMPUS,
    dmarc: 'v=DMARC1; p=reject; sp=none',
    senders: UNIVERSITY.slice(0, 2),
    sources: { 'mail.example.com': 'own', 'mx.cs.example.com': 'own' },
    state: 'ready',
    next: 'sp=quarantine',
    says: [/sp=quarantine/, ALL_PASS],
    record: 'v=DMARC1; p=reject; sp=quarantine',
  },
  {
    title: 'failing mail of the domain itself, when only sp= is left',
    dns: CAMPUS,
    dmarc: 'v=DMARC1; p=reject; sp=quarantine',
    senders: [
      { ip: '192.0.2.10', host: 'mail.example.com', count: 100, passes: 'nothing' },
      UNIVERSITY[1]!,
    ],
    sources: { 'mail.example.com': 'misconfigured', 'mx.cs.example.com': 'own' },
    state: 'ready',
    next: 'sp=reject',
    says: [/sp=reject/],
    record: 'v=DMARC1; p=reject; sp=reject',
  },
  {
    title: 'subdomains that are under a stricter policy than the domain',
    dns: CAMPUS,
    dmarc: 'v=DMARC1; p=none; sp=reject',
    senders: UNIVERSITY,
    sources: { 'mail.example.com': 'own', 'mx.cs.example.com': 'misconfigured' },
    state: 'ready',
    next: 'p=quarantine',
    says: [/p=quarantine/],
    record: 'v=DMARC1; p=quarantine; sp=reject',
  },
  {
    title: 'names that do not exist are left, under np=none',
    dns: CAMPUS,
    dmarc: 'v=DMARC1; p=reject; np=none',
    senders: UNIVERSITY.slice(0, 2),
    sources: { 'mail.example.com': 'own', 'mx.cs.example.com': 'own' },
    state: 'ready',
    next: 'np=quarantine',
    says: [/np=quarantine/],
    record: 'v=DMARC1; p=reject; np=quarantine',
  },
  {
    title: 'forwarded mail and mailing lists',
    dns: GOOGLE,
    dmarc: 'v=DMARC1; p=none',
    senders: [
      { ...WORKSPACE, count: 100 },
      { ip: '140.211.166.3', host: 'lists.apache.org', passes: 'nothing', count: 4 },
      { ip: '198.51.100.77', host: 'mx.alumni.example.edu', passes: 'dkim', count: 6 },
      {
        ip: '198.51.100.90',
        host: 'mx.club.example.org',
        passes: 'nothing',
        forwarded: true,
        count: 3,
      },
    ],
    sources: {
      'Google Workspace': 'service',
      'Apache mailing lists': 'forwarder',
      'example.edu': 'forwarder',
      'example.org': 'forwarder',
    },
    state: 'ready',
    next: 'p=quarantine',
    says: [ALL_PASS, /6\.2% of all messages fail because they were forwarded/],
    record: 'v=DMARC1; p=quarantine',
  },
  {
    title: 'a bank that is forged from hosts and clouds of others',
    dns: { [OWN]: { MX: ['10 mail.example.com'], TXT: ['v=spf1 ip4:192.0.2.10 -all'] } },
    dmarc: 'v=DMARC1; p=quarantine',
    senders: [
      { ip: '192.0.2.10', host: 'mail.example.com', count: 100 },
      { ip: '78.46.1.1', host: 'dedi1.your-server.de', passes: 'nothing', count: 300 },
      { ip: '78.46.2.2', host: 'static.2.2.46.78.clients.your-server.de', passes: 'nothing' },
      { ip: '72.167.1.1', host: 'p3plsmtp1.prod.phx3.secureserver.net', passes: 'nothing' },
      { ip: '81.169.1.1', host: 'w01.rzone.de', passes: 'nothing' },
      { ip: '162.241.1.1', host: 'box5.bluehost.com', passes: 'nothing' },
      { ip: '54.1.1.1', host: 'ec2-54-1-1-1.compute-1.amazonaws.com', passes: 'nothing' },
      { ip: '46.105.1.1', host: '1.mo1.mail-out.ovh.net', passes: 'nothing' },
      { ip: '212.227.1.1', host: 'mout.kundenserver.de', passes: 'nothing' },
      { ip: '164.90.1.1', passes: 'nothing' },
    ],
    sources: {
      'mail.example.com': 'own',
      'Hetzner web hosting': 'spoof',
      'your-server.de': 'spoof',
      GoDaddy: 'spoof',
      STRATO: 'spoof',
      Bluehost: 'spoof',
      'amazonaws.com': 'spoof',
      OVHcloud: 'spoof',
      IONOS: 'spoof',
      '164.90.1.0/24': 'spoof',
    },
    state: 'ready',
    next: 'p=reject',
    says: [ALL_PASS],
    record: 'v=DMARC1; p=reject',
  },
  {
    title: 'a Microsoft 365 tenant that other tenants forge',
    dns: {
      [OWN]: {
        MX: ['0 example-com.mail.protection.outlook.com'],
        TXT: ['v=spf1 include:spf.protection.outlook.com -all'],
      },
      'selector1._domainkey.example.com': {
        CNAME: ['selector1-example-com._domainkey.examplecorp.onmicrosoft.com'],
      },
    },
    dmarc: 'v=DMARC1; p=none',
    senders: [
      { ip: '40.107.22.1', host: 'mail-am6.outbound.protection.outlook.com', count: 60 },
      {
        ip: '40.107.22.1',
        passes: 'nothing',
        signer: 'evil.onmicrosoft.com',
        count: 25,
      },
      {
        ip: '40.107.22.2',
        host: 'mail-am7.outbound.protection.outlook.com',
        passes: 'nothing',
        signer: 'evil2.onmicrosoft.com',
        count: 15,
      },
    ],
    sources: {
      'Microsoft 365': 'service',
      'evil.onmicrosoft.com': 'spoof',
      'evil2.onmicrosoft.com': 'spoof',
    },
    state: 'ready',
    next: 'p=quarantine',
    says: [ALL_PASS],
    record: 'v=DMARC1; p=quarantine',
  },
  {
    title: 'Google Workspace without DKIM, with forwarded mail of its own tenant and a forging one',
    dns: withSpf('v=spf1 include:_spf.google.com ~all'),
    dmarc: 'v=DMARC1; p=none',
    senders: [
      { ...WORKSPACE, passes: 'spf', count: 500, signer: 'example-com.20230601.gappssmtp.com' },
      {
        ...WORKSPACE,
        passes: 'nothing',
        signer: 'example-com.20230601.gappssmtp.com',
        count: 2,
      },
      { ...WORKSPACE, passes: 'nothing', signer: 'evil-shop.20230601.gappssmtp.com', count: 50 },
    ],
    sources: { 'Google Workspace': 'service', 'evil-shop.20230601.gappssmtp.com': 'spoof' },
    state: 'ready',
    next: 'p=quarantine',
    says: [ALL_PASS],
    record: 'v=DMARC1; p=quarantine',
  },
  {
    title: 'a new domain without reports',
    dns: GOOGLE,
    dmarc: 'v=DMARC1; p=none',
    senders: [],
    sources: {},
    state: 'not_enough_data',
    next: 'p=quarantine',
    says: [/not enough report data/],
    record: 'v=DMARC1; p=quarantine',
  },
  {
    title: 'a domain without a DMARC record',
    dns: GOOGLE,
    dmarc: null,
    senders: [],
    sources: {},
    state: 'not_published',
    next: 'p=none',
    says: [/changes nothing for your mail/],
    record: 'v=DMARC1; p=none',
  },
  {
    title: 'p=none with 98% passing',
    dns: { [OWN]: { MX: ['10 mail.example.com'], TXT: ['v=spf1 mx -all'] } },
    dmarc: 'v=DMARC1; p=none',
    senders: [
      { ip: '192.0.2.10', host: 'mail.example.com', count: 98 },
      { ip: '192.0.2.10', host: 'mail.example.com', count: 2, passes: 'nothing' },
    ],
    sources: { 'mail.example.com': 'own' },
    state: 'not_ready',
    next: 'p=quarantine',
    says: [/failing mail from mail\.example\.com would go to spam/],
    record: 'v=DMARC1; p=quarantine',
  },
  {
    title: 'p=quarantine of a fifth',
    dns: GOOGLE,
    dmarc: 'v=DMARC1; p=quarantine; pct=20',
    senders: [WORKSPACE],
    sources: { 'Google Workspace': 'service' },
    state: 'ready',
    next: 'p=quarantine',
    says: [/p=quarantine without pct=20/],
    record: 'v=DMARC1; p=quarantine',
  },
  {
    title: 'p=reject in test mode',
    dns: GOOGLE,
    dmarc: 'v=DMARC1; p=reject; t=y',
    senders: [WORKSPACE],
    sources: { 'Google Workspace': 'service' },
    state: 'ready',
    next: 'p=reject',
    says: [/p=reject without t=y/],
    record: 'v=DMARC1; p=reject',
  },
  {
    title: 'p=reject with an own source that fails',
    dns: GOOGLE,
    dmarc: 'v=DMARC1; p=reject',
    senders: [
      WORKSPACE,
      { ip: '50.31.156.7', host: 'mta7.mtasv.net', passes: 'dkim', count: 14 },
      { ip: '50.31.156.7', host: 'mta7.mtasv.net', passes: 'nothing', count: 6 },
    ],
    sources: { 'Google Workspace': 'service', Postmark: 'misconfigured' },
    state: 'done',
    next: null,
    says: [/Failing mail from Postmark is rejected/],
  },
  {
    title: 'several services of which one fails, with its selector published',
    dns: {
      ...GOOGLE,
      's1._domainkey.example.com': { CNAME: ['s1.domainkey.u123.wl.sendgrid.net'] },
    },
    dmarc: 'v=DMARC1; p=quarantine',
    senders: [
      WORKSPACE,
      { ip: '205.201.137.4', host: 'mail4.mcsv.net', passes: 'dkim' },
      { ip: '149.72.1.9', host: 'o1.ptr9.sendgrid.net', passes: 'nothing', signer: 'sendgrid.net' },
    ],
    sources: { 'Google Workspace': 'service', Mailchimp: 'service', SendGrid: 'misconfigured' },
    state: 'not_ready',
    next: 'p=reject',
    says: [/failing mail from SendGrid would be rejected/],
    record: 'v=DMARC1; p=reject',
  },
  {
    title: 'a service that was repaired two weeks ago',
    dns: GOOGLE,
    dmarc: 'v=DMARC1; p=none',
    senders: [
      WORKSPACE,
      { ip: '149.72.1.9', host: 'o1.ptr9.sendgrid.net', passes: 'nothing', days: [0, 4] },
      { ip: '149.72.1.9', host: 'o1.ptr9.sendgrid.net', passes: 'dkim', days: [5, 19] },
    ],
    sources: { 'Google Workspace': 'service', SendGrid: 'misconfigured' },
    state: 'ready',
    next: 'p=quarantine',
    says: [/All your sources that sent mail in the last 14 days pass DMARC\./],
    record: 'v=DMARC1; p=quarantine',
  },
  {
    title: 'small traffic',
    dns: GOOGLE,
    dmarc: 'v=DMARC1; p=none',
    senders: [{ ...WORKSPACE, count: 2 }],
    sources: { 'Google Workspace': 'service' },
    state: 'not_enough_data',
    next: 'p=quarantine',
    says: [/not enough report data/],
    record: 'v=DMARC1; p=quarantine',
  },
  {
    title: 'what a person said about a host and a service',
    dns: withSpf('v=spf1 include:_spf.google.com include:sendgrid.net ~all'),
    dmarc: 'v=DMARC1; p=none',
    senders: [
      WORKSPACE,
      { ip: '198.51.100.8', host: 'crm.example.net', passes: 'nothing' },
      { ip: '149.72.1.9', host: 'o1.ptr9.sendgrid.net', passes: 'nothing' },
    ],
    marks: { 'example.net': 'own', SendGrid: 'foreign' },
    sources: { 'Google Workspace': 'service', 'example.net': 'misconfigured', SendGrid: 'spoof' },
    state: 'not_ready',
    next: 'p=quarantine',
    says: [/failing mail from example\.net would go to spam\.$/],
    record: 'v=DMARC1; p=quarantine',
  },
  {
    title: 'a service that a test of the team used',
    dns: GOOGLE,
    dmarc: 'v=DMARC1; p=none',
    testThrough: 'bnc3.mailjet.com',
    senders: [
      WORKSPACE,
      { ip: '87.253.232.7', host: 'o7.p8.mailjet.com', passes: 'nothing', signer: 'mailjet.com' },
    ],
    sources: { 'Google Workspace': 'service', Mailjet: 'misconfigured' },
    state: 'not_ready',
    next: 'p=quarantine',
    says: [/failing mail from Mailjet would go to spam/],
    record: 'v=DMARC1; p=quarantine',
  },
  {
    title: 'a domain of whose mail nothing passes, though it may send',
    dns: GOOGLE,
    dmarc: 'v=DMARC1; p=none',
    senders: [SPOOFER, { ip: '149.72.1.9', host: 'o1.ptr9.sendgrid.net', passes: 'nothing' }],
    sources: { ...SPOOFED, SendGrid: 'spoof' },
    state: 'not_enough_data',
    next: 'p=quarantine',
    says: [/No reported message passed DMARC/],
    record: 'v=DMARC1; p=quarantine',
  },
];
