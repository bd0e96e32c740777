/** A DNS panel that appends the domain to names: as the target of an alias, and as the name of a record. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Zone, zoneResolver } from '../../../src/net/dns/zone.ts';
import { checkDomain, DKIM_KEYS, item } from './domains.ts';
import { assertProposalsCure } from './publish.ts';

const STS = 'v=STSv1; id=20261101';
const TLS = 'v=TLSRPTv1; rua=mailto:tls@quarry.example';
const DMARC = 'v=DMARC1; p=reject; rua=mailto:d@quarry.example';

const world = (changes: Zone = {}): Zone => ({
  'quarry.example': { TXT: ['v=spf1 mx -all'], MX: ['10 mx.quarry.example'] },
  'mx.quarry.example': { A: ['192.0.2.80'] },
  '_dmarc.quarry.example': { TXT: [DMARC] },
  'k1._domainkey.quarry.example': { TXT: [DKIM_KEYS.strong] },
  'k1.dkim.sender.example': { TXT: [DKIM_KEYS.strong] },
  'quarry.dmarc.vendor.example': { TXT: [DMARC] },
  ...changes,
});

const WILDCARD: Zone = { '*.quarry.example': { A: ['192.0.2.99'], TXT: ['v=spf1 -all'] } };

const ALIASES: [id: string, name: string, target: string][] = [
  ['dkim_selector', 'k1._domainkey.quarry.example', 'k1.dkim.sender.example'],
  ['dmarc_policy', '_dmarc.quarry.example', 'quarry.dmarc.vendor.example'],
];

for (const [id, name, target] of ALIASES)
  for (const [where, others] of [
    ['', {}],
    [', below a wildcard', WILDCARD],
  ] as const)
    test(`${id} check corrects the target of an alias to which the domain was appended${where}`, async () => {
      const zone = world({ ...others, [name]: { CNAME: [`${target}.quarry.example`] } });
      const options = { selectors: ['k1'] };
      const health = await assertProposalsCure(zone, 'quarry.example', options);
      const { status, fix } = item(health, id);
      assert.equal(status, 'fail');
      assert.deepEqual(fix!.record, { type: 'CNAME', name, value: target });
      assert.match(fix!.text, /^Your DNS panel appended your domain to .*with a dot at the end/);
    });

const OWNERS: [id: string, name: string, value: string][] = [
  ['mta_sts', '_mta-sts.quarry.example', STS],
  ['tls_rpt', '_smtp._tls.quarry.example', TLS],
  ['dmarc_policy', '_dmarc.quarry.example', DMARC],
  ['spf_record', 'quarry.example', 'v=spf1 a:mx.quarry.example -all'],
];

for (const [id, name, value] of OWNERS)
  for (const [where, others] of [
    ['', {}],
    [', below a wildcard', WILDCARD],
  ] as const)
    test(`${id} check finds the record at a name that has the domain twice${where}`, async () => {
      const zone = world({ ...others, [`${name}.quarry.example`]: { TXT: [value] } });
      if (id === 'dmarc_policy') delete zone[name];
      if (id === 'spf_record') zone[name] = { MX: ['10 mx.quarry.example'] };
      const options = { selectors: ['k1'] };
      const health = await assertProposalsCure(zone, 'quarry.example', options);
      const { title, severity, fix } = item(health, id);
      assert.match(title, /is published at the wrong name\.$/);
      assert.notEqual(severity, null);
      assert.deepEqual(fix!.record, { type: 'TXT', name, value });
    });

test('An SPF record of a wildcard is not one at a name that has the domain twice', async () => {
  const zone = world({ ...WILDCARD, 'quarry.example': { MX: ['10 mx.quarry.example'] } });
  const { title } = item(await checkDomain(zone, {}, 'quarry.example'), 'spf_record');
  assert.match(title, /has no SPF record/);
});

test('one question answers that no name has the domain twice', async () => {
  const asked: string[] = [];
  const known = zoneResolver(world());
  await checkDomain(
    {},
    {
      selectors: ['k1'],
      resolver: (name, type) => {
        if (name.endsWith('quarry.example.quarry.example')) asked.push(name);
        return known(name, type);
      },
    },
    'quarry.example',
  );
  assert.deepEqual(asked, ['quarry.example.quarry.example']);
});

test('a weak record at the vendor of an alias is changed there', async () => {
  const cases: [id: string, name: string, target: string, text: string][] = [
    [
      'dmarc_policy',
      '_dmarc.quarry.example',
      'quarry.dmarc.vendor.example',
      'v=DMARC1; p=none; rua=mailto:d@quarry.example',
    ],
    [
      'dmarc_record',
      '_dmarc.quarry.example',
      'quarry.dmarc.vendor.example',
      'v=DMARC1; p=reject; rua=d@quarry.example',
    ],
    [
      'dmarc_record',
      '_dmarc.quarry.example',
      'quarry.dmarc.vendor.example',
      '"v=DMARC1; p=reject"',
    ],
    ['mta_sts', '_mta-sts.quarry.example', 'sts.vendor.example', 'v=STSv1'],
    [
      'tls_rpt',
      '_smtp._tls.quarry.example',
      'tls.vendor.example',
      'v=TLSRPTv1; rua=tls@quarry.example',
    ],
  ];
  for (const [id, name, target, text] of cases) {
    const zone = world({ [name]: { CNAME: [target] }, [target]: { TXT: [text] } });
    const health = await checkDomain(zone, { selectors: ['k1'] }, 'quarry.example');
    const { severity, fix } = item(health, id);
    assert.notEqual(severity, null, text);
    assert.equal(fix!.record, undefined, text);
    assert.ok(
      fix!.text.startsWith(
        `${name} is an alias, and the record is published at ${target}. Make the change there, and publish nothing at ${name}.`,
      ),
      fix!.text,
    );
  }
});

const SENDERS: Zone = {
  '_spf.sender.example': { TXT: ['v=spf1 ip4:203.0.113.0/25 -all'] },
  'spf.open.vendor.example': { TXT: ['v=spf1 +all'] },
  'verification.vendor.example': { TXT: ['site=1'] },
  'out.vendor.example': { A: ['203.0.113.200'], MX: ['10 out.vendor.example'] },
};

const TERMS: [written: string, proposed: string | null, status?: 'warn'][] = [
  ['include:_spf.sender.example.quarry.example mx', 'include:_spf.sender.example mx'],
  ['?include:_SPF.sender.example.Quarry.example. mx', '?include:_spf.sender.example mx'],
  ['a:out.vendor.example.quarry.example/28 mx', 'a:out.vendor.example/28 mx', 'warn'],
  ['mx mx:out.vendor.example.quarry.example', 'mx mx:out.vendor.example', 'warn'],
  ['a:mx.quarry.example.quarry.example', 'a:mx.quarry.example', 'warn'],
  [
    'mx include:_spf.sender.example include:_spf.sender.example.quarry.example',
    'mx include:_spf.sender.example',
  ],
  ['mx include:spf.open.vendor.example.quarry.example', null],
];

const OTHER_WILDCARD: Zone = { '*.quarry.example': { A: ['192.0.2.99'], TXT: ['site=2'] } };

for (const [where, others] of [
  ['', {}],
  [', below a wildcard', OTHER_WILDCARD],
] as const)
  for (const [written, proposed, status = 'fail'] of TERMS)
    test(`The target of an SPF term with the domain appended is corrected: ${written}${where}`, async () => {
      const root = { MX: ['10 mx.quarry.example'], TXT: [`v=spf1 ${written} -all`] };
      const zone = world({ ...SENDERS, ...others, 'quarry.example': root });
      const options = { selectors: ['k1'] };
      const found = item(await assertProposalsCure(zone, 'quarry.example', options), 'spf_record');
      assert.equal(found.status, status);
      assert.match(
        found.title,
        /"[^"]+", so it does not allow those servers: your domain was appended to /,
      );
      assert.match(found.fix!.text, /Write "[^"]+" instead of "[^"]+"\./);
      assert.equal(
        found.fix!.record?.value,
        proposed === null ? undefined : `v=spf1 ${proposed} -all`,
      );
    });

test('The target of an SPF redirect with the domain appended is corrected', async () => {
  const TXT = ['v=spf1 a:mx.quarry.example redirect=_spf.sender.example.quarry.example'];
  const zone = world({ ...SENDERS, 'quarry.example': { TXT, MX: ['10 mx.quarry.example'] } });
  const { fix } = item(await assertProposalsCure(zone, 'quarry.example'), 'spf_record');
  assert.equal(fix!.record?.value, 'v=spf1 a:mx.quarry.example redirect=_spf.sender.example');
});

test('The target of an SPF include is corrected only if the meant name has one SPF record', async () => {
  const cases: [what: string, changes: Zone, proposed: string | undefined, title: RegExp][] = [
    // Neither name has a record, so it lets nobody send.
    ['gone', {}, 'v=spf1 mx -all', /refers to _spf\.gone\.example\.quarry\.example, which has no/],
    [
      'another text',
      { '_spf.gone.example': { TXT: ['site=1'] } },
      'v=spf1 mx -all',
      /which has no/,
    ],
    [
      'unknown',
      { '_spf.gone.example': { fails: 'timeout' } },
      undefined,
      /seems to be appended to/,
    ],
    [
      'itself',
      {
        '_spf.gone.example': SENDERS['_spf.sender.example']!,
        '_spf.gone.example.quarry.example': SENDERS['_spf.sender.example']!,
      },
      undefined,
      /is valid/,
    ],
  ];
  for (const [what, changes, proposed, title] of cases) {
    const TXT = ['v=spf1 include:_spf.gone.example.quarry.example mx -all'];
    const zone = world({ ...changes, 'quarry.example': { TXT, MX: ['10 mx.quarry.example'] } });
    const found = item(await checkDomain(zone, {}, 'quarry.example'), 'spf_record');
    assert.match(found.title, title, what);
    assert.equal(found.fix?.record?.value, proposed, what);
  }
});

const TLSA = `3 1 1 ${'ab'.repeat(32)}`;
const TLSA_NAME = '_25._tcp.mx.quarry.example';

const PLACES: [what: string, changes: Zone, record: object | undefined, text: RegExp][] = [
  [
    'at a name that has the domain twice',
    { [`${TLSA_NAME}.quarry.example`]: { TLSA: [TLSA] } },
    // Senders would refuse to deliver if it did not match the certificate.
    undefined,
    /Enter only "_25\._tcp\.mx" as the name.+First compare them with the certificate/,
  ],
  [
    'at a name that has the domain twice, two records',
    { [`${TLSA_NAME}.quarry.example`]: { TLSA: [TLSA, TLSA.replace('3', '2')] } },
    undefined,
    /Enter only "_25\._tcp\.mx" as the name/,
  ],
  [
    'behind an alias to which the domain was appended',
    {
      [TLSA_NAME]: { CNAME: ['dane.certs.vendor.example.quarry.example'] },
      'dane.certs.vendor.example': { TLSA: [TLSA] },
    },
    { type: 'CNAME', name: TLSA_NAME, value: 'dane.certs.vendor.example' },
    /Enter "dane\.certs\.vendor\.example\." with a dot at the end/,
  ],
];

for (const [what, changes, record, text] of PLACES)
  test(`dane check finds TLSA records ${what}`, async () => {
    const { severity, fix } = item(await checkDomain(world(changes), {}, 'quarry.example'), 'dane');
    assert.equal(severity, 'warning');
    assert.deepEqual(fix!.record, record);
    assert.match(fix!.text, text);
  });

test('dane check takes no wildcard and no other name for a misplaced TLSA record', async () => {
  const zones: Zone[] = [
    { '*.quarry.example': { TLSA: [TLSA] } },
    { 'dane.quarry.example': { TLSA: [TLSA] } },
    { [TLSA_NAME]: { CNAME: ['gone.vendor.example'] } },
  ];
  for (const changes of zones) {
    const found = item(await checkDomain(world(changes), {}, 'quarry.example'), 'dane');
    assert.equal(found.title, 'quarry.example does not use DANE.');
  }
});

test('dane check reads the TLSA records of the mail server that was meant', async () => {
  const MX = ['10 mx.vendor.example.quarry.example'];
  const zone = world({
    'quarry.example': { TXT: ['v=spf1 mx -all'], MX },
    'mx.vendor.example': { A: ['192.0.2.81'] },
    '_25._tcp.mx.vendor.example': { TLSA: [TLSA] },
  });
  const { evidence } = item(await checkDomain(zone, {}, 'quarry.example'), 'dane');
  const [host] = evidence.hosts as { name: string; records: string[] }[];
  assert.deepEqual([host!.name, host!.records], ['_25._tcp.mx.vendor.example', [TLSA]]);
});
