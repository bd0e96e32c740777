/** `mx_tls`: how the probes of several mail servers are combined. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckStatus } from '../../../src/analysis/check.ts';
import { mxTls } from '../../../src/analysis/checks/mx-tls.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import type { MailTlsResult } from '../../../src/net/smtp/probe.ts';
import { runCheck } from '../../helpers/analysis.ts';

const message = 'From: a@example.com\n\nx\n';
const ADDRESS = { A: ['192.0.2.1'] };
const ZONE: Zone = {
  'example.com': { MX: ['10 a.example.com', '20 b.example.com'] },
  'a.example.com': ADDRESS,
  'b.example.com': ADDRESS,
};

const secure = (version = 'TLSv1.3', problem: string | null = null): MailTlsResult => ({
  status: 'tls',
  version,
  certificate: { valid: problem === null, problem, names: [], issuer: null, validTo: null },
});
const PLAIN: MailTlsResult = { status: 'no_starttls' };
const BROKEN: MailTlsResult = { status: 'broken', detail: 'the TLS handshake failed' };
const UNREACHABLE: MailTlsResult = {
  status: 'unreachable',
  silent: true,
  detail: 'no response in time',
};
const FORBIDDEN: MailTlsResult = { status: 'forbidden', detail: 'the IP address is not public' };
const UNCLEAR: MailTlsResult = { status: 'unknown', detail: 'the server replied 421 busy' };

const checkHosts = (probes: Record<string, MailTlsResult>, zone = ZONE) =>
  runCheck(
    mxTls(async (host) => probes[host] ?? UNCLEAR),
    { message, zone },
  );

const rows: [what: string, a: MailTlsResult, b: MailTlsResult, CheckStatus, RegExp][] = [
  [
    'both servers support TLS',
    secure(),
    secure('TLSv1.2'),
    'pass',
    /support TLS.*a\.example\.com, b\./,
  ],
  [
    'one server supports TLS, the other is down',
    secure(),
    UNREACHABLE,
    'pass',
    /Could not check 1 more/,
  ],
  [
    'no server supports TLS',
    PLAIN,
    PLAIN,
    'fail',
    /mail servers of example\.com do not support TLS/,
  ],
  ['one server without TLS', secure(), PLAIN, 'warn', /Some mail servers .*: b\.example\.com\./],
  ['the only reachable server without TLS', PLAIN, UNREACHABLE, 'fail', /do not support/],
  ['one server with broken STARTTLS', secure(), BROKEN, 'warn', /offer STARTTLS, but it fails/],
  ['one server with outdated TLS', secure(), secure('TLSv1'), 'warn', /outdated TLS version: b\./],
  [
    'one server with an untrusted certificate',
    secure(),
    secure('TLSv1.3', 'it has expired'),
    'warn',
    /b\.[^.]+\.com: it has exp/,
  ],
  [
    'no server reachable',
    UNREACHABLE,
    FORBIDDEN,
    'skipped',
    /connect to any mail server on port 25/,
  ],
  [
    'no server with a public address',
    FORBIDDEN,
    FORBIDDEN,
    'skipped',
    /not allowed to connect to the addresses of the mail servers/,
  ],
  [
    'one server with an unclear reply',
    UNREACHABLE,
    UNCLEAR,
    'error',
    /b\.example\.com: the server replied 421 busy/,
  ],
];

for (const [what, a, b, status, expected] of rows)
  test(`mx_tls check reports ${status}: ${what}`, async () => {
    const finding = await checkHosts({ 'a.example.com': a, 'b.example.com': b });
    assert.equal(finding.status, status, finding.title);
    assert.match(`${finding.title} ${finding.detail}`, expected);
    assert.ok(Array.isArray(finding.evidence?.hosts));
    assert.equal(finding.evidence.hosts.length, 2);
    if (status === 'warn' || status === 'fail') assert.ok(finding.fix);
  });

test('mx_tls check is skipped without mail servers or probe, and reports error without DNS', async () => {
  assert.equal((await checkHosts({}, {})).status, 'skipped');
  assert.equal((await checkHosts({}, { 'example.com': { MX: ['0 .'] } })).status, 'skipped');
  assert.equal((await checkHosts({}, { 'example.com': { fails: 'timeout' } })).status, 'error');
  const unprobed = await runCheck(mxTls(null), { message, zone: ZONE });
  assert.match(unprobed.detail, /does not connect to mail servers/);
});

test('mx_tls check probes five existing hosts at most, or the domain itself', async () => {
  const probed: string[] = [];
  const check = mxTls(async (host) => {
    probed.push(host);
    return secure();
  });
  await runCheck(check, { message, zone: { 'example.com': ADDRESS } });
  assert.deepEqual(probed.splice(0), ['example.com']);
  const names = ['gone', 'a', 'b', 'c', 'd', 'e', 'f'].map((name) => `${name}.example.com`);
  const zone: Zone = { 'example.com': { MX: names.map((name, index) => `${index} ${name}`) } };
  for (const name of names.slice(1)) zone[name] = ADDRESS;
  await runCheck(check, { message, zone });
  assert.deepEqual(probed, names.slice(1, 6));
});
