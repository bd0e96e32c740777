/** Why receivers did less than the policy says, from what a report says. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PublishedPolicy, whyMilder } from '../../src/feedback/override-reasons.ts';

const failed = (header_from: string | null = 'example.com') => ({
  outcome: 'fail' as const,
  disposition: 'none' as const,
  reasons: [],
  header_from,
});

test('whyMilder names the tag that applied, and says nothing if the report does not show which', () => {
  const [domain, subdomain] = ['example.com', 'news.example.com'];
  const cases: [policy: PublishedPolicy, from: string | null, why: string | null][] = [
    [{ p: 'none' }, domain, 'Your policy was p=none'],
    [{ p: 'reject', sp: 'none' }, domain, 'The receiver gives no reason'],
    [{ p: 'reject', sp: 'none' }, subdomain, 'Your policy was sp=none'],
    [{ p: 'none', sp: 'reject' }, subdomain, 'The receiver gives no reason'],
    [{ p: 'none' }, subdomain, 'Your policy was p=none'],
    [{ p: 'reject', np: 'none' }, subdomain, null],
    [{ p: 'reject', pct: 20 }, domain, 'Your policy applied to 20% of failing mail'],
    [{ p: 'reject', testing: true }, domain, 'Your policy was in test mode (t=y)'],
    [{ p: 'unheard-of' }, domain, null],
    [{}, null, null],
  ];
  for (const [policy, from, why] of cases)
    assert.equal(whyMilder(failed(from), policy, domain), why, JSON.stringify([policy, from]));
});

test('whyMilder says nothing about mail that passed or was treated as the policy says', () => {
  const policy = { p: 'quarantine' };
  assert.equal(whyMilder({ ...failed(), outcome: 'pass' }, policy, 'example.com'), null);
  assert.equal(whyMilder({ ...failed(), disposition: 'quarantine' }, policy, 'example.com'), null);
});
