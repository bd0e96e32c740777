/** The check domain_blocklists: the sender domains, and the effect of a listing of each. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckStatus, Finding } from '../../../src/analysis/check.ts';
import { domainBlocklists } from '../../../src/analysis/checks/domain-blocklists.ts';
import { consequencesOf } from '../../../src/analysis/consequences.ts';
import type { DnsAnswer, Resolver } from '../../../src/net/dns/resolver.ts';
import { type Zone, zoneResolver } from '../../../src/net/dns/zone.ts';
import { type CheckInput, runCheck } from '../../helpers/analysis.ts';
import { listIn, workingLists } from '../../helpers/blocklists.ts';
import { goodMessage } from '../../helpers/good-message.ts';

const KEY = 'abcdefghij0123456789abcdef';
const signature = (domain: string) =>
  `v=1; a=rsa-sha256; d=${domain}; s=s1; h=from; bh=AAAA; b=AAAA`;

/** From news.shop.example, MAIL FROM bounce.example, HELO out.host.example, signed by signer.example. */
const SENDER = {
  message: goodMessage({
    From: 'Shop <shop@news.shop.example>',
    'DKIM-Signature': [signature('signer.example'), signature('mail.signer.example')],
  }),
  envelope: {
    client_ip: '203.0.114.7',
    mail_from: 'b@bounce.example',
    helo: 'out.host.example',
  },
};

const find = (scene: Partial<CheckInput> = {}): Promise<Finding> =>
  runCheck(domainBlocklists, {
    ...SENDER,
    ...scene,
    setup: { blocklists: workingLists(), ...scene.setup },
  });
const dbl = (name: string, code = '127.0.1.2'): Zone => listIn('dbl.spamhaus.org', name, code);
const surbl = (name: string, code = '127.0.0.64'): Zone => listIn('multi.surbl.org', name, code);
const uribl = (name: string, code = '127.0.0.2'): Zone => listIn('multi.uribl.com', name, code);

const ROWS: [what: string, status: CheckStatus, scene: Partial<CheckInput>, says?: RegExp][] = [
  ['on no list', 'pass', {}, /The sender domains are not on any blocklist\./],
  [
    'the From domain listed',
    'fail',
    { zone: dbl('shop.example') },
    /^shop\.example is listed by Spamhaus/,
  ],
  [
    'the full From host name listed',
    'fail',
    { zone: dbl('news.shop.example') },
    /^news\.shop\.example is listed/,
  ],
  ['the MAIL FROM domain listed', 'fail', { zone: dbl('bounce.example') }, /^bounce\.example is/],
  ['a signing domain listed', 'fail', { zone: dbl('signer.example') }, /^signer\.example is/],
  [
    'the full name of a signing domain listed',
    'fail',
    { zone: dbl('mail.signer.example') },
    /^mail\.signer\.example/,
  ],
  [
    'the HELO name listed',
    'fail',
    { zone: dbl('out.host.example') },
    /^The HELO name, out\.host\.example, is/,
  ],
  [
    'the HELO domain listed',
    'fail',
    { zone: dbl('host.example') },
    /^The HELO name, host\.example, is/,
  ],
  [
    'listed as an abused legitimate domain',
    'fail',
    { zone: dbl('shop.example', '127.0.1.104') },
    /abused for phishing/,
  ],
  [
    'one tier 2 listing',
    'warn',
    { zone: surbl('shop.example') },
    /by SURBL\..*ABUSE.*filters raise the spam score for such a listing/,
  ],
  [
    'two tier 2 listings',
    'warn',
    { zone: { ...surbl('shop.example'), ...uribl('shop.example') } },
    /SURBL and URIBL/,
  ],
  [
    'listings of both tiers',
    'fail',
    { zone: { ...dbl('shop.example'), ...uribl('bounce.example') } },
    /^shop\.example and bounce\.example are listed by Spamhaus DBL and URIBL/,
  ],
  ['listed as a click tracker', 'pass', { zone: surbl('shop.example', '127.0.0.32') }],
  ['listed as red by URIBL', 'pass', { zone: uribl('shop.example', '127.0.0.8') }],
  [
    'a list that refuses queries',
    'error',
    { zone: dbl('shop.example', '127.255.255.254') },
    /Not all blocklists .* responded.*No result from Spamhaus DBL/,
  ],
  ['a refusal of an IP address', 'error', { zone: dbl('shop.example', '127.0.1.255') }],
  [
    'all lists refuse queries',
    'error',
    {
      zone: {
        ...dbl('shop.example', '127.255.255.255'),
        ...surbl('shop.example', '127.0.0.1'),
        ...uribl('shop.example', '127.0.0.1'),
      },
    },
    /Could not determine/,
  ],
  ['no lists enabled', 'skipped', { setup: { blocklists: [] } }, /No blocklists are enabled\./],
  [
    'only IP address lists enabled',
    'skipped',
    { setup: { blocklists: workingLists('bl.spamcop.net') } },
  ],
  ['offline', 'skipped', { offline: true }],
  [
    'no sender domains',
    'skipped',
    { message: 'Subject: x\n\nHello\n', envelope: { mail_from: '', helo: '[203.0.114.7]' } },
  ],
];

