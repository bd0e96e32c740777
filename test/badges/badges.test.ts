/** Badges of domains and shared reports, to embed in other websites. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { badgeColor } from '../../src/report/badge.ts';
import type { DomainRow } from '../../src/store/tables.generated.ts';
import { type Sharing, startSharing } from '../shares/sharing.ts';

interface Told {
  schemaVersion: number;
  label: string;
  message: string;
  color: string;
}

async function startBadges(t: TestContext) {
  const sharing = await startSharing(t);
  const { service, read } = sharing;
  return {
    ...sharing,
    /** Default: verified, healthy and with badges enabled. */
    async domain(name: string, change: Partial<DomainRow> = {}) {
      const json = { name, badge_enabled: true };
      const { status, body } = await service.call<{ id: string }>('POST', '/v1/domains', { json });
      assert.equal(status, 201);
      const state = { status: 'verified', health_status: 'healthy', health_score: 97 } as const;
      await service.app.db
        .updateTable('domains')
        .set({ ...state, ...change })
        .where('id', '=', body.id)
        .execute();
      return body.id;
    },
    async told(name: string) {
      const { status, body, headers } = await read<Told>(`/badges/${name}.json`);
      assert.deepEqual([status, headers.get('content-type')], [200, 'application/json']);
      return body;
    },
  };
}

test('Domain badge shows health as SVG and shields.io JSON', async (t) => {
  const { domain, told, read } = await startBadges(t);
  await domain('example.com');
  await domain('fair.example', { health_status: 'warning', health_score: 71 });
  await domain('bad.example', { health_status: 'critical', health_score: 0 });
  await domain('new.example', { health_status: 'unknown', health_score: null });
  for (const [name, message, state] of [
    ['example.com', 'healthy, 97 of 100', 'healthy'],
    ['EXAMPLE.com', 'healthy, 97 of 100', 'healthy'],
    ['fair.example', 'warning, 71 of 100', 'warning'],
    ['bad.example', 'critical, 0 of 100', 'critical'],
    ['new.example', 'unknown', 'unknown'],
  ] as const) {
    // shields.io rejects unknown fields.
    assert.deepEqual(await told(name), {
      schemaVersion: 1,
      label: 'deliverability',
      message,
      color: badgeColor(state),
    });
    const { status, headers, text } = await read(`/badges/${name}.svg?cache=7`);
    assert.deepEqual([status, headers.get('content-type')], [200, 'image/svg+xml']);
    assert.match(text, /^<svg /);
    assert.ok(text.includes(`deliverability: ${message}`) && text.includes(badgeColor(state)));
  }
});

test('Domain badge can be embedded by other sites and cached for five minutes', async (t) => {
  const { domain, read } = await startBadges(t);
  await domain('example.com');
  for (const end of ['svg', 'json']) {
    const { headers } = await read(`/badges/example.com.${end}`);
    assert.equal(headers.get('cache-control'), 'public, max-age=300');
    assert.equal(headers.get('cross-origin-resource-policy'), 'cross-origin');
    assert.equal(
      headers.get('content-security-policy'),
      "default-src 'none'; frame-ancestors 'none'",
    );
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
  }
});

test('Badges of disabled, unverified and unknown domains return identical 404s', async (t) => {
  const { domain, read, service } = await startBadges(t);
  await domain('off.example', { badge_enabled: 0 });
  await domain('pending.example', { status: 'pending' });
  await domain('failed.example', { status: 'failed' });
  const gone = await domain('gone.example');
  await service.call('DELETE', `/v1/domains/${gone}`);
  const names = ['off', 'pending', 'failed', 'gone', 'never', 'sub.off'];
  for (const end of ['svg', 'json']) {
    const answers = [];
    for (const name of names) {
      const { status, body, headers } = await read(`/badges/${name}.example.${end}`);
      const { request_id, ...problem } = body;
      const fields = [...headers].filter(
        ([field]) => !/^(x-request-id|date|ratelimit)$/.test(field),
      );
      answers.push({ status, problem, fields });
    }
    assert.equal(answers[0]!.status, 404);
    for (const answer of answers) assert.deepEqual(answer, answers[0]);
  }
});

const setGrades = async (
  { service }: Pick<Sharing, 'service'>,
  grades: Record<string, unknown>,
) => {
  for (const [id, grade] of Object.entries(grades))
    await service.app.db
      .updateTable('tests')
      .set({ grade } as never)
      .where('id', '=', id)
      .execute();
};

test('Public report badge shows the worst grade', async (t) => {
  const badges = await startBadges(t);
  const { analysed, share, told, service } = badges;
  const [one, two, three] = [await analysed(), await analysed(), await analysed()];
  const all = await share({ test_ids: [one.id, two.id, three.id] });
  const first = await share({ test_ids: [one.id] });
  for (const [grades, message, state, alone] of [
    [['A', 'A', 'A'], 'grade A', 'healthy', 'grade A'],
    [['A', 'B', 'A'], 'grade B', 'healthy', 'grade A'],
    [['B', 'C', 'A'], 'grade C', 'warning', 'grade B'],
    [['D', 'C', null], 'grade D', 'warning', 'grade D'],
    [['A', 'F', 'A'], 'grade F', 'critical', 'grade A'],
    [[null, null, null], 'unknown', 'unknown', 'unknown'],
  ] as const) {
    await setGrades(badges, { [one.id]: grades[0], [two.id]: grades[1], [three.id]: grades[2] });
    const badge = await told(all.token);
    assert.deepEqual([badge.message, badge.color], [message, badgeColor(state)]);
    assert.equal((await told(first.token)).message, alone);
  }
  await service.call('DELETE', `/v1/tests/${one.id}`);
  assert.equal((await told(first.token)).message, 'unknown');
});

test('Public report badge answers 410 after the link ends and is never cached', async (t) => {
  const { service, clock, analysed, share, read } = await startBadges(t);
  const { id } = await analysed();
  const [revoked, expired] = [
    await share({ test_ids: [id] }),
    await share({ test_ids: [id], expires_in: 60 }),
  ];
  for (const end of ['svg', 'json']) {
    const { status, headers } = await read(`/badges/${revoked.token}.${end}`);
    assert.equal(status, 200);
    assert.equal(headers.get('cache-control'), 'private, no-store');
    assert.equal(headers.get('x-robots-tag'), 'noindex');
    assert.equal(headers.get('cross-origin-resource-policy'), 'cross-origin');
  }
  await service.call('DELETE', `/v1/reports/shared/${revoked.id}`);
  clock.advance(60_000);
  for (const { token } of [revoked, expired])
    for (const end of ['svg', 'json']) {
      const { status, headers } = await read(`/badges/${token}.${end}`);
      assert.equal(status, 410);
      assert.equal(headers.get('cache-control'), 'private, no-store');
    }
  assert.equal((await read(`/badges/${'x'.repeat(43)}.svg`)).status, 404);
});

test('Badges reject invalid names with 404 and rapid requests with 429', async (t) => {
  const { read, clock, domain } = await startBadges(t);
  await domain('example.com');
  for (const name of [
    '..',
    '.',
    '%00',
    '%2e%2e%2f',
    "'.example",
    'example.com.svg',
    'x'.repeat(900),
  ])
    assert.equal((await read(`/badges/${name}.json`)).status, 404, name);
  let status = 0;
  for (let n = 0; n < 301 && status !== 429; n++)
    ({ status } = await read(`/badges/d${n}.example.${n % 2 ? 'svg' : 'json'}`));
  assert.equal(status, 429);
  clock.advance(61_000);
  assert.equal((await read('/badges/example.com.svg')).status, 200);
});
