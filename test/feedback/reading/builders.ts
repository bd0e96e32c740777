/** Builds reports and the messages and archives that carry them. */

import { crc32, deflateRawSync, gzipSync } from 'node:zlib';

// DMARC aggregate reports.

export interface RecordParts {
  source?: string;
  count?: string | null;
  disposition?: string | null;
  dkim?: string | null;
  spf?: string | null;
  reasons?: string;
  identifiers?: string;
  results?: string;
}

const tag = (name: string, value: string | null | undefined): string =>
  value === null || value === undefined ? '' : `<${name}>${value}</${name}>`;

export const record = ({
  source = '192.0.2.1',
  count = '2',
  disposition = 'none',
  dkim = 'pass',
  spf = 'pass',
  reasons = '',
  identifiers = '<identifiers><header_from>example.com</header_from></identifiers>',
  results = '<auth_results><dkim><domain>example.com</domain><selector>s1</selector><result>pass</result></dkim><spf><domain>example.com</domain><result>pass</result></spf></auth_results>',
}: RecordParts = {}): string =>
  `<record><row><source_ip>${source}</source_ip>${tag('count', count)}<policy_evaluated>${tag('disposition', disposition)}${tag('dkim', dkim)}${tag('spf', spf)}${reasons}</policy_evaluated></row>${identifiers}${results}</record>`;

export interface ReportParts {
  declaration?: string;
  open?: string;
  close?: string;
  orgName?: string | null;
  email?: string | null;
  id?: string | null;
  begin?: string;
  end?: string;
  metadata?: string;
  policy?: string;
  records?: string;
}

/** 21 November 2026, one day. */
export const BEGIN = 1_795_219_200;
export const END = BEGIN + 86_399;

export const dmarc = ({
  declaration = '<?xml version="1.0" encoding="UTF-8"?>\n',
  open = '<feedback>',
  close = '</feedback>',
  orgName = 'Receiver Ltd',
  email = 'reports@receiver.example',
  id = 'r-1',
  begin = String(BEGIN),
  end = String(END),
  metadata,
  policy = '<policy_published><domain>example.com</domain><adkim>r</adkim><aspf>r</aspf><p>none</p></policy_published>',
  records = record(),
}: ReportParts = {}): string => {
  const own =
    metadata ??
    `<report_metadata>${tag('org_name', orgName)}${tag('email', email)}${tag('report_id', id)}<date_range><begin>${begin}</begin><end>${end}</end></date_range></report_metadata>`;
  return `${declaration}${open}${own}${policy}${records}${close}`;
};

// SMTP TLS reports.

export const tls = (changes: Record<string, unknown> = {}, policies?: unknown[]): string =>
  JSON.stringify({
    'organization-name': 'Receiver Ltd',
    'date-range': {
      'start-datetime': '2026-11-21T00:00:00Z',
      'end-datetime': '2026-11-21T23:59:59Z',
    },
    'contact-info': 'tls@receiver.example',
    'report-id': 't-1',
    policies: policies ?? [tlsPolicy()],
    ...changes,
  });

export const tlsPolicy = (
  policy: Record<string, unknown> = {},
  summary: Record<string, unknown> = {},
  failures?: unknown,
): unknown => ({
  policy: {
    'policy-type': 'sts',
    'policy-string': ['version: STSv1', 'mode: testing'],
    'policy-domain': 'example.com',
    'mx-host': ['mx.example.com'],
    ...policy,
  },
  summary: {
    'total-successful-session-count': 100,
    'total-failure-session-count': 3,
    ...summary,
  },
  ...(failures === undefined ? {} : { 'failure-details': failures }),
});

export const tlsFailure = (changes: Record<string, unknown> = {}): Record<string, unknown> => ({
  'result-type': 'certificate-expired',
  'sending-mta-ip': '192.0.2.1',
  'receiving-mx-hostname': 'mx.example.com',
  'receiving-ip': '198.51.100.2',
  'failed-session-count': 3,
  ...changes,
});

// Archives.

export const gzip = (data: string | Uint8Array): Uint8Array => gzipSync(data);

