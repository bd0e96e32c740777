/** Reports as receivers send them, with every oddity that is known, and what must be read from each. */

import { deflateRawSync, gzipSync } from 'node:zlib';
import {
  arf,
  BEGIN,
  dmarc,
  dsn,
  END,
  gzip,
  mail,
  ORIGINAL,
  record,
  text,
  tls,
  tlsFailure,
  tlsPolicy,
  zip,
} from './builders.ts';

export interface CorpusFile {
  name: string;
  bytes: Uint8Array;
  /** A line for each report or refusal, as `summaryOf` in the test writes it. */
  expected: string[];
}

const utf8 = (content: string): Uint8Array => Buffer.from(content);
const one = 'dmarc receiver ltd r-1 example.com 2 passed 2';
const oneTls = 'tls receiver ltd t-1 example.com 100 failed 3';

type Row = [name: string, bytes: string | Uint8Array, ...expected: string[]];

const xml = (parts: Parameters<typeof dmarc>[0]) => dmarc(parts);
const withRecord = (parts: Parameters<typeof record>[0]) => dmarc({ records: record(parts) });

const DMARC: Row[] = [
  ['dmarc-plain.xml', dmarc(), one],
  [
    'dmarc-namespace-2.xml',
    dmarc({ open: '<feedback xmlns="urn:ietf:params:xml:ns:dmarc-2.0">' }),
    one,
  ],
  ['dmarc-prefix.xml', dmarc().replace(/<(\/?)(?=[a-z])/g, '<$1d:'), one],
  ['dmarc-no-declaration.xml', dmarc({ declaration: '' }), one],
  ['dmarc-byte-order-mark.xml', `\uFEFF${dmarc()}`, one],
  ['dmarc-leading-white-space.xml', `\r\n  \t${dmarc({ declaration: '' })}`, one],
  [
    'dmarc-upper-case.xml',
    dmarc({ declaration: '' }).replace(/<\/?\w+/g, (name) => name.toUpperCase()),
    one,
  ],
  [
    'dmarc-records-first.xml',
    dmarc({
      policy: '',
      records: `${record()}<policy_published><domain>example.com</domain><p>none</p></policy_published>`,
    }),
    one,
  ],
  [
    'dmarc-unknown-elements.xml',
    dmarc({ records: `<x><y>1</y></x>${record()}<extensions><a/></extensions>` }),
    one,
  ],
  [
    'dmarc-comments-and-cdata.xml',
    dmarc({ orgName: '<![CDATA[Receiver Ltd]]>', records: `<!-- one -->${record()}` }),
    one,
  ],
  ['dmarc-character-references.xml', dmarc({ orgName: 'Receiver&#32;Ltd' }), one],
  [
    'dmarc-schema-never-closed.xml',
    dmarc({ open: '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><feedback>' }),
    `${one} | a schema element that is not closed`,
  ],
  [
    'dmarc-schema-inside.xml',
    dmarc({ open: '<feedback><xs:schema targetNamespace="http://dmarc.org/dmarc-xml/0.1">' }),
    `${one} | a schema element that is not closed`,
  ],
  [
    'dmarc-brackets-in-email.xml',
    dmarc({ email: '<reports@receiver.example>' }),
    `${one} | angle brackets in an address`,
  ],
  [
    'dmarc-control-characters-in-email.xml',
    dmarc({ email: 'reports\u0001@receiver.example' }),
    `${one} | control characters`,
  ],
  [
    'dmarc-identities.xml',
    withRecord({ identifiers: '<identities><header_from>example.com</header_from></identities>' }),
    `${one} | “identities” for “identifiers”`,
  ],
  ['dmarc-pass-capital.xml', withRecord({ dkim: 'Pass', spf: 'PASS' }), one],
  [
    'dmarc-hardfail.xml',
    withRecord({ dkim: 'fail', spf: 'hardfail' }),
    'dmarc receiver ltd r-1 example.com 2 passed 0 | the evaluated result “hardfail”',
  ],
  [
    'dmarc-unknown-result.xml',
    withRecord({ dkim: 'unknown', spf: 'fail' }),
    'dmarc receiver ltd r-1 example.com 2 passed 0 | the evaluated result “unknown”',
  ],
  [
    'dmarc-error-result.xml',
    withRecord({ dkim: 'pass', spf: 'error' }),
    `${one} | the evaluated result “error”`,
  ],
  ['dmarc-no-spf-result.xml', withRecord({ spf: null }), `${one} | no SPF result`],
  [
    'dmarc-disposition-pass.xml',
    withRecord({ disposition: 'pass' }),
    `${one} | the disposition “pass”`,
  ],
  ['dmarc-no-disposition.xml', withRecord({ disposition: null }), `${one} | no disposition`],
  [
    'dmarc-spf-without-domain.xml',
    withRecord({ results: '<auth_results><spf><result>none</result></spf></auth_results>' }),
    one,
  ],
  [
    'dmarc-empty-policy-tags.xml',
    dmarc({
      policy:
        '<policy_published><domain>example.com</domain><p>none</p><sp></sp><pct></pct></policy_published>',
    }),
    one,
  ],
  ['dmarc-empty-reason.xml', withRecord({ reasons: '<reason></reason>' }), one],
  [
    'dmarc-no-org-name.xml',
    dmarc({ orgName: null }),
    'dmarc receiver.example r-1 example.com 2 passed 2 | no reporter name',
  ],
  [
    'dmarc-no-report-id.xml',
    dmarc({ id: null }),
    `dmarc receiver ltd ${BEGIN} example.com 2 passed 2 | no report ID`,
  ],
  ['dmarc-three-days.xml', dmarc({ end: String(END + 2 * 86_400) }), one],
  [
    'dmarc-iso-times.xml',
    dmarc({ begin: '2026-11-21T00:00:00Z', end: '2026-11-21 23:59:59' }),
    `${one} | times as text`,
  ],
  [
    'dmarc-milliseconds.xml',
    dmarc({ begin: `${BEGIN}000`, end: `${END}000` }),
    `${one} | times in milliseconds`,
  ],
  [
    'dmarc-mapped-address.xml',
    withRecord({ source: '::ffff:192.0.2.1' }),
    `${one} | an IPv4 address in the form of IPv6`,
  ],
  [
    'dmarc-prefix-length.xml',
    withRecord({ source: '192.0.2.1/32' }),
    `${one} | a source address with a prefix length`,
  ],
  ['dmarc-ipv6.xml', withRecord({ source: '2001:DB8::1' }), one],
  [
    'dmarc-no-address.xml',
    withRecord({ source: 'unknown' }),
    `${one} | an invalid source address: “unknown”`,
  ],
  [
    'dmarc-no-count.xml',
    withRecord({ count: null }),
    'dmarc receiver ltd r-1 example.com 1 passed 1 | a record without a count, which counts as 1 message',
  ],
  [
    'dmarc-count-zero.xml',
    withRecord({ count: '0' }),
    'dmarc receiver ltd r-1 example.com 0 passed 0',
  ],
  [
    'dmarc-empty-header-from.xml',
    withRecord({ identifiers: '<identifiers><header_from></header_from></identifiers>' }),
    `${one} | no From domain, so the policy domain counts`,
  ],
  [
    'dmarc-several-results.xml',
    withRecord({
      count: '7',
      results: `<auth_results>${'<dkim><domain>example.com</domain><result>fail</result></dkim>'.repeat(3)}<spf><domain>a.example</domain><result>pass</result></spf><spf><domain>b.example</domain><result>fail</result></spf></auth_results>`,
    }),
    'dmarc receiver ltd r-1 example.com 7 passed 7',
  ],
  [
    'dmarc-envelope.xml',
    withRecord({
      identifiers:
        '<identifiers><envelope_to>mailbox.example</envelope_to><envelope_from>bounce.example.com</envelope_from><header_from>news.example.com</header_from></identifiers>',
    }),
    one,
  ],
  [
    'dmarc-rfc-9990.xml',
    xml({
      open: '<feedback xmlns="urn:ietf:params:xml:ns:dmarc-2.0"><version>2.0</version>',
      metadata: `<report_metadata><org_name>Receiver Ltd</org_name><email>reports@receiver.example</email><report_id>r-1</report_id><date_range><begin>${BEGIN}</begin><end>${END}</end></date_range><generator>Reporter 3</generator></report_metadata>`,
      policy:
        '<policy_published><domain>example.com</domain><p>reject</p><sp>none</sp><np>reject</np><testing>y</testing><discovery_method>treewalk</discovery_method></policy_published>',
      records: record({
        disposition: 'none',
        dkim: 'fail',
        spf: 'fail',
        reasons: '<reason><type>policy_test_mode</type></reason>',
        results:
          '<auth_results><dkim><domain>example.com</domain><selector>s1</selector><result>fail</result><human_result>bad hash</human_result></dkim></auth_results>',
      }),
    }),
    'dmarc receiver ltd r-1 example.com 2 passed 0',
  ],
  [
    'dmarc-older-reasons.xml',
    withRecord({
      dkim: 'fail',
      spf: 'fail',
      reasons:
        '<reason><type>sampled_out</type></reason><reason><type>forwarded</type><comment>arc=pass</comment></reason>',
    }),
    'dmarc receiver ltd r-1 example.com 2 passed 0',
  ],
  [
    'dmarc-many-records.xml',
    dmarc({
      records: [
        record({ count: '10', dkim: 'pass', spf: 'fail' }),
        record({ count: '3', dkim: 'fail', spf: 'fail', disposition: 'quarantine' }),
        record({ count: '4', dkim: 'fail', spf: 'pass' }),
        record({ count: '5', dkim: 'fail', spf: 'fail', disposition: 'reject' }),
      ].join(''),
    }),
    'dmarc receiver ltd r-1 example.com 22 passed 14',
  ],
  ['dmarc-no-records.xml', dmarc({ records: '' }), 'dmarc receiver ltd r-1 example.com 0 passed 0'],
  [
    'dmarc-international-domain.xml',
    dmarc({
      policy: '<policy_published><domain>bücher.example</domain><p>none</p></policy_published>',
    }),
    'dmarc receiver ltd r-1 xn--bcher-kva.example 2 passed 2',
  ],
  [
    'dmarc-utf-16le.xml',
    Buffer.concat([
      Buffer.from([0xff, 0xfe]),
      Buffer.from(dmarc({ declaration: '<?xml version="1.0" encoding="UTF-16"?>' }), 'utf16le'),
    ]),
    one,
  ],
  [
    'dmarc-utf-16be.xml',
    Buffer.concat([
      Buffer.from([0xfe, 0xff]),
      Buffer.from(dmarc({ declaration: '' }), 'utf16le').swap16(),
    ]),
    one,
  ],
  ['dmarc-utf-16-without-mark.xml', Buffer.from(dmarc({ declaration: '' }), 'utf16le'), one],
  [
    'dmarc-iso-8859-1.xml',
    Buffer.from(
      dmarc({ declaration: '<?xml version="1.0" encoding="ISO-8859-1"?>', orgName: 'Empfänger' }),
      'latin1',
    ),
    'dmarc empfänger r-1 example.com 2 passed 2',
  ],
  [
    'dmarc-false-utf-16.xml',
    dmarc({ declaration: '<?xml version="1.0" encoding="utf-16"?>' }),
    `${one} | the encoding “utf-16”, which it does not have`,
  ],
  // Refused.
  ['bad-cut-off.xml', dmarc().slice(0, -40), 'refused unreadable'],
  ['bad-no-end.xml', dmarc({ close: '' }), 'refused unreadable'],
  ['bad-doctype.xml', dmarc({ declaration: '<!DOCTYPE feedback>' }), 'refused forbidden_xml'],
  [
    'bad-entity.xml',
    dmarc({ declaration: '<!DOCTYPE feedback [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>' }),
    'refused forbidden_xml',
  ],
  [
    'bad-instruction.xml',
    dmarc({ records: `<?php echo 1 ?>${record()}` }),
    'refused forbidden_xml',
  ],
  ['bad-policy-alone.xml', dmarc({ metadata: '', records: '' }), 'refused invalid'],
  ['other.xml', '<invoice><total>1</total></invoice>', 'refused not_a_report'],
];

