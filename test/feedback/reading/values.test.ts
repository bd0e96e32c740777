/** An invalid value is named, and the rest of its report counts. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFeedback } from '../../../src/feedback/reading/read.ts';
import type { ReadReport, Report } from '../../../src/feedback/reading/report.ts';
import {
  arf,
  BEGIN,
  dmarc,
  END,
  gzip,
  mail,
  record,
  tls,
  tlsFailure,
  tlsPolicy,
  zip,
} from './builders.ts';

const DAY = 86_400;
const NOW = (BEGIN + 2 * DAY) * 1000;

async function readOne(file: string | Uint8Array): Promise<ReadReport> {
  const [item, ...others] = await readFeedback(Buffer.from(file as string), { now: NOW });
  assert.deepEqual(others, []);
  assert.ok(item?.ok, JSON.stringify(item));
  return item;
}

const of = <Type extends Report['type']>(report: Report, type: Type) => {
  assert.equal(report.type, type);
  return report as Extract<Report, { type: Type }>;
};

// DMARC aggregate reports: a record of 7 messages that can be read, and one of 5 with the value.

const GOOD = record({ source: '192.0.2.7', count: '7' });
const withBad = (parts: Parameters<typeof record>[0]) =>
  dmarc({ records: GOOD + record({ source: '192.0.2.5', count: '5', ...parts }) });
const withMetadata = (old: string, text: string) => withBad({}).replace(old, text);
const results = (inner: string) => withBad({ results: `<auth_results>${inner}</auth_results>` });
const identifiers = (inner: string) =>
  withBad({ identifiers: `<identifiers>${inner}</identifiers>` });
const policy = (inner: string) =>
  dmarc({
    policy: `<policy_published>${inner}</policy_published>`,
    records: GOOD + record({ source: '192.0.2.5', count: '5' }),
  });
const X = 'xmlns:x="urn:example:other"';

/** The notes, and the messages that are left; 12 unless told. */
type DmarcCase = [name: string, xml: string, notes: string[], messages?: number];

const NO_COUNT = 'an invalid message count, which counts as 0';
const REPEATED = 'a repeated element, of which only the first counts';

