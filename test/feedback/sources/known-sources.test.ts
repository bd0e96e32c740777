/** The services, web hosts and forwarders by which sources are named: each is found by every piece of its evidence. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  freemailProvider,
  platformSuffix,
} from '../../../src/analysis/sending-services/freemail.ts';
import { hasSuffix } from '../../../src/analysis/sending-services/service.ts';
import { SENDING_SERVICES } from '../../../src/analysis/sending-services/services.ts';
import forwarders from '../../../src/feedback/sources/forwarders.json' with { type: 'json' };
import { type AddressEvidence, nameSource } from '../../../src/feedback/sources/name.ts';
import {
  normalizeDomain,
  organizationalDomain,
  ownedDomain,
} from '../../../src/lib/domain-names.ts';

interface KnownSource {
  key: string;
  name: string;
  hosts: string[];
  notHosts: string[];
  signs: string[];
  mailFrom: string[];
}

const KNOWN: KnownSource[] = [
  ...SENDING_SERVICES.map(({ id, name, marks }) => ({
    key: `service ${id}`,
    name,
    hosts: marks.hosts,
    notHosts: marks.notHosts ?? [],
    signs: marks.signs ?? [],
    mailFrom: marks.mailFrom ?? [],
  })),
  ...forwarders.map(({ name, domains }) => ({
    key: `forwarder ${name}`,
    name,
    hosts: domains,
    notHosts: [],
    signs: domains,
    mailFrom: domains,
  })),
];

const domainsOf = ({ hosts, signs, mailFrom }: KnownSource): string[] => [
  ...new Set([...hosts, ...signs, ...mailFrom]),
];

const named = (evidence: Partial<AddressEvidence>) =>
  nameSource({
    address: '203.0.114.7',
    domain: 'shop.example',
    host: null,
    isOwn: false,
    testedOn: null,
    signers: [],
    mailFrom: [],
    ...evidence,
  });

describe('The table of services, web hosts and forwarders', () => {
  it('has at least 300 entries with different keys and names', () => {
    assert.ok(KNOWN.length >= 300, String(KNOWN.length));
    for (const field of ['key', 'name'] as const)
      assert.equal(new Set(KNOWN.map((one) => one[field].toLowerCase())).size, KNOWN.length, field);
  });

  it('has evidence for each entry, all of it domains in canonical form', () => {
    for (const known of KNOWN) {
      assert.ok(domainsOf(known).length > 0, known.key);
      for (const domain of [...domainsOf(known), ...known.notHosts])
        assert.equal(normalizeDomain(domain), domain, known.key);
    }
  });

  for (const { key, name, hosts, notHosts, signs, mailFrom } of KNOWN)
    it(`names ${name} by each host name, SPF domain and signature`, () => {
      const found = [
        ...hosts.flatMap((host) => [named({ host }), named({ host: `mail-7.${host}` })]),
        ...mailFrom.map((domain) => named({ mailFrom: ['shop.example', `b.${domain}`] })),
        // The host name tells nothing.
        ...mailFrom.map((domain) => named({ host: 'a.isp.example', mailFrom: [domain] })),
        ...signs.map((domain) => named({ signers: ['shop.example', domain] })),
      ];
      for (const one of found) assert.deepEqual([one.key, one.name], [key, name], one.evidence);
      for (const host of notHosts) assert.notEqual(named({ host: `vps7.${host}` }).key, key);
    });

  it('has no domain that stands for two entries, or lies below one of another', () => {
    for (const known of KNOWN)
      for (const other of KNOWN) {
        if (known === other) continue;
        const both = domainsOf(known).filter(
          (domain) => hasSuffix(domain, domainsOf(other)) && !hasSuffix(domain, other.notHosts),
        );
        assert.deepEqual(both, [], `${known.key}, ${other.key}`);
      }
  });

  it('includes an SPF record for two services only if one sends through the other', () => {
    const all = SENDING_SERVICES.flatMap(({ spf }) => (spf.kind === 'include' ? spf.includes : []));
    const twice = all.filter((name, index) => all.indexOf(name) !== index);
    // Resend sends through Amazon SES, Azure through the servers of Microsoft 365.
    assert.deepEqual(twice.toSorted(), ['amazonses.com', 'spf.protection.outlook.com']);
  });

  it('has no public suffix, and no domain of a platform for its customers', () => {
    const suffixes = KNOWN.flatMap((known) => {
      const found = domainsOf(known).filter((domain) => ownedDomain(domain) === null);
      for (const domain of domainsOf(known)) {
        assert.notEqual(organizationalDomain(domain), null, `${known.key}: ${domain}`);
        if (known.key !== 'service microsoft_365')
          assert.equal(platformSuffix(domain), null, `${known.key}: ${domain}`);
      }
      for (const domain of found)
        assert.ok(![...known.signs, ...known.mailFrom].includes(domain), domain);
      return found;
    });
    // Web hosts whose customers have websites below the names of the servers. The addresses are those of the host.
    assert.deepEqual(suffixes, [
      'kasserver.com',
      'antagonist.cloud',
      'cfolks.pl',
      'kinghost.net',
      'mittwaldserver.info',
      'sakura.ne.jp',
    ]);
  });

  it('has a domain of private mailboxes only as the host name of the servers of its provider', () => {
    const found = KNOWN.flatMap(({ key, hosts, signs, mailFrom }) => {
      const isOfForwarder = key.startsWith('forwarder ');
      for (const domain of isOfForwarder ? [] : [...signs, ...mailFrom])
        assert.equal(freemailProvider(domain), null, `${key}: ${domain}`);
      // The domain itself, rather than a name below it that only servers have.
      const own = hosts.filter((host) => freemailProvider(host) !== null);
      return own.filter((host) => ownedDomain(host) === host).map((host) => `${host}: ${key}`);
    });
    assert.deepEqual(found.toSorted(), [
      'aruba.it: service aruba',
      'hey.com: service hey_for_domains',
      'icloud.com: service icloud_mail',
      'mailbox.org: service mailbox_org',
      'me.com: service icloud_mail',
      'protonmail.ch: service proton_mail',
      'tutanota.de: service tuta',
      'zoho.com: service zoho_mail',
      'zoho.eu: service zoho_mail',
      'zohomail.com: service zoho_mail',
      'zohomail.eu: service zoho_mail',
      'zohomail.in: service zoho_mail',
    ]);
  });
});
