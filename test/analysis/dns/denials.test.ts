import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyze } from '../../../src/analysis/analyze.ts';
import { NO_SETUP } from '../../../src/analysis/context.ts';
import { analyzeDomain } from '../../../src/analysis/domain/analyze-domain.ts';
import type { DnsAnswer, Resolver } from '../../../src/net/dns/resolver.ts';
import { zoneResolver } from '../../../src/net/dns/zone.ts';
import { offlineWebClient } from '../../../src/net/http/web.ts';

const MESSAGE = [
  'From: Kim <kim@harbor.example>',
  'To: pat@example.net',
  'Subject: Order 5',
  'Date: Sat, 21 Nov 2026 10:00:00 +0000',
  'Message-ID: <5@harbor.example>',
  '',
  'Your order is on its way.',
  '',
].join('\r\n');

const INPUT = {
  raw: Buffer.from(MESSAGE),
  envelope: {
    mail_from: 'kim@harbor.example',
    client_ip: '203.0.113.20',
    helo: 'mail.harbor.example',
    tls: { used: true, version: 'TLSv1.3', cipher: null },
  },
  receivedAt: Date.UTC(2026, 10, 21, 10),
  kind: 'auto' as const,
};

for (const status of ['nxdomain', 'nodata'] as const)
  test(`A resolver that answers ${status} to every question proves nothing about a message`, async () => {
    const asked: string[] = [];
    const resolver: Resolver = async (name, type) => {
      asked.push(`${name} ${type}`);
      return { status };
    };
    const result = await analyze(INPUT, { resolver });
    assert.equal(result.score, null);
    assert.match(result.summary, /no score: .*resolver/);
    const about = JSON.stringify(result.checks);
    assert.doesNotMatch(about, /does not exist in DNS|has no SPF record|no DMARC record/);
    const failed = result.checks.filter((check) => check.status === 'fail').map(({ id }) => id);
    assert.deepEqual(failed, ['dkim'], 'only what needs no DNS');
    assert.equal(asked.filter((question) => question === 'com NS').length, 1);
  });

test('A resolver that denies every name proves nothing about a domain', async () => {
  const { checks } = await analyzeDomain('harbor.example', {
    resolver: async (): Promise<DnsAnswer> => ({ status: 'nxdomain' }),
    web: offlineWebClient,
    setup: NO_SETUP,
    now: INPUT.receivedAt,
    selectors: [],
  } as never);
  assert.deepEqual(
    checks.filter(({ status }) => status === 'fail' || status === 'warn'),
    [],
  );
});

test('A name that is absent from a working resolver is absent', async () => {
  const result = await analyze(INPUT, { resolver: zoneResolver({}) });
  assert.notEqual(result.score, null);
  assert.match(JSON.stringify(result.checks), /harbor\.example does not exist in DNS/);
});