const DMARC: DmarcCase[] = [
  ['count of a word', withBad({ count: 'many' }), [`${NO_COUNT}: “many”`], 7],
  ['negative count', withBad({ count: '-3' }), [`${NO_COUNT}: “-3”`], 7],
  ['count of a fraction', withBad({ count: '1.5' }), [`${NO_COUNT}: “1.5”`], 7],
  ['count of 2^53', withBad({ count: String(2 ** 53) }), [`${NO_COUNT}: “${2 ** 53}”`], 7],
  [
    'count of 20 digits',
    withBad({ count: '9'.repeat(20) }),
    [`${NO_COUNT}: “${'9'.repeat(20)}”`],
    7,
  ],
  [
    'count of spaces',
    withBad({ count: '  ' }),
    ['a record without a count, which counts as 1 message'],
    8,
  ],
  [
    'malformed address',
    withBad({ source: '999.1.1.1' }),
    ['an invalid source address: “999.1.1.1”'],
  ],
  [
    'host name as address',
    withBad({ source: 'mail.example.com' }),
    ['an invalid source address: “mail.example.com”'],
  ],
  [
    'no address',
    withBad({}).replace('<source_ip>192.0.2.5</source_ip>', ''),
    ['no source address'],
  ],
  [
    'unknown disposition',
    withBad({ disposition: 'perhaps' }),
    ['an unknown disposition: “perhaps”'],
  ],
  [
    'disposition “unknown”',
    withBad({ disposition: 'unknown' }),
    ['an unknown disposition: “unknown”'],
  ],
  [
    'unknown DKIM result',
    withBad({ dkim: 'maybe' }),
    ['an unknown DKIM result, which counts as fail: “maybe”'],
  ],
  [
    'unknown SPF result',
    withBad({ spf: 'maybe' }),
    ['an unknown SPF result, which counts as fail: “maybe”'],
  ],
  [
    'no evaluation',
    withBad({}).replace(/<policy_evaluated>(?!.*<policy_evaluated>).*?<\/policy_evaluated>/s, ''),
    ['no DKIM result', 'no SPF result', 'no disposition'],
  ],
  [
    'record without a row',
    dmarc({ records: `${GOOD}<record><identifiers/></record>` }),
    ['a record without a row, which is ignored'],
    7,
  ],
  [
    'malformed From domain',
    identifiers('<header_from>no domain</header_from>'),
    ['an invalid From domain: “no domain”', 'no From domain, so the policy domain counts'],
  ],
  [
    'malformed MAIL FROM',
    identifiers('<envelope_from>no domain</envelope_from><header_from>example.com</header_from>'),
    ['an invalid domain in envelope_from: “no domain”'],
  ],
  [
    'malformed recipient',
    identifiers('<envelope_to>?</envelope_to><header_from>example.com</header_from>'),
    ['an invalid domain in envelope_to: “?”'],
  ],
  [
    'null sender',
    identifiers('<envelope_from>&lt;&gt;</envelope_from><header_from>example.com</header_from>'),
    [],
  ],
  [
    'address as MAIL FROM',
    identifiers(
      '<envelope_from>a@example.net</envelope_from><header_from>example.com</header_from>',
    ),
    [],
  ],
  [
    'malformed signing domain',
    results('<dkim><domain>no domain</domain><result>pass</result></dkim>'),
    ['an invalid signing domain: “no domain”'],
  ],
  [
    'malformed SPF domain',
    results('<spf><domain>no domain</domain><result>pass</result></spf>'),
    ['an invalid SPF domain: “no domain”'],
  ],
  [
    '30 signatures',
    results('<dkim><domain>a.example</domain><result>pass</result></dkim>'.repeat(30)),
    ['more than 20 DKIM results, of which only the first are kept'],
  ],
  [
    'long comment',
    withBad({
      reasons: `<reason><type>other</type><comment>${'x'.repeat(600)}</comment></reason>`,
    }),
    ['comment with more than 500 characters, which is truncated'],
  ],
  ['reason without a type element', withBad({ reasons: '<reason>sampled_out</reason>' }), []],
  [
    'reason with only a comment',
    withBad({ reasons: '<reason><comment>arc=pass</comment></reason>' }),
    [],
  ],
  [
    'no policy',
    withMetadata(/<policy_published>.*<\/policy_published>/.exec(dmarc())![0], ''),
    ['no policy', 'no policy domain, so the From domain counts'],
  ],
  [
    'malformed policy domain',
    policy('<domain>no domain</domain><p>none</p>'),
    ['an invalid policy domain: “no domain”', 'no policy domain, so the From domain counts'],
  ],
  ['unknown policy', policy('<domain>example.com</domain><p>perhaps</p>'), []],
  [
    'malformed percentage',
    policy('<domain>example.com</domain><p>none</p><pct>many</pct>'),
    ['an invalid percentage: “many”'],
  ],
  [
    'percentage of 101',
    policy('<domain>example.com</domain><p>none</p><pct>101</pct>'),
    ['an invalid percentage: “101”'],
  ],
  [
    'unknown test mode',
    policy('<domain>example.com</domain><p>none</p><testing>maybe</testing>'),
    ['an unknown test mode, which counts as off: “maybe”'],
  ],
  [
    'no metadata',
    withMetadata(/<report_metadata>.*<\/report_metadata>/.exec(dmarc())![0], ''),
    [
      'an invalid beginning of the period: “”',
      'an invalid end of the period: “”',
      'no period, so the day before the arrival counts',
      'no report ID',
      'no reporter name',
    ],
  ],
  [
    'malformed beginning',
    withMetadata(`<begin>${BEGIN}<`, '<begin>yesterday<'),
    ['an invalid beginning of the period: “yesterday”'],
  ],
  [
    'malformed end',
    withMetadata(`<end>${END}<`, '<end>-1<'),
    ['an invalid end of the period: “-1”'],
  ],
  [
    'beginning in 1970',
    withMetadata(`<begin>${BEGIN}<`, '<begin>0<'),
    ['an invalid beginning of the period: “0”'],
  ],
  [
    'end in the future',
    withMetadata(`<end>${END}<`, '<end>1900000000<'),
    ['an invalid end of the period: “1900000000”'],
  ],
  [
    'end before the beginning',
    withMetadata(`<begin>${BEGIN}</begin><end>${END}<`, `<begin>${END}</begin><end>${BEGIN}<`),
    ['a period that ends before it begins'],
  ],
  [
    'period of ten years',
    withMetadata(`<begin>${BEGIN}<`, `<begin>${BEGIN - 3650 * DAY}<`),
    ['a period of more than 100 days, of which the last one counts'],
  ],
  [
    'no period',
    withMetadata(`<date_range><begin>${BEGIN}</begin><end>${END}</end></date_range>`, ''),
    [
      'an invalid beginning of the period: “”',
      'an invalid end of the period: “”',
      'no period, so the day before the arrival counts',
    ],
  ],
  [
    'repeated count',
    withBad({}).replace('<count>5</count>', '<count>5</count><count>900</count>'),
    [`${REPEATED}: “count”`],
  ],
  [
    'count that is repeated as it is',
    withBad({}).replace('<count>5</count>', '<count>5</count><count>5</count>'),
    [],
  ],
  [
    'repeated evaluation',
    withBad({ disposition: 'none</disposition><disposition>reject' }),
    [`${REPEATED}: “disposition”`],
  ],
  ['repeated DKIM evaluation', withBad({ dkim: 'pass</dkim><dkim>fail' }), [`${REPEATED}: “dkim”`]],
  [
    'repeated metadata',
    withMetadata(
      '<policy_published>',
      '<report_metadata><org_name>Other</org_name></report_metadata><policy_published>',
    ),
    [`${REPEATED}: “report_metadata”`],
  ],
  [
    'repeated policy',
    withMetadata(
      '<record>',
      '<policy_published><domain>example.net</domain></policy_published><record>',
    ),
    [`${REPEATED}: “policy_published”`],
  ],
  [
    'count of another namespace',
    withBad({}).replace('<count>5<', `<x:count ${X}>900</x:count><count>5<`),
    [],
  ],
  [
    'record of another namespace',
    dmarc({
      open: `<feedback ${X}>`,
      records: `${GOOD}<x:record><x:row><x:count>900</x:count></x:row></x:record>${record({ count: '5' })}`,
    }),
    [],
  ],
  [
    'default namespace of an extension',
    withBad({}).replace('<count>5<', '<count xmlns="urn:example:other">900</count><count>5<'),
    [],
  ],
  [
    'elements with a prefix of the same namespace',
    withBad({})
      .replace(
        '<feedback>',
        '<feedback xmlns="urn:ietf:params:xml:ns:dmarc-2.0" xmlns:d="urn:ietf:params:xml:ns:dmarc-2.0">',
      )
      .replace('<count>5</count>', '<d:count>5</d:count>'),
    [],
  ],
  [
    'elements without the namespace of the root',
    withBad({})
      .replace('<feedback>', '<r:feedback xmlns:r="urn:example:root">')
      .replace('</feedback>', '</r:feedback>'),
    [],
  ],
  [
    'RFC 9990 extensions',
    withMetadata(
      '<record>',
      '<extension><a xmlns="urn:example:a"><count>1</count></a></extension><record>',
    ).replace('</record>', '<extensions><b/></extensions></record>'),
    [],
  ],
  [
    'RFC 9990 discovery and test mode',
    policy(
      '<domain>example.com</domain><p>none</p><np>reject</np><testing>n</testing><discovery_method>psl</discovery_method>',
    ),
    [],
  ],
  ['unknown elements', withBad({}).replace('<count>5', '<note>1</note><note>2</note><count>5'), []],
  [
    'From domain with an angle bracket',
    identifiers('<header_from>bad<xml.example</header_from>'),
    [
      'an invalid From domain: “bad<xml.example”',
      'no From domain, so the policy domain counts',
      'unescaped angle brackets in text',
    ],
  ],
  [
    'name with angle brackets',
    withMetadata('Receiver Ltd', 'Receiver <mx.receiver<>'),
    ['unescaped angle brackets in text'],
  ],
  ['NUL bytes after the XML', `${withBad({})}\0\0\0`, []],
];

