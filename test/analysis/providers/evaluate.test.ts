/** The verdicts of the mailbox providers, out of the results of checks. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { providerVerdicts } from '../../../src/analysis/providers/evaluate.ts';
import type { Provider, RuleStatus } from '../../../src/analysis/result.ts';
import { PROVIDERS } from '../../../src/analysis/result.ts';
import { type Changes, judged, verdicts } from './results.ts';

test('providerVerdicts: passing checks make every provider ready', () => {
  for (const kind of ['marketing', 'transactional'] as const)
    for (const { name, ready, rules, reference } of verdicts({}, kind).all) {
      assert.equal(ready, true, name);
      assert.match(reference.url, /^https:/);
      for (const { id, status, checks, detail } of rules) {
        assert.equal(status, checks.length === 0 ? 'unknown' : 'met', `${name} ${id}`);
        assert.match(detail, /^\S.*\.$/, `${name} ${id}`);
      }
    }
});

test('providerVerdicts: unknown checks make no provider ready and violate no rule', () => {
  for (const { name, ready, rules } of providerVerdicts([], judged('marketing'))) {
    assert.equal(ready, false, name);
    assert.deepEqual([...new Set(rules.map(({ status }) => status))], ['unknown'], name);
  }
});

const table: [string, Changes, Provider, rule: string, RuleStatus, detail: string | null][] = [
  ['SPF alone', { dkim: 'fail' }, 'gmail', 'spf_or_dkim', 'met', 'spf says pass.'],
  ['DKIM alone', { spf: 'fail' }, 'gmail', 'spf_or_dkim', 'met', 'dkim says pass.'],
  [
    'neither',
    { spf: 'fail', dkim: 'fail' },
    'gmail',
    'spf_or_dkim',
    'not_met',
    'spf says fail. dkim says fail.',
  ],
  [
    'one fails, the other is not known',
    { spf: 'fail', dkim: 'error' },
    'yahoo',
    'spf_or_dkim',
    'unknown',
    'dkim says error.',
  ],
  [
    'a warning',
    { dmarc_policy: 'warn' },
    'gmail',
    'dmarc_record',
    'met',
    'dmarc_policy says warn.',
  ],
  ['no record', { dmarc_policy: 'fail' }, 'microsoft', 'dmarc_record', 'not_met', null],
  [
    'a broken record',
    { dmarc_policy: ['dmarc_record'], dmarc_record: 'fail' },
    'apple',
    'dmarc_record',
    'not_met',
    'dmarc_record says fail.',
  ],
  [
    'a dependent check shows its cause, once',
    { ptr: 'fail', fcrdns: ['ptr'] },
    'gmail',
    'reverse_dns',
    'not_met',
    'ptr says fail.',
  ],
  [
    'two causes',
    { one_click: ['list_unsubscribe', 'x'], list_unsubscribe: 'fail', x: 'fail' },
    'gmail',
    'one_click',
    'not_met',
    'list_unsubscribe says fail. x says fail.',
  ],
  [
    'a cause without a result',
    { one_click: ['missing'] },
    'gmail',
    'one_click',
    'not_met',
    'one_click: not checked.',
  ],
  [
    'skipped for another reason',
    { tls: 'skipped' },
    'gmail',
    'tls',
    'unknown',
    'tls says skipped.',
  ],
  ['an error', { tls: 'error' }, 'gmail', 'tls', 'unknown', 'tls says error.'],
  [
    'a check that did not run',
    { tls: null },
    'gmail',
    'tls',
    'unknown',
    'The check tls did not run.',
  ],
  ['one of many fails', { date: 'fail' }, 'yahoo', 'format', 'not_met', 'date says fail.'],
  [
    'one fails, another is unknown',
    { date: 'fail', message_id: 'error' },
    'yahoo',
    'format',
    'not_met',
    'date says fail.',
  ],
  ['one of many is unknown', { date: 'error' }, 'apple', 'format', 'unknown', 'date says error.'],
  [
    'many pass',
    {},
    'gmail',
    'format',
    'met',
    'No problems found in: DATE, MESSAGE_ID, HEADER_DUPLICATES, LINE_LENGTH and ENCODING.',
  ],
  [
    'alignment by the one that passes',
    { spf: 'fail', spf_alignment: ['spf'] },
    'gmail',
    'alignment',
    'met',
    'dkim says pass. dkim_alignment says pass.',
  ],
  [
    'an SPF failure does not count as aligned',
    { spf: 'fail', spf_alignment: 'pass', dkim_alignment: 'fail' },
    'microsoft',
    'alignment',
    'not_met',
    'dkim_alignment says fail. spf says fail.',
  ],
  ['an unsigned one-click', { one_click_signed: 'fail' }, 'gmail', 'one_click', 'not_met', null],
  ['DKIM fails', { dkim: 'fail' }, 'apple', 'dkim', 'not_met', 'dkim says fail.'],

  // From addresses at Gmail, and several From addresses.
  [
    'From elsewhere',
    {},
    'gmail',
    'no_gmail_from',
    'met',
    'From uses example.com, which is not a Gmail domain.',
  ],
  [
    'From elsewhere, DMARC fails',
    { dmarc: { status: 'fail', evidence: { from_domain: 'example.org' } } },
    'gmail',
    'no_gmail_from',
    'met',
    'From uses example.org, which is not a Gmail domain.',
  ],
  [
    'From at Gmail, not sent by Gmail',
    { dmarc: { status: 'fail', title: 'DMARC fails.', evidence: { from_domain: 'gmail.com' } } },
    'gmail',
    'no_gmail_from',
    'not_met',
    'DMARC fails.',
  ],
  [
    'From at Gmail, sent by Gmail',
    { from: { evidence: { address: 'a@GoogleMail.com' } } },
    'gmail',
    'no_gmail_from',
    'met',
    'dmarc says pass.',
  ],
  [
    'no From domain',
    { from: { status: 'fail', evidence: {} } },
    'gmail',
    'no_gmail_from',
    'unknown',
    null,
  ],
  [
    'two From addresses with a Sender',
    { from: { status: 'warn', title: 'Two.', evidence: { addresses: ['a', 'b'] } } },
    'gmail',
    'single_from',
    'not_met',
    'Two.',
  ],
  [
    'two From addresses with a Sender',
    { from: { status: 'warn', title: 'Two.', evidence: { addresses: ['a', 'b'] } } },
    'microsoft',
    'sender_address',
    'met',
    null,
  ],
  [
    'another address in the display name',
    { from: { status: 'warn', title: 'Sister.', evidence: { address: 'a@example.com' } } },
    'gmail',
    'single_from',
    'met',
    'Sister.',
  ],

  // The policy of the From domain.
  [
    'DMARC fails with a policy',
    { dmarc: { status: 'fail', title: 'It fails.', evidence: { policy: 'reject' } } },
    'microsoft',
    'dmarc_policy',
    'not_met',
    'It fails.',
  ],
  [
    'DMARC fails with p=none',
    {
      dmarc: { status: 'fail', title: 'It fails.', evidence: { policy: 'none' } },
      dmarc_policy: 'warn',
    },
    'apple',
    'dmarc_policy',
    'met',
    'It fails. The DMARC policy in effect is none: failing mail is still delivered.',
  ],
  [
    'no policy',
    { dmarc_policy: 'fail', dmarc: ['dmarc_policy'] },
    'yahoo',
    'dmarc_policy',
    'met',
    'The From domain has no DMARC policy to apply.',
  ],
  [
    'an invalid From',
    { from: 'fail', dmarc: ['from'] },
    'gmail',
    'dmarc_policy',
    'unknown',
    'From does not have exactly one domain, so no DMARC policy can be looked up.',
  ],
  ['DMARC is unknown', { dmarc: 'error' }, 'apple', 'dmarc_policy', 'unknown', 'dmarc says error.'],

  [
    'a link without readable text',
    { unsubscribe_link: 'warn' },
    'yahoo',
    'unsubscribe_link',
    'not_met',
    'unsubscribe_link says warn.',
  ],
  [
    'a link without readable text',
    { unsubscribe_link: 'warn' },
    'apple',
    'unsubscribe_link',
    'met',
    null,
  ],

  // Yahoo accepts an email address in place of one-click unsubscribe.
  [
    'an email address without one-click',
    {
      list_unsubscribe: { title: 'By mail.', evidence: { mailto: ['mailto:a@example.com'] } },
      one_click: 'fail',
    },
    'yahoo',
    'list_unsubscribe',
    'met',
    'By mail.',
  ],
  [
    'neither an email address nor one-click',
    { list_unsubscribe: { evidence: { mailto: [] } }, one_click: 'fail' },
    'yahoo',
    'list_unsubscribe',
    'not_met',
    'one_click says fail.',
  ],
  ['a listed address', { ip_blocklists: 'fail' }, 'yahoo', 'not_listed', 'not_met', null],
  [
    'other lists answered, Spamhaus did not',
    { ip_blocklists: { evidence: { lists: [{ zone: 'bl.spamcop.net', status: 'not_listed' }] } } },
    'yahoo',
    'not_listed',
    'unknown',
    'Spamhaus was not queried.',
  ],
  [
    'a List-Unsubscribe-Post field with a warning',
    { one_click: 'warn' },
    'gmail',
    'one_click',
    'not_met',
    'one_click says warn.',
  ],
  [
    'a warning that no provider rejects is shown',
    { date: 'warn' },
    'yahoo',
    'format',
    'met',
    'No problems found in: FROM, MESSAGE_ID, HEADER_DUPLICATES, LINE_LENGTH and ENCODING. date says warn.',
  ],
];

for (const [name, changes, provider, id, status, detail] of table)
  test(`${provider} rule ${id} is ${status}: ${name}`, () => {
    const rule = verdicts(changes).rule(provider, id);
    assert.equal(rule.status, status, rule.detail);
    if (detail !== null) assert.equal(rule.detail, detail);
  });

const file = (name: string, problem: string) => ({ file: name, problem, refused: true });

const readiness: [string, Changes, 'marketing' | 'transactional', Provider[]][] = [
  ['no TLS', { tls: 'fail' }, 'transactional', ['yahoo', 'microsoft', 'apple']],
  ['TLS unknown', { tls: 'error' }, 'transactional', ['yahoo', 'microsoft', 'apple']],
  ['no reverse DNS', { ptr: 'fail', fcrdns: ['ptr'] }, 'transactional', ['apple']],
  ['no reverse DNS in bulk', { ptr: 'fail', fcrdns: ['ptr'] }, 'marketing', []],
  ['SPF fails', { spf: 'fail', spf_alignment: ['spf'] }, 'transactional', [...PROVIDERS]],
  ['SPF fails in bulk', { spf: 'fail', spf_alignment: ['spf'] }, 'marketing', []],
  [
    'no DMARC record',
    { dmarc_policy: 'fail', dmarc: ['dmarc_policy'] },
    'transactional',
    [...PROVIDERS],
  ],
  ['no one-click', { one_click: 'fail' }, 'marketing', ['microsoft', 'apple']],
  ['no one-click', { one_click: 'fail' }, 'transactional', [...PROVIDERS]],
  ['no unsubscribe link', { unsubscribe_link: 'fail' }, 'marketing', []],
  ['a warning', { from: 'warn', dmarc_policy: 'warn', ptr: 'warn' }, 'marketing', [...PROVIDERS]],
  [
    'an address list that does not answer',
    { ip_blocklists: 'error' },
    'marketing',
    ['gmail', 'apple'],
  ],
  [
    'a domain list that does not answer',
    { domain_blocklists: 'error' },
    'marketing',
    ['gmail', 'yahoo', 'microsoft'],
  ],
  [
    'a listed From domain',
    { domain_blocklists: 'fail' },
    'transactional',
    ['gmail', 'yahoo', 'microsoft'],
  ],
  ['a listed link', { link_blocklists: 'fail' }, 'transactional', ['gmail', 'yahoo', 'microsoft']],
  ['hidden text', { hidden_text: 'fail' }, 'transactional', ['yahoo', 'microsoft', 'apple']],
  ['some hidden text', { hidden_text: 'warn' }, 'transactional', ['yahoo', 'microsoft', 'apple']],
  ['no HTML', { hidden_text: 'skipped', html_size: 'skipped' }, 'transactional', [...PROVIDERS]],
  ['clipped HTML', { html_size: 'fail' }, 'transactional', ['yahoo', 'microsoft', 'apple']],
  ['no Message-ID', { message_id: 'fail' }, 'transactional', ['apple']],
  ['two Subject fields', { header_duplicates: 'fail' }, 'transactional', ['apple']],
  [
    'a program',
    {
      attachments: {
        status: 'fail',
        evidence: {
          found: [
            {
              ...file('a.exe', 'is of type .exe, which Gmail blocks'),
              blocked_by: ['gmail', 'microsoft'],
            },
          ],
        },
      },
    },
    'transactional',
    ['yahoo', 'apple'],
  ],
  [
    'a registry file, which Gmail does not block',
    {
      attachments: {
        status: 'fail',
        evidence: {
          found: [
            {
              ...file('a.reg', 'is of type .reg, which Outlook blocks'),
              blocked_by: ['microsoft'],
            },
          ],
        },
      },
    },
    'transactional',
    ['gmail', 'yahoo', 'apple'],
  ],
  [
    'a document with macros',
    { attachments: { status: 'fail', evidence: { found: [file('a.docm', 'contains macros')] } } },
    'transactional',
    [...PROVIDERS],
  ],
  [
    'attachments that could not be read',
    { attachments: 'error' },
    'transactional',
    ['yahoo', 'apple'],
  ],
  [
    'the name of a brand',
    { from: { status: 'warn', evidence: { address: 'a@example.com', brand: 'PayPal' } } },
    'transactional',
    [],
  ],
  [
    'one part with undeclared 8-bit text',
    {
      encoding: {
        status: 'fail',
        evidence: {
          nul: 0,
          bare_cr: 0,
          bare_lf: 0,
          eight_bit_header: 0,
          eight_bit_body: 3,
          limits: [],
          eight_bit_fields: [],
        },
      },
    },
    'marketing',
    [...PROVIDERS],
  ],
  [
    'undeclared 8-bit text and another problem',
    {
      encoding: {
        status: 'fail',
        evidence: { nul: 0, eight_bit_body: 3, unknown_encoding: 'base-64' },
      },
    },
    'marketing',
    [],
  ],
  [
    'lines that end in LF',
    { encoding: { status: 'fail', evidence: { bare_lf: 7 } } },
    'transactional',
    ['apple'],
  ],
  [
    'a Date field of last week',
    { date: { status: 'fail', evidence: { sent_at: '2026-11-14T10:00:00.000Z' } } },
    'marketing',
    [...PROVIDERS],
  ],
  ['no Date field', { date: 'fail' }, 'marketing', []],
  ['a listed address', { ip_blocklists: 'fail' }, 'marketing', ['gmail', 'apple']],
];

for (const [name, changes, kind, ready] of readiness)
  test(`Providers ready for ${kind} mail are ${ready.join(', ') || 'none'}: ${name}`, () => {
    const found = verdicts(changes, kind).all.filter((verdict) => verdict.ready);
    assert.deepEqual(
      found.map(({ provider }) => provider),
      ready,
    );
  });

test('providerVerdicts lists unsubscribe rules only for marketing mail', () => {
  const ids = (kind: 'marketing' | 'transactional') =>
    verdicts({}, kind)
      .of('gmail')
      .rules.map(({ id }) => id);
  const left = ids('marketing').filter((id) => !ids('transactional').includes(id));
  assert.deepEqual(left, ['one_click', 'unsubscribe_link', 'unsubscribe_time']);
  assert.ok(ids('transactional').includes('dkim'));
});

test('Provider rules name their checks and SMTP replies', () => {
  const { rule } = verdicts();
  assert.deepEqual(rule('gmail', 'alignment').checks, [
    'dkim',
    'dkim_alignment',
    'spf',
    'spf_alignment',
  ]);
  assert.match(rule('gmail', 'reverse_dns').error!, /^550 5\.7\.25/);
  assert.equal(rule('microsoft', 'dmarc_record').error, '550 5.7.515');
  assert.equal(rule('apple', 'spf').error, null);
  assert.deepEqual(
    [rule('gmail', 'spam_rate').checks, rule('gmail', 'spam_rate').status],
    [[], 'unknown'],
  );
});
