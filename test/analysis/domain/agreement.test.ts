/** Number, state, summary, list and exit code of a domain say the same, whatever its records are. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckStatus } from '../../../src/analysis/check.ts';
import { worstFirst } from '../../../src/analysis/domain/dangers.ts';
import {
  type DomainCheck,
  type DomainHealth,
  healthOf,
  keepPreviousResults,
} from '../../../src/analysis/domain/health.ts';
import { EXIT_OF } from '../../../src/commands/domain.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { domainText } from '../../../src/report/text.ts';
import { type Random, seededRandom } from '../../helpers/random.ts';
import { checkDomain, DKIM_KEYS, item } from './domains.ts';

const pick = <T>(random: Random, items: readonly T[]): T => items[random.below(items.length)]!;

function assertAgrees(health: DomainHealth): void {
  const { checks, status, score, summary, name } = health;
  const count = (severity: string) => checks.filter((check) => check.severity === severity).length;
  const [critical, warnings] = [count('critical'), count('warning')];
  const context = JSON.stringify(
    checks.map(({ id, status, severity, points }) => [id, status, severity, points]),
  );
  if (critical > 0) assert.equal(status, 'critical', context);
  else if (status !== 'unknown')
    assert.equal(status, warnings > 0 ? 'warning' : 'healthy', context);
  if (status === 'unknown') assert.equal(score, null, context);
  else assert.equal(score === 100, critical + warnings === 0, `${score} ${context}`);
  // A critical finding costs more than any number of warnings.
  if (score !== null) assert.equal(score < 50, critical > 0, `${score} ${context}`);
  for (const check of checks) {
    const verdict = check.former_status ?? check.status;
    const isToFix = verdict === 'warn' || verdict === 'fail';
    assert.equal(check.severity !== null, isToFix, context);
  }
  if (status === 'healthy') assert.ok(summary.startsWith(`${name} is healthy.`), summary);
  if (status === 'warning')
    assert.ok(summary.startsWith(`${name} works, with ${warnings} warning`), summary);
  if (status === 'critical' && !summary.includes('Nothing else was checked.')) {
    const more = /(\d+) more critical problem/.exec(summary)?.[1] ?? '0';
    assert.equal(Number(more), critical - 1, summary);
  }
  const [worst] = worstFirst(checks);
  if (worst && status !== 'unknown') assert.ok(summary.includes(worst.title), summary);
  const text = domainText(health, { width: 400, color: false });
  assert.ok(text.startsWith(score === null ? `${status}  ` : `${score}/100  ${status}  `), text);
  const list = text.slice(text.lastIndexOf('Checks'));
  assert.equal(list.match(/^\s*✗ /gm)?.length ?? 0, critical, text);
  assert.equal(list.match(/^\s*! /gm)?.length ?? 0, warnings, text);
  assert.equal(EXIT_OF[status], { healthy: 0, warning: 0, critical: 1, unknown: 3 }[status]);
  if (status !== 'healthy') assert.doesNotMatch(text, /Nothing to fix/);
}

const TEXTS: Record<string, (string[] | null)[]> = {
  'example.com': [
    null,
    ['v=spf1 mx -all'],
    ['v=spf1 -all'],
    ['v=spf1 mx'],
    ['v=spf1 mx ptr ~all'],
    ['v=spf1 +all'],
    ['v=spf1 mx -all', 'v=spf1 a ~all'],
    ['v=spf1 ip4:11.0.0.0/9 -all'],
    ['v=spf1 mx -all include:x.example'],
  ],
  '_dmarc.example.com': [
    null,
    ['v=DMARC1; p=reject; rua=mailto:d@mx.example.com'],
    ['v=DMARC1; p=none'],
    ['v=DMARC1; p=reject; sp=none'],
    ['v=DMARC1; p=rejekt'],
    ['v=DMARC1, p=none'],
    ['v=DMARC1; p=none', 'v=DMARC1; p=reject'],
  ],
  's1._domainkey.example.com': [
    null,
    [DKIM_KEYS.strong],
    [DKIM_KEYS.short],
    [DKIM_KEYS.weak],
    [DKIM_KEYS.ed25519],
    ['v=DKIM1; p='],
    ['v=spf1 -all'],
    [DKIM_KEYS.strong, DKIM_KEYS.short],
  ],
  '_smtp._tls.example.com': [
    null,
    ['v=TLSRPTv1; rua=mailto:t@mx.example.com'],
    ['v=TLSRPTv1'],
    ['v=TLSRPTv1; rua='],
    ['v=tlsrptv1; rua=mailto:t@mx.example.com'],
    ['v=TLSRPTv1; rua=mailto:t@mx.example.com', 'v=TLSRPTv1; rua=mailto:u@example.com'],
    ['other'],
  ],
  '_mta-sts.example.com': [null, ['v=STSv1; id=1'], ['v=STSv1;'], ['v=STS1; id=1']],
  'default._bimi.example.com': [null, ['v=BIMI1; l=https://example.com/l.svg'], ['v=BIMI1; a=x']],
};

function randomZone(random: Random): Zone {
  const zone: Zone = { 'mx.example.com': { A: ['192.0.2.1'] } };
  for (const [name, choices] of Object.entries(TEXTS)) {
    const records = pick(random, choices);
    if (records) zone[name] = { TXT: records };
    if (random.below(40) === 0) zone[name] = { fails: 'timeout' };
  }
  const mx = pick(random, [['10 mx.example.com'], ['0 .'], ['10 gone.example.com'], null]);
  const caa = pick(random, [
    null,
    ['0 issue "ca.example"'],
    ['0 issue "x y"'],
    ['0 isue "a.example"'],
  ]);
  const own = zone['example.com'] ?? {};
  if (!('fails' in own))
    zone['example.com'] = { ...own, ...(mx && { MX: mx }), ...(caa && { CAA: caa }) };
  return zone;
}

test('The health of a domain says the same everywhere, for random records', async () => {
  const random = seededRandom(20261127);
  const seen = new Set<string>();
  for (let i = 0; i < 600; i++) {
    const zone = randomZone(random);
    const health = await checkDomain(zone);
    assertAgrees(health);
    seen.add(health.status);
    // A later run in which lookups fail keeps the last known results.
    const later = await checkDomain({ ...zone, 'example.com': { fails: 'servfail' } });
    assertAgrees(keepPreviousResults(later, health.checks));
  }
  assert.deepEqual([...seen].sort(), ['critical', 'healthy', 'unknown', 'warning']);
});

test('The health of a domain says the same everywhere, for random findings', () => {
  const random = seededRandom(7);
  const essential = ['spf_record', 'dmarc_policy', 'dmarc_record', 'mx'];
  const optional = ['tls_rpt', 'caa', 'bimi', 'mta_sts', 'dane', 'dnssec', 'domain_blocklists'];
  for (let i = 0; i < 3_000; i++) {
    const checks = [...essential, ...optional].map((id): DomainCheck => {
      const status = pick<CheckStatus>(random, [
        'pass',
        'pass',
        'warn',
        'fail',
        'info',
        'error',
        'skipped',
      ]);
      const isToFix = status === 'warn' || status === 'fail';
      const severity = isToFix ? pick(random, ['critical', 'warning'] as const) : null;
      return {
        id,
        label: id,
        category: 'authentication',
        status,
        severity,
        title: id,
        detail: 'Why.',
        evidence: {},
        points: isToFix || status === 'pass' ? 1 + random.below(4) : 0,
        reference: { name: 'RFC', url: 'https://example.com/' },
        fix: null,
      };
    });
    assertAgrees(healthOf('example.com', checks));
  }
});

const BROKEN: [id: string, zone: Zone][] = [
  ['tls_rpt', { '_smtp._tls.example.com': { TXT: ['v=TLSRPTv1; rua='] } }],
  ['mta_sts', { '_mta-sts.example.com': { TXT: ['v=STSv1;'] } }],
  ['bimi', { 'default._bimi.example.com': { TXT: ['v=BIMI1; a=x'] } }],
];

for (const [id, zone] of BROKEN)
  test(`A broken optional record (${id}) is a warning in number, state and list`, async () => {
    const health = await checkDomain({
      'example.com': { TXT: ['v=spf1 mx -all'], MX: ['10 mx.example.com'] },
      'mx.example.com': { A: ['192.0.2.1'] },
      '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; rua=mailto:d@example.com'] },
      's1._domainkey.example.com': { TXT: [DKIM_KEYS.strong] },
      ...zone,
    });
    const check = item(health, id);
    assert.deepEqual([check.status, health.status, health.score! < 100], ['warn', 'warning', true]);
    assert.ok(
      health.summary.startsWith(`example.com works, with 1 warning: ${check.title}`),
      health.summary,
    );
    assertAgrees(health);
  });

const NAMES: [encoded: string, shown: string][] = [
  ['xn--bcher-kva.example', 'bücher.example'],
  ['xn--e1afmkfd.xn--p1ai', 'пример.рф'],
  ['xn--r8jz45g.jp', '例え.jp'],
];

for (const [encoded, shown] of NAMES)
  test(`${shown} is shown as people write it, with the encoded form once`, async () => {
    const health = await checkDomain(
      { [encoded]: { TXT: ['v=spf1 -all'], MX: ['10 gone.example.net'] }, 'example.com': {} },
      {},
      encoded,
    );
    assert.equal(health.name, encoded);
    assert.ok(health.summary.startsWith(`${shown} (${encoded}) needs attention: `), health.summary);
    const { title, fix } = item(health, 'dmarc_policy');
    assert.equal(title, `${shown} has no DMARC record.`);
    assert.match(
      fix!.record!.name,
      /^_dmarc\.[\x21-\x7e]+$/,
      'records are published with A-labels',
    );
    const text = domainText(health, { width: 400, color: false });
    assert.match(text.split('\n')[0]!, new RegExp(`${shown}$`));
    const sentences = text.split('\n').filter((line) => !/TXT|_dmarc|@/.test(line));
    assert.equal(sentences.join('\n').split(encoded).length - 1, 1, text);
  });
