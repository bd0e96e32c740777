/** The checks ip_blocklists and allowlists, in every status they can reach. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BlocklistInUse } from '../../../src/analysis/blocklists/blocklist.ts';
import type { Check, CheckStatus, Finding } from '../../../src/analysis/check.ts';
import { allowlists } from '../../../src/analysis/checks/allowlists.ts';
import { ipBlocklists } from '../../../src/analysis/checks/ip-blocklists.ts';
import type { Resolver } from '../../../src/net/dns/resolver.ts';
import { type Zone, zoneResolver } from '../../../src/net/dns/zone.ts';
import { type CheckInput, runCheck } from '../../helpers/analysis.ts';
import { listIn, workingLists } from '../../helpers/blocklists.ts';
import { goodMessage } from '../../helpers/good-message.ts';

const CLIENT = '203.0.114.7';
const REVERSED = '7.114.0.203';
const CLIENT6 = '2606:4700::7';
const REVERSED6 = `7.${'0.'.repeat(23)}0.0.7.4.6.0.6.2`;
const UNTESTED = 'The list does not contain its own test entry.';

const on = (zone: string, code: string, text?: string): Zone => listIn(zone, REVERSED, code, text);
const fails = (zone: string): Zone => ({ [`${REVERSED}.${zone}`]: { fails: 'timeout' } });
const ALL_FAIL: Zone = Object.assign({}, ...workingLists().map(({ list }) => fails(list.zone)));
const withFault = (...zones: string[]): BlocklistInUse[] =>
  workingLists().map((one) => (zones.includes(one.list.zone) ? { ...one, fault: UNTESTED } : one));

const find = (check: Check, scene: Omit<CheckInput, 'message'>): Promise<Finding> =>
  runCheck(check, {
    message: goodMessage(),
    ...scene,
    envelope: { client_ip: CLIENT, ...scene.envelope },
    setup: { blocklists: workingLists(), ...scene.setup },
  });

type Row = [what: string, status: CheckStatus, scene: Omit<CheckInput, 'message'>, says?: RegExp];

function table(check: Check, rows: Row[]) {
  for (const [what, status, scene, says] of rows)
    test(`${check.id} check reports ${status}: ${what}`, async () => {
      const finding = await find(check, scene);
      assert.equal(finding.status, status, `${finding.title} ${finding.detail}`);
      if (says) assert.match(`${finding.title} ${finding.detail}`, says);
      if (status === 'warn' || status === 'fail') assert.match(finding.fix!.text, /https:\/\//);
    });
}

const NO_QUERY: Row[] = [
  ['no client address', 'skipped', { envelope: { client_ip: null } }],
  ['an invalid client address', 'skipped', { envelope: { client_ip: 'unknown' } }],
  ['a loopback address', 'skipped', { envelope: { client_ip: '127.0.0.1' } }, /loopback/],
  ['a private address', 'skipped', { envelope: { client_ip: '10.1.2.3' } }, /private/],
  ['a link-local address', 'skipped', { envelope: { client_ip: 'fe80::1' } }],
  ['a documentation address', 'skipped', { envelope: { client_ip: '192.0.2.1' } }, /for docum/],
  [
    'an IPv6 documentation address',
    'skipped',
    { envelope: { client_ip: '2001:db8::1' } },
    /for documentation/,
  ],
  ['no lists enabled', 'skipped', { setup: { blocklists: [] } }, /No \w+lists are enabled\./],
  [
    'only domain lists enabled',
    'skipped',
    { setup: { blocklists: workingLists('multi.uribl.com') } },
  ],
  ['offline', 'skipped', { offline: true }, /offline/],
];

table(ipBlocklists, [
  ...NO_QUERY,
  ['on no list', 'pass', {}, /203\.0\.114\.7 is not on any blocklist\./],
  ['an IPv6 address on no list', 'pass', { envelope: { client_ip: CLIENT6 } }],
  [
    'lists without IPv6',
    'skipped',
    { envelope: { client_ip: CLIENT6 }, setup: { blocklists: workingLists('bl.spamcop.net') } },
    /IPv6/,
  ],
  [
    'an IPv6 address on a list',
    'fail',
    {
      envelope: { client_ip: CLIENT6 },
      zone: listIn('zen.spamhaus.org', REVERSED6, '127.0.0.3'),
    },
    /2606:4700::7 is listed by Spamhaus ZEN\./,
  ],
  [
    'a tier 1 listing',
    'fail',
    { zone: on('zen.spamhaus.org', '127.0.0.2') },
    /Spamhaus ZEN.*SBL.*reject/,
  ],
  ['a PBL listing', 'fail', { zone: on('zen.spamhaus.org', '127.0.0.10') }, /should not send/],
  [
    'a tier 2 listing',
    'warn',
    { zone: on('bl.spamcop.net', '127.0.0.2') },
    /SpamCop.*filters raise the spam score for such a listing/,
  ],
  [
    'tier 1 and tier 2 listings',
    'fail',
    { zone: { ...on('zen.spamhaus.org', '127.0.0.2'), ...on('bl.spamcop.net', '127.0.0.2') } },
    /listed by Spamhaus ZEN and SpamCop\./,
  ],
  [
    'a tier 3 listing',
    'pass',
    { zone: on('dnsbl-1.uceprotect.net', '127.0.0.2') },
    /any blocklist that affects delivery\..*ignore the listing by UCEPROTECT level 1/,
  ],
  [
    'a tier 2 listing while tier 1 times out',
    'warn',
    { zone: { ...ALL_FAIL, ...on('psbl.surriel.com', '127.0.0.2') } },
    /PSBL.*No result from Spamhaus ZEN, SpamCop/,
  ],
  [
    'a refusal by a minor list',
    'pass',
    { zone: fails('bl.spamcop.net') },
    /any blocklist that responded.*No result from SpamCop/,
  ],
  [
    'a refusal by a list that large providers use',
    'error',
    { zone: on('zen.spamhaus.org', '127.255.255.254') },
    /Not all blocklists .* responded.*No result from Spamhaus ZEN/,
  ],
  [
    'an excluded list',
    'error',
    {
      setup: { blocklists: withFault('zen.spamhaus.org') },
      zone: on('zen.spamhaus.org', '127.0.0.2'),
    },
    /Not all blocklists .* responded.*No result from Spamhaus ZEN/,
  ],
  ['all lists time out', 'error', { zone: ALL_FAIL }, /Could not determine/],
  [
    'all lists except tier 3 excluded',
    'error',
    {
      setup: {
        blocklists: workingLists().map((one) => ({
          ...one,
          fault: one.list.tier < 3 ? UNTESTED : null,
        })),
      },
    },
  ],
  [
    'only tier 3 enabled',
    'info',
    {
      setup: { blocklists: workingLists('dnsbl-1.uceprotect.net') },
      zone: on('dnsbl-1.uceprotect.net', '127.0.0.2'),
    },
    /Only blocklists that do not affect delivery are enabled/,
  ],
  [
    'an informational code',
    'pass',
    {
      setup: { blocklists: workingLists('rep.mailspike.net', 'bl.spamcop.net') },
      zone: on('rep.mailspike.net', '127.0.0.18'),
    },
  ],
]);

table(allowlists, [
  ...NO_QUERY,
  ['on no list', 'info', {}, /not on an allowlist/],
  ['listed', 'info', { zone: on('list.dnswl.org', '127.0.3.2') }, /DNSWL.*provider, medium trust/],
  ['an IPv6 address', 'info', { envelope: { client_ip: CLIENT6 } }],
  [
    'a list that refuses queries',
    'error',
    { zone: on('list.dnswl.org', '127.0.0.255') },
    /No result from DNSWL/,
  ],
  ['an excluded list', 'error', { setup: { blocklists: withFault('list.dnswl.org') } }],
]);

test('ip_blocklists check shows each list’s answer and removal page', async () => {
  const finding = await find(ipBlocklists, {
    setup: { blocklists: withFault('psbl.surriel.com') },
    zone: {
      ...on('zen.spamhaus.org', '127.0.0.4', 'https://check.example/q/203.0.114.7'),
      ...on('bl.spamcop.net', '127.0.0.99'),
      ...on('dnsbl-1.uceprotect.net', '127.0.0.2'),
      ...fails('bl.mailspike.net'),
    },
  });
  assert.equal(finding.evidence?.client_ip, CLIENT);
  assert.deepEqual(finding.evidence?.lists, [
    {
      zone: 'zen.spamhaus.org',
      name: 'Spamhaus ZEN',
      tier: 1,
      status: 'listed',
      codes: ['127.0.0.4'],
      meaning: 'an infected or compromised computer (XBL)',
      listed: [CLIENT],
      text: 'https://check.example/q/203.0.114.7',
      delisting: 'https://check.spamhaus.org/',
    },
    {
      zone: 'bl.spamcop.net',
      name: 'SpamCop',
      tier: 2,
      status: 'error',
      codes: ['127.0.0.99'],
      meaning: 'The response is not one of the codes of this list (127.0.0.99).',
      delisting: 'https://www.spamcop.net/bl.shtml',
    },
    {
      zone: 'bl.mailspike.net',
      name: 'Mailspike BL',
      tier: 2,
      status: 'error',
      codes: [],
      meaning: 'The list did not respond in time.',
      delisting: 'https://mailspike.org/iplookup.html',
    },
    {
      zone: 'psbl.surriel.com',
      name: 'PSBL',
      tier: 2,
      status: 'left_out',
      codes: [],
      meaning: UNTESTED,
      delisting: 'https://psbl.org/remove',
    },
    {
      zone: 'bl.spameatingmonkey.net',
      name: 'SpamEatingMonkey SEM-BLACK',
      tier: 2,
      status: 'not_listed',
      codes: [],
      meaning: null,
      delisting: 'https://spameatingmonkey.com/lookup',
    },
    {
      zone: 'dnsbl-1.uceprotect.net',
      name: 'UCEPROTECT level 1',
      tier: 3,
      status: 'listed',
      codes: ['127.0.0.2'],
      meaning: 'a source of mail to spam traps in the last seven days',
      listed: [CLIENT],
      delisting: 'https://www.uceprotect.net/en/rblcheck.php',
    },
  ]);
  assert.match(finding.fix!.text, /^First find and stop the cause: /);
  assert.match(finding.fix!.text, /https:\/\/check\.spamhaus\.org\/ \(Spamhaus ZEN\)/);
  assert.doesNotMatch(finding.fix!.text, /uceprotect/);
});

test('ip_blocklists check recommends a relay for a PBL-only listing', async () => {
  const alone = await find(ipBlocklists, { zone: on('zen.spamhaus.org', '127.0.0.10') });
  assert.match(alone.fix!.text, /^Send through the outgoing mail server of your provider/);
  assert.doesNotMatch(alone.fix!.text, /stop the cause/);
  const zone = { [`${REVERSED}.zen.spamhaus.org`]: { A: ['127.0.0.10', '127.0.0.4'] } };
  const both = await find(ipBlocklists, { zone });
  assert.match(both.fix!.text, /^First find and stop/);
});

test('ip_blocklists check queries each list once, plus TXT where listed', async () => {
  const asked: string[] = [];
  const zone = { ...on('zen.spamhaus.org', '127.0.0.2') };
  const resolver: Resolver = (name, type) => {
    if (name !== 'com') asked.push(`${name}/${type}`);
    return zoneResolver(zone)(name, type);
  };
  await find(ipBlocklists, { resolver, setup: { blocklists: withFault('bl.spamcop.net') } });
  assert.deepEqual(asked, [
    `${REVERSED}.zen.spamhaus.org/A`,
    `${REVERSED}.bl.mailspike.net/A`,
    `${REVERSED}.psbl.surriel.com/A`,
    `${REVERSED}.bl.spameatingmonkey.net/A`,
    `${REVERSED}.dnsbl-1.uceprotect.net/A`,
    `${REVERSED}.zen.spamhaus.org/TXT`,
  ]);
});
