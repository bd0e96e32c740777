/** Kinds of faults that people make in the records of a domain, and what is proposed for each. */

import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, it } from 'node:test';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { checkDomain } from './domains.ts';

const DOMAIN = 'anvil.example';
const MICROSOFT = 'anvil-example.mail.protection.outlook.com';
const pair = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'der' },
  privateKeyEncoding: { type: 'pkcs8', format: 'der' },
});
const KEY = `v=DKIM1; k=rsa; p=${pair.publicKey.toString('base64')}`;

const SERVICES: Zone = {
  'spf.protection.outlook.com': { TXT: ['v=spf1 ip4:40.92.0.0/24 -all'] },
  '_spf.google.com': { TXT: ['v=spf1 ip4:74.125.0.0/16 ~all'] },
  'spf.relay.example': { TXT: ['v=spf1 ptr:relay.example ip4:192.0.2.0/28 -all'] },
  [MICROSOFT]: { A: ['52.101.68.3'] },
  'mail.anvil.example': { A: ['192.0.2.7'] },
  '_dmarc.anvil.example': { TXT: ['v=DMARC1; p=reject; rua=mailto:dmarc@anvil.example'] },
};

const zoneOf = (spf: string, zone: Zone = {}, mx = '10 mail.anvil.example'): Zone => ({
  ...SERVICES,
  [DOMAIN]: { TXT: [spf], MX: [mx], NS: ['ns1.dns.example'], A: ['192.0.2.8'] },
  ...zone,
});

async function find(zone: Zone, id: string, selectors: string[] = [], domain = DOMAIN) {
  const { checks } = await checkDomain(zone, { selectors }, domain);
  const found = checks.find((check) => check.id === id)!;
  return { ...found, value: found.fix?.record?.value ?? null };
}