for (const [name, xml, notes, messages = 12] of DMARC)
  test(`A DMARC report is read with this value: ${name}`, async () => {
    const { report, repaired } = await readOne(xml);
    const { rows, totals, domain, begin, end } = of(report, 'dmarc');
    assert.deepEqual(repaired, notes);
    const total = totals.reduce((sum, { count }) => sum + count, 0);
    assert.equal(total, messages);
    assert.equal(
      rows.reduce((sum, { count }) => sum + count, 0),
      messages,
    );
    // The record beside it is as it was.
    const good = rows.find(({ address }) => address === '192.0.2.7')!;
    assert.deepEqual([good.count, good.dkim, good.disposition], [7, 'pass', 'none']);
    assert.equal(domain, 'example.com');
    // Periods that cannot be read are those of the same day, or of the day before the arrival.
    assert.ok([BEGIN, BEGIN + DAY].includes(begin / 1000), String(begin));
    assert.equal(end - begin, (DAY - 1) * 1000);
  });

test('An unknown disposition counts neither as delivered nor as stopped', async () => {
  const { report } = await readOne(withBad({ disposition: 'perhaps' }));
  const { rows, totals } = of(report, 'dmarc');
  assert.deepEqual(
    rows.map(({ disposition }) => disposition),
    ['none', 'unknown'],
  );
  assert.deepEqual(
    totals.map(({ disposition, count }) => [disposition, count]),
    [
      ['none', 7],
      ['unknown', 5],
    ],
  );
});

