/** For each kind of signature, result of SPF and policy: headline, score, provider rules and findings agree. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyze } from '../../src/analysis/analyze.ts';
import type { AnalysisResult, Provider } from '../../src/analysis/result.ts';
import { type Zone, zoneResolver } from '../../src/net/dns/zone.ts';
import { RECEIVED_AT } from '../helpers/analysis.ts';
import { type KeyKind, makeKey, type SignOptions, signMessage } from '../helpers/signer.ts';

const CLIENT = '203.0.114.21';
const KINDS: KeyKind[] = ['rsa2048', 'rsa1024', 'rsa512', 'ed25519'];
const KEYS = Object.fromEntries(KINDS.map((kind) => [kind, makeKey(kind)]));

interface Signature {
  key: KeyKind;
  domain?: 'meadow.example' | 'sender.example';
  options?: Partial<SignOptions>;
  isBroken?: true;
  /** Valid where RSA with SHA-256 is verified, or only where Ed25519 is. */
  seenBy: 'all' | 'few' | 'nobody';
}

const RSA: Signature = { key: 'rsa2048', seenBy: 'all' };
const ED25519: Signature = { key: 'ed25519', seenBy: 'few' };
const BROKEN: Signature = { ...RSA, isBroken: true, seenBy: 'nobody' };
const SIGNATURES: Record<string, Signature[]> = {
  none: [],
  rsa2048: [RSA],
  rsa1024: [{ key: 'rsa1024', seenBy: 'all' }],
  rsa512: [{ key: 'rsa512', seenBy: 'nobody' }],
  sha1: [{ ...RSA, options: { algorithm: 'rsa-sha1' }, seenBy: 'nobody' }],
  ed25519: [ED25519],
  both: [RSA, ED25519],
  'Ed25519 with a broken RSA signature': [BROKEN, ED25519],
  'Ed25519 with RSA and SHA-1': [
    { ...RSA, options: { algorithm: 'rsa-sha1' }, seenBy: 'nobody' },
    ED25519,
  ],
  broken: [BROKEN],
  expired: [{ ...RSA, options: { expires: RECEIVED_AT - 30_000 }, seenBy: 'nobody' }],
  'RSA of another domain': [{ ...RSA, domain: 'sender.example' }],
  'Ed25519 of another domain': [{ ...ED25519, domain: 'sender.example' }],
  'Ed25519 of another domain with a broken RSA signature': [
    BROKEN,
    { ...ED25519, domain: 'sender.example' },
  ],
};

const SPF = {
  'passes aligned': { from: 'a@meadow.example', passes: true, aligned: true },
  'passes for another domain': { from: 'a@sender.example', passes: true, aligned: false },
  fails: { from: 'a@closed.example', passes: false, aligned: false },
  'is unknown': { from: null, passes: null, aligned: null },
};
const POLICIES = ['reject', 'none', null] as const;

const ZONE: Zone = {
  'meadow.example': { A: [CLIENT], MX: ['10 mail.meadow.example'], TXT: ['v=spf1 mx -all'] },
  'mail.meadow.example': { A: [CLIENT] },
  '21.114.0.203.in-addr.arpa': { PTR: ['mail.meadow.example'] },
  'sender.example': { MX: ['10 mail.meadow.example'], TXT: [`v=spf1 ip4:${CLIENT} -all`] },
  'closed.example': { MX: ['10 mail.meadow.example'], TXT: ['v=spf1 -all'] },
};

const TEXT =
  'From: Ann <ann@meadow.example>\r\nTo: Bob <bob@example.net>\r\nSubject: Your question\r\nDate: Sat, 21 Nov 2026 09:59:58 +0000\r\nMessage-ID: <1@meadow.example>\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nHello Bob, this is the answer.\r\n';

