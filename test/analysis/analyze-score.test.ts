/** When a message has a score, and that the result only depends on the input. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { analyze } from '../../src/analysis/analyze.ts';
import type { AnalysisInput, CheckStatus } from '../../src/analysis/check.ts';
import { RULESET } from '../../src/analysis/ruleset.ts';
import { unknownResults } from '../../src/analysis/summary.ts';
import { type Zone, zoneResolver } from '../../src/net/dns/zone.ts';
import { ENVELOPE, RECEIVED_AT } from '../helpers/analysis.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { makeKey, signMessage } from '../helpers/signer.ts';
import { analyzeBy, fakeCheck } from './fake-checks.ts';

describe('Score availability by SPF, DKIM and DMARC status', () => {
  type Three = [spf: CheckStatus, dkim: CheckStatus, dmarc: CheckStatus];
  const cases: [three: Three, hasScore: boolean, temporary: boolean][] = [
    [['pass', 'pass', 'pass'], true, false],
    [['fail', 'fail', 'fail'], true, false],
    [['pass', 'fail', 'error'], true, false],
    [['skipped', 'pass', 'warn'], true, false],
    [['pass', 'error', 'error'], false, true],
    [['error', 'error', 'error'], false, true],
    [['skipped', 'error', 'pass'], false, true],
    [['skipped', 'skipped', 'pass'], false, false],
    [['skipped', 'skipped', 'skipped'], false, false],
  ];
  for (const [three, hasScore, temporary] of cases)
    it(`${three.join(', ')}: ${hasScore ? 'has a score' : temporary ? 'is retried' : 'has no score'}`, async () => {
      const checks = ['spf', 'dkim', 'dmarc'].map((id, i) => fakeCheck(id, three[i]!));
      const result = await analyzeBy([...checks, fakeCheck('wrong', 'fail')]);
      assert.equal(result.score !== null, hasScore);
      assert.equal(result.grade !== null, hasScore);
      assert.equal(result.uncapped !== null, hasScore);
      assert.equal(result.temporary, temporary);
      // Findings are reported without a score, but have no gain.
      assert.equal(result.of('wrong').status, 'fail');
      assert.equal(result.of('wrong').gain > 0, hasScore);
      if (!hasScore) assert.equal(result.cap, null);
      assert.ok(result.categories.length > 0);
    });

  it('a check that depends on a failed one counts as known', async () => {
    const { score, temporary } = await analyzeBy([
      fakeCheck('policy', 'fail'),
      fakeCheck('spf', 'error'),
      fakeCheck('dkim', 'pass'),
      fakeCheck('dmarc', 'error', { dependsOn: ['policy'] }),
    ]);
    assert.ok(score !== null);
    assert.equal(temporary, false);
  });
});

it('analyze returns score, grade, cap and coverage together', async () => {
  const result = await analyzeBy([
    fakeCheck('dmarc', 'fail', { points: 1 }),
    fakeCheck('a', 'pass', { points: 99 }),
    fakeCheck('b', 'error', { points: 80 }),
  ]);
  assert.deepEqual(
    [result.score, result.grade, result.cap?.limit, result.coverage, result.ruleset],
    [40, 'F', 40, 0.6, RULESET],
  );
  assert.equal(Math.floor(result.uncapped!), 99);
});

const KEY = makeKey();
const CLEAN_ZONE: Zone = {
  'example.com': {
    A: ['192.0.2.1'],
    MX: ['10 mail.example.com'],
    TXT: ['v=spf1 ip4:192.0.2.1 -all'],
  },
  'mail.example.com': { A: ['192.0.2.1'], TXT: ['v=spf1 a -all'] },
  's1._domainkey.example.com': { TXT: [KEY.record] },
  '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; rua=mailto:dmarc@example.com'] },
  '1.2.0.192.in-addr.arpa': { PTR: ['mail.example.com'] },
};

async function cleanInput(): Promise<AnalysisInput> {
  const raw = await signMessage(goodMessage(), { domain: 'example.com', selector: 's1', key: KEY });
  return { raw, envelope: ENVELOPE, receivedAt: RECEIVED_AT, kind: 'auto' };
}

describe('analyze with all checks', () => {
  it('scores a flawless message 100 without findings', async () => {
    const result = await analyze(await cleanInput(), { resolver: zoneResolver(CLEAN_ZONE) });
    const problems = result.checks.filter(({ status }) =>
      ['warn', 'fail', 'error'].includes(status),
    );
    assert.deepEqual(problems, []);
    assert.deepEqual([result.score, result.grade, result.cap], [100, 'A', null]);
    assert.deepEqual(result.auth_results, { spf: 'pass', dkim: 'pass', dmarc: 'pass' });
    assert.deepEqual([result.coverage, result.temporary], [1, false]);
    // Without blocklists, it is not known whether Spamhaus lists the sender.
    assert.equal(
      result.summary,
      'This message meets the rules of Gmail and Apple; for Yahoo and Microsoft, that is unknown.',
    );
    assert.equal(unknownResults(result), 'Not checked: IP blocklists.');
    assert.deepEqual(
      [result.from_address, result.subject],
      ['news@example.com', 'Your order has shipped'],
    );
    // No blocklist is enabled, and no spam filter is configured.
    const scores = result.categories.map(({ name, score }) => [name, score]);
    assert.deepEqual(Object.fromEntries(scores), {
      authentication: 100,
      reputation: null,
      infrastructure: 100,
      compliance: 100,
      content: 100,
    });
  });

  it('is deterministic for the same input and DNS answers', async () => {
    const clean = await cleanInput();
    const changed = Buffer.from(Buffer.from(clean.raw).toString().replace('Your', 'My'));
    for (const raw of [clean.raw, changed]) {
      const input = { ...clean, raw };
      const once = () => analyze(input, { resolver: zoneResolver(CLEAN_ZONE) });
      assert.deepEqual(await once(), await once());
    }
  });

  it('does not depend on the order of DNS answers', async () => {
    const input = await cleanInput();
    const zone = zoneResolver({
      ...CLEAN_ZONE,
      '_dmarc.example.com': { TXT: ['v=DMARC1; p=none'] },
    });
    const held: (() => void)[] = [];
    const lastFirst = analyze(input, {
      resolver: async (name, type) => {
        await new Promise<void>((resolve) => held.push(resolve));
        return zone(name, type);
      },
    });
    let ended = false;
    void lastFirst.then(() => {
      ended = true;
    });
    while (!ended) {
      held.pop()?.();
      await new Promise(setImmediate);
    }
    assert.deepEqual(await lastFirst, await analyze(input, { resolver: zone }));
  });

  it('gives every failing check a fix and JSON-serializable results', async () => {
    const raw = Buffer.from(
      goodMessage({ Date: null, Subject: null, From: null }).replaceAll('\n', '\r\n'),
    );
    const envelope = {
      ...ENVELOPE,
      helo: 'localhost',
      tls: { used: false, version: null, cipher: null },
    };
    const input = { ...(await cleanInput()), raw, envelope };
    const result = await analyze(input, { resolver: zoneResolver({}) });
    const problems = result.checks.filter(({ status }) => ['warn', 'fail'].includes(status));
    assert.ok(problems.length >= 5);
    for (const { id, title, detail, fix, reference } of problems)
      for (const text of [title, detail, fix?.text, reference.url]) assert.ok(text, id);
    assert.deepEqual(JSON.parse(JSON.stringify(result)), result);
  });

  it('is not retried if only signatures beyond the limit are unknown', async () => {
    const signature =
      'DKIM-Signature: v=1; a=rsa-sha256; d=example.com; s=s1; h=from; bh=YQ==; b=YQ==\n';
    const raw = Buffer.from(`${signature.repeat(11)}${goodMessage()}`.replaceAll('\n', '\r\n'));
    const envelope = { ...ENVELOPE, mail_from: null, helo: null };
    const result = await analyze(
      { raw, envelope, receivedAt: RECEIVED_AT, kind: 'auto' },
      { resolver: zoneResolver({}) },
    );
    assert.deepEqual([result.score, result.temporary], [null, false]);
    assert.match(result.summary, /^This message has no score: .*DKIM/);
  });

  it('makes no DNS queries offline and gives findings without score', async () => {
    const queries: string[] = [];
    const result = await analyze(await cleanInput(), {
      offline: true,
      resolver: async (name) => {
        queries.push(name);
        return { status: 'error', reason: 'disabled' };
      },
    });
    assert.deepEqual(queries, []);
    assert.deepEqual([result.score, result.temporary], [null, false]);
    assert.deepEqual(result.auth_results, { spf: null, dkim: null, dmarc: null });
    assert.ok(result.checks.some(({ status }) => status === 'pass'));
    assert.ok(!result.checks.some(({ status }) => status === 'error'));
  });
});
