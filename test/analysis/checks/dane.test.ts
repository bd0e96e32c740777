/** `dane`: TLSA records, DNSSEC, certificates, and agreement with MTA-STS and TLS reporting. */

import assert from 'node:assert/strict';
import { createHash, X509Certificate } from 'node:crypto';
import { describe, it } from 'node:test';
import type { CheckStatus } from '../../../src/analysis/check.ts';
import { dane } from '../../../src/analysis/checks/dane.ts';
import { tlsRpt } from '../../../src/analysis/checks/tls-rpt.ts';
import { parseTlsa } from '../../../src/analysis/dane/tlsa.ts';
import { makeCertificate } from '../../../src/lib/certificates.ts';
import type { Resolver } from '../../../src/net/dns/resolver.ts';
import { type Zone, zoneResolver } from '../../../src/net/dns/zone.ts';
import type { WebClient } from '../../../src/net/http/web.ts';
import type { MailTlsResult, PresentedCertificate } from '../../../src/net/smtp/probe.ts';
import { RECEIVED_AT, runCheck } from '../../helpers/analysis.ts';

const message = 'From: a@example.com\n\nx\n';

async function presented(name: string): Promise<PresentedCertificate> {
  const certificate = new X509Certificate((await makeCertificate(name, RECEIVED_AT)).cert);
  return {
    der: certificate.raw,
    publicKey: certificate.publicKey.export({ type: 'spki', format: 'der' }),
  };
}

const LEAF = await presented('mx.example.net');
const AUTHORITY = await presented('ca.example.net');
const digest = (bytes: Uint8Array, algorithm = 'sha256') =>
  createHash(algorithm).update(bytes).digest('hex');
const KEY = digest(LEAF.publicKey);

const secure: MailTlsResult = {
  status: 'tls',
  version: 'TLSv1.3',
  certificate: { valid: true, problem: null, names: [], issuer: null, validTo: null },
  chain: [LEAF, AUTHORITY],
};

const zoneOf = (tlsa: string[] | null, more: Zone = {}): Zone => ({
  'example.com': { MX: ['10 mx.example.net'] },
  'mx.example.net': { A: ['192.0.2.1'] },
  'example.net': { DS: ['1 13 2 aa'] },
  ...(tlsa && { '_25._tcp.mx.example.net': { TLSA: tlsa } }),
  ...more,
});

const SECOND: Zone = {
  'example.com': { MX: ['10 mx.example.net', '20 b.example.net'] },
  'b.example.net': { A: ['192.0.2.2'] },
};

/** A resolver that validates, as its AD bits show. */
const validating = (zone: Zone): Resolver => {
  const lookUp = zoneResolver(zone);
  return async (name, type) => {
    const answer = await lookUp(name, type);
    return answer.status === 'found' ? { ...answer, authenticated: true } : answer;
  };
};

const stsPolicy =
  (...lines: string[]): WebClient =>
  async () => ({
    status: 'answered',
    code: 200,
    headers: { 'content-type': 'text/plain' },
    body: Buffer.from(['version: STSv1', 'mode: enforce', 'max_age: 86400', ...lines].join('\n')),
  });
const STS: Zone = { '_mta-sts.example.com': { TXT: ['v=STSv1; id=1'] } };

interface Row {
  name: string;
  zone: Zone;
  probe?: MailTlsResult | null;
  web?: WebClient;
  validates?: boolean;
  status?: CheckStatus;
  says: RegExp;
  problems?: RegExp[];
  record?: string;
}

