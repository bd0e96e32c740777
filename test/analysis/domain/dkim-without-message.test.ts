/** What DNS alone shows about the DKIM keys of a domain: none, aliases without a key, and where to look. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dkim } from '../../../src/analysis/checks/dkim.ts';
import type { Resolver } from '../../../src/net/dns/resolver.ts';
import { type Zone, zoneResolver } from '../../../src/net/dns/zone.ts';
import { runCheck } from '../../helpers/analysis.ts';
import { KEY_NAME, KEYS, sign } from '../dkim/signed-mail.ts';
import { checkDomain, DKIM_KEYS, item } from './domains.ts';

const { strong, short } = DKIM_KEYS;

/** A domain without keys, with these MX and SPF records. */
const domainWith = (mx: string, spf: string): Zone => ({
  'example.com': { MX: [`10 ${mx}`], TXT: [spf] },
  [mx]: { A: ['192.0.2.1'] },
  '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; rua=mailto:d@example.com'] },
});
const PLAIN = domainWith('mx.example.com', 'v=spf1 mx -all');
const keyAt = (selector: string, record = strong): Zone => ({
  [`${selector}._domainkey.example.com`]: { TXT: [record] },
});
const aliasAt = (selector: string, target: string): Zone => ({
  [`${selector}._domainkey.example.com`]: { CNAME: [target] },
});
const keysOf = async (zone: Zone, selectors: string[] = []) =>
  (await checkDomain(zone, { selectors })).checks.filter(({ id }) => id === 'dkim_selector');

// No key at all.

const PROVIDERS: [mx: string, spf: string, text: RegExp, guide: string][] = [
  ['mx.example.com', 'v=spf1 mx -all', /in your mail server or email service/, ''],
  ['smtp.google.com', 'v=spf1 include:_spf.google.com ~all', /Google Workspace/, 'google.com'],
  [
    'example-com.mail.protection.outlook.com',
    'v=spf1 include:spf.protection.outlook.com -all',
    /selector1\._domainkey\.example\.com/,
    'microsoft.com',
  ],
  ['mx00.kundenserver.de', 'v=spf1 -all x', /s1-ionos\._domainkey\.example\.com/, 'ionos.com'],
  // A record that nobody can evaluate shows the provider nevertheless.
  ['mx.example.com', '"v=spf1 include:zohomail.eu ~all"', /Zoho Mail/, 'zoho.com'],
  // A gateway relays the mail of the service behind it.
  [
    'us-smtp-inbound-1.mimecast.com',
    'v=spf1 include:us._netblocks.mimecast.com include:_spf.google.com ~all',
    /In Google Workspace.*such as Mimecast/,
    'google.com',
  ],
];

for (const [mx, spf, text, guide] of PROVIDERS)
  test(`A domain without _domainkey is told how to sign: ${mx}, ${spf}`, async () => {
    const found = item(await checkDomain(domainWith(mx, spf)), 'dkim_selector');
    assert.deepEqual([found.status, found.severity, found.points], ['fail', 'warning', 3]);
    assert.equal(
      found.title,
      'example.com has no DKIM key, so no DKIM signature of the domain can pass.',
    );
    assert.match(found.detail, /_domainkey\.example\.com does not exist in DNS/);
    assert.match(found.fix!.text, text);
    assert.ok((found.fix!.guide?.url ?? '').includes(guide), found.fix!.guide?.url);
  });

test('An empty non-terminal _domainkey proves nothing', async () => {
  const found = item(await checkDomain({ ...PLAIN, ...keyAt('rare') }), 'dkim_selector');
  assert.deepEqual([found.status, found.severity], ['info', null]);
});

test('A domain that sends nothing needs no DKIM key', async () => {
  const parked: Zone = {
    'example.com': { MX: ['0 .'], TXT: ['v=spf1 -all'] },
    '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject'] },
  };
  const receives = domainWith('mx.example.com', 'v=spf1 -all');
  assert.equal(item(await checkDomain(parked), 'dkim_selector').status, 'pass');
  assert.equal(item(await checkDomain(receives), 'dkim_selector').status, 'info');
});

test('A missing _domainkey is no proof if its lookup fails, or the resolver denies every name', async () => {
  const truth = zoneResolver(PLAIN);
  const failing: Resolver = async (name, type) =>
    name.startsWith('_domainkey.') ? { status: 'error', reason: 'servfail' } : truth(name, type);
  const denying: Resolver = async (name, type) =>
    name === 'example.com' ? truth(name, type) : { status: 'nxdomain' };
  for (const resolver of [failing, denying]) {
    const found = item(await checkDomain({}, { resolver }), 'dkim_selector');
    assert.ok(found.status === 'info' || found.status === 'error', found.title);
    assert.equal(found.severity, null);
  }
});

