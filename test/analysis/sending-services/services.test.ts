/** The table of sending services, and the domains at which nobody but a provider can publish records. */

import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { foreignOwner, ownDomainFix } from '../../../src/analysis/sending-services/ownership.ts';
import { hasSuffix, suffixIndex } from '../../../src/analysis/sending-services/service.ts';
import {
  SENDING_SERVICES,
  serviceOfField,
  serviceOfHost,
  serviceOfMailFrom,
  serviceOfSelector,
  serviceOfSigner,
} from '../../../src/analysis/sending-services/services.ts';
import { parseSpfTerms } from '../../../src/analysis/spf/record.ts';
import { normalizeDomain, ownedDomain } from '../../../src/lib/domain-names.ts';

describe('The table of sending services', () => {
  it('has at least 250 services with unique IDs and names', () => {
    assert.ok(SENDING_SERVICES.length >= 250, String(SENDING_SERVICES.length));
    for (const key of ['id', 'name'] as const)
      assert.equal(new Set(SENDING_SERVICES.map((one) => one[key])).size, SENDING_SERVICES.length);
    for (const { id } of SENDING_SERVICES) assert.match(id, /^[a-z][a-z0-9_]*$/);
  });

  it('has valid domains, includes, records and guides', () => {
    for (const { id, marks, spf, dkim, guides } of SENDING_SERVICES) {
      const domains = [marks.hosts, marks.notHosts, marks.signs, marks.mailFrom].flatMap(
        (list) => list ?? [],
      );
      for (const domain of domains) {
        assert.equal(normalizeDomain(domain), domain, `${id}: ${domain}`);
        assert.ok(domain.includes('.'), `${id}: ${domain}`);
      }
      for (const domain of marks.notHosts ?? []) assert.ok(hasSuffix(domain, marks.hosts), id);
      for (const field of marks.fields ?? []) assert.match(field, /^x-[a-z0-9-]+\*?$/, id);
      if (spf.kind === 'include')
        for (const name of spf.includes) {
          const [term] = parseSpfTerms(`v=spf1 include:${name}`);
          assert.equal(term?.fault, null, `${id}: ${name}`);
        }
      if (dkim.kind === 'cname')
        for (const [selector, target] of dkim.records) {
          assert.match(selector, /^(?:<\w+>|[a-z0-9_-]+|[a-z0-9]+-?<\w+>)$/, id);
          const filled = target.replace(/\{(\w+)\}/g, 'example').replace(/<\w+>/g, 'x');
          assert.notEqual(normalizeDomain(filled), null, `${id}: ${target}`);
          assert.notEqual(ownedDomain(filled), null, `${id}: ${target}`);
        }
      for (const url of Object.values(guides)) {
        assert.equal(new URL(url).protocol, 'https:', id);
        assert.ok(ownedDomain(new URL(url).hostname) !== null, id);
      }
    }
  });

  it('gives each mark to one service only', () => {
    for (const [kind, find] of [
      ['hosts', serviceOfHost],
      ['signs', serviceOfSigner],
      ['mailFrom', serviceOfMailFrom],
    ] as const)
      for (const service of SENDING_SERVICES)
        for (const mark of service.marks[kind] ?? [])
          assert.equal(find(mark)?.id, service.id, `${kind}: ${mark}`);
    for (const service of SENDING_SERVICES)
      for (const field of service.marks.fields ?? [])
        assert.equal(serviceOfField(field.replace('*', 'x'))?.id, service.id, field);
  });
});

