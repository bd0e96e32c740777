/**
 * Receivers and feedback loops whose reports count at once. Each is known by exact From addresses, or by a domain that gives
 * nobody a mailbox, and always by a DKIM signature that aligns with them. An address counts only with the types of reports
 * that it is known to send.
 *
 * Collected in November 2026 from public rules and samples of programs that read such reports: Abusix inbound-parsers, AbuseIO
 * parser-fbl, SimpleLogin, parsedmarc (all failure reports), and published mail filters and tests (Seznam). Apple, Cisco, Proofpoint,
 * T-Online and the DMARC reports of Yandex are missing, because no source shows their addresses. What is not listed counts once a
 * person confirms it.
 */

import { REPORT_TYPES, type ReportType } from '../reading/report.ts';

/** For each type of report, addresses; or domains, which stand for all addresses at and below them. */
interface KnownSender extends Partial<Record<ReportType, string[]>> {
  /** The domain by which people know it. */
  name: string;
  /** What its reports call it, in lower case. */
  labels?: string[];
}

const SENDERS: KnownSender[] = [
  {
    name: 'google.com',
    labels: ['google.com', 'google inc.'],
    dmarc: ['noreply-dmarc-support@google.com'],
    tls: ['noreply-smtp-tls-reporting@google.com'],
  },
  {
    name: 'microsoft.com',
    labels: ['outlook.com', 'enterprise outlook', 'microsoft corporation', 'microsoft corp.'],
    dmarc: ['dmarcreport@microsoft.com', 'dmarcrep@microsoft.com'],
    tls: ['tlsrpt-noreply@microsoft.com'],
  },
  { name: 'hotmail.com', complaint: ['staff@hotmail.com'] },
  {
    name: 'yahoo.com',
    labels: ['yahoo', 'yahoo! inc.', 'yahoo inc.', 'yahoo.com'],
    dmarc: ['noreply@dmarc.yahoo.com', 'postmaster@dmarc.yahoo.com'],
    complaint: ['feedback@arf.mail.yahoo.com'],
  },
  {
    name: 'aol.com',
    labels: ['aol'],
    dmarc: ['abuse_dmarc@abuse.aol.com'],
    complaint: ['scomp@aol.net'],
  },
  // Validity runs the loops of Comcast, Mail.ru and others.
  {
    name: 'mail.ru',
    labels: ['mail.ru'],
    dmarc: ['dmarc_support@corp.mail.ru'],
    complaint: ['feedbackloop@mailru.senderscore.net'],
  },
  {
    name: 'comcast.net',
    labels: ['comcast.net', 'comcast'],
    dmarc: ['dmarc-support@alerts.comcast.net'],
    complaint: ['feedbackloop@comcastfbl.senderscore.net'],
  },
  {
    name: 'fastmail.com',
    labels: ['fastmail pty ltd', 'fastmail.com', 'fastmail'],
    dmarc: ['reports@fastmaildmarc.com'],
    complaint: ['feedbackloop@fbl.fastmail.com'],
  },
  { name: 'gmx.net', labels: ['gmx'], dmarc: ['noreply-dmarc@sicher.gmx.net'] },
  { name: 'web.de', labels: ['web.de'], dmarc: ['noreply-dmarc@sicher.web.de'] },
  {
    name: 'amazonses.com',
    labels: ['amazon-ses', 'amazonses.com'],
    dmarc: ['postmaster@amazonses.com'],
  },
  {
    name: 'zoho.com',
    labels: ['zoho.com', 'zoho'],
    dmarc: ['noreply-dmarc@zoho.com'],
    complaint: ['feedbackloop@fbl.zoho.com'],
  },
  {
    name: 'mimecast.com',
    labels: ['mimecast', 'mimecast.org'],
    dmarc: ['mimecastreport.com', 'dmarc_rua@mimecast.com'],
  },
  {
    name: 'emailsrvr.com',
    labels: ['emailsrvr.com'],
    dmarc: ['dmarc_reports@emailsrvr.com', 'reports.emailsrvr.com'],
  },
  {
    name: 'secureserver.net',
    labels: ['secureserver.net'],
    dmarc: ['dmarcreports@secureserver.net'],
  },
  { name: 'infomaniak.com', labels: ['infomaniak'], dmarc: ['dmarc@infomaniak.com'] },
  {
    name: 'linkedin.com',
    labels: ['linkedin'],
    dmarc: ['dmarc-noreply@linkedin.com'],
    dmarc_failure: ['dmarc-noreply@linkedin.com'],
  },
  { name: 'xs4all.net', labels: ['xs4all'], dmarc: ['noreply@dmarc-reports.xs4all.net'] },
  { name: 'seznam.cz', labels: ['seznam.cz a.s.', 'seznam.cz'], dmarc: ['abuse@seznam.cz'] },
  { name: 'wp.pl', labels: ['wp.pl'], dmarc: ['dmarc-support@wp.pl'] },
  { name: 'aruba.it', labels: ['aruba.it'], dmarc: ['dmarcreport@aruba.it'] },
  {
    name: '163.com',
    labels: ['netease', '163.com', '126.com'],
    dmarc: ['abuse@163.com', 'abuse@126.com', 'abuse@yeah.net'],
    dmarc_failure: ['abuse@163.com'],
  },
  { name: 'hostedemail.com', complaint: ['feedbackloop@fbl.hostedemail.com'] },
  { name: 'cox.net', complaint: ['feedbackloop@fbl.cox.net'] },
  { name: 'synacor.com', complaint: ['feedbackloop@fbl.synacor.com'] },
  { name: 'italiaonline.net', complaint: ['feedbackloop@fbl.italiaonline.net'] },
  { name: 'terra.com', complaint: ['feedbackloop@feedback.terra.com'] },
  { name: 'usa.net', complaint: ['feedbackloop@fbl.usa.net'] },
  {
    name: 'rackspace.com',
    complaint: ['feedbackloop@fbl.apps.rackspace.com', 'feedbackloop@feedback.apps.rackspace.com'],
  },
  { name: 'yandex.ru', complaint: ['feedbackloop@yandexfbl.senderscore.net'] },
  { name: 'xs4all.nl', complaint: ['feedbackloop@xs4allfbl.senderscore.net'] },
];

const isWithin = (domain: string, above: string): boolean =>
  domain === above || domain.endsWith(`.${above}`);

interface Sender {
  /** The From address. */
  from: string;
  /** The domain of the aligned signature, which the caller has verified. */
  domain: string;
}

/** A signature of another subdomain says nothing about the address. */
function isAmong(addresses: string[], { from, domain: signing }: Sender): boolean {
  const domain = from.slice(from.lastIndexOf('@') + 1);
  const matches = (known: string) =>
    known.includes('@') ? known === from : isWithin(domain, known);
  return isWithin(domain, signing) && addresses.some(matches);
}

/**
 * The known receiver or feedback loop that sends this type of report from this address with this signature; null if there is
 * none.
 */
export const knownSender = (sender: Sender, type: ReportType): string | null =>
  SENDERS.find((known) => isAmong(known[type] ?? [], sender))?.name ?? null;

/** Whether a known receiver or feedback loop sends any type of report this way. */
export const isKnownSender = (sender: Sender): boolean =>
  REPORT_TYPES.some((type) => knownSender(sender, type) !== null);

/** The known receiver whose reports have this name. Anyone can write it. */
export const knownLabel = (label: string, type: ReportType): string | null =>
  SENDERS.find((known) => known[type] && (known.labels?.includes(label) || known.name === label))
    ?.name ?? null;
