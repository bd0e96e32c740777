/** The check link_blocklists: link targets, and listings that domain_blocklists already reports. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyze } from '../../../src/analysis/analyze.ts';
import type { CheckStatus, Finding } from '../../../src/analysis/check.ts';
import { domainBlocklists } from '../../../src/analysis/checks/domain-blocklists.ts';
import { linkBlocklists } from '../../../src/analysis/checks/link-blocklists.ts';
import { NO_SETUP } from '../../../src/analysis/context.ts';
import type { DnsAnswer, Resolver } from '../../../src/net/dns/resolver.ts';
import { type Zone, zoneResolver } from '../../../src/net/dns/zone.ts';
import { type CheckInput, ENVELOPE, RECEIVED_AT, runCheck } from '../../helpers/analysis.ts';
import { listIn, workingLists } from '../../helpers/blocklists.ts';
import { goodMessage } from '../../helpers/good-message.ts';

const linking = (...addresses: string[]) =>
  goodMessage({}, addresses.map((address) => `Read on: ${address}\n`).join(''));

const find = (scene: Partial<CheckInput> = {}): Promise<Finding> =>
  runCheck(linkBlocklists, {
    message: linking('https://www.shop.example/a', 'https://example.com/b'),
    ...scene,
    setup: { blocklists: workingLists(), ...scene.setup },
  });
const dbl = (name: string): Zone => listIn('dbl.spamhaus.org', name, '127.0.1.2');
const surbl = (name: string): Zone => listIn('multi.surbl.org', name, '127.0.0.64');
const fails = (zone: string, name = 'shop.example'): Zone => ({
  [`${name}.${zone}`]: { fails: 'timeout' },
});

const ROWS: [what: string, status: CheckStatus, scene: Partial<CheckInput>, says?: RegExp][] = [
  ['on no list', 'pass', {}, /No link in your message leads to a domain on any blocklist\./],
  [
    'a tier 1 listing',
    'fail',
    { zone: dbl('shop.example') },
    /links to shop\.example, listed by Spamhaus DBL/,
  ],
  [
    'a tier 2 listing',
    'warn',
    { zone: surbl('shop.example') },
    /links to shop\.example, listed by SURBL/,
  ],
  [
    'a listed host name',
    'fail',
    { zone: dbl('www.shop.example') },
    /links to www\.shop\.example, listed/,
  ],
  ['one list times out', 'pass', { zone: fails('multi.uribl.com') }, /that responded\..*URIBL/],
  [
    'a list that large providers use times out',
    'error',
    { zone: fails('dbl.spamhaus.org') },
    /Not all blocklists .* responded.*Spamhaus DBL/,
  ],
  [
    'all lists time out',
    'error',
    {
      zone: {
        ...fails('dbl.spamhaus.org'),
        ...fails('multi.surbl.org'),
        ...fails('multi.uribl.com'),
      },
    },
    /Could not determine/,
  ],
  ['no lists enabled', 'skipped', { setup: { blocklists: [] } }, /No blocklists are enabled\./],
  ['no links', 'skipped', { message: goodMessage() }, /no links/],
  [
    'only links to non-public hosts',
    'skipped',
    {
      message: linking(
        'http://10.0.0.1/',
        `http://${'a.'.repeat(130)}example/`,
        `http://${'a'.repeat(64)}.example/`,
        'http://192.0.2.1/',
        'http://localhost/',
        'mailto:a@b.example',
      ),
    },
  ],
  ['offline', 'skipped', { offline: true }],
  [
    'only the sender’s own listed domain',
    'skipped',
    { zone: surbl('example.com') },
    /All listed links lead to a sender domain/,
  ],
  [
    'the sender’s own and another listed domain',
    'warn',
    { zone: { ...dbl('example.com'), ...surbl('shop.example') } },
    /links to shop\.example, listed by SURBL\./,
  ],
];

for (const [what, status, scene, says] of ROWS)
  test(`link_blocklists check reports ${status}: ${what}`, async () => {
    const finding = await find(scene);
    assert.equal(finding.status, status, `${finding.title} ${finding.detail}`);
    if (says) assert.match(`${finding.title} ${finding.detail}`, says);
    if (status === 'warn' || status === 'fail')
      assert.match(finding.fix!.text, /^Remove these links/);
  });

test('link_blocklists check queries IP addresses only at lists that support them', async () => {
  const asked: string[] = [];
  const resolver: Resolver = (name, type) => {
    asked.push(name);
    return zoneResolver(surbl('9.114.0.203'))(name, type);
  };
  const message = linking('http://203.0.114.9/a', 'http://0xcb007209/', 'http://[2606:4700::1]/');
  const finding = await find({ message, resolver });
  assert.equal(finding.status, 'warn');
  assert.match(finding.title, /^Your message links to 203\.0\.114\.9, listed by SURBL\.$/);
  assert.deepEqual(asked, [
    '9.114.0.203.multi.surbl.org',
    '9.114.0.203.multi.uribl.com',
    // Whether a denial can be true.
    'com',
    '9.114.0.203.multi.surbl.org',
  ]);
});

test('link_blocklists check limits queried domains and reports the rest', async () => {
  const message = linking(...Array.from({ length: 200 }, (_, i) => `https://d${i}.example/`));
  let asked = 0;
  const resolver: Resolver = async (name, type): Promise<DnsAnswer> => {
    asked += name === 'com' ? 0 : 1;
    return zoneResolver({})(name, type);
  };
  const finding = await find({ message, resolver });
  assert.equal(finding.status, 'pass');
  assert.match(finding.detail, /first 30 domains and hosts were checked; 170 were left out/);
  assert.equal(asked, 30 * 3);
});

test('link_blocklists check reports error when links exceed a parser limit', async () => {
  const part = '--x\nContent-Type: text/plain\n\nhttps://shop.example/\n';
  const message = goodMessage(
    { 'Content-Type': 'multipart/mixed; boundary=x' },
    `${part.repeat(1001)}--x--\n`,
  );
  const clean = await find({ message });
  assert.equal(clean.status, 'error');
  assert.match(clean.detail, /1,001 MIME parts/);
  assert.equal((await find({ message, zone: dbl('shop.example') })).status, 'fail');
});

test('link_blocklists check leaves the sender’s own domain to domain_blocklists', async () => {
  const raw = Buffer.from(linking('https://example.com/b').replaceAll('\n', '\r\n'));
  const result = await analyze(
    { raw, envelope: ENVELOPE, receivedAt: RECEIVED_AT, kind: 'auto' },
    {
      resolver: zoneResolver(dbl('example.com')),
      setup: { ...NO_SETUP, blocklists: workingLists() },
      checks: [domainBlocklists, linkBlocklists],
    },
  );
  assert.deepEqual(
    result.checks.map(({ id, status }) => [id, status]),
    [
      ['domain_blocklists', 'fail'],
      ['link_blocklists', 'skipped'],
    ],
  );
  assert.equal(result.checks[1]!.detail, 'Not checked: Domain blocklists failed.');
});
