/** DNS records of sending services and mailbox providers, for whole mails sent through them. */

import type { Zone } from '../../src/net/dns/zone.ts';

/** The DNS records of one sending host: its address, and its name in both directions. */
const host = (address: string, name: string): Zone => ({
  [name]: { A: [address] },
  [`${address.split('.').reverse().join('.')}.in-addr.arpa`]: { PTR: [name] },
});

/** By service: sending hosts, SPF records to include, and domains for bounces and signatures. */
export const ZONES = {
  google: {
    ...host('209.85.208.54', 'mail-ed1-f54.google.com'),
    ...host('209.85.128.180', 'mail-wm1-f180.google.com'),
    '_spf.google.com': {
      TXT: ['v=spf1 ip4:74.125.0.0/16 ip4:209.85.128.0/17 ip6:2607:f8b0:4000::/36 ~all'],
    },
    'smtp.google.com': { A: ['142.250.153.27'] },
    'gmail.com': {
      A: ['142.250.185.69'],
      MX: ['5 gmail-smtp-in.l.google.com', '10 alt1.gmail-smtp-in.l.google.com'],
      TXT: ['v=spf1 redirect=_spf.google.com'],
    },
    'gmail-smtp-in.l.google.com': { A: ['142.250.153.26'] },
    'alt1.gmail-smtp-in.l.google.com': { A: ['142.251.9.26'] },
    '_dmarc.gmail.com': {
      TXT: ['v=DMARC1; p=none; sp=quarantine; rua=mailto:mailauth-reports@google.com'],
    },
    'gmail.com._report._dmarc.google.com': { TXT: ['v=DMARC1'] },
    'google.com': { A: ['142.250.185.78'], MX: ['10 smtp.google.com'] },
  },
  microsoft: {
    ...host('40.107.21.71', 'mail-db8eur05on2071.outbound.protection.outlook.com'),
    ...host('52.101.70.14', 'mail-westeuropeazon11011014.outbound.protection.outlook.com'),
    'spf.protection.outlook.com': {
      TXT: ['v=spf1 ip4:40.92.0.0/15 ip4:40.107.0.0/16 ip4:52.100.0.0/15 ip4:104.47.0.0/17 -all'],
    },
    'outlook.com': {
      A: ['52.96.172.98'],
      MX: ['5 outlook-com.olc.protection.outlook.com'],
      TXT: ['v=spf1 include:spf2.outlook.com -all'],
    },
    'spf2.outlook.com': { TXT: ['v=spf1 ip4:40.92.0.0/15 ip4:52.103.0.0/17 -all'] },
    'outlook-com.olc.protection.outlook.com': { A: ['52.101.73.10'] },
    '_dmarc.outlook.com': {
      TXT: ['v=DMARC1; p=none; sp=quarantine; rua=mailto:rua@dmarc.microsoft'],
    },
    'outlook.com._report._dmarc.dmarc.microsoft': { TXT: ['v=DMARC1'] },
    'mail.protection.outlook.com': { A: ['52.101.73.4'] },
  },
  yahoo: {
    'yahoo.com': {
      A: ['74.6.231.20'],
      MX: ['1 mta5.am0.yahoodns.net'],
      TXT: ['v=spf1 redirect=_spf.mail.yahoo.com'],
    },
    '_spf.mail.yahoo.com': { TXT: ['v=spf1 ip4:66.163.184.0/21 ip4:74.6.128.0/17 ~all'] },
    'mta5.am0.yahoodns.net': { A: ['67.195.204.77'] },
    '_dmarc.yahoo.com': { TXT: ['v=DMARC1; p=reject; pct=100; rua=mailto:d@rua.agari.com'] },
    'yahoo.com._report._dmarc.rua.agari.com': { TXT: ['v=DMARC1'] },
  },
  ses: {
    ...host('54.240.48.101', 'a48-101.smtp-out.amazonses.com'),
    ...host('54.240.7.18', 'a7-18.smtp-out.eu-west-1.amazonses.com'),
    'amazonses.com': {
      TXT: ['v=spf1 ip4:199.255.192.0/22 ip4:54.240.0.0/18 ip4:76.223.176.0/20 -all'],
      MX: ['10 inbound-smtp.us-east-1.amazonaws.com'],
    },
    'eu-west-1.amazonses.com': {
      TXT: ['v=spf1 ip4:54.240.0.0/18 -all'],
      MX: ['10 feedback-smtp.eu-west-1.amazonses.com'],
    },
    'feedback-smtp.eu-west-1.amazonses.com': { A: ['52.213.19.44'] },
    'inbound-smtp.us-east-1.amazonaws.com': { A: ['44.206.9.87'] },
  },
  sendgrid: {
    ...host('167.89.86.101', 'o1.ptr4711.sendgrid.net'),
    ...host('149.72.40.18', 'xtrwkhkp.outbound-mail.sendgrid.net'),
    'sendgrid.net': {
      A: ['167.89.118.83'],
      MX: ['10 mx.sendgrid.net'],
      TXT: ['v=spf1 ip4:167.89.0.0/17 ip4:149.72.0.0/16 ip4:198.37.144.0/20 -all'],
    },
    'mx.sendgrid.net': { A: ['167.89.115.79'] },
    'u4811902.wl033.sendgrid.net': {
      A: ['167.89.118.95'],
      MX: ['10 mx.sendgrid.net'],
      TXT: ['v=spf1 ip4:167.89.86.101 ip4:149.72.40.18 -all'],
    },
    'em7743.sendgrid.net': { TXT: ['v=spf1 ip4:167.89.86.101 -all'], MX: ['10 mx.sendgrid.net'] },
  },
  mailchimp: {
    ...host('198.2.141.27', 'mail27.atl11.rsgsv.net'),
    'mail27.atl11.rsgsv.net': {
      A: ['198.2.141.27'],
      MX: ['10 mx.mcsv.net'],
      TXT: ['v=spf1 ip4:198.2.128.0/18 ip4:205.201.128.0/20 ~all'],
    },
    'mx.mcsv.net': { A: ['205.201.131.131'] },
    'mcsv.net': { A: ['205.201.132.26'], MX: ['10 mx.mcsv.net'] },
    'servers.mcsv.net': { TXT: ['v=spf1 ip4:205.201.128.0/20 ip4:198.2.128.0/18 ~all'] },
  },
  mailgun: {
    ...host('159.135.228.9', 'm228-9.mailgun.net'),
    'mailgun.org': {
      A: ['34.160.33.151'],
      MX: ['10 mxa.mailgun.org'],
      TXT: ['v=spf1 ip4:159.135.224.0/20 ip4:69.72.32.0/20 ~all'],
    },
    'mxa.mailgun.org': { A: ['34.160.157.95'] },
  },
  postmark: {
    ...host('50.31.156.118', 'sc-ord-mta118.mtasv.net'),
    'spf.mtasv.net': { TXT: ['v=spf1 ip4:50.31.156.96/27 ip4:104.245.209.192/26 ~all'] },
    'pm.mtasv.net': {
      A: ['50.31.156.6'],
      MX: ['10 inbound.mtasv.net'],
      TXT: ['v=spf1 ip4:50.31.156.96/27 ip4:104.245.209.192/26 ~all'],
    },
    'pm-bounces.mtasv.net': {
      TXT: ['v=spf1 ip4:50.31.156.96/27 ~all'],
      MX: ['10 inbound.mtasv.net'],
    },
    'inbound.mtasv.net': { A: ['50.31.156.6'] },
    'mtasv.net': { A: ['50.31.156.6'] },
  },
  brevo: {
    ...host('77.32.148.24', 'ha.d.sender-sib.com'),
    'spf.brevo.com': { TXT: ['v=spf1 ip4:77.32.128.0/18 ip4:185.41.28.0/22 ~all'] },
    'bounces.ha.d.sender-sib.com': {
      TXT: ['v=spf1 ip4:77.32.148.24 ~all'],
      MX: ['10 mx.sender-sib.com'],
    },
    'mx.sender-sib.com': { A: ['185.107.232.10'] },
    'sender-sib.com': { A: ['1.179.112.20'] },
  },
  zoho: {
    ...host('136.143.188.53', 'sender4-of-o53.zoho.com'),
    'zohomail.com': { TXT: ['v=spf1 ip4:136.143.188.0/24 ip4:135.84.80.0/22 ~all'] },
    'mx.zoho.com': { A: ['204.141.33.44'] },
  },
  salesforce: {
    ...host('13.110.208.12', 'smtp-0fe01c4d.core1.sfdc-58ktaz.mta.salesforce.com'),
    '_spf.salesforce.com': { TXT: ['v=spf1 ip4:13.110.208.0/21 ip4:85.222.130.224/27 ~all'] },
  },
} satisfies Record<string, Zone>;

export type ZoneName = keyof typeof ZONES;