test('The type of an override reason is read with and without its own element', async () => {
  const { report } = await readOne(
    withBad({
      reasons: '<reason>sampled_out</reason><reason><type>Forwarded</type></reason><reason/>',
    }),
  );
  const { rows } = of(report, 'dmarc');
  assert.deepEqual(rows[1]!.reasons, [
    { type: 'sampled_out', comment: null },
    { type: 'forwarded', comment: null },
  ]);
});

test('The file name shows the domain and the period if the report does not', async () => {
  const xml = dmarc({ policy: '', records: GOOD, begin: 'x', end: 'y' });
  const name = `receiver.example!news.example.com!${BEGIN - DAY}!${END - DAY}.xml`;
  const notes = [
    'an invalid beginning of the period: “x”',
    'an invalid end of the period: “y”',
    'no period, so the one in the file name counts',
    'no policy',
    'no policy domain, so the one in the file name counts',
  ];
  for (const file of [
    zip([{ name, data: xml }]),
    mail([
      {
        type: 'application/gzip',
        content: gzip(xml),
        fields: `Content-Disposition: attachment; filename="${name}.gz"\n`,
      },
    ]),
  ]) {
    const { report, repaired } = await readOne(file);
    const { domain, begin, end } = of(report, 'dmarc');
    assert.deepEqual(
      [domain, begin, end],
      ['news.example.com', (BEGIN - DAY) * 1000, (END - DAY) * 1000],
    );
    assert.deepEqual(repaired, notes);
  }
});

test('A report without a period is a copy even if it arrives on another day', async () => {
  const xml = Buffer.from(dmarc({ begin: 'x', end: 'y' }));
  const [first] = await readFeedback(xml, { now: NOW });
  const [later] = await readFeedback(xml, { now: NOW + 3 * DAY * 1000 });
  assert.ok(first?.ok && later?.ok);
  assert.equal(later.identity, first.identity);
});

test('A report without any domain is about the domain of its feedback address', async () => {
  const { report, repaired } = await readOne(
    dmarc({
      policy: '',
      records:
        record() +
        record({
          identifiers: '<identifiers><header_from>example.net</header_from></identifiers>',
        }),
    }),
  );
  assert.equal(of(report, 'dmarc').domain, null);
  assert.deepEqual(repaired, [
    'no policy',
    'no policy domain, so the one of the feedback address counts',
  ]);
});

test('Of a thousand invalid values, three are named and the others counted', async () => {
  const records = Array.from({ length: 1000 }, (_, index) =>
    record({ source: `host-${index}` }),
  ).join('');
  const { repaired } = await readOne(dmarc({ records }));
  assert.deepEqual(repaired, [
    'an invalid source address: “host-0”, “host-1”, “host-2” and 997 more',
  ]);
});

// TLS reports: a policy with 100 and 3 sessions that can be read, and one of 10 and 2 with the value.

const TLS_GOOD = tlsPolicy({}, {}, [tlsFailure()]);
const tlsBad = (
  policy: Record<string, unknown>,
  summary: Record<string, unknown> = {},
  failures?: unknown,
) =>
  tls({}, [
    TLS_GOOD,
    tlsPolicy(
      policy,
      { 'total-successful-session-count': 10, 'total-failure-session-count': 2, ...summary },
      failures,
    ),
  ]);
const tlsWith = (changes: Record<string, unknown>) =>
  tls(changes, [
    TLS_GOOD,
    tlsPolicy({}, { 'total-successful-session-count': 10, 'total-failure-session-count': 2 }),
  ]);
