/**
 * Receivers and feedback loops whose reports count at once. Each is known by exact From addresses, or by a domain that gives
 * nobody a mailbox, and always by a DKIM signature that aligns with them.
 *
 * Collected in November 2026 from public rules and samples of programs that read such reports: Abusix inbound-parsers, AbuseIO
 * parser-fbl, SimpleLogin, parsedmarc, and published mail filters. What is not listed counts once a person confirms it.
 */

import type { ReportType } from '../reading/report.ts';

interface KnownSender {
  /** The domain by which people know it. */
  name: string;
  /** What its reports call it, in lower case. */
  labels: string[];
  /** Addresses; or domains, which stand for all addresses at and below them. */
  senders: string[];
}

/** Who sends DMARC and TLS reports. */
const RECEIVERS: KnownSender[] = [
  {
    name: 'google.com',
    labels: ['google.com', 'google inc.'],
    senders: ['noreply-dmarc-support@google.com', 'noreply-smtp-tls-reporting@google.com'],
  },
  {
    name: 'microsoft.com',
    labels: ['outlook.com', 'enterprise outlook', 'microsoft corporation', 'microsoft corp.'],
    senders: [
      'dmarcreport@microsoft.com',
      'dmarcrep@microsoft.com',
      'tlsrpt-noreply@microsoft.com',
    ],
  },
  {
    name: 'yahoo.com',
    labels: ['yahoo', 'yahoo! inc.', 'yahoo inc.', 'yahoo.com'],
    senders: ['noreply@dmarc.yahoo.com', 'postmaster@dmarc.yahoo.com'],
  },
  { name: 'aol.com', labels: ['aol'], senders: ['abuse_dmarc@abuse.aol.com'] },
  { name: 'mail.ru', labels: ['mail.ru'], senders: ['dmarc_support@corp.mail.ru'] },
  {
    name: 'comcast.net',
    labels: ['comcast.net', 'comcast'],
    senders: ['dmarc-support@alerts.comcast.net'],
  },
  {
    name: 'fastmail.com',
    labels: ['fastmail pty ltd', 'fastmail.com', 'fastmail'],
    senders: ['reports@fastmaildmarc.com'],
  },
  { name: 'gmx.net', labels: ['gmx'], senders: ['noreply-dmarc@sicher.gmx.net'] },
  { name: 'web.de', labels: ['web.de'], senders: ['noreply-dmarc@sicher.web.de'] },
  {
    name: 'amazonses.com',
    labels: ['amazon-ses', 'amazonses.com'],
    senders: ['postmaster@amazonses.com'],
  },
  { name: 'zoho.com', labels: ['zoho.com', 'zoho'], senders: ['noreply-dmarc@zoho.com'] },
  {
    name: 'mimecast.com',
    labels: ['mimecast', 'mimecast.org'],
    senders: ['mimecastreport.com', 'dmarc_rua@mimecast.com'],
  },
  {
    name: 'emailsrvr.com',
    labels: ['emailsrvr.com'],
    senders: ['dmarc_reports@emailsrvr.com', 'reports.emailsrvr.com'],
  },
  {
    name: 'secureserver.net',
    labels: ['secureserver.net'],
    senders: ['dmarcreports@secureserver.net'],
  },
  { name: 'infomaniak.com', labels: ['infomaniak'], senders: ['dmarc@infomaniak.com'] },
  { name: 'linkedin.com', labels: ['linkedin'], senders: ['dmarc-noreply@linkedin.com'] },
  { name: 'xs4all.net', labels: ['xs4all'], senders: ['noreply@dmarc-reports.xs4all.net'] },
  { name: 'wp.pl', labels: ['wp.pl'], senders: ['dmarc-support@wp.pl'] },
  { name: 'aruba.it', labels: ['aruba.it'], senders: ['dmarcreport@aruba.it'] },
  {
    name: '163.com',
    labels: ['netease', '163.com', '126.com'],
    senders: ['abuse@163.com', 'abuse@126.com', 'abuse@yeah.net'],
  },
];

/** Who passes on complaints of its users. */
const LOOPS: KnownSender[] = [
  { name: 'yahoo.com', labels: [], senders: ['feedback@arf.mail.yahoo.com'] },
  { name: 'hotmail.com', labels: [], senders: ['staff@hotmail.com'] },
  { name: 'aol.com', labels: [], senders: ['scomp@aol.net'] },
  { name: 'fastmail.com', labels: [], senders: ['feedbackloop@fbl.fastmail.com'] },
  { name: 'hostedemail.com', labels: [], senders: ['feedbackloop@fbl.hostedemail.com'] },
  { name: 'zoho.com', labels: [], senders: ['feedbackloop@fbl.zoho.com'] },
  { name: 'cox.net', labels: [], senders: ['feedbackloop@fbl.cox.net'] },
  { name: 'synacor.com', labels: [], senders: ['feedbackloop@fbl.synacor.com'] },
  { name: 'italiaonline.net', labels: [], senders: ['feedbackloop@fbl.italiaonline.net'] },
  { name: 'terra.com', labels: [], senders: ['feedbackloop@feedback.terra.com'] },
  { name: 'usa.net', labels: [], senders: ['feedbackloop@fbl.usa.net'] },
  {
    name: 'rackspace.com',
    labels: [],
    senders: ['feedbackloop@fbl.apps.rackspace.com', 'feedbackloop@feedback.apps.rackspace.com'],
  },
  // Validity runs the loops of Comcast, Mail.ru and others.
  { name: 'comcast.net', labels: [], senders: ['feedbackloop@comcastfbl.senderscore.net'] },
  { name: 'mail.ru', labels: [], senders: ['feedbackloop@mailru.senderscore.net'] },
  { name: 'yandex.ru', labels: [], senders: ['feedbackloop@yandexfbl.senderscore.net'] },
  { name: 'xs4all.nl', labels: [], senders: ['feedbackloop@xs4allfbl.senderscore.net'] },
];

const SENDERS: Record<ReportType, KnownSender[]> = {
  dmarc: RECEIVERS,
  tls: RECEIVERS,
  dmarc_failure: RECEIVERS,
  complaint: LOOPS,
  bounce: [],
};

const isWithin = (domain: string, above: string): boolean =>
  domain === above || domain.endsWith(`.${above}`);

/**
 * The known receiver or loop with this From address; null if there is none. `signing`: the domain of its aligned signature, which
 * the caller has verified. A signature of another subdomain says nothing about the address.
 */
export function knownSender(from: string, signing: string, type: ReportType): string | null {
  const domain = from.slice(from.lastIndexOf('@') + 1);
  if (!isWithin(domain, signing)) return null;
  const matches = (sender: string) =>
    sender.includes('@') ? sender === from : isWithin(domain, sender);
  return SENDERS[type].find(({ senders }) => senders.some(matches))?.name ?? null;
}

/** The known receiver whose reports have this name. Anyone can write it. */
export const knownLabel = (label: string, type: ReportType): string | null =>
  SENDERS[type].find(({ labels, name }) => labels.includes(label) || name === label)?.name ?? null;
