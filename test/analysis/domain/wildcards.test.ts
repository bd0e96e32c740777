/** Answers of wildcards are not records that somebody published for a name. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyze } from '../../../src/analysis/analyze.ts';
import { type Zone, zoneResolver } from '../../../src/net/dns/zone.ts';
import { ENVELOPE, RECEIVED_AT } from '../../helpers/analysis.ts';
import { checkDomain, DKIM_KEYS, item } from './domains.ts';
import { assertProposalsCure } from './publish.ts';

const DMARC = 'v=DMARC1; p=reject; rua=mailto:post@orchard.example';

/** A firm whose web host answers for every name that does not exist. */
const world = (wildcard: Zone[string], changes: Zone = {}): Zone => ({
  'orchard.example': { TXT: ['v=spf1 mx -all', 'web-host=4711'], MX: ['10 post.orchard.example'] },
  'post.orchard.example': { A: ['192.0.2.20'] },
  'sites.webhost.example': { A: ['198.51.100.7'], TXT: ['v=spf1 a:out.webhost.example ~all'] },
  'out.webhost.example': { A: ['198.51.100.8'] },
  'k1._domainkey.orchard.example': { TXT: [DKIM_KEYS.strong] },
  '*.orchard.example': wildcard,
  ...changes,
});

const options = { selectors: ['k1'] };

const WILDCARDS: Record<string, Zone[string]> = {
  'an alias of a web host': { CNAME: ['sites.webhost.example'] },
  'an alias of the domain itself': { CNAME: ['orchard.example'] },
  'an alias that leads nowhere': { CNAME: ['gone.webhost.example'] },
  'an SPF record': { TXT: ['v=spf1 -all'], A: ['198.51.100.7'] },
  'an address and a mail server': { A: ['198.51.100.7'], MX: ['10 post.orchard.example'] },
};

for (const [name, wildcard] of Object.entries(WILDCARDS)) {
  test(`without a DMARC record, ${name} for every name is not one`, async () => {
    const health = await assertProposalsCure(world(wildcard!), 'orchard.example', options);
    const { status, title, fix } = item(health, 'dmarc_policy');
    assert.deepEqual([status, title], ['fail', 'orchard.example has no DMARC record.']);
    assert.equal(fix!.record!.name, '_dmarc.orchard.example');
    assert.doesNotMatch(fix!.text, /delete the CNAME/i);
    const isAlias = !('fails' in wildcard!) && wildcard!.CNAME !== undefined;
    assert.equal(/wildcard.*overrides it, so the wildcard can stay/.test(fix!.text), isAlias);
    assert.equal(item(health, 'tls_rpt').title, 'orchard.example does not request TLS reports.');
    assert.equal(item(health, 'mta_sts').title, 'orchard.example does not use MTA-STS.');
    assert.equal(item(health, 'bimi').title, 'Your domain has no BIMI record.');
  });

  test(`a complete domain with ${name} for every other name is healthy`, async () => {
    const zone = world(wildcard!, { '_dmarc.orchard.example': { TXT: [DMARC] } });
    const health = await checkDomain(zone, options, 'orchard.example');
    assert.deepEqual([health.status, health.score], ['healthy', 100], health.summary);
  });
}

test('a message gets the same advice about an alias of a wildcard', async () => {
  const raw = Buffer.from('From: a@orchard.example\r\nSubject: x\r\n\r\nHello\r\n');
  const envelope = { ...ENVELOPE, mail_from: 'a@orchard.example', client_ip: '192.0.2.20' };
  const zone = world({ CNAME: ['sites.webhost.example'] });
  const input = { raw, envelope, receivedAt: RECEIVED_AT, kind: 'auto' as const };
  const { checks } = await analyze(input, { resolver: zoneResolver(zone) });
  const of = (id: string) => checks.find((check) => check.id === id)!;
  assert.match(of('dmarc_policy').fix!.text, /overrides it, so the wildcard can stay/);
  assert.equal(of('tls_rpt').title, 'orchard.example does not request TLS reports.');
});

test('a record of its own at a subdomain ends what a wildcard gave it, and the fix says so', async () => {
  const wildcard = { A: ['198.51.100.7'], MX: ['10 post.orchard.example'] };
  const zone = world(wildcard, { '_dmarc.orchard.example': { TXT: [DMARC] } });
  const health = await checkDomain(zone, options, 'news.orchard.example');
  const { fix } = item(health, 'spf_record');
  assert.match(
    fix!.text,
    /Today, the A and MX records of news\.orchard\.example come only from a wildcard.*Publish them at news\.orchard\.example too\.$/,
  );
  const own = { ...zone, 'news.orchard.example': { MX: ['10 post.orchard.example'] } };
  const without = item(await checkDomain(own, options, 'news.orchard.example'), 'spf_record');
  assert.doesNotMatch(without.fix!.text, /wildcard/);
});

test('a TLS reporting record that is damaged is not noise of a wildcard', async () => {
  const zone = world({ TXT: ['v=spf1 -all'] });
  zone['_smtp._tls.orchard.example'] = { TXT: ['TLSRPTv1; rua=mailto:tls@orchard.example'] };
  const health = await checkDomain(zone, options, 'orchard.example');
  assert.match(item(health, 'tls_rpt').title, /is invalid/);
});

test('the web server of a wildcard has no MTA-STS policy, and the finding says whose address it is', async () => {
  const zone = world(
    { A: ['198.51.100.7'] },
    { '_mta-sts.orchard.example': { TXT: ['v=STSv1; id=1'] } },
  );
  const web = async () => ({
    status: 'response' as const,
    url: '',
    code: 404,
    headers: {},
    body: new Uint8Array(),
    redirects: [],
    truncated: false,
  });
  const { detail } = item(
    await checkDomain(zone, { ...options, web: web as never }, 'orchard.example'),
    'mta_sts',
  );
  assert.match(detail, /The address of mta-sts\.orchard\.example comes from a wildcard record/);
});

test('a complete domain costs no question about a name that nobody published', async () => {
  const zone = world({ A: ['198.51.100.7'] }, { '_dmarc.orchard.example': { TXT: [DMARC] } });
  const known = zoneResolver(zone);
  const asked = new Set<string>();
  await checkDomain(
    zone,
    {
      ...options,
      resolver: (name, type) => {
        asked.add(name);
        return known(name, type);
      },
    },
    'orchard.example',
  );
  assert.deepEqual(
    [...asked].filter((name) => /^[a-z0-9]{16}\./.test(name)),
    [],
  );
});

test('if the question about another name fails, an answer counts as published', async () => {
  const zone = world({ CNAME: ['sites.webhost.example'] });
  const known = zoneResolver(zone);
  const health = await checkDomain(
    zone,
    {
      ...options,
      resolver: async (name, type) =>
        /^[a-z0-9]{16}\./.test(name) ? { status: 'error', reason: 'timeout' } : known(name, type),
    },
    'orchard.example',
  );
  const { fix } = item(health, 'dmarc_policy');
  assert.match(fix!.text, /_dmarc\.orchard\.example is an alias/);
});
