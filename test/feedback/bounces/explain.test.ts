/** Replies of providers, gateways and blocklists as they arrive, and what they mean. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHECKS } from '../../../src/analysis/checks/index.ts';
import { PROVIDER_RULES } from '../../../src/analysis/providers/evaluate.ts';
import { explainBounce, reasonOf } from '../../../src/feedback/bounces/explain.ts';
import { COMMON_REPLIES, REPLY_GROUPS } from '../../../src/feedback/bounces/replies.ts';
import { REPLIES } from './explained.ts';

test('The replies of providers are explained, with the checks that show the cause', () => {
  for (const [provider, status_code, diagnostic, who, text, check] of REPLIES) {
    const found = explainBounce({ provider, status_code, diagnostic });
    const name = `${provider} ${status_code} ${diagnostic}`;
    assert.ok(found, name);
    assert.equal(found.provider, who, name);
    assert.match(found.text, text, name);
    assert.equal(found.checks[0] ?? null, check, name);
  }
});

test('Codes that no table has are explained by class and detail of RFC 3463', () => {
  const explained = (status_code: string | null) =>
    explainBounce({ provider: 'mailbox.example', status_code, diagnostic: null });
  assert.match(explained('5.1.1')!.text, /mailbox does not exist/);
  assert.match(explained('4.2.2')!.text, /mailbox is full/);
  assert.match(explained('5.7.99')!.text, /security or policy reason/);
  assert.match(explained('5.99.1')!.text, /no detailed code/);
  assert.equal(explained('5.1.1')!.reference, 'https://www.rfc-editor.org/rfc/rfc3463');
  assert.equal(explained(null), null);
});

test('A reply without an enhanced code is a rejection by policy only if its text says so', () => {
  const reason = (diagnostic: string | null) =>
    reasonOf({ provider: 'mailbox.example', status_code: '5.0.0', diagnostic });
  assert.equal(reason('550 Message rejected, looks like spam'), 'policy');
  assert.equal(reason('550 No such user here'), 'unknown_mailbox');
  assert.equal(reason('550 Go away'), 'unknown');
  assert.equal(reason(null), 'unknown');
});

test('The tables name checks that exist, and texts that fit', () => {
  const ids = new Set(CHECKS.map(({ id }) => id));
  const replies = [...REPLY_GROUPS.flatMap((group) => group.replies), ...COMMON_REPLIES];
  assert.ok(replies.length >= 40, String(replies.length));
  for (const { checks, meaning, status, text } of replies) {
    const name = String(meaning ?? text);
    for (const id of checks) assert.ok(ids.has(id), `${id}: ${name}`);
    assert.equal(new Set(checks).size, checks.length, name);
    assert.ok(status !== undefined || text !== undefined, name);
    assert.ok((meaning?.length ?? 0) < 200, meaning ?? '');
  }
});

test('Each code that the provider rules of the checks name is explained by the table of that provider', () => {
  const servers: Record<string, string> = {
    gmail: 'google.com',
    microsoft: 'outlook.com',
    yahoo: 'yahoodns.net',
    apple: 'icloud.com',
  };
  for (const { provider, rules } of PROVIDER_RULES)
    for (const { error, id } of rules)
      for (const [status_code] of (error ?? '').matchAll(/[45]\.7\.\d{2,3}/g)) {
        const reply = { provider: servers[provider]!, status_code, diagnostic: null };
        const found = explainBounce(reply);
        assert.ok((found?.checks.length ?? 0) > 0, `${provider} ${id} ${status_code}`);
        assert.notEqual(found!.reference, 'https://www.rfc-editor.org/rfc/rfc3463');
      }
});
