/** The six reporters: the form and period of their reports, and how they send them. */

import {
  dmarc,
  gzip,
  type MailPart,
  mail,
  type ReportParts,
  text,
  zip,
} from '../reading/builders.ts';

const HOUR_S = 3600;
const DAY_S = 24 * HOUR_S;

/** Midnight of the first day, 24 August 2026. The last one is 21 November. */
export const STORY_BEGIN_S = Date.UTC(2026, 7, 24) / 1000;

export interface Reporter {
  /** As its reports name it. */
  org: string;
  /** The domain that signs its mail. */
  domain: string;
  user: string;
  address: string;
  /** Its share of all messages. */
  share: number;
  /** In days. */
  period: 1 | 2;
  /** When its day begins, in hours after midnight UTC. */
  dayBegins: number;
  parts: Pick<ReportParts, 'open'> & { rfc: 7489 | 9990 };
  pack(xml: string, fileName: string): MailPart[];
}

const named = (fileName: string): string =>
  `Content-Disposition: attachment; filename="${fileName}"\n`;

const zipped: Reporter['pack'] = (xml, fileName) => [
  {
    type: 'application/zip',
    content: zip([{ name: `${fileName}.xml`, data: xml }]),
    fields: named(`${fileName}.zip`),
  },
];

const gzipped: Reporter['pack'] = (xml, fileName) => [
  text('This is an aggregate report.'),
  { type: 'application/gzip', content: gzip(xml), fields: named(`${fileName}.xml.gz`) },
];

const plain: Reporter['pack'] = (xml, fileName) => [
  text('DMARC report attached.'),
  { type: 'text/xml', content: xml, fields: named(`${fileName}.xml`) },
];

const usual = { period: 1, dayBegins: 0, parts: { open: '<feedback>', rfc: 7489 } } as const;

export const GOOGLE: Reporter = {
  ...usual,
  org: 'google.com',
  share: 0.45,
  pack: zipped,
  domain: 'google.com',
  user: 'noreply-dmarc-support',
  address: '209.85.220.41',
};

export const MICROSOFT: Reporter = {
  ...usual,
  org: 'Enterprise Outlook',
  share: 0.25,
  pack: gzipped,
  domain: 'microsoft.com',
  user: 'dmarcreport',
  address: '40.92.18.6',
  parts: {
    open: '<feedback xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">',
    rfc: 7489,
  },
};

export const REPORTERS: Reporter[] = [
  GOOGLE,
  MICROSOFT,
  {
    ...usual,
    org: 'Yahoo',
    share: 0.15,
    pack: gzipped,
    domain: 'dmarc.yahoo.com',
    user: 'noreply',
    address: '66.163.188.7',
  },
  {
    ...usual,
    org: 'Mail.Ru',
    share: 0.06,
    pack: gzipped,
    period: 2,
    domain: 'corp.mail.ru',
    user: 'dmarc_support',
    address: '94.100.181.13',
  },
  {
    ...usual,
    org: 'Fastmail Pty Ltd',
    share: 0.06,
    pack: gzipped,
    domain: 'fastmaildmarc.com',
    user: 'reports',
    address: '103.168.172.9',
    parts: { open: '<feedback xmlns="urn:ietf:params:xml:ns:dmarc-2.0">', rfc: 9990 },
  },
  {
    // Its days are those of Lima.
    ...usual,
    org: 'correo.example',
    share: 0.03,
    pack: plain,
    dayBegins: 5,
    domain: 'correo.example',
    user: 'postmaster',
    address: '203.0.112.25',
  },
];

export interface Carrier {
  to: string;
  subject: string;
  /** In milliseconds. */
  at: number;
  id: string;
  /** More fields. */
  fields?: string;
  multipart?: string;
}

/** A message of a reporter. */
export const carrier = (
  { org, user, domain }: Pick<Reporter, 'org' | 'user' | 'domain'>,
  { to, subject, at, id, fields = '', multipart }: Carrier,
  parts: MailPart[],
): Uint8Array =>
  mail(parts, {
    header: `From: "${org}" <${user}@${domain}>
To: ${to}
Subject: ${subject}
Date: ${new Date(at).toUTCString().replace('GMT', '+0000')}
Message-ID: <${id}@${domain}>
MIME-Version: 1.0
${fields}`,
    ...(multipart === undefined ? {} : { multipart }),
  });

/** The days that a report covers which is sent on the morning after this one; null if none is. */
export function coveredDays({ period }: Pick<Reporter, 'period'>, day: number): number[] | null {
  if ((day + 1) % period !== 0) return null;
  return Array.from({ length: period }, (_, index) => day + 1 - period + index);
}

interface AggregateReport {
  to: string;
  domain: string;
  policy: string;
  records: string;
  /** The days of the story. */
  days: number[];
  at: number;
}

/** The message with the aggregate report about a domain. */
export function aggregateMail(
  reporter: Reporter,
  { to, domain, policy, records, days, at }: AggregateReport,
): Uint8Array {
  const { org, user, parts, dayBegins, pack } = reporter;
  const begin = STORY_BEGIN_S + days[0]! * DAY_S + dayBegins * HOUR_S;
  const end = begin + days.length * DAY_S - 1;
  const id = `${domain}-${begin}`;
  const isNew = parts.rfc === 9990;
  const xml = dmarc({
    open: `${parts.open}<version>1.0</version>`,
    metadata: `<report_metadata><org_name>${org}</org_name><email>${user}@${reporter.domain}</email><report_id>${id}</report_id><date_range><begin>${begin}</begin><end>${end}</end></date_range>${isNew ? '<generator>Reports 2.1</generator>' : ''}</report_metadata>`,
    policy: `<policy_published><domain>${domain}</domain><adkim>r</adkim><aspf>r</aspf><p>${policy}</p><sp>${policy}</sp>${isNew ? `<np>${policy}</np><testing>n</testing><discovery_method>treewalk</discovery_method>` : '<pct>100</pct>'}</policy_published>`,
    records,
  });
  return carrier(
    reporter,
    { to, subject: `Report Domain: ${domain} Submitter: ${org} Report-ID: ${id}`, at, id },
    pack(xml, `${reporter.domain}!${domain}!${begin}!${end}`),
  );
}