const TLS: Row[] = [
  ['tls-plain.json', tls({}, [tlsPolicy({}, {}, [tlsFailure()])]), oneTls],
  ['tls-byte-order-mark.json', `\uFEFF${tls()}`, oneTls],
  [
    'tls-no-sending-address.json',
    tls({}, [tlsPolicy({}, {}, [tlsFailure({ 'sending-mta-ip': undefined })])]),
    oneTls,
  ],
  ['tls-contact-null.json', tls({ 'contact-info': null }), oneTls],
  [
    'tls-no-policy-domain.json',
    tls({}, [tlsPolicy({ 'policy-type': 'no-policy-found', 'policy-domain': undefined })]),
    'tls receiver ltd t-1 null 100 failed 3',
  ],
  ['tls-unknown-policy-type.json', tls({}, [tlsPolicy({ 'policy-type': 'new' })]), oneTls],
  ['tls-no-policies.json', tls({}, []), 'tls receiver ltd t-1 null 0 failed 0'],
  [
    'tls-counts-as-text.json',
    tls({}, [
      tlsPolicy(
        {},
        { 'total-successful-session-count': '100', 'total-failure-session-count': '3' },
      ),
    ]),
    `${oneTls} | counts as text`,
  ],
  ['tls-no-details.json', tls(), oneTls],
  [
    'tls-policy-string-single.json',
    tls({}, [tlsPolicy({ 'policy-string': 'version: STSv1', 'mx-host': 'mx.example.com' })]),
    oneTls,
  ],
  [
    'tls-two-domains.json',
    tls({}, [
      tlsPolicy(),
      tlsPolicy({ 'policy-domain': 'example.net' }),
      tlsPolicy({ 'policy-type': 'tlsa' }),
    ]),
    'tls receiver ltd t-1 example.com 200 failed 6',
    'tls receiver ltd t-1 example.net 100 failed 3',
  ],
  [
    'tls-offset-times.json',
    tls({
      'date-range': {
        'start-datetime': '2026-11-21T01:00:00+01:00',
        'end-datetime': '2026-11-22T00:59:59+0100',
      },
    }),
    oneTls,
  ],
  [
    'tls-plain-under-gzip-type.eml',
    mail([{ type: 'application/tlsrpt+gzip', content: tls() }]),
    oneTls,
  ],
  ['tls.json.gz', gzip(tls()), oneTls],
  ['bad-tls-cut-off.json', tls().slice(0, -5), 'refused unreadable'],
  ['other-policies.json', '{"policies":[]}', 'refused not_a_report'],
  ['other.json', '{"name":"package"}', 'refused not_a_report'],
];

