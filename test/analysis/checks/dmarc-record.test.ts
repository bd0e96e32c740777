/** The check `dmarc_record`: unusable records, invalid tags and unreachable report addresses. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckStatus } from '../../../src/analysis/check.ts';
import { dmarcRecord } from '../../../src/analysis/checks/dmarc-record.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { runCheck } from '../../helpers/analysis.ts';

const CONSENT = 'example.com._report._dmarc.reports.example';
const REPORTED = 'rua=mailto:d@example.com';
/** The hosts of all report addresses. */
const MAIL: Zone = {
  'example.com': { A: ['192.0.2.1'] },
  'm.example.com': { A: ['192.0.2.1'] },
  'reports.example': { A: ['192.0.2.2'] },
};

interface Row {
  name: string;
  from?: string;
  records?: string[];
  zone?: Zone;
  offline?: boolean;
  status: CheckStatus;
  title?: RegExp;
  detail?: RegExp;
  fix?: RegExp;
  /** null: no record is proposed. */
  publish?: { name?: string; value: string } | null;
}

const rows: Row[] = [
  {
    name: 'a valid record',
    records: [`v=DMARC1; p=none; ${REPORTED}`],
    status: 'pass',
    title: /is valid/,
  },
  {
    name: 'all tags of RFC 9989',
    records: [
      `v=DMARC1; p=reject; sp=reject; np=reject; adkim=s; aspf=R; fo=1:d:s; t=n; psd=u; ${REPORTED}; ruf=mailto:f@m.example.com;`,
    ],
    status: 'pass',
  },
  {
    name: 'obsolete tags, reported without cost',
    records: [`v=DMARC1; p=reject; rf=afrf; ri=86400; ${REPORTED}`],
    status: 'pass',
    detail: /RFC 9989 removed rf, ri from DMARC/,
  },
  {
    name: 'a policy for half of the mail before an unknown tag',
    records: [`v=DMARC1; p=reject; foo=1; pct=50; ${REPORTED}`],
    status: 'warn',
    title: /has pct=50, so some receivers apply its policy to only 50%/,
    detail: /Other problems: .* unknown tag: "foo"/,
    publish: { value: `v=DMARC1; p=reject; ${REPORTED}` },
  },
  {
    name: 'psd=y at a firm',
    records: [`v=DMARC1; p=reject; psd=y; ${REPORTED}`],
    status: 'warn',
    title: /has psd=y, but example\.com is not a public suffix/,
    publish: { value: `v=DMARC1; p=reject; ${REPORTED}` },
  },
  {
    name: 'psd=n at the domain itself',
    records: [`v=DMARC1; p=reject; psd=n; ${REPORTED}`],
    status: 'pass',
  },
  {
    name: 'psd=n at a subdomain without an SPF record',
    from: 'news.example.com',
    zone: { '_dmarc.news.example.com': { TXT: [`v=DMARC1; p=reject; psd=n; ${REPORTED}`] } },
    status: 'warn',
    title: /has psd=n, so mail of news\.example\.com does not align/,
    publish: { name: '_dmarc.news.example.com', value: `v=DMARC1; p=reject; ${REPORTED}` },
  },
  {
    name: 'psd=n at a subdomain with its own SPF record',
    from: 'news.example.com',
    zone: {
      '_dmarc.news.example.com': { TXT: [`v=DMARC1; p=reject; psd=n; ${REPORTED}`] },
      'news.example.com': { TXT: ['v=spf1 -all'] },
    },
    status: 'pass',
  },
  {
    name: 'a space before the version',
    records: [` v=DMARC1; p=reject; ${REPORTED}`],
    status: 'warn',
    title: /begins with a space/,
    publish: { value: `v=DMARC1; p=reject; ${REPORTED}` },
  },
  {
    name: 'quotation marks',
    records: [`"v=DMARC1; p=reject; ${REPORTED}"`],
    status: 'fail',
    title: /is in quotation marks, so no receiver reads it/,
    publish: { value: `v=DMARC1; p=reject; ${REPORTED}` },
  },
  {
    name: 'the version at the end',
    records: [`p=reject; ${REPORTED}; v=DMARC1`],
    status: 'fail',
    title: /does not begin with "v=DMARC1;"/,
    publish: { value: `v=DMARC1; p=reject; ${REPORTED}` },
  },
  {
    name: 'a semicolon between addresses',
    records: ['v=DMARC1; p=reject; rua=mailto:a@example.com; mailto:b@example.com; adkim=s'],
    status: 'warn',
    title: /"mailto:b@example\.com" is not a tag/,
    publish: {
      value: 'v=DMARC1; p=reject; rua=mailto:a@example.com,mailto:b@example.com; adkim=s',
    },
  },
  {
    name: 'a record that applies beside one that no receiver reads',
    records: [`v=DMARC1; p=reject; ${REPORTED}`, '"v=DMARC1; p=none; rua=mailto:e@example.com"'],
    status: 'warn',
    title: /example\.com has another DMARC record, which no receiver reads/,
    publish: { value: `v=DMARC1; p=reject; ${REPORTED},mailto:e@example.com` },
  },
  {
    name: 'a record of a subdomain below a valid one',
    from: 'news.example.com',
    records: [`v=DMARC1; p=reject; ${REPORTED}`],
    zone: { '_dmarc.news.example.com': { TXT: [`v=DMARC1; p=reject; ${REPORTED}`] } },
    status: 'pass',
  },
  {
    name: 'a DMARC record beside another TXT record',
    records: ['something', `v=DMARC1; p=reject; ${REPORTED}`],
    status: 'pass',
  },
  {
    name: 'no record',
    status: 'skipped',
    title: /DMARC record was not checked/,
    detail: /No DMARC record applies to example\.com/,
  },
  {
    name: 'two records',
    records: [`v=DMARC1; p=reject; ${REPORTED}`, 'v=DMARC1; p=none'],
    status: 'fail',
    title: /has 2 DMARC records/,
    publish: { value: `v=DMARC1; p=none; ${REPORTED}` },
  },
  {
    name: 'two records, of which the second has the report address',
    records: ['v=DMARC1; p=none', `v=DMARC1; p=reject; ${REPORTED}`],
    status: 'fail',
    title: /has 2 DMARC records/,
    publish: { value: `v=DMARC1; p=none; ${REPORTED}` },
  },
  {
    name: 'a tag twice',
    records: ['v=DMARC1; p=reject; p=none'],
    status: 'fail',
    title: /same tag twice \(p\)/,
    publish: { value: 'v=DMARC1; p=none' },
  },
  {
    name: 'a report address and a policy for subdomains twice',
    records: [
      'v=DMARC1; p=reject; sp=none; sp=reject; rua=mailto:a@example.com; rua=mailto:b@example.com',
    ],
    status: 'fail',
    title: /same tag twice \(sp, rua\)/,
    publish: {
      value: 'v=DMARC1; p=reject; sp=none; rua=mailto:a@example.com,mailto:b@example.com',
    },
  },
  ...[
    `policy=reject; ${REPORTED}`,
    `P=reject; ${REPORTED}`,
    `${REPORTED}; p:reject`,
    `p=rejct; ${REPORTED}; foo=1`,
  ].map((tags) => ({
    name: `a policy that receivers do not read: ${tags}`,
    records: [`v=DMARC1; ${tags}`],
    status: 'warn' as const,
    publish: { value: `v=DMARC1; p=none; ${REPORTED}` },
  })),
  {
    name: 'an unread tag beside the policy that applies',
    records: [`v=DMARC1; p=reject; policy=none; SP=none; ${REPORTED}`],
    status: 'warn',
    publish: { value: `v=DMARC1; p=reject; ${REPORTED}` },
  },
  {
    name: 'a version without semicolon',
    records: ['v=DMARC1 p=reject'],
    status: 'fail',
    title: /does not begin with/,
  },
  {
    name: 'a version in other case',
    records: ['v=dmarc1; p=reject'],
    status: 'fail',
    title: /does not begin with/,
    publish: { value: 'v=DMARC1; p=reject' },
  },
  {
    name: 'no valid policy, reported by dmarc_policy',
    records: ['v=DMARC1; p=rejct'],
    status: 'skipped',
  },
  {
    name: 'a discarded record below one that applies',
    from: 'news.example.com',
    records: [`v=DMARC1; p=reject; ${REPORTED}`],
    zone: { '_dmarc.news.example.com': { TXT: ['v=DMARC1; p=none', 'v=DMARC1; p=reject'] } },
    status: 'warn',
    title: /^news\.example\.com has 2 DMARC records of its own, so mailbox providers discard them/,
  },
  {
    name: 'an unknown tag',
    records: [`v=DMARC1; p=reject; policy=x; ${REPORTED}`],
    status: 'warn',
    title: /unknown tag: "policy"/,
  },
  {
    name: 'a tag in capitals',
    records: [`v=DMARC1; p=reject; ASPF=s; ${REPORTED}`],
    status: 'warn',
    title: /unknown tag: "ASPF"/,
  },
  {
    name: 'a part that is not a tag',
    records: [`v=DMARC1; p=reject; hello; ${REPORTED}`],
    status: 'warn',
    title: /"hello" is not a tag/,
  },
  {
    name: 'an invalid tag value',
    records: [`v=DMARC1; p=reject; adkim=strict; ${REPORTED}`],
    status: 'warn',
    title: /"adkim=strict" is not a valid value/,
  },
  {
    name: 'no rua',
    records: ['v=DMARC1; p=reject'],
    status: 'warn',
    title: /has no address for reports/,
    publish: { value: 'v=DMARC1; p=reject; rua=mailto:dmarc-reports@example.com' },
  },
  {
    name: 'rua without mailto',
    records: ['v=DMARC1; p=reject; rua=d@example.com'],
    status: 'warn',
    title: /"d@example\.com", which is not a valid report address/,
    publish: { value: 'v=DMARC1; p=reject; rua=mailto:d@example.com' },
  },
  ...['mailto:[x@b.example', 'mailto:a b@c.example', 'mailto:a@@x', 'mailto:ä@b.example'].map(
    (address) => ({
      name: `the report address ${address}`,
      records: [`v=DMARC1; p=reject; rua=${address}`],
      status: 'warn' as const,
      title: /, which is not a valid report address/,
      // Nobody knows where the reports are to go.
      publish: null,
    }),
  ),
  {
    name: 'a comma before the next tag',
    records: ['v=DMARC1; p=reject; rua=mailto:a@example.com, ruf=mailto:b@example.com'],
    status: 'warn',
    title: /, which is not a valid report address/,
    fix: /^Write the address/,
    publish: { value: 'v=DMARC1; p=reject; rua=mailto:a@example.com; ruf=mailto:b@example.com' },
  },
  {
    name: 'an old size limit',
    records: ['v=DMARC1; p=reject; rua=mailto:d@example.com!10m'],
    status: 'pass',
  },
  {
    name: 'external reports with consent',
    records: ['v=DMARC1; p=reject; rua=mailto:x@reports.example'],
    zone: { [CONSENT]: { TXT: ['v=DMARC1;'] } },
    status: 'pass',
  },
  {
    name: 'external reports without consent',
    records: [`v=DMARC1; p=reject; ${REPORTED}, mailto:x@reports.example`],
    status: 'warn',
    title: /^reports\.example has not agreed/,
    publish: { name: CONSENT, value: 'v=DMARC1' },
  },
  {
    name: 'external failure reports without consent',
    records: [`v=DMARC1; p=reject; ${REPORTED}; ruf=mailto:x@reports.example`],
    status: 'warn',
    title: /^reports\.example has not agreed/,
  },
  {
    name: 'consent that is not a DMARC record',
    records: ['v=DMARC1; p=reject; rua=mailto:x@reports.example'],
    zone: { [CONSENT]: { TXT: ['yes'] } },
    status: 'warn',
    title: /^reports\.example has not agreed/,
  },
  {
    name: 'consent lookup fails',
    records: ['v=DMARC1; p=reject; rua=mailto:x@reports.example'],
    zone: { [CONSENT]: { fails: 'timeout' } },
    status: 'pass',
    detail: /Could not determine whether reports are accepted by reports\.example/,
  },
  { name: 'DNS failure', zone: { '_dmarc.example.com': { fails: 'refused' } }, status: 'error' },
  { name: 'offline', records: ['v=DMARC1; p=reject'], offline: true, status: 'skipped' },
  { name: 'no author domain', from: '', records: ['v=DMARC1; p=reject'], status: 'skipped' },
];