describe('An SPF record', () => {
  it('with repeated terms beyond the limit has each of them once in the proposal', async () => {
    const names = Array.from({ length: 9 }, (_, index) => `s${index}.relay.example`);
    const services = Object.fromEntries(
      names.map((name) => [name, { TXT: ['v=spf1 ip4:192.0.2.0/28 -all'] }]),
    );
    const terms = names.map((name) => `include:${name}`).join(' ');
    const again = `v=spf1 ${terms} mx include:s1.relay.example MX ~all`;
    const { status, value } = await find(zoneOf(again, services), 'spf_record');
    assert.deepEqual([status, value], ['fail', `v=spf1 ${terms} mx ~all`]);
  });

  it('with repeated terms below the limit is fine', async () => {
    const { status } = await find(zoneOf('v=spf1 mx a mx ~all'), 'spf_record');
    assert.equal(status, 'pass');
  });

  it('with more terms than the limit after that gets no record', async () => {
    const names = Array.from({ length: 11 }, (_, index) => `s${index}.relay.example`);
    const services = Object.fromEntries(names.map((name) => [name, { TXT: ['v=spf1 -all'] }]));
    const record = `v=spf1 ${[...names, names[0]].map((name) => `include:${name}`).join(' ')} ~all`;
    assert.equal((await find(zoneOf(record, services), 'spf_record')).value, null);
  });

  it('is not weak because that of a service has ptr', async () => {
    const { status } = await find(zoneOf('v=spf1 include:spf.relay.example -all'), 'spf_record');
    assert.equal(status, 'pass');
    const own = await find(zoneOf('v=spf1 ptr:anvil.example ip4:192.0.2.7 -all'), 'spf_record');
    assert.deepEqual([own.status, own.value], ['warn', 'v=spf1 ip4:192.0.2.7 -all']);
  });

  it('with the domain appended to a service of two labels is corrected, and any other name stays', async () => {
    const services: Zone = {
      'sendgrid.net': { TXT: ['v=spf1 ip4:192.0.2.16/28 ~all'] },
      'mx.de': { TXT: ['v=spf1 ip4:192.0.2.32/28 ~all'] },
    };
    const spf = 'v=spf1 mx include:sendgrid.net.anvil.example -all';
    const { value } = await find(zoneOf(spf, services), 'spf_record');
    assert.equal(value, 'v=spf1 mx include:sendgrid.net -all');
    const meant = { ...services, 'sendgrid.net.anvil.example': { TXT: ['v=spf1 a -all'] } };
    assert.doesNotMatch((await find(zoneOf(spf, meant), 'spf_record')).title, /appended/);
    const other = 'v=spf1 mx include:mx.de.anvil.example -all';
    assert.doesNotMatch((await find(zoneOf(other, services), 'spf_record')).title, /appended/);
  });

  it('with a space after a colon is told so', async () => {
    const { title, fix } = await find(zoneOf('v=spf1 ip4: 192.0.2.7 -all'), 'spf_record');
    assert.match(title, /has a space after "ip4:"/);
    assert.equal(fix?.record?.value, 'v=spf1 ip4:192.0.2.7 -all');
  });

  it('with the misspelt name of the host of the mailboxes gets the right one', async () => {
    const spf = 'v=spf1 include:spf.protection.outlok.com ip4:192.0.2.7 -all';
    const { value } = await find(zoneOf(spf, {}, `0 ${MICROSOFT}`), 'spf_record');
    assert.equal(value, 'v=spf1 include:spf.protection.outlook.com ip4:192.0.2.7 -all');
    // Nothing shows that it was meant.
    const other = await find(zoneOf(spf), 'spf_record');
    assert.equal(other.value, 'v=spf1 ip4:192.0.2.7 -all');
  });

  it('that was left behind in a move is a warning, if the new host signs', async () => {
    const spf = 'v=spf1 include:_spf.google.com -all';
    const keys: Zone = { [`selector1._domainkey.${DOMAIN}`]: { TXT: [KEY] } };
    const moved = await find(zoneOf(spf, keys, `0 ${MICROSOFT}`), 'spf_record');
    assert.deepEqual([moved.status, moved.value], ['warn', null]);
    assert.match(moved.title, /Microsoft 365/);
    const unsigned = await find(zoneOf(spf, {}, `0 ${MICROSOFT}`), 'spf_record');
    assert.equal(unsigned.status, 'pass');
    // It sends, or may send, by other names, and the key of somebody else proves nothing.
    const fine: [spf: string, zone: Zone, mx?: string][] = [
      [`${spf.slice(0, -5)} ip4:40.92.0.0/24 -all`, keys],
      [spf, { [`selector1._domainkey.${DOMAIN}`]: { TXT: ['v=DKIM1; p='] } }],
      [`${spf.slice(0, -5)} exists:%{i}.spf.relay.example -all`, keys],
    ];
    for (const [record, zone] of fine) {
      const found = await find(zoneOf(record, zone, `0 ${MICROSOFT}`), 'spf_record');
      assert.equal(found.status, 'pass', record);
    }
    const full = `v=spf1 include:_spf.google.com ${'abcdefghi'
      .split('')
      .map((name) => `a:${name}.anvil.example`)
      .join(' ')} -all`;
    const hosts = Object.fromEntries(
      'abcdefghi'.split('').map((name) => [`${name}.anvil.example`, { A: ['192.0.2.9'] }]),
    );
    const long = await find(zoneOf(full, { ...keys, ...hosts }, `0 ${MICROSOFT}`), 'spf_record');
    assert.match(long.fix!.text, /has no room for/);
    const both = 'v=spf1 include:_spf.google.com include:spf.protection.outlook.com -all';
    assert.equal((await find(zoneOf(both, keys, `0 ${MICROSOFT}`), 'spf_record')).status, 'pass');
  });
});

describe('A hostile domain', () => {
  it('with many mail servers and many dead includes takes little time', async () => {
    const label = 'x'.repeat(60);
    const dead = Array.from(
      { length: 30 },
      (_, i) => `include:${label}.${label}.${label}${i}.test`,
    );
    const MX = Array.from({ length: 1000 }, (_, i) => `10 a${i}.mimecast.com`);
    const zone: Zone = {
      ...SERVICES,
      [DOMAIN]: { TXT: [`v=spf1 ${dead.join(' ')} -all`], MX, NS: ['ns1.dns.example'] },
    };
    const startedAt = process.cpuUsage();
    await checkDomain(zone, {}, DOMAIN);
    const { user } = process.cpuUsage(startedAt);
    // Without a limit, it is 16 seconds.
    assert.ok(user < 5_000_000, `${user / 1e6} s`);
  });
});

