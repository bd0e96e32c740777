/** Records proposed at names that are aliases. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyze } from '../../../src/analysis/analyze.ts';
import { aliasChain } from '../../../src/analysis/dns/alias.ts';
import { type Zone, zoneResolver } from '../../../src/net/dns/zone.ts';
import { ENVELOPE, RECEIVED_AT } from '../../helpers/analysis.ts';
import { makeKey, signMessage } from '../../helpers/signer.ts';

const key = makeKey();
const RAW =
  'From: Ann <ann@example.com>\nTo: b@example.net\nSubject: Hello\nDate: Sat, 21 Nov 2026 10:00:00 +0000\nMessage-ID: <1@example.com>\n\nHello\n';

async function fixOf(id: string, zone: Zone) {
  const raw = await signMessage(RAW, { domain: 'example.com', selector: 's1', key });
  const envelope = { ...ENVELOPE, mail_from: 'ann@example.com' };
  const input = { raw, envelope, receivedAt: RECEIVED_AT, kind: 'auto' as const };
  const { checks } = await analyze(input, { resolver: zoneResolver(zone) });
  const found = checks.find((check) => check.id === id)!;
  return { status: found.status, title: found.title, fix: found.fix };
}

const CASES: [id: string, name: string, chain: string[], owner: RegExp][] = [
  [
    'dmarc_policy',
    '_dmarc.example.com',
    ['example.com.dmarc.hoster.example'],
    /at example\.com\.dmarc\.hoster\.example, so/,
  ],
];

for (const [id, name, chain, owner] of CASES)
  test(`${id}: a record at ${name}, an alias of ${chain.at(-1)}, is proposed in place of the alias`, async () => {
    const zone: Zone = {};
    for (const [i, target] of chain.entries()) zone[chain[i - 1] ?? name] = { CNAME: [target] };
    const { status, title, fix } = await fixOf(id, zone);
    assert.equal(status, 'fail', title);
    assert.ok(
      fix!.text.startsWith(`${name} is an alias (${[name, ...chain].join(' → ')})`),
      fix!.text,
    );
    assert.match(fix!.text, owner);
    assert.match(fix!.text, /or delete the CNAME and publish this record instead\.$/);
    // Applied as described, it is valid and cures the finding.
    const value = fix!.record!.value.replace(/<[^>]+>/, key.record.split('p=')[1]!);
    const cured = await fixOf(id, { [name]: { TXT: [value] } });
    assert.notEqual(cured.status, 'fail', cured.title);
  });

const KEY_ALIASES: [chain: string[], service: RegExp][] = [
  [['s1.domainkey.u123.wl001.sendgrid.net'], /^In SendGrid, open the DKIM settings/],
  [['s1._domainkey.alt.example', 'dkim.mcsv.net'], /^In Mailchimp, open the DKIM settings/],
];

for (const [chain, service] of KEY_ALIASES)
  test(`A key that is missing at ${chain.at(-1)} is set up at the service to which the aliases lead`, async () => {
    const zone: Zone = {};
    for (const [i, target] of chain.entries())
      zone[chain[i - 1] ?? 's1._domainkey.example.com'] = { CNAME: [target] };
    const { status, fix } = await fixOf('dkim', zone);
    assert.equal(status, 'fail');
    assert.match(fix!.text, service);
    assert.equal(fix!.record, undefined, 'the key is published at the service');
  });

test('An SPF record at an alias is proposed together with the other records of its target', async () => {
  const { fix } = await fixOf('spf', { 'example.com': { CNAME: ['sites.hoster.example'] } });
  assert.match(
    fix!.text,
    /together with the other records of its target that you need, such as A and MX\.$/,
  );
});

test('aliasChain ends at loops and at failed lookups', async () => {
  const resolver = zoneResolver({
    'a.example': { CNAME: ['B.example.'] },
    'b.example': { CNAME: ['a.example'] },
    'self.example': { CNAME: ['self.example'] },
    'c.example': { CNAME: ['d.example'] },
    'd.example': { fails: 'timeout' },
  });
  assert.deepEqual(await aliasChain('a.example', resolver), ['b.example']);
  assert.deepEqual(await aliasChain('self.example', resolver), []);
  assert.deepEqual(await aliasChain('c.example', resolver), ['d.example']);
  assert.deepEqual(await aliasChain('none.example', resolver), []);
});