for (const [what, status, scene, says] of ROWS)
  test(`domain_blocklists check reports ${status}: ${what}`, async () => {
    const finding = await find(scene);
    assert.equal(finding.status, status, `${finding.title} ${finding.detail}`);
    if (says) assert.match(`${finding.title} ${finding.detail}`, says);
    if (status === 'warn' || status === 'fail') assert.match(finding.fix!.text, /https:\/\//);
  });

test('domain_blocklists check applies no cap for a tier 1 listing of the HELO name only', async () => {
  const isCapped = async (scene: Partial<CheckInput>) => {
    const { status, evidence = {} } = await find(scene);
    assert.equal(status, 'fail');
    const fact = { id: 'domain_blocklists', status, evidence, failedCauses: [] };
    const applied = consequencesOf((id) => (id === fact.id ? fact : undefined), 'transactional');
    return applied.length > 0;
  };
  assert.equal(await isCapped({ zone: dbl('host.example') }), false);
  assert.equal(await isCapped({ zone: dbl('out.host.example') }), false);
  const beside = { ...dbl('host.example'), ...surbl('shop.example') };
  assert.equal(await isCapped({ zone: beside }), false, 'the other one is of tier 2');
  for (const name of ['shop.example', 'bounce.example', 'signer.example'])
    assert.equal(await isCapped({ zone: { ...dbl('host.example'), ...dbl(name) } }), true, name);
  const envelope = { ...SENDER.envelope, helo: 'out.shop.example' };
  assert.equal(await isCapped({ zone: dbl('shop.example'), envelope }), true);
  assert.equal(await isCapped({ zone: dbl('out.shop.example'), envelope }), false);
});

test('domain_blocklists check lists sender names with roles and queries each once', async () => {
  const asked = new Map<string, number>();
  const resolver: Resolver = (name, type) => {
    if (name !== 'com') asked.set(name, (asked.get(name) ?? 0) + 1);
    return zoneResolver({})(name, type);
  };
  const { evidence } = await find({ resolver });
  assert.deepEqual(evidence?.domains, [
    { name: 'shop.example', roles: ['from'] },
    { name: 'news.shop.example', roles: ['from'] },
    { name: 'bounce.example', roles: ['mail_from'] },
    { name: 'host.example', roles: ['helo'] },
    { name: 'out.host.example', roles: ['helo'] },
    { name: 'signer.example', roles: ['dkim'] },
    { name: 'mail.signer.example', roles: ['dkim'] },
  ]);
  assert.equal(asked.size, 7 * 3);
  assert.ok([...asked.values()].every((count) => count === 1));
});

test('domain_blocklists check does not repeat names below a listed domain', async () => {
  const { evidence, title } = await find({
    zone: { ...dbl('shop.example'), ...dbl('news.shop.example', '127.0.1.4') },
  });
  assert.equal(title, 'shop.example is listed by Spamhaus DBL.');
  const [first] = evidence!.lists as { listed: string[]; codes: string[] }[];
  assert.deepEqual([first!.listed, first!.codes], [['shop.example'], ['127.0.1.2']]);
});

test('domain_blocklists check limits queries for hostile messages', async () => {
  const domains = Array.from({ length: 300 }, (_, i) => signature(`a.b${i}.example`));
  const message = goodMessage({ 'DKIM-Signature': domains });
  let asked = 0;
  const resolver: Resolver = async (): Promise<DnsAnswer> => {
    asked += 1;
    return { status: 'found', records: ['127.0.1.2'], ttl: 1, authenticated: false };
  };
  const finding = await find({ message, resolver });
  assert.ok(asked <= 80, String(asked));
  assert.equal((finding.evidence!.domains as unknown[]).length, 20);
  assert.ok((finding.evidence!.not_asked as number) > 0);
  assert.ok(finding.title.length < 300);
});

test('domain_blocklists check uses the DQS key without revealing it', async () => {
  const asked: string[] = [];
  const resolver: Resolver = async (name, type) => {
    asked.push(name);
    if (!name.includes(KEY)) return { status: 'nxdomain' };
    const records = type === 'TXT' ? [`${name} is listed`] : ['127.0.1.2'];
    return { status: 'found', records, ttl: 1, authenticated: false };
  };
  const blocklists = workingLists().map((one) =>
    one.list.keyedZone ? { ...one, queryZone: one.list.keyedZone.replace('<key>', KEY) } : one,
  );
  const listed = await find({ resolver, setup: { blocklists } });
  assert.equal(listed.status, 'fail');
  assert.ok(asked.includes(`shop.example.${KEY}.dbl.dq.spamhaus.net`));
  assert.match(JSON.stringify(listed), /shop\.example\.….dbl\.dq\.spamhaus\.net is listed/);
  assert.ok(!JSON.stringify(listed).includes(KEY));
  const failing: Resolver = async () => ({ status: 'error', reason: 'timeout' });
  const unknown = await find({ resolver: failing, setup: { blocklists } });
  assert.ok(!JSON.stringify(unknown).includes(KEY));
});