const NO_SESSIONS = 'an invalid session count, which counts as 0';

type TlsCase = [name: string, json: string, notes: string[], succeeded?: number, failed?: number];

const TLS: TlsCase[] = [
  [
    'negative count',
    tlsBad({}, { 'total-successful-session-count': -1 }),
    [`${NO_SESSIONS}: “-1”`],
    100,
  ],
  [
    'count of a word',
    tlsBad({}, { 'total-failure-session-count': 'many' }),
    [`${NO_SESSIONS}: “many”`, 'counts as text'],
    110,
    3,
  ],
  [
    'count of 2^53',
    tlsBad({}, { 'total-successful-session-count': 2 ** 53 }),
    [`${NO_SESSIONS}: “${2 ** 53}”`],
    100,
  ],
  [
    'count of 5 MB',
    tlsBad({}, { 'total-successful-session-count': 424242 }).replace(
      '424242',
      '9'.repeat(5_000_000),
    ),
    [`${NO_SESSIONS}: “Infinity”`],
    100,
  ],
  [
    'count of a list',
    tlsBad({}, { 'total-successful-session-count': [] }),
    [`${NO_SESSIONS}: “{…}”`],
    100,
  ],
  [
    'count of failed sessions',
    tlsBad({}, {}, [tlsFailure({ 'failed-session-count': -2 })]),
    [`${NO_SESSIONS}: “-2”`],
  ],
  [
    'malformed sending address',
    tlsBad({}, {}, [tlsFailure({ 'sending-mta-ip': 'mail' })]),
    ['an invalid sending-mta-ip: “mail”'],
  ],
  [
    'malformed receiving address',
    tlsBad({}, {}, [tlsFailure({ 'receiving-ip': '1.2.3.400' })]),
    ['an invalid receiving-ip: “1.2.3.400”'],
  ],
  ['unknown type of failure', tlsBad({}, {}, [tlsFailure({ 'result-type': 'new-failure' })]), []],
  ['failure of a word', tlsBad({}, {}, ['failed']), ['an invalid failure: “failed”']],
  ['single failure', tlsBad({}, {}, tlsFailure()), []],
  [
    'policy of a word',
    tls({}, [
      TLS_GOOD,
      'none',
      tlsPolicy({}, { 'total-successful-session-count': 10, 'total-failure-session-count': 2 }),
    ]),
    ['an invalid policy: “none”'],
  ],
  [
    'no summary',
    tls({}, [TLS_GOOD, { policy: { 'policy-type': 'sts', 'policy-domain': 'example.com' } }]),
    ['a policy without a summary, so that its sessions are missing'],
    100,
    3,
  ],
  ['unknown policy type', tlsBad({ 'policy-type': 'new' }), []],
  [
    'policy type that is not text',
    tlsBad({ 'policy-type': {} }),
    ['policy-type that is not text: “{…}”'],
  ],
  [
    'long policy type',
    tlsBad({ 'policy-type': 'x'.repeat(50) }),
    ['policy-type with more than 40 characters, which is truncated'],
  ],
  [
    'policy of 60 lines',
    tlsBad({ 'policy-string': Array(60).fill('mx: a') }),
    ['more than 50 lines of a policy, of which only the first are kept'],
  ],
  ['no name', tlsWith({ 'organization-name': null }), ['no reporter name']],
  [
    'name that is not text',
    tlsWith({ 'organization-name': {} }),
    ['no reporter name', 'organization-name that is not text: “{…}”'],
  ],
  [
    'malformed start',
    tlsWith({
      'date-range': { 'start-datetime': 'yesterday', 'end-datetime': '2026-11-21T23:59:59Z' },
    }),
    ['an invalid beginning of the period: “yesterday”'],
  ],
  [
    'malformed end',
    tlsWith({ 'date-range': { 'start-datetime': '2026-11-21T00:00:00Z', 'end-datetime': 7 } }),
    ['an invalid end of the period: “7”'],
  ],
  [
    'end before the start',
    tlsWith({
      'date-range': {
        'start-datetime': '2026-11-21T23:59:59Z',
        'end-datetime': '2026-11-21T00:00:00Z',
      },
    }),
    ['a period that ends before it begins'],
  ],
  [
    'no period',
    tlsWith({ 'date-range': undefined }),
    [
      'an invalid beginning of the period: “”',
      'an invalid end of the period: “”',
      'no period, so the day before the arrival counts',
    ],
  ],
  ['NUL bytes after the JSON', `${tlsWith({})}\0\0`, ['bytes after the JSON']],
  ['text after the JSON', `${tlsWith({})}\r\n-- \r\n`, ['bytes after the JSON']],
  ['unknown members', tlsWith({ extension: { count: 9 } }), []],
];