const packed = gzipSync(dmarc());
/** A valid deflate stream behind a header, with neither checksum nor length. */
const withoutEnd = Buffer.concat([packed.subarray(0, 10), deflateRawSync(dmarc())]);

const CONTAINERS: Row[] = [
  ['dmarc.xml.gz', packed, one],
  [
    'trailing-bytes.gz',
    Buffer.concat([packed, Buffer.from('\r\n--junk')]),
    `${one} | bytes after the gzip data`,
  ],
  ['without-checksum.gz', withoutEnd, `${one} | incomplete gzip data`],
  [
    'wrong-checksum.gz',
    Buffer.concat([packed.subarray(0, -8), Buffer.alloc(8, 1)]),
    `${one} | a wrong checksum of gzip data`,
  ],
  ['gzip-in-gzip.gz', gzip(packed), one],
  [
    'gzip-with-name.gz',
    Buffer.concat([
      Buffer.from([0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3]),
      Buffer.from('r.xml\0'),
      packed.subarray(10),
    ]),
    one,
  ],
  ['three-layers.gz', gzip(gzip(packed)), 'refused unsupported'],
  ['dmarc.zip', zip([{ name: 'r.xml', data: dmarc() }]), one],
  ['gzip-in-zip.zip', zip([{ name: 'r.xml.gz', data: packed }]), one],
  [
    'several-files.zip',
    zip([
      { name: 'a.xml', data: dmarc({ id: 'a' }) },
      { name: 'b.XML', data: dmarc({ id: 'b', records: record({ count: '9' }) }) },
      { name: 'readme.txt', data: 'hello' },
      { name: 't.json', data: tls() },
    ]),
    'dmarc receiver ltd a example.com 2 passed 2',
    'dmarc receiver ltd b example.com 9 passed 9',
    oneTls,
  ],
  [
    'macos.zip',
    zip([
      { name: 'r.xml', data: dmarc() },
      { name: '__MACOSX/._r.xml', data: '\0\u0005\u0016\u0007' },
    ]),
    one,
  ],
  ['name-without-extension.zip', zip([{ name: 'report', data: dmarc() }]), one],
  [
    'eleven-files.zip',
    zip(Array.from({ length: 11 }, (_, index) => ({ name: `${index}.xml`, data: dmarc() }))),
    'refused too_many',
  ],
  [
    'wrong-size.zip',
    zip([{ name: 'r.xml', data: dmarc(), declaredSize: 10 }]),
    'refused unreadable',
  ],
  ['cut-off.zip', zip([{ name: 'r.xml', data: dmarc() }]).subarray(0, -30), 'refused unreadable'],
  ['cut-off.gz', packed.subarray(0, packed.length / 2), 'refused unreadable'],
  [
    'junk.gz',
    Buffer.concat([packed.subarray(0, 10), Buffer.alloc(100, 0xff)]),
    'refused unreadable',
  ],
  ['empty', '', 'refused not_a_report'],
  // In messages.
  [
    'attachment-gzip.eml',
    mail([text('A report.'), { type: 'application/gzip', content: packed }]),
    one,
  ],
  [
    'zip-declared-as-text.eml',
    mail([
      text('A report.'),
      { type: 'text/plain', content: zip([{ name: 'r.xml', data: dmarc() }]) },
    ]),
    one,
  ],
  [
    'whole-mail-is-zip.eml',
    mail([{ type: 'application/zip', content: zip([{ name: 'r.xml', data: dmarc() }]) }]),
    one,
  ],
  ['xml-as-body.eml', mail([{ type: 'text/plain', content: dmarc(), plain: true }]), one],
  ['xml-attached.eml', mail([text('See below.'), { type: 'text/xml', content: dmarc() }]), one],
  [
    'html-body-too.eml',
    mail([
      {
        type: 'text/html',
        content: '<!DOCTYPE html><html><body>Report</body></html>',
        plain: true,
      },
      { type: 'application/octet-stream', content: packed },
    ]),
    one,
  ],
  [
    'base64-with-junk.eml',
    mail([
      {
        type: 'application/gzip',
        content: `${packed.toString('base64').slice(0, 40)}!!\n*${packed.toString('base64').slice(40)}`,
        fields: 'Content-Transfer-Encoding: base64\n',
        plain: true,
      },
    ]),
    one,
  ],
  [
    'attached-message.eml',
    mail([
      text('Forwarded.'),
      {
        type: 'message/rfc822',
        content: Buffer.from(mail([{ type: 'application/gzip', content: packed }])).toString(
          'latin1',
        ),
        plain: true,
      },
    ]),
    one,
  ],
  [
    'both-in-one.eml',
    mail([
      { type: 'application/gzip', content: packed },
      { type: 'application/tlsrpt+gzip', content: gzip(tls()) },
    ]),
    one,
    oneTls,
  ],
  ['no-report.eml', mail([text('I am away until Monday.')]), 'refused not_a_report'],
  [
    'exim-failure-as-text.eml',
    mail([
      text(
        'This is a spf/dkim authentication-failure report for an email message received from IP 192.0.2.7.',
      ),
    ]),
    'refused not_a_report',
  ],
];