for (const row of rows) {
  test(`dmarc_record check reports ${row.status}: ${row.name}`, async () => {
    const own: Zone = row.records ? { '_dmarc.example.com': { TXT: row.records } } : {};
    const found = await runCheck(dmarcRecord, {
      message: `From: Ann <ann@${row.from ?? 'example.com'}>\n\nHello\n`,
      zone: { ...MAIL, ...own, ...row.zone },
      offline: row.offline,
    });
    assert.equal(found.status, row.status, `${found.title} ${found.detail}`);
    if (row.title) assert.match(found.title, row.title);
    if (row.detail) assert.match(found.detail, row.detail);
    if (row.fix) assert.match(found.fix!.text, row.fix);
    if (row.publish === null) assert.equal(found.fix?.record, undefined);
    if (row.publish)
      assert.deepEqual(found.fix?.record, {
        type: 'TXT',
        name: '_dmarc.example.com',
        ...row.publish,
      });
    if (row.status === 'warn' || row.status === 'fail') assert.ok(found.fix?.text);
    // A proposed mailbox must be created before the record names it.
    if (row.publish?.value.includes('mailto:dmarc-reports@'))
      assert.match(
        found.fix!.text,
        /Create the mailbox dmarc-reports@[\w.]+ first, or make it an alias .* reporting service.* Until the address exists/,
      );
  });
}