test('A key proves more than the denial of the name above it', async () => {
  const truth = zoneResolver({ ...PLAIN, ...keyAt('google') });
  const resolver: Resolver = async (name, type) =>
    name === '_domainkey.example.com' ? { status: 'nxdomain' } : truth(name, type);
  const found = item(await checkDomain({}, { resolver }), 'dkim_selector');
  assert.deepEqual([found.status, found.evidence.selector], ['pass', 'google']);
});

// Aliases without a key.

const MICROSOFT = domainWith(
  'example-com.mail.protection.outlook.com',
  'v=spf1 include:spf.protection.outlook.com -all',
);
const MICROSOFT_KEYS = (n: 1 | 2) =>
  `selector${n}-example-com._domainkey.example.onmicrosoft.com` as const;
const BOTH = {
  ...aliasAt('selector1', MICROSOFT_KEYS(1)),
  ...aliasAt('selector2', MICROSOFT_KEYS(2)),
};

test('Microsoft 365 before signing is enabled: one finding for both aliases', async () => {
  const [found, ...others] = await keysOf({ ...MICROSOFT, ...BOTH });
  assert.deepEqual(others, []);
  assert.deepEqual([found!.status, found!.severity], ['fail', 'warning']);
  assert.match(
    found!.title,
    /CNAME record at selector1\._domainkey\.example\.com points to a name without a DKIM key/,
  );
  assert.match(found!.fix!.text, /Defender portal, turn on signing for example\.com/);
  assert.ok(found!.fix!.guide?.url.startsWith('https://learn.microsoft.com/'));
  assert.equal(found!.fix!.record, undefined, 'no record is allowed beside a CNAME record');
});

test('Microsoft 365 that signs: its second alias may still have no key', async () => {
  const live = { [MICROSOFT_KEYS(1)]: { TXT: [strong] } };
  const found = await keysOf({ ...MICROSOFT, ...BOTH, ...live });
  assert.deepEqual(
    found.map(({ evidence, status }) => [evidence.selector, status]),
    [['selector1', 'pass']],
  );
});

const DEAD: [selector: string, target: string, text: RegExp][] = [
  ['s1', 's1.domainkey.u12345.wl.sendgrid.net', /^In SendGrid, .*no longer sign with SendGrid/],
  ['fm1', 'fm1.example.com.dkim.fmhosted.com', /^In Fastmail, /],
  ['protonmail', 'protonmail.domainkey.dabc.domains.proton.ch', /^In Proton Mail, /],
  ['selector1', 'selector1-example-com._domainkey.x.n-v1.dkim.mail.microsoft', /Defender portal/],
  ['k2', 'dkim.left-long-ago.example', /^Ask the service that the record points to/],
];

for (const [selector, target, text] of DEAD)
  test(`An alias without a key is found without being asked for: ${target}`, async () => {
    const found = await keysOf({ ...PLAIN, ...keyAt('google'), ...aliasAt(selector, target) });
    const dead = found.find(({ evidence }) => evidence.selector === selector)!;
    assert.deepEqual([dead.status, dead.severity], ['fail', 'warning']);
    assert.ok(dead.detail.includes(target));
    assert.match(dead.fix!.text, text);
  });

test('A message signed with such a selector is told the same', async () => {
  const zone: Zone = { [KEY_NAME]: { CNAME: ['s1.domainkey.u1.wl.sendgrid.net'] } };
  const message = await sign();
  const finding = await runCheck(dkim, { message, zone });
  const [ofDomain] = await keysOf({ ...PLAIN, ...zone }, ['s1']);
  assert.equal(finding.status, 'fail');
  assert.deepEqual([finding.title, finding.fix], [ofDomain!.title, ofDomain!.fix]);
});

test('A wildcard alias is no alias of a selector', async () => {
  const truth = zoneResolver({ ...PLAIN, ...keyAt('rare') });
  const resolver: Resolver = async (name, type) => {
    if (!name.endsWith('._domainkey.example.com') || name.startsWith('rare.'))
      return truth(name, type);
    return type === 'CNAME'
      ? { status: 'found', records: ['web.example.net'], ttl: 60, authenticated: false }
      : { status: 'nodata' };
  };
  const guessed = item(await checkDomain({}, { resolver }), 'dkim_selector');
  assert.equal(guessed.status, 'info');
  const known = item(await checkDomain({}, { resolver, selectors: ['s1'] }), 'dkim_selector');
  assert.match(known.title, /No DKIM key is published/);
  assert.equal(known.fix!.record?.name, 's1._domainkey.example.com');
});