async function sign(signatures: Signature[]): Promise<{ raw: Buffer; keys: Zone }> {
  let raw: Buffer = Buffer.from(TEXT);
  const keys: Zone = {};
  for (const { key, domain = 'meadow.example', options, isBroken } of signatures) {
    const selector = `${key}${isBroken ? 'x' : ''}`;
    keys[`${selector}._domainkey.${domain}`] = { TXT: [KEYS[key]!.record] };
    const signed = await signMessage(raw, { domain, selector, key: KEYS[key]!, ...options });
    // The signature of another body, as after a change in transit.
    const field = isBroken ? signed.toString('latin1').replace(/bh=..../, 'bh=AAAA') : null;
    raw = field === null ? signed : Buffer.from(field, 'latin1');
  }
  return { raw, keys };
}

const ruleOf = (result: AnalysisResult, provider: Provider, id: string) =>
  result.providers.find((one) => one.provider === provider)!.rules.find((rule) => rule.id === id)!
    .status;

for (const [name, signatures] of Object.entries(SIGNATURES))
  test(`All parts of a result agree for this signature: ${name}`, async () => {
    const { raw, keys } = await sign(signatures);
    const seen = signatures.filter(({ seenBy }) => seenBy === 'all');
    const isSeen = seen.length > 0;
    const isSeenAligned = seen.some(({ domain }) => domain === undefined);
    for (const [spfName, spf] of Object.entries(SPF))
      for (const policy of POLICIES)
        for (const kind of ['transactional', 'marketing'] as const) {
          const record: Zone = policy
            ? { '_dmarc.meadow.example': { TXT: [`v=DMARC1; p=${policy}`] } }
            : {};
          const envelope = {
            mail_from: spf.from,
            client_ip: CLIENT,
            helo: 'mail.meadow.example',
            tls: { used: true, version: 'TLSv1.3', cipher: null },
          };
          const result = await analyze(
            { raw, envelope, receivedAt: RECEIVED_AT, kind },
            { resolver: zoneResolver({ ...ZONE, ...keys, ...record }) },
          );
          const { score, summary, cap, providers, checks } = result;
          const at = `SPF ${spfName}, policy ${policy}, ${kind}: ${score} ${summary}`;
          const passes = isSeen ? true : spf.passes;
          const authenticates = isSeenAligned ? true : spf.aligned;

          // What Gmail and Microsoft see decides their rules.
          const expected = (value: boolean | null) =>
            value === null ? 'unknown' : value ? 'met' : 'not_met';
          assert.equal(ruleOf(result, 'gmail', 'spf_or_dkim'), expected(passes), at);
          for (const provider of ['gmail', 'microsoft'] as const) {
            assert.equal(ruleOf(result, provider, 'dkim'), expected(isSeen), `${provider} ${at}`);
            const status = ruleOf(result, provider, 'dmarc_policy');
            // With SPF unknown, it may stay unknown whether a weak policy matters.
            if (policy === 'reject')
              assert.equal(status, expected(authenticates), `${provider} ${at}`);
            else if (authenticates === null)
              assert.notEqual(status, 'not_met', `${provider} ${at}`);
            else assert.equal(status, 'met', `${provider} ${at}`);
          }
          // The score and the headline follow from the same.
          if (score === null) continue;
          if (passes === false) assert.ok(score <= 55, at);
          if (authenticates === false && policy === 'reject') assert.ok(score <= 55, at);
          if (authenticates === false) assert.ok(score <= 60, at);
          if (!isSeen || spf.passes === false) assert.ok(score < 90, at);
          if (isSeenAligned && spf.aligned && policy === 'reject' && kind === 'transactional')
            assert.ok(score >= 90, at);
          for (const { name: provider, status } of providers) {
            if (summary.includes('meets the rules'))
              assert.equal(summary.split(';')[0]!.includes(provider), status === 'ready', at);
            if (status === 'not_ready') assert.ok(cap !== null && score < 90, `${provider} ${at}`);
          }
          // Each cap has its finding.
          const problems = checks.filter(({ status }) => status === 'fail' || status === 'warn');
          if (cap) assert.ok(problems.length > 0, at);
          const dmarc = checks.find(({ id }) => id === 'dmarc')!;
          if (authenticates === false) assert.notEqual(dmarc.status, 'pass', at);
        }
  });
