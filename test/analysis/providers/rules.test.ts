/** The declared provider rules, and a message that meets all of them. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyze } from '../../../src/analysis/analyze.ts';
import { CHECKS } from '../../../src/analysis/checks/index.ts';
import { NO_SETUP } from '../../../src/analysis/context.ts';
import { PROVIDER_RULES } from '../../../src/analysis/providers/evaluate.ts';
import { PROVIDERS } from '../../../src/analysis/result.ts';
import { type Zone, zoneResolver } from '../../../src/net/dns/zone.ts';
import { ENVELOPE, RECEIVED_AT } from '../../helpers/analysis.ts';
import { workingLists } from '../../helpers/blocklists.ts';
import { KEYS, sign } from '../dkim/signed-mail.ts';
import { NEEDED } from './results.ts';

const rules = PROVIDER_RULES.flatMap(({ provider, rules }) =>
  rules.map((rule) => ({ ...rule, name: `${provider} ${rule.id}` })),
);

test('Every provider has its rules, in declared order', () => {
  assert.deepEqual(
    PROVIDER_RULES.map(({ provider }) => provider),
    [...PROVIDERS],
  );
});

test('Provider rules have unique IDs, titles and valid reply codes', () => {
  for (const { rules, provider } of PROVIDER_RULES)
    assert.equal(new Set(rules.map(({ id }) => id)).size, rules.length, provider);
  for (const { id, title, error, name } of rules) {
    assert.match(id, /^[a-z]+(?:_[a-z]+)*$/, name);
    assert.match(title, /^[A-Z].*[^.]\.$/, name);
    if (error !== null)
      assert.match(error, /^(?:\d{3} )?\d\.\d\.\d+(?:, (?:\d{3} )?\d\.\d\.\d+)*$/, name);
  }
});

test('Provider rules depend only on existing checks', () => {
  const known = new Set(CHECKS.map(({ id }) => id));
  assert.deepEqual(
    NEEDED.filter((id) => !known.has(id)),
    [],
  );
});

/** Gmail's rule for forwarding servers is about them only. */
const OF_FORWARDERS = ['arc', 'forwarding'];

test('Provider rules do not depend on other informational checks', () => {
  const informing = new Set(CHECKS.filter(({ points }) => points === 0).map(({ id }) => id));
  assert.deepEqual(
    NEEDED.filter((id) => informing.has(id) && !OF_FORWARDERS.includes(id)),
    [],
  );
});

const ZONE: Zone = {
  'example.com': { TXT: ['v=spf1 ip4:203.0.114.7 -all'], MX: ['10 mail.example.com'] },
  's1._domainkey.example.com': { TXT: [KEYS.rsa.record] },
  '_dmarc.example.com': { TXT: ['v=DMARC1; p=none; rua=mailto:d@example.com'] },
  'mail.example.com': { A: ['203.0.114.7'] },
  '7.114.0.203.in-addr.arpa': { PTR: ['mail.example.com'] },
};

const NEWSLETTER = `From: News <news@example.com>
To: Bob <bob@receiver.example>
Subject: The news of November
Date: Sat, 21 Nov 2026 09:59:00 +0000
Message-ID: <1@example.com>
List-Unsubscribe: <https://example.com/u/1>
List-Unsubscribe-Post: List-Unsubscribe=One-Click
MIME-Version: 1.0
Content-Type: text/plain; charset=us-ascii

Hello Bob, here are the news.

Unsubscribe: https://example.com/u/1
`;

const BOTH = ['List-Unsubscribe', 'List-Unsubscribe-Post'];
const SIGNED = ['From', 'To', 'Subject', 'Date', 'Message-ID', ...BOTH];

async function providersOf(text: string, headerList = SIGNED) {
  const raw = await sign({ headerList }, text);
  const { providers } = await analyze(
    {
      raw,
      envelope: { ...ENVELOPE, client_ip: '203.0.114.7' },
      receivedAt: RECEIVED_AT,
      kind: 'auto',
    },
    {
      resolver: zoneResolver(ZONE),
      setup: { ...NO_SETUP, blocklists: workingLists() },
    },
  );
  return providers;
}

test('A compliant newsletter is ready for every provider', async () => {
  for (const { name, ready, rules } of await providersOf(NEWSLETTER)) {
    const open = rules.filter(({ status, checks }) => status !== 'met' && checks.length > 0);
    assert.deepEqual(
      open.map(({ id, status, detail }) => [id, status, detail]),
      [],
      name,
    );
    assert.equal(ready, true, name);
  }
});

test('A newsletter without List-Unsubscribe-Post is not ready for Gmail', async () => {
  const text = `Precedence: bulk\n${NEWSLETTER.replace(/^List-Unsubscribe-Post.*\n/m, '')}`;
  const providers = await providersOf(text);
  const gmail = providers.find(({ provider }) => provider === 'gmail')!;
  assert.equal(gmail.ready, false);
  const rule = gmail.rules.find(({ id }) => id === 'one_click')!;
  assert.deepEqual(
    [rule.status, rule.detail],
    ['not_met', 'Your message has no List-Unsubscribe-Post field.'],
  );
  assert.equal(providers.find(({ provider }) => provider === 'microsoft')!.ready, true);
});
