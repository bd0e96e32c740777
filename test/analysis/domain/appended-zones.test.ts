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
