/** The check `dmarc_policy`: the policy that applies to the From domain. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckStatus } from '../../../src/analysis/check.ts';
import { dmarcPolicy } from '../../../src/analysis/checks/dmarc-policy.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { runCheck } from '../../helpers/analysis.ts';

interface Row {
  name: string;
  from?: string;
  record?: string;
  zone?: Zone;
  offline?: boolean;
  status: CheckStatus;
  title?: RegExp;
  publish?: { name?: string; value: string };
}

const sub = 'news.example.com';
const exists: Zone = { [sub]: { A: ['192.0.2.5'] } };

const rows: Row[] = [
  { name: 'p=reject', record: 'v=DMARC1; p=reject', status: 'pass', title: /to reject mail/ },
  {
    name: 'p=quarantine',
    record: 'v=DMARC1;p=Quarantine',
    status: 'pass',
    title: /to quarantine mail/,
  },
  {
    name: 'p=none',
    record: 'v=DMARC1; p=none; rua=mailto:d@example.com',
    status: 'warn',
    title: /is p=none: mail that fails DMARC is still delivered/,
    publish: { value: 'v=DMARC1; p=quarantine; rua=mailto:d@example.com' },
  },
  {
    name: 'no record',
    status: 'fail',
    title: /^example\.com has no DMARC record\.$/,
    publish: { value: 'v=DMARC1; p=none; rua=mailto:dmarc-reports@example.com' },
  },
  {
    name: 'no record for a subdomain, fix at the organizational domain',
    from: sub,
    status: 'fail',
    title: /^example\.com has no DMARC record\.$/,
    publish: { value: 'v=DMARC1; p=none; rua=mailto:dmarc-reports@example.com' },
  },
  {
    name: 'an inherited p=',
    from: sub,
    zone: exists,
    record: 'v=DMARC1; p=reject',
    status: 'pass',
  },
  {
    name: 'inherited sp=none',
    from: sub,
    zone: exists,
    record: 'v=DMARC1; p=reject; sp=none; rua=mailto:d@example.com',
    status: 'warn',
    publish: { value: 'v=DMARC1; p=reject; sp=quarantine; rua=mailto:d@example.com' },
  },
  {
    name: 'sp=none beside a policy for the domain itself',
    record: 'v=DMARC1; p=reject; sp=none; rua=mailto:d@example.com',
    status: 'warn',
    title: /does not protect subdomains \(sp=none\)/,
    publish: { value: 'v=DMARC1; p=reject; rua=mailto:d@example.com' },
  },
  {
    name: 'inherited np=none for a name that does not exist',
    from: sub,
    record: 'v=DMARC1; p=reject; sp=reject; np=none; rua=mailto:d@example.com',
    status: 'warn',
    publish: { value: 'v=DMARC1; p=reject; sp=reject; np=quarantine; rua=mailto:d@example.com' },
  },
  {
    name: 'np=none beside a policy for a name that exists',
    from: sub,
    zone: exists,
    record: 'v=DMARC1; p=reject; sp=reject; np=none; rua=mailto:d@example.com',
    status: 'warn',
    title: /does not protect subdomains that do not exist \(np=none\)/,
    publish: { value: 'v=DMARC1; p=reject; sp=reject; rua=mailto:d@example.com' },
  },
  {
    name: 'np= when the name’s existence is unknown',
    from: sub,
    zone: { [sub]: { fails: 'timeout' } },
    record: 'v=DMARC1; p=reject; sp=reject; np=none',
    status: 'error',
  },
  {
    name: 'a record of the subdomain itself',
    from: sub,
    zone: { '_dmarc.news.example.com': { TXT: ['v=DMARC1; p=none; rua=mailto:d@example.com'] } },
    record: 'v=DMARC1; p=reject',
    status: 'warn',
    publish: {
      name: '_dmarc.news.example.com',
      value: 'v=DMARC1; p=quarantine; rua=mailto:d@example.com',
    },
  },
  {
    name: 'quarantine in test mode',
    record: 'v=DMARC1; p=reject; t=y; rua=mailto:d@example.com',
    status: 'warn',
    title: /in test mode/,
    publish: { value: 'v=DMARC1; p=reject; t=n; rua=mailto:d@example.com' },
  },
  {
    name: 'p=none in test mode',
    record: 'v=DMARC1; p=none; t=y',
    status: 'warn',
    title: /=none: mail that fails DMARC is still delivered/,
  },
  {
    name: 'invalid policy with reports, treated as none',
    record: 'v=DMARC1; p=rejct; rua=mailto:d@example.com',
    status: 'warn',
    title: /=none: mail that fails DMARC is still delivered/,
    publish: { value: 'v=DMARC1; p=quarantine; rua=mailto:d@example.com' },
  },
  {
    name: 'invalid policy without reports, treated as no record',
    record: 'v=DMARC1; p=rejct',
    status: 'fail',
    title: /has no valid policy/,
    publish: { value: 'v=DMARC1; p=reject' },
  },
  {
    name: 'no policy tag',
    record: 'v=DMARC1; sp=reject',
    status: 'fail',
    title: /has no valid policy/,
    publish: { value: 'v=DMARC1; p=none; sp=reject' },
  },
  {
    name: 'a TXT record that is not DMARC',
    record: 'v=DMARC1 p=reject',
    status: 'fail',
    title: /no usable DMARC record/,
  },
  { name: 'DNS failure', zone: { '_dmarc.example.com': { fails: 'servfail' } }, status: 'error' },
  { name: 'offline', record: 'v=DMARC1; p=reject', offline: true, status: 'skipped' },
  { name: 'no author domain', from: '', record: 'v=DMARC1; p=reject', status: 'skipped' },
];

/** SPF passes for example.com, so that the message passes DMARC with any policy. */
const PASSING = {
  envelope: {
    client_ip: '192.0.2.1',
    mail_from: 'ann@example.com',
    helo: 'mx.example.com',
    tls: null,
  },
  zone: { 'example.com': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] } } as Zone,
};