const complaint = (fields: string, original?: string | null) => arf(fields, original);

const MESSAGES: Row[] = [
  [
    'complaint-full.eml',
    complaint(
      'Feedback-Type: abuse\nUser-Agent: Mailbox/1.0\nVersion: 1\nOriginal-Rcpt-To: <reader@mailbox.example>\nArrival-Date: Sat, 21 Nov 2026 10:00:00 +0000\nSource-IP: 192.0.2.9\nReported-Domain: example.com\n',
    ),
    'complaint abuse 192.0.2.9 example.com news-1@example.com',
  ],
  [
    'complaint-yahoo-redacted.eml',
    complaint(
      'Feedback-Type: abuse\nUser-Agent: Yahoo!-Mail-Feedback/2.0\nVersion: 0.1\nOriginal-Rcpt-To: redacted\nReported-Domain: example.com\nSource-IP: 192.0.2.9\n',
    ),
    'complaint abuse 192.0.2.9 example.com news-1@example.com | derived arrived_at recipient_domain',
  ],
  [
    'complaint-microsoft.eml',
    complaint(
      'Feedback-Type: abuse\n',
      `Received-SPF: Pass (receiver.example: domain of example.com designates 192.0.2.9 as permitted sender) client-ip=192.0.2.9;\nX-HmXmrOriginalRecipient: reader@mailbox.example\n${ORIGINAL}`,
    ),
    'complaint abuse 192.0.2.9 example.com news-1@example.com | derived source_address arrived_at domain recipient_domain',
  ],
  [
    'complaint-microsoft-bare.eml',
    mail(
      [
        {
          type: 'message/rfc822',
          content: `X-HmXmrOriginalRecipient: reader@mailbox.example\n${ORIGINAL}`,
          plain: true,
        },
        text(''),
      ],
      {
        header:
          'From: staff@receiver.example\nSubject: complaint about message from 192.0.2.9\nDate: Sun, 22 Nov 2026 01:00:00 +0000\nMessage-ID: <c-1@receiver.example>\nMIME-Version: 1.0\n',
      },
    ),
    'complaint abuse 192.0.2.9 example.com news-1@example.com | derived source_address arrived_at domain recipient_domain',
  ],
  ['bounce-without-recipients.eml', dsn('\n'), 'refused not_a_report'],
  [
    'complaint-fraud.eml',
    complaint('Feedback-Type: fraud\nSource-IP: 192.0.2.9\n'),
    'complaint fraud 192.0.2.9 example.com news-1@example.com | derived arrived_at domain recipient_domain',
  ],
  [
    'complaint-virus.eml',
    complaint('Feedback-Type: virus\nSource-IP: [IPv6:2001:db8::9]\n'),
    'complaint virus 2001:db8::9 example.com news-1@example.com | derived arrived_at domain recipient_domain',
  ],
  [
    'complaint-not-spam.eml',
    complaint('Feedback-Type: not-spam\nSource-IP: 192.0.2.9\n'),
    'complaint not-spam 192.0.2.9 example.com news-1@example.com | derived arrived_at domain recipient_domain',
  ],
  [
    'complaint-without-message.eml',
    complaint('Feedback-Type: abuse\nSource-IP: 192.0.2.9\nReported-Domain: example.com\n', null),
    'complaint abuse 192.0.2.9 example.com null',
  ],
  [
    'complaint-leading-empty-line.eml',
    complaint(
      '\n\nFeedback-Type: abuse\nSource-IP: 192.0.2.9\nReported-Domain: example.com\n',
      null,
    ),
    'complaint abuse 192.0.2.9 example.com null',
  ],
  [
    'failure-dmarc.eml',
    arf(
      'Feedback-Type: auth-failure\nVersion: 1\nUser-Agent: Filter/1\nAuth-Failure: dmarc (none\n of them)\nDelivery-Result: reject\nIdentity-Alignment: dkim, spf\nSource-IP: 203.0.113.9\nReported-Domain: Example.com\nOriginal-Rcpt-To: reader@mailbox.example\nArrival-Date: Sat, 21 Nov 2026 10:00:00 +0000\n',
    ),
    'failure dmarc reject 203.0.113.9 example.com news-1@example.com',
  ],
  [
    'failure-dkim.eml',
    arf(
      'Feedback-Type: auth-failure\nAuth-Failure: bodyhash\nDKIM-Domain: example.com\nDKIM-Selector: s1\nSource-IP: 203.0.113.9\nReported-Domain: example.com\n',
    ),
    'failure bodyhash null 203.0.113.9 example.com news-1@example.com | derived arrived_at recipient_domain',
  ],
  [
    'bounce-policy.eml',
    dsn(
      'Reporting-MTA: dns; mx.receiver.example\nArrival-Date: Sat, 21 Nov 2026 10:00:00 +0000\n\nFinal-Recipient: rfc822; reader@mailbox.example\nAction: failed\nStatus: 5.0.0\nRemote-MTA: dns; gmail-smtp-in.l.google.com\nDiagnostic-Code: smtp; 550-5.7.26 This mail from news@example.com is unauthenticated\n',
    ),
    'bounce example.com failed policy 5.7.26 mailbox.example',
  ],
  [
    'bounce-two-recipients.eml',
    dsn(
      'Reporting-MTA: dns; mx.receiver.example\n\nFinal-Recipient: rfc822; a@one.example\nAction: failed\nStatus: 5.1.1\n\nFinal-Recipient: rfc822; b@two.example\nAction: delayed\nStatus: 4.4.1\n',
    ),
    'bounce example.com failed hard 5.1.1 one.example, delayed soft 4.4.1 two.example',
  ],
  [
    'bounce-full-mailbox.eml',
    dsn(
      'Reporting-MTA: dns; mx\n\nFinal-Recipient: rfc822; a@one.example\nAction: failed\nStatus: 5.2.2 (mailbox full)\n',
    ),
    'bounce example.com failed soft 5.2.2 one.example',
  ],
  [
    'bounce-code-only.eml',
    dsn(
      'Final-Recipient: rfc822; a@one.example\nAction: failed\nDiagnostic-Code: smtp; 550 no such user\n',
    ),
    'bounce example.com failed hard 5.0.0 one.example',
  ],
  [
    'bounce-policy-without-code.eml',
    dsn(
      'Final-Recipient: rfc822; a@gmx.net\nAction: failed\nRemote-MTA: dns; mx00.emig.gmx.net\nDiagnostic-Code: smtp; 554-gmx.net (mxgmx114) Nemesis ESMTP Service not available 554-Bad DNS PTR resource record.\n',
    ),
    'bounce example.com failed policy 5.0.0 gmx.net',
  ],
  [
    'bounce-unknown-user.eml',
    dsn(
      'Final-Recipient: rfc822; a@one.example\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 Unknown user, no spam please\n',
    ),
    'bounce example.com failed hard 5.1.1 one.example',
  ],
  [
    'bounce-internationalized.eml',
    dsn(
      'Reporting-MTA: dns; mx.receiver.example\n\nFinal-Recipient: utf-8; jörg@one.example\nAction: failed\nStatus: 5.1.1\n',
      { type: 'message/global-delivery-status' },
    ),
    'bounce example.com failed hard 5.1.1 one.example',
  ],
  [
    'delivered.eml',
    dsn(
      'Reporting-MTA: dns; mx\n\nFinal-Recipient: rfc822; a@one.example\nAction: delivered\nStatus: 2.0.0\n',
    ),
    'refused not_a_report',
  ],
  [
    'relayed.eml',
    dsn(
      'Reporting-MTA: dns; mx\n\nFinal-Recipient: rfc822; a@one.example\nAction: relayed\nStatus: 2.0.0\n',
    ),
    'refused not_a_report',
  ],
];

export const CORPUS: CorpusFile[] = [...DMARC, ...TLS, ...CONTAINERS, ...MESSAGES].map(
  ([name, content, ...expected]) => ({
    name,
    bytes: typeof content === 'string' ? utf8(content) : content,
    expected,
  }),
);
