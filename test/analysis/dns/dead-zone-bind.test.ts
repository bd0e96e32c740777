/** Domains that are dead for others, with real signatures, delegations and a validating resolver of BIND. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_SETUP } from '../../../src/analysis/context.ts';
import { analyzeDomain } from '../../../src/analysis/domain/analyze-domain.ts';
import { createAnalysisPool } from '../../../src/analysis/pool.ts';
import type { CheckResult } from '../../../src/analysis/result.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { createAskDns } from '../../../src/net/dns/ask.ts';
import { offlineWebClient } from '../../../src/net/http/web.ts';
import { ENVELOPE } from '../../helpers/analysis.ts';
import { startDnsTree, type TreeZone } from '../../helpers/dns-tree.ts';
import { skipUnlessInstalled } from '../../helpers/installed.ts';
import { item } from '../domain/domains.ts';

const ZONES: Record<string, TreeZone> = {
  'signed.example': { servers: ['ns1'], signed: 'well' },
  'plain.example': { servers: ['ns1'] },
  'expired.example': { servers: ['ns1'], signed: 'expired' },
  'moved.example': { servers: ['ns1'], signed: 'wrong_ds' },
  'stripped.example': { servers: ['ns1'], signed: 'unsigned' },
  'half.example': { servers: ['ns1', 'ns2'] },
  'gone.example': { servers: ['ns2', 'ns3'] },
  'other.example': { servers: ['ns1'], ownServers: ['ns1', 'ns3'] },
};

const withMail = (name: string, zone: TreeZone): TreeZone => ({
  ...zone,
  lines: [
    `${name}. IN MX 10 mx.${name}.`,
    `mx.${name}. IN A 192.0.2.1`,
    `${name}. IN TXT "v=spf1 mx -all"`,
    `_dmarc.${name}. IN TXT "v=DMARC1; p=reject; rua=mailto:dmarc@${name}"`,
  ],
});

const skip = skipUnlessInstalled('named') || skipUnlessInstalled('dnssec-signzone');

test('Real BIND: DNSSEC faults and dead delegations are named, and healthy zones pass', {
  skip,
}, async (t) => {
  const tree = await startDnsTree(
    t,
    Object.fromEntries(Object.entries(ZONES).map(([name, zone]) => [name, withMail(name, zone)])),
  );
  const now = Date.now();
  const check = async (
    name: string,
    { resolver, ask }: Pick<typeof tree, 'resolver' | 'ask'> = tree,
  ) => {
    const health = await analyzeDomain(name, {
      resolver,
      askDns: ask,
      web: offlineWebClient,
      setup: NO_SETUP,
      selectors: [],
      now,
    });
    const others = health.checks.filter(({ id }) => id !== 'name_servers');
    return {
      ...item(health, 'name_servers'),
      health,
      isOnly: others.every(({ status }) => status === 'skipped'),
    };
  };

  await t.test('a signed and an unsigned zone pass', async () => {
    for (const name of ['signed.example', 'plain.example']) {
      const { status, health } = await check(name);
      assert.equal(status, 'pass', name);
      assert.equal(item(health, 'mx').status, 'pass', name);
    }
  });

  await t.test('expired signatures, with their date', async () => {
    const { title, health, evidence, isOnly } = await check('expired.example');
    const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
    const since = Date.parse(String(evidence.since));
    assert.ok(Math.abs(now - since - 5 * 24 * 3_600_000) < 600_000, String(evidence.since));
    assert.equal(
      title,
      `Receivers that validate DNSSEC cannot look up expired.example: its signatures expired on ${day.format(since)}.`,
    );
    assert.deepEqual([health.status, health.score, isOnly], ['critical', 0, true]);
  });

  await t.test('a DS record that no key matches', async () => {
    const { title, health, fix, isOnly } = await check('moved.example');
    assert.match(title, /: none of its keys matches the DS record at its parent zone\.$/);
    assert.match(fix!.text, /replace the DS record with the key tag 12345 /);
    assert.deepEqual([health.status, isOnly], ['critical', true]);
  });

  await t.test('a DS record of a zone that is not signed', async () => {
    const { title, health, isOnly } = await check('stripped.example');
    assert.match(title, /has a DS record, but the zone is not signed\.$/);
    assert.deepEqual([health.status, isOnly], ['critical', true]);
  });

  await t.test('one lame server of two', async () => {
    const { title, severity, health } = await check('half.example');
    assert.equal(title, 'ns2.example does not answer for half.example.');
    assert.deepEqual([severity, health.status], ['warning', 'warning']);
    assert.equal(item(health, 'spf_record').status, 'pass');
  });

  await t.test('no server answers', async () => {
    const { title, detail, health, isOnly } = await check('gone.example');
    assert.match(title, /^Nobody can look up gone\.example: none of its name servers answers/);
    assert.match(detail, /ns2\.example \(127\.0\.0\.4\) refuses/);
    assert.match(detail, /ns3\.example \(127\.0\.0\.7\) does not respond/);
    assert.deepEqual([health.status, isOnly], ['critical', true]);
  });

  await t.test('other name servers in the zone than in its parent zone', async () => {
    const { status, severity, evidence } = await check('other.example');
    assert.deepEqual([status, severity, evidence.cause], ['info', null, 'servers_differ']);
  });

  await t.test(
    'a resolver without the root finds nothing, and the domain is not to blame',
    async () => {
      const { status, evidence, health } = await check('signed.example', tree.broken);
      assert.deepEqual(
        [health.status, status, evidence.cause],
        ['unknown', 'error', 'own_resolver'],
      );
    },
  );

  await t.test(
    'a message from a domain with expired signatures, analyzed in a thread',
    async () => {
      const { resolver, ask: askDns } = tree;
      const pool = createAnalysisPool({ threads: 1, resolver, askDns, log: silentLog });
      try {
        const outcome = await pool.analyze({
          raw: Buffer.from('From: Ann <ann@expired.example>\r\n\r\nHello\r\n'),
          envelope: ENVELOPE,
          receivedAt: now,
          kind: 'transactional',
        });
        assert.ok(outcome.ok);
        const checks: CheckResult[] = JSON.parse(outcome.result.checks);
        const { status, title } = checks.find(({ id }) => id === 'mx')!;
        assert.equal(status, 'fail');
        assert.match(title, /cannot look up expired\.example: its signatures expired on /);
      } finally {
        await pool.close();
      }
    },
  );

  await t.test('name servers at private addresses are not asked unless allowed', async () => {
    const guarded = createAskDns({ servers: [{ host: '127.0.0.5', port: 1 }] });
    const { failure } = await guarded({ name: 'plain.example', type: 'SOA', to: '127.0.0.3' });
    assert.equal(failure, 'forbidden');
    const { status, health } = await check('gone.example', { ...tree, ask: guarded });
    assert.deepEqual([health.status, status], ['unknown', 'error']);
  });
});