describe('A domain without mail', () => {
  it('can say so by a redirect', async () => {
    const zone = zoneOf(
      'v=spf1 redirect=_spf.parking.example',
      { '_dmarc.anvil.example': { TXT: ['v=DMARC1; p=reject'] } },
      '0 .',
    );
    const parked = { ...zone, '_spf.parking.example': { TXT: ['v=spf1 -all'] } };
    const { status } = await checkDomain(parked, {}, DOMAIN);
    assert.equal(status, 'healthy');
    const loop = { ...zone, '_spf.parking.example': { TXT: ['v=spf1 redirect=anvil.example'] } };
    assert.notEqual((await checkDomain(loop, {}, DOMAIN)).status, 'healthy');
  });

  it('below an alias of a name that does not exist gets no record beside the alias', async () => {
    const zone = zoneOf('v=spf1 mx -all', {
      'news.anvil.example': { CNAME: ['gone.sender.test'] },
    });
    const mx = await find(zone, 'mx', [], 'news.anvil.example');
    assert.equal(
      mx.title,
      'news.anvil.example is an alias of gone.sender.test, which does not exist.',
    );
    const { checks } = await checkDomain(zone, {}, 'news.anvil.example');
    assert.deepEqual(
      checks.flatMap(({ fix }) => fix?.record ?? []),
      [],
    );
  });
});

describe('A DKIM record', () => {
  const at = (text: string, more: Zone = {}): Zone =>
    zoneOf('v=spf1 mx -all', { [`forge._domainkey.${DOMAIN}`]: { TXT: [text] }, ...more });

  it('with a private key is unusable, and its public part is not proposed', async () => {
    const pkcs1 = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
      type: 'pkcs1',
      format: 'der',
    });
    const ed25519 = generateKeyPairSync('ed25519').privateKey.export({
      type: 'pkcs8',
      format: 'der',
    });
    for (const key of [pair.privateKey, pkcs1, ed25519]) {
      const text = `v=DKIM1; k=rsa; p=${key.toString('base64')}`;
      const { status, title, value } = await find(at(text), 'dkim_selector', ['forge']);
      assert.deepEqual([status, value], ['fail', null]);
      assert.match(title, /it holds a private key/);
    }
  });

  it('with the name of the host that has the key is proposed as an alias', async () => {
    const target = 'forge._domainkey.keys.relay.example';
    for (const text of [target, `CNAME ${target}.`, `"${target}"`]) {
      const { fix } = await find(at(text, { [target]: { TXT: [KEY] } }), 'dkim_selector', [
        'forge',
      ]);
      assert.deepEqual([fix?.record?.type, fix?.record?.value], ['CNAME', target], text);
    }
    const bare = pair.privateKey.toString('base64');
    for (const text of [bare, `-----BEGIN PRIVATE KEY-----${bare}-----END PRIVATE KEY-----`]) {
      const { title, value } = await find(at(text), 'dkim_selector', ['forge']);
      assert.match(title, /it holds a private key/);
      assert.equal(value, null);
    }
    // Without a key there, nobody knows what was meant.
    assert.notEqual(
      (await find(at(target), 'dkim_selector', ['forge'])).fix?.record?.type,
      'CNAME',
    );
  });
});

describe('A DMARC record', () => {
  it('whose only reports go to a foreign mailbox gets no invented one', async () => {
    const zone = {
      ...zoneOf('v=spf1 mx -all'),
      '_dmarc.anvil.example': { TXT: ['v=DMARC1; p=reject; rua=mailto:anvil@gmail.com'] },
      'gmail.com': { MX: ['5 gmail-smtp-in.l.google.com'] },
      'gmail-smtp-in.l.google.com': { A: ['142.251.127.27'] },
    };
    const { status, value } = await find(zone, 'dmarc_record');
    assert.deepEqual([status, value], ['warn', null]);
    const both = 'v=DMARC1; p=reject; rua=mailto:anvil@gmail.com,mailto:d@anvil.example';
    const kept = await find({ ...zone, '_dmarc.anvil.example': { TXT: [both] } }, 'dmarc_record');
    assert.equal(kept.value, 'v=DMARC1; p=reject; rua=mailto:d@anvil.example');
  });
});