test('serviceOfHost knows real server names, but not the machines that customers rent', () => {
  const rows: [string, string | undefined][] = [
    ['a48-101.smtp-out.amazonses.com', 'amazon_ses'],
    ['mail-ed1-f54.google.com', 'google_workspace'],
    ['54.8.71.34.bc.googleusercontent.com', undefined],
    ['mail-db8eur05on2071.outbound.protection.outlook.com', 'microsoft_365'],
    ['wrqvtzvf.outbound-mail.sendgrid.net', 'sendgrid'],
    ['mail26.atl161.mcsv.net', 'mailchimp'],
    ['mta195a-ord.mtasv.net', 'postmark'],
    ['ec2-203-0-113-5.compute-1.amazonaws.com', undefined],
    ['sslproxy01.your-server.de', 'hetzner_web_hosting'],
    ['static.5.113.0.203.clients.your-server.de', undefined],
    ['5.113.0.203.host.secureserver.net', undefined],
    ['p3plsmtpa07-08.prod.phx3.secureserver.net', 'godaddy'],
    ['notamazonses.com', undefined],
    ['mailout1.one.com', 'one_com'],
    ['dd21934.kasserver.com', 'all_inkl'],
    ['www1234.sakura.ne.jp', 'sakura_internet'],
    ['ik1-305-12345.vs.sakura.ne.jp', undefined],
    ['gproxy10-pub.mail.unifiedlayer.com', 'bluehost'],
    ['162-241-1-2.unifiedlayer.com', undefined],
    ['out28-146.mail.aliyun.com', 'alibaba_mail'],
    ['out30-133.freemail.mail.aliyun.com', undefined],
    ['mail1.bemta34.messagelabs.com', 'symantec_email_security_cloud'],
    ['esa1.hc1234-56.iphmx.com', 'cisco_secure_email_cloud_gateway'],
  ];
  for (const [name, id] of rows) assert.equal(serviceOfHost(name)?.id, id, name);
});

describe('foreignOwner', () => {
  const rows: [string, RegExp | null][] = [
    ['gmail.com', /^Gmail$/],
    ['googlemail.com', /^Gmail$/],
    ['yahoo.co.uk', /^Yahoo$/],
    ['yahoo.com.br', /^Yahoo$/],
    ['hotmail.fr', /^Microsoft$/],
    ['live.com', /^Microsoft$/],
    ['gmx.net', /^GMX$/],
    ['web.de', /^WEB\.DE$/],
    ['qq.com', /^Tencent$/],
    ['proton.me', /^Proton Mail$/],
    ['acme.onmicrosoft.com', /^Microsoft 365$/],
    ['ann.github.io', /github\.io/],
    ['acme.zendesk.com', /^Zendesk$/],
    ['shared1.ccsend.com', /^Constant Contact$/],
    ['uk.com', /registry/],
    ['co.uk', /registry/],
    ['shop.uk.com', null],
    ['example.com', null],
    ['notgmail.com', null],
    ['yahoo.example', null],
    ['live.io', null],
  ];
  for (const [domain, owner] of rows)
    it(`${domain}: ${owner === null ? 'anyone could own it' : owner.source}`, () => {
      if (owner === null) assert.equal(foreignOwner(domain), null);
      else assert.match(foreignOwner(domain) ?? '', owner);
    });
});

test('ownDomainFix tells Microsoft 365 customers to add a custom domain', () => {
  assert.match(ownDomainFix('acme.onmicrosoft.com')?.text ?? '', /custom domain to Microsoft 365/);
  assert.match(
    ownDomainFix('gmail.com')?.text ?? '',
    /domain of your own\. gmail\.com belongs to Gmail/,
  );
  assert.equal(ownDomainFix('example.com'), null);
});

test('serviceOfSelector ignores selectors that many signers use', () => {
  const ids = ['selector1', 'google', 'k2', 's1', 'mail', 'other'].map(
    (one) => serviceOfSelector(one)?.id,
  );
  const none = [undefined, undefined, undefined];
  assert.deepEqual(ids, ['microsoft_365', 'google_workspace', 'mailchimp', ...none]);
});

test('suffixIndex finds what a comparison with each suffix finds, in the same order', () => {
  const entries = SENDING_SERVICES.map((service) => [service.id, service.marks.hosts] as const);
  const find = suffixIndex(entries);
  const suffixes = entries.flatMap(([, hosts]) => hosts ?? []);
  const names = suffixes.flatMap((suffix) => [suffix, `a.b.${suffix}`, `x${suffix}`, `.${suffix}`]);
  for (const name of [...names, '', '.', 'com', 'example.com']) {
    const expected = entries.filter(([, hosts]) => hasSuffix(name, hosts)).map(([id]) => id);
    assert.deepEqual(find(name), expected, name);
  }
});