// Where to look.

const LIKELY: [mx: string, spf: string, selector: string][] = [
  ['mx00.ionos.de', 'v=spf1 include:_spf-eu.ionos.com ~all', 's2-ionos'],
  ['mx.zoho.eu', 'v=spf1 mx -all', 'zmail'],
  ['mx.example.com', 'v=spf1 mx include:mailgun.org -all', 'pic'],
  ['mx.example.com', 'v=spf1 mx include:spf.brevo.com -all', 'brevo2'],
  ['mx.example.com', 'v=spf1 include:48151623.spf04.hubspotemail.net -all', 'hs1-48151623'],
  ['smtpin.rzone.de', 'v=spf1 mx -all', 'strato-dkim-0002'],
  ['mx1.titan.email', 'v=spf1 mx -all', 'titan1'],
  ['mx.hey.com', 'v=spf1 mx redirect=_spf.hey.com', 'heymail'],
];

for (const [mx, spf, selector] of LIKELY)
  test(`The selectors of a service follow from MX and SPF: ${selector}`, async () => {
    const zone = { ...domainWith(mx, spf), ...keyAt(selector, short) };
    // Also beside a selector that somebody entered.
    for (const entered of [[], ['mine']]) {
      const found = await keysOf({ ...zone, ...keyAt('mine') }, entered);
      const guessed = found.find(({ evidence }) => evidence.selector === selector);
      assert.match(guessed!.title, /has 1024 bits/);
      assert.equal(guessed!.evidence.known, false);
    }
  });

test('An include of the owner is read, and common selectors are tried only without known ones', async () => {
  const zone: Zone = {
    ...domainWith('mx.example.com', 'v=spf1 include:_spf.example.com -all'),
    '_spf.example.com': { TXT: ['v=spf1 include:spf.titan.email -all'] },
    ...keyAt('titan1'),
    ...keyAt('mail'),
    ...keyAt('own', short),
  };
  const selectorsIn = async (selectors: string[]) =>
    (await keysOf(zone, selectors)).map(({ evidence }) => evidence.selector);
  assert.deepEqual(await selectorsIn(['own']), ['own', 'titan1']);
  assert.ok((await selectorsIn([])).includes('titan1'));
});

test('DNS questions about keys are bounded', async () => {
  const truth = zoneResolver({
    ...domainWith(
      'mx.zoho.eu',
      'v=spf1 include:mailgun.org include:spf.brevo.com include:1.spf01.hubspotemail.net include:mailbox.org include:sendgrid.net ~all',
    ),
    ...keyAt('rare'),
  });
  const asked: string[] = [];
  const resolver: Resolver = (name, type) => {
    if (name.includes('_domainkey')) asked.push(`${type} ${name}`);
    return truth(name, type);
  };
  await checkDomain({}, { resolver });
  assert.ok(asked.length > 60 && asked.length < 120, String(asked.length));
});

// A message and its domain.

const UNUSABLE: [string, string[]][] = [
  ['too short', [KEYS.rsa768.record]],
  ['two keys', [KEYS.rsa.record, KEYS.other.record]],
  ['a key beside another text', [KEYS.rsa.record, 'verification=1']],
  ['revoked', ['v=DKIM1; k=rsa; p=']],
  ['a part of a key', [KEYS.rsa.record.slice(0, 150)]],
  ['another type', ['v=DKIM1; k=dsa; p=AAAA']],
];

for (const [name, TXT] of UNUSABLE)
  test(`The page of a domain is as strict as the verifier of messages: ${name}`, async () => {
    const message = await sign({ key: name === 'too short' ? KEYS.rsa768 : KEYS.rsa });
    const finding = await runCheck(dkim, { message, zone: { [KEY_NAME]: { TXT } } });
    const [ofDomain] = await keysOf({ ...PLAIN, [KEY_NAME]: { TXT } }, ['s1']);
    assert.deepEqual([finding.status, ofDomain!.status], ['fail', 'fail']);
    assert.equal(ofDomain!.title, finding.title);
  });

test('A key for TLS reports only is no fault of a guessed selector', async () => {
  const record = strong.replace('k=rsa', 's=tlsrpt');
  const [guessed] = await keysOf({ ...PLAIN, ...keyAt('mail', record) });
  const [entered] = await keysOf({ ...PLAIN, ...keyAt('mail', record) }, ['mail']);
  assert.deepEqual([guessed!.status, entered!.status], ['info', 'fail']);
  assert.match(entered!.fix!.record!.value, /s=tlsrpt:email/);
});