interface Member {
  name: string;
  data: string | Uint8Array;
  /** Instead of the real size. */
  declaredSize?: number;
  /** Instead of the real offset of its local header. */
  offset?: number;
}

/** A zip archive (deflate), with the wrong sizes and offsets that a member asks for. */
export function zip(members: Member[]): Uint8Array {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let at = 0;
  for (const { name, data, declaredSize, offset } of members) {
    const content = Buffer.from(data as string);
    const packed = deflateRawSync(content);
    const file = Buffer.from(name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(declaredSize ?? content.length, 18);
    common.writeUInt16LE(file.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, file, packed]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset ?? at, 10);
    central.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00', 'latin1'), common, tail, file]));
    locals.push(local);
    at += local.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(Math.min(members.length, 0xffff), 8);
  end.writeUInt16LE(Math.min(members.length, 0xffff), 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...locals, directory, end]);
}

// Messages.

export interface MailPart {
  type: string;
  content: string | Uint8Array;
  /** Fields after Content-Type. */
  fields?: string;
  /** As it is, instead of base64. */
  plain?: boolean;
}

const HEADER = `From: Reports <noreply@receiver.example>
To: fb-0123456789abcdef@inbox.example
Subject: Report domain: example.com
Date: Sun, 22 Nov 2026 01:00:00 +0000
Message-ID: <report-1@receiver.example>
MIME-Version: 1.0
`;

const encodedPart = ({ type, content, fields = '', plain }: MailPart): Buffer =>
  Buffer.concat([
    Buffer.from(
      `Content-Type: ${type}\n${fields}${plain ? '' : 'Content-Transfer-Encoding: base64\n'}\n`,
    ),
    plain
      ? Buffer.from(content as string)
      : Buffer.from(
          Buffer.from(content as string)
            .toString('base64')
            .replace(/.{76}/g, '$&\n'),
        ),
    Buffer.from('\n'),
  ]);

/** A message of one part, or of several in a multipart. */
export function mail(
  parts: MailPart[],
  { header = HEADER, multipart = 'multipart/mixed' }: { header?: string; multipart?: string } = {},
): Uint8Array {
  if (parts.length === 1) return crlf(Buffer.concat([Buffer.from(header), encodedPart(parts[0]!)]));
  const inner = parts.flatMap((part) => [Buffer.from('--b0\n'), encodedPart(part)]);
  return crlf(
    Buffer.concat([
      Buffer.from(`${header}Content-Type: ${multipart}; boundary=b0\n\n`),
      ...inner,
      Buffer.from('--b0--\n'),
    ]),
  );
}

const crlf = (bytes: Buffer): Buffer =>
  Buffer.from(bytes.toString('latin1').replace(/\r?\n/g, '\r\n'), 'latin1');

export const text = (content: string): MailPart => ({ type: 'text/plain', content, plain: true });

/** The message that a complaint, failure report or bounce is about. */
export const ORIGINAL = `Received: from mail.example.com (mail.example.com [192.0.2.9])
 by mx.receiver.example with ESMTPS id 1; Sat, 21 Nov 2026 10:00:00 +0000
DKIM-Signature: v=1; a=rsa-sha256; d=example.com; s=s1; h=from:subject; bh=x; b=y
From: News <news@example.com>
To: reader@mailbox.example
Subject: November news
Date: Sat, 21 Nov 2026 09:59:00 +0000
Message-ID: <news-1@example.com>
List-Id: <news.example.com>
Feedback-ID: c1:news:example

The body.
`;

export const arf = (fields: string, original: string | null = ORIGINAL): Uint8Array =>
  mail(
    [
      text('A recipient complained.'),
      { type: 'message/feedback-report', content: fields, plain: true },
      ...(original === null
        ? []
        : [{ type: 'message/rfc822', content: original, plain: true as const }]),
    ],
    { multipart: 'multipart/report; report-type=feedback-report' },
  );

export const dsn = (
  status: string,
  { original = ORIGINAL, type = 'message/delivery-status' } = {},
): Uint8Array =>
  mail(
    [
      text('Your message was not delivered.'),
      { type, content: status, plain: true },
      { type: 'text/rfc822-headers', content: original, plain: true },
    ],
    { multipart: 'multipart/report; report-type=delivery-status' },
  );
