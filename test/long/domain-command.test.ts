/** `domain` checks the DNS of a domain; its exit code reflects the result. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { DomainHealth } from '../../src/analysis/domain/health.ts';
import type { Zone } from '../../src/net/dns/zone.ts';
import { type DnsTestServer, startDnsServer } from '../helpers/dns-server.ts';
import { type ProgramResult, runProgram } from '../helpers/program.ts';
import { makeKey } from '../helpers/signer.ts';

const KEY = makeKey('rsa2048').record;

/** The service never connects to documentation addresses (RFC 5737). */
const ZONE: Zone = {
  'example.com': {
    TXT: ['v=spf1 mx -all'],
    MX: ['10 mx.example.com'],
    CAA: ['0 issue "ca.example"'],
  },
  'mx.example.com': { A: ['192.0.2.1'] },
  '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; rua=mailto:dmarc@example.com'] },
  'google._domainkey.example.com': { TXT: [KEY] },
};

const WITHOUT_BLOCKLISTS = { DELIVERABILITY_BLOCKLISTS: '-all' };

const domain = (
  args: string[],
  env: Record<string, string> = WITHOUT_BLOCKLISTS,
): Promise<ProgramResult> => runProgram(['domain', ...args], env);

async function serveZone(t: TestContext, zone: Zone): Promise<[DnsTestServer, string]> {
  const dns = await startDnsServer(zone);
  t.after(() => dns.close());
  return [dns, `--dns=127.0.0.1:${dns.address.port}`];
}

type Output = DomainHealth & { object: string; checked_at: string };

async function runJson(args: string[], env?: Record<string, string>): Promise<[number, Output]> {
  const { code, stdout, stderr } = await domain([...args, '--json'], env);
  assert.equal(stderr, '');
  return [code ?? -1, JSON.parse(stdout) as Output];
}

test('domain reports a healthy domain as text and JSON', async (t) => {
  const [, dns] = await serveZone(t, ZONE);
  const text = await domain(['example.com', dns]);
  assert.deepEqual([text.code, text.stderr], [0, '']);
  assert.match(text.stdout, /^100\/100 {2}healthy {2}example\.com\nexample\.com is healthy\./);
  assert.match(text.stdout, /✓ No problems found\.[\s\S]*✓ DKIM key google/);
  assert.match(text.stdout, /Next: --json .*--selector S/);
  const [code, health] = await runJson(['Example.COM.', dns]);
  assert.deepEqual(
    [code, health.object, health.name, health.status, health.score],
    [0, 'domain_health', 'example.com', 'healthy', 100],
  );
  assert.match(health.checked_at, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  const tls = health.checks.find(({ id }) => id === 'mx_tls');
  assert.deepEqual(
    [tls?.status, tls?.detail],
    ['skipped', 'This server is not allowed to connect to the addresses of the mail servers.'],
  );
});

test('domain exits with 1 on critical findings and prints the record to publish', async (t) => {
  const { '_dmarc.example.com': _, ...zone } = ZONE;
  const [, dns] = await serveZone(t, zone);
  const { code, stdout } = await domain(['example.com', dns]);
  assert.equal(code, 1);
  const line = '_dmarc.example.com TXT v=DMARC1; p=none; rua=mailto:dmarc-reports@example.com';
  assert.ok(stdout.split('\n').some((each) => each.trim() === line));
});

test('domain --selector replaces the common selectors; warnings exit with 0', async (t) => {
  const [server, dns] = await serveZone(t, ZONE);
  const [code, health] = await runJson(['example.com', dns, '--selector=Google', '--selector=old']);
  assert.deepEqual([code, health.status], [0, 'warning']);
  const keys = health.checks.filter(({ id }) => id === 'dkim_selector');
  assert.deepEqual(
    keys.map(({ evidence, status }) => [evidence.selector, status]),
    [
      ['google', 'pass'],
      ['old', 'fail'],
    ],
  );
  assert.equal(server.queries.get('default._domainkey.example.com/TXT'), undefined);
});

test('domain accepts internationalized names, web addresses and email addresses', async (t) => {
  const [, dns] = await serveZone(t, {
    'xn--bcher-kva.example': { TXT: ['v=spf1 -all'], MX: ['0 .'] },
  });
  for (const name of ['bücher.example', 'https://www.bücher.example/x', 'ann@bücher.example']) {
    const [code, health] = await runJson([name, dns]);
    assert.deepEqual([code, health.name], [1, 'xn--bcher-kva.example'], name);
  }
});

test('domain exits with 3 when nothing can be determined', async (t) => {
  const fails = { fails: 'refused' } as const;
  const [, dns] = await serveZone(t, { 'example.com': fails, '_dmarc.example.com': fails });
  const { code, stdout } = await domain(['example.com', dns]);
  assert.equal(code, 3);
  assert.match(stdout, /^unknown {2}example\.com\nCould not determine the health/);
});

test('domain tests and queries the configured blocklists', async (t) => {
  const env = { DELIVERABILITY_BLOCKLISTS: '-all,+dbl.spamhaus.org' };
  const listed = { A: ['127.0.1.2'] };
  const [, dns] = await serveZone(t, {
    'dbltest.com.dbl.spamhaus.org': listed,
    'listed.example.dbl.spamhaus.org': listed,
    'listed.example': { A: ['192.0.2.1'] },
  });
  const [code, health] = await runJson(['listed.example', dns], env);
  const found = health.checks.find(({ id }) => id === 'domain_blocklists');
  assert.deepEqual([code, found?.status, found?.severity], [1, 'fail', 'critical']);
  assert.match(found?.title ?? '', /^listed\.example is listed by Spamhaus DBL/);
});

test('domain exits with 2 on invalid usage and explains it', async () => {
  const cases: [string[], RegExp][] = [
    [[], /^Missing argument: NAME\./],
    [['example.com', 'example.org'], /^Unexpected argument: /],
    [['co.uk'], /^"co\.uk" is a public suffix/],
    [['localhost'], /^"localhost" is a single label/],
    [['192.0.2.1'], /^"192\.0\.2\.1" is an IP address/],
    [['example.com', '--selector=a b'], /^--selector must be a name such as s1/],
    [['example.com', '--dns=here'], /^--dns must be addresses such as/],
    [['example.com', '--colour'], /--colour/],
  ];
  for (const [args, sentence] of cases) {
    const { code, stdout, stderr } = await domain(args);
    assert.deepEqual([code, stdout], [2, ''], args.join(' '));
    assert.match(stderr, sentence);
    assert.match(stderr, /\nUsage: deliverability domain NAME/);
  }
});