for (const [name, json, notes, succeeded = 110, failed = 5] of TLS)
  test(`A TLS report is read with this value: ${name}`, async () => {
    const { report, repaired } = await readOne(json);
    const { policies, begin, end } = of(report, 'tls');
    assert.deepEqual(repaired, notes);
    const sum = (which: 'succeeded' | 'failed') =>
      policies.reduce((all, one) => all + one[which], 0);
    assert.deepEqual([sum('succeeded'), sum('failed')], [succeeded, failed]);
    assert.equal(policies[0]!.failures[0]!.resultType, 'certificate-expired');
    assert.ok([BEGIN, BEGIN + DAY].includes(begin / 1000));
    assert.equal(end - begin, (DAY - 1) * 1000);
  });

test('A TLS policy with an invalid domain does not hide the others', async () => {
  const items = await readFeedback(Buffer.from(tlsBad({ 'policy-domain': 'no domain' })), {
    now: NOW,
  });
  assert.deepEqual(
    items.map(
      (item) => item.ok && item.report.type === 'tls' && item.report.policies[0]!.policyDomain,
    ),
    ['example.com', null],
  );
  assert.ok(
    items.every(
      (item) => item.ok && item.repaired.includes('an invalid policy domain: “no domain”'),
    ),
  );
});

// Feedback reports (ARF): a complaint and a failure report, each with one value.

const COMPLAINT = {
  'Feedback-Type': 'abuse',
  'User-Agent': 'Loop/1',
  Version: '1',
  'Source-IP': '192.0.2.9',
  'Arrival-Date': 'Sat, 21 Nov 2026 10:00:00 +0000',
  'Reported-Domain': 'example.com',
};
const fields = (changes: Record<string, string>) =>
  Object.entries({ ...COMPLAINT, ...changes })
    .map(([name, value]) => `${name}: ${value}\n`)
    .join('');

const ARF: [name: string, fields: string, notes: string[]][] = [
  [
    'malformed address',
    fields({ 'Source-IP': '999.1.1.1' }),
    ['an invalid field source-ip: “999.1.1.1”'],
  ],
  [
    'malformed date',
    fields({ 'Arrival-Date': 'yesterday' }),
    ['an invalid field arrival-date: “yesterday”'],
  ],
  [
    'malformed domain',
    fields({ 'Reported-Domain': 'no domain' }),
    ['an invalid field reported-domain: “no domain”'],
  ],
  [
    'negative incidents',
    fields({ Incidents: '-2' }),
    ['an invalid number of incidents, which counts as 1: “-2”'],
  ],
  [
    'incidents of 2^53',
    fields({ Incidents: String(2 ** 53) }),
    [`an invalid number of incidents, which counts as 1: “${2 ** 53}”`],
  ],
  [
    'repeated address',
    `${fields({})}Source-IP: 192.0.2.10\n`,
    ['a repeated field, of which only the first counts: “source-ip”'],
  ],
  ['unknown type', fields({ 'Feedback-Type': 'x-new' }), []],
  ['unknown fields', fields({ 'X-New': '1' }), []],
];

for (const [name, text, notes] of ARF)
  test(`Feedback reports are read with this value: ${name}`, async () => {
    const complaint = await readOne(arf(text));
    const failure = await readOne(
      arf(text.replace(/Feedback-Type: .*/, 'Feedback-Type: auth-failure')),
    );
    for (const { report, repaired } of [complaint, failure]) {
      assert.deepEqual(repaired, notes);
      assert.ok(report.type === 'complaint' || report.type === 'dmarc_failure');
      // What the report does not say, the attached message does.
      assert.equal(report.sourceAddress, '192.0.2.9');
      assert.equal(report.domain, 'example.com');
      assert.equal(report.arrivedAt, Date.UTC(2026, 10, 21, 10));
      assert.equal(report.incidents, 1);
    }
  });