for (const row of rows) {
  test(`dmarc_policy check reports ${row.status}: ${row.name}`, async () => {
    const own: Zone = row.record ? { '_dmarc.example.com': { TXT: [row.record] } } : {};
    const found = await runCheck(dmarcPolicy, {
      message: `From: Ann <ann@${row.from ?? 'example.com'}>\n\nHello\n`,
      envelope: PASSING.envelope,
      zone: { ...PASSING.zone, ...own, ...row.zone },
      offline: row.offline,
    });
    assert.equal(found.status, row.status, `${found.title} ${found.detail}`);
    if (row.title) assert.match(found.title, row.title);
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

const STRAY = { TXT: ['v=DMARC1; p=reject; rua=mailto:d@example.com'] };

const WEAK: [name: string, record: string][] = [
  ['p=none', 'v=DMARC1; p=none; rua=mailto:d@example.com'],
  ['test mode', 'v=DMARC1; p=reject; t=y; rua=mailto:d@example.com'],
  ['no policy, with reports', 'v=DMARC1; rua=mailto:berichte@example.com'],
];

for (const [name, record] of WEAK)
  test(`dmarc_policy check proposes no stricter record while the message fails: ${name}`, async () => {
    const zone: Zone = { ...PASSING.zone, '_dmarc.example.com': { TXT: [record] } };
    const message = 'From: Ann <ann@example.com>\n\nHello\n';
    // Another server: SPF fails, and there is no signature.
    const envelope = { ...PASSING.envelope, client_ip: '198.51.100.9' };
    const failing = await runCheck(dmarcPolicy, { message, zone, envelope });
    assert.equal(failing.status, 'warn');
    assert.equal(failing.fix?.record, undefined);
    assert.match(failing.fix?.text ?? '', /^First make this message pass DMARC/);
    const passing = await runCheck(dmarcPolicy, { message, zone, envelope: PASSING.envelope });
    assert.match(passing.fix?.record?.value ?? '', /p=(quarantine|reject)/);
  });

for (const [where, name] of [
  ['the domain itself', 'example.com'],
  ['the domain twice', '_dmarc.example.com.example.com'],
  ['_dmarc twice', '_dmarc._dmarc.example.com'],
])
  test(`dmarc_policy check finds a record at the wrong name: ${where}`, async () => {
    const zone: Zone = { [name!]: STRAY };
    const message = 'From: Ann <ann@news.example.com>\n\nHello\n';
    const found = await runCheck(dmarcPolicy, { message, zone });
    assert.equal(found.status, 'fail');
    assert.match(found.title, /example\.com is published at the wrong name/);
    assert.ok(found.detail.includes(`It is at ${name},`), found.detail);
    const { name: at, value } = found.fix!.record!;
    assert.deepEqual([at, value], ['_dmarc.example.com', STRAY.TXT[0]]);
    const moved = await runCheck(dmarcPolicy, {
      message,
      zone: { ...zone, [at]: { TXT: [value] } },
    });
    assert.equal(moved.status, 'pass');
  });

test('dmarc_policy check quotes the value that makes the policy count as none', async () => {
  const record = 'v=DMARC1; p=reject; sp=nones; rua=mailto:d@example.com';
  const found = await runCheck(dmarcPolicy, {
    message: 'From: Ann <ann@example.com>\n\nHello\n',
    zone: { '_dmarc.example.com': { TXT: [record] } },
  });
  assert.match(found.detail, /^"sp=nones" is not a valid policy\. Therefore/);
});

// A domain can have only one DMARC record, so a report never proposes two.

const REPAIRED: [what: string, record: string, fix: RegExp][] = [
  [
    'no report address',
    'v=DMARC1; p=none',
    /^First publish the record described under "DMARC record"\. .* change p in it to quarantine/,
  ],
  ['an invalid report address', 'v=DMARC1; p=none; rua=mailto:a@@x', /^First publish/],
  ['test mode and an unknown tag', 'v=DMARC1; p=reject; t=y; foo=1', /change t=y in it to t=n/],
];

for (const [what, record, fix] of REPAIRED)
  test(`dmarc_policy check leaves the record to dmarc_record: ${what}`, async () => {
    const found = await runCheck(dmarcPolicy, {
      message: 'From: Ann <ann@example.com>\n\nHello\n',
      zone: { '_dmarc.example.com': { TXT: [record] } },
    });
    assert.equal(found.status, 'warn');
    assert.equal(found.fix?.record, undefined);
    assert.match(found.fix?.text ?? '', fix);
  });

test('dmarc_policy check leaves out an invalid report address and says so', async () => {
  const found = await runCheck(dmarcPolicy, {
    message: 'From: Ann <ann@example.com>\n\nHello\n',
    zone: { '_dmarc.example.com': { TXT: ['v=DMARC1; p=bad; rua=mailto:\u001b[2Ja@b.example'] } },
  });
  const { text = '', record } = found.fix ?? {};
  assert.equal(record?.value, 'v=DMARC1; p=none');
  assert.match(
    text,
    /a@b\.example” is not a valid report address, so the record does not contain it/,
  );
});

const WEAKER: [record: string, says: RegExp | null][] = [
  ['v=DMARC1; p=reject; sp=quarantine', /sp=quarantine is weaker for subdomains of example\.com/],
  ['v=DMARC1; p=reject; np=quarantine', /np=quarantine is weaker for subdomains that do not exist/],
  ['v=DMARC1; p=quarantine; sp=reject', null],
  ['v=DMARC1; p=reject', null],
];

for (const [record, says] of WEAKER)
  test(`dmarc_policy check tells a weaker policy for subdomains: ${record}`, async () => {
    const zone: Zone = { '_dmarc.example.com': { TXT: [record] } };
    const found = await runCheck(dmarcPolicy, { message: 'From: a@example.com\n\nx\n', zone });
    assert.equal(found.status, 'pass');
    if (says) assert.match(found.detail, says);
    else assert.doesNotMatch(found.detail, /weaker/);
  });