const ROWS: Row[] = [
  { name: 'no TLSA records', zone: zoneOf(null), says: /does not use DANE/ },
  {
    name: 'a validated record that matches',
    zone: zoneOf([`3 1 1 ${KEY}`]),
    validates: true,
    probe: secure,
    says: /signed with DNSSEC.*certificates match/,
  },
  {
    name: 'a record without probing',
    zone: zoneOf([`3 1 1 ${KEY}`]),
    validates: true,
    says: /did not compare the certificates/,
  },
  {
    name: 'a resolver that does not validate',
    zone: zoneOf([`3 1 1 ${KEY}`]),
    probe: secure,
    says: /did not confirm their DNSSEC signatures/,
  },
  {
    name: 'the whole certificate with SHA-512 in upper case',
    zone: zoneOf([`3 0 2 ${digest(LEAF.der, 'sha512').toUpperCase()}`]),
    probe: secure,
    says: /certificates match/,
  },
  {
    name: 'the whole public key',
    zone: zoneOf([`3 1 0 ${Buffer.from(LEAF.publicKey).toString('hex')}`]),
    probe: secure,
    says: /certificates match/,
  },
  {
    name: 'an authority in the chain (usage 2)',
    zone: zoneOf([`2 1 1 ${digest(AUTHORITY.publicKey)}`]),
    probe: secure,
    says: /certificates match/,
  },
  {
    name: 'an authority declared as the certificate of the server (usage 3)',
    zone: zoneOf([`3 1 1 ${digest(AUTHORITY.publicKey)}`]),
    probe: secure,
    says: /not set up correctly/,
    problems: [/certificate of mx\.example\.net matches none/],
    record: `3 1 1 ${KEY}`,
  },
  {
    name: 'an old and a new key, of which one matches',
    zone: zoneOf([`3 1 1 ${'ab'.repeat(32)}`, `3 1 1 ${KEY}`]),
    probe: secure,
    says: /certificates match/,
  },
  {
    name: 'usage 1, which SMTP does not allow',
    zone: zoneOf([`1 1 1 ${KEY}`]),
    says: /not set up correctly/,
    problems: [/has usage 1, but SMTP only allows 2 and 3/],
  },
  {
    name: 'a truncated digest',
    zone: zoneOf([`3 1 1 ${KEY.slice(0, 40)}`]),
    says: /not set up correctly/,
    problems: [/digest of 20 bytes instead of 32/],
  },
  {
    name: 'a server without STARTTLS',
    zone: zoneOf([`3 1 1 ${KEY}`]),
    probe: { status: 'no_starttls' },
    says: /not set up correctly/,
    problems: [/no STARTTLS/],
  },
  {
    name: 'a server that cannot be reached',
    zone: zoneOf([`3 1 1 ${KEY}`]),
    probe: { status: 'unreachable', silent: true, detail: 'no response' },
    says: /did not compare/,
  },
  {
    name: 'a zone without DS record',
    zone: zoneOf([`3 1 1 ${KEY}`], { 'example.net': { A: ['192.0.2.9'] } }),
    says: /not set up correctly/,
    problems: [/example\.net is not signed with DNSSEC/],
  },
  {
    name: 'a second server without records',
    zone: zoneOf([`3 1 1 ${KEY}`], SECOND),
    says: /not set up correctly/,
    problems: [/b\.example\.net has no TLSA records, but another/],
  },
  {
    name: 'an MTA-STS policy that omits the server',
    zone: zoneOf([`3 1 1 ${KEY}`], STS),
    web: stsPolicy('mx: other.example.net'),
    says: /not set up correctly/,
    problems: [/mx\.example\.net has TLSA records, but the MTA-STS policy does not list it/],
  },
  {
    name: 'an MTA-STS policy that lists the server',
    zone: zoneOf([`3 1 1 ${KEY}`], STS),
    web: stsPolicy('mx: *.example.net'),
    says: /protects its incoming mail with DANE/,
  },
  {
    name: 'an MTA-STS policy with mode none',
    zone: zoneOf([`3 1 1 ${KEY}`], STS),
    web: async () => ({
      status: 'answered',
      code: 200,
      headers: { 'content-type': 'text/plain' },
      body: Buffer.from('version: STSv1\nmode: none\nmax_age: 1\n'),
    }),
    says: /protects its incoming mail with DANE/,
  },
  {
    name: 'a TLSA lookup that fails',
    zone: zoneOf(null, { '_25._tcp.mx.example.net': { fails: 'servfail' } }),
    status: 'error',
    says: /Senders that use DANE delay mail/,
  },
  {
    name: 'a domain that accepts no mail',
    zone: { 'example.com': { MX: ['0 .'] } },
    says: /does not apply to example\.com/,
  },
];

describe('dane check', () => {
  for (const { name, zone, probe, web, validates, status, says, problems, record } of ROWS)
    it(`handles ${name}`, async () => {
      const check = dane(probe ? async () => probe : null);
      const resolver = validates ? validating(zone) : zoneResolver(zone);
      const finding = await runCheck(check, { message, resolver, web });
      assert.equal(finding.status, status ?? 'info', JSON.stringify(finding));
      assert.match(`${finding.title} ${finding.detail}`, says);
      const found = (finding.evidence?.problems ?? []) as string[];
      assert.equal(found.length, problems?.length ?? 0, JSON.stringify(found));
      problems?.forEach((problem, index) => {
        assert.match(found[index]!, problem);
      });
      assert.equal(finding.fix?.record?.value, record);
    });

  it('is skipped offline', async () => {
    assert.equal((await runCheck(dane(null), { message, offline: true })).status, 'skipped');
  });
});

describe('parseTlsa', () => {
  const rows: [text: string, problem: RegExp | null][] = [
    [`3 1 1 ${KEY}`, null],
    [`2 0 2 ${'ab'.repeat(64)}`, null],
    [`3 1 1 ${KEY.slice(0, 30)} ${KEY.slice(30)}`, null],
    [`0 0 1 ${KEY}`, /usage 0/],
    [`4 1 1 ${KEY}`, /unknown usage/],
    [`3 2 1 ${KEY}`, /unknown selector/],
    [`3 1 3 ${KEY}`, /unknown matching type/],
    ['3 1 1', /no hexadecimal data/],
    ['3 1 1 xyz', /no hexadecimal data/],
    ['3 0 0 0000', /no certificate/],
    ['', /unknown usage/],
  ];
  for (const [text, problem] of rows)
    it(`${problem === null ? 'accepts' : 'rejects'} "${text.slice(0, 20)}"`, () => {
      const found = parseTlsa(text).problem;
      if (problem === null) assert.equal(found, null);
      else assert.match(found ?? '', problem);
    });
});

describe('tls_rpt check without a record', () => {
  const rows: [name: string, zone: Zone, neededBy: string[] | undefined][] = [
    ['neither MTA-STS nor DANE', zoneOf(null), undefined],
    ['MTA-STS', zoneOf(null, STS), ['MTA-STS']],
    ['MTA-STS and DANE', zoneOf([`3 1 1 ${KEY}`], STS), ['MTA-STS', 'DANE']],
    [
      'two MTA-STS records, which senders ignore',
      zoneOf(null, { '_mta-sts.example.com': { TXT: ['v=STSv1; id=1', 'v=STSv1; id=2'] } }),
      undefined,
    ],
  ];
  for (const [name, zone, neededBy] of rows)
    it(`says what needs reports: ${name}`, async () => {
      const finding = await runCheck(tlsRpt, { message, zone });
      assert.deepEqual(finding.evidence?.needed_by, neededBy);
      assert.equal(finding.detail.includes('without reports'), neededBy !== undefined);
    });
});