const PCT: [record: string, says: RegExp][] = [
  [
    'v=DMARC1; p=reject; pct=0; rua=mailto:d@example.com',
    /pct=0 apply quarantine instead of reject/,
  ],
  ['v=DMARC1; p=quarantine; pct=0; rua=mailto:d@example.com', /apply none instead of quarantine/],
  [
    'v=DMARC1; p=reject; pct=25; rua=mailto:d@example.com',
    /apply reject to 25% of the failing mail, and quarantine to the rest/,
  ],
];

for (const [record, says] of PCT)
  test(`dmarc_record check says what pct means: ${record}`, async () => {
    const zone = { '_dmarc.example.com': { TXT: [record] } };
    const found = await runCheck(dmarcRecord, { message: 'From: a@example.com\n\nx\n', zone });
    assert.match(found.detail, /RFC 9989 removed pct from DMARC/);
    assert.match(found.detail, says);
  });

test('dmarc_record check says nothing more about a pct that changes nothing', async () => {
  for (const record of ['v=DMARC1; p=none; pct=0', 'v=DMARC1; p=reject; pct=100']) {
    const zone = { '_dmarc.example.com': { TXT: [`${record}; rua=mailto:d@example.com`] } };
    const found = await runCheck(dmarcRecord, { message: 'From: a@example.com\n\nx\n', zone });
    assert.doesNotMatch(found.detail, /still read/);
  }
});

for (const domain of ['gmail.com', 'outlook.com', 'web.de', 'yahoo.co.jp'])
  test(`dmarc_record check gives no advice about the record of ${domain}`, async () => {
    const zone = {
      [`_dmarc.${domain}`]: { TXT: ['v=DMARC1; p=none; rua=mailto:d@reports.example'] },
    };
    const found = await runCheck(dmarcRecord, { message: `From: a@${domain}\n\nx\n`, zone });
    assert.equal(found.status, 'pass');
    assert.match(found.detail, /Your mailbox provider publishes it/);
    assert.equal(found.fix, undefined);
  });
