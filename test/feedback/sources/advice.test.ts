/** The advice on the policy: each state, at its boundaries; one step at a time. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dmarcValue } from '../../../src/domains/feedback/records.ts';
import {
  type AdviceInput,
  type AdvisedSource,
  adviseOn,
} from '../../../src/feedback/sources/advice.ts';

const DAYS = Array.from(
  { length: 14 },
  (_, index) => `2026-11-${String(index + 8).padStart(2, '0')}`,
);

/** Sent in the last 14 days, unless `recent` says otherwise. */
const source = (changes: Partial<AdvisedSource> = {}): AdvisedSource => {
  const { messages = 1000, passed = 1000 } = changes;
  return {
    id: 'src_1',
    name: 'Mailchimp',
    kind: 'service',
    isService: true,
    messages,
    passed,
    recent: { messages, passed },
    ...changes,
  };
};

const SILENT = { messages: 0, passed: 0 };

/** A sender that failed until it was repaired, and of which so many of the last hundred messages passed. */
const repaired = (passed: number): Partial<AdvisedSource> => ({
  kind: 'misconfigured',
  messages: 500,
  passed: 100 + passed,
  recent: { messages: 100, passed },
});

/** As `dmarcValue` adds the address. */
const RUA = 'mailto:fb-x@inbox.example';

const advise = (changes: Partial<AdviceInput> = {}) =>
  adviseOn({
    record: 'v=DMARC1; p=none; rua=mailto:a@example.com',
    proposal: dmarcValue(
      'record' in changes ? (changes.record ?? null) : 'v=DMARC1; p=none; rua=mailto:a@example.com',
      RUA,
      null,
    ),
    isParked: false,
    unnamed: 0,
    days: DAYS,
    reporters: 3,
    sources: [source()],
    ...changes,
  });

const CASES: [
  what: string,
  changes: Partial<AdviceInput>,
  state: string,
  next: string | null,
  says: RegExp,
][] = [
  [
    'a domain whose mail all passes',
    {},
    'ready',
    'quarantine',
    /^You can change .* p=quarantine\. All your sources pass/,
  ],
  [
    'quarantine is next to reject',
    { record: 'v=DMARC1; p=quarantine' },
    'ready',
    'reject',
    /p=reject/,
  ] as const,
  ['reject is the end', { record: 'v=DMARC1; p=reject' }, 'done', null, /nothing to change/],
  ['no record', { record: null }, 'not_published', 'none', /changes nothing for your mail/],
  ['a record that is not known', { record: undefined }, 'not_enough_data', null, /looked up/],
  ['13 days', { days: DAYS.slice(1) }, 'not_enough_data', 'quarantine', /not enough report data/],
  ['two reporters', { reporters: 2 }, 'not_enough_data', 'quarantine', /not enough report data/],
  [
    '99 messages',
    { sources: [source({ messages: 99, passed: 99 })] },
    'not_enough_data',
    'quarantine',
    /not enough report data/,
  ] as const,
  [
    '98.9% of a service',
    { sources: [source({ passed: 989 })] },
    'not_ready',
    'quarantine',
    /failing mail from Mailchimp would go to spam/,
  ] as const,
  ['99% of a service', { sources: [source({ passed: 990 })] }, 'ready', 'quarantine', /You can/],
  [
    'a misconfigured source that was not used for 15 days',
    { sources: [source(), source({ kind: 'misconfigured', passed: 0, recent: SILENT })] },
    'ready',
    'quarantine',
    /in the last 14 days pass DMARC\. Check Mailchimp first/,
  ] as const,
  [
    'a service that fails now and then, also long ago',
    { sources: [source(), source({ passed: 970, recent: SILENT })] },
    'not_ready',
    'quarantine',
    /failing mail from Mailchimp/,
  ] as const,
  [
    'a source of which 99% passed in the last 14 days',
    { sources: [source(repaired(99))] },
    'ready',
    'quarantine',
    /All your sources that sent mail in the last 14 days pass DMARC\.$/,
  ] as const,
  [
    'a source of which 98% passed in the last 14 days',
    { sources: [source(repaired(98))] },
    'not_ready',
    'quarantine',
    /failing mail from Mailchimp/,
  ] as const,
  [
    'an unknown source of which some messages pass',
    { sources: [source(), source({ name: 'h.example', kind: 'unknown', passed: 600 })] },
    'ready',
    'quarantine',
    /pass DMARC\. 400 failing messages from h\.example would go to spam: confirm whether this source is yours\.$/,
  ] as const,
  [
    'one failing message of an unknown source',
    {
      record: 'v=DMARC1; p=quarantine',
      sources: [source(), source({ name: 'h.example', kind: 'unknown', messages: 1, passed: 0 })],
    },
    'ready',
    'reject',
    /1 failing message from h\.example would be rejected: /,
  ] as const,
  [
    'failing messages of own and of unknown sources',
    {
      sources: [source({ passed: 0 }), source({ name: 'h.example', kind: 'unknown', passed: 600 })],
    },
    'not_ready',
    'quarantine',
    /failing mail from Mailchimp would go to spam\. 400 failing messages from h\.example would/,
  ] as const,
  [
    'reject, and an unknown source of which some messages pass',
    {
      record: 'v=DMARC1; p=reject',
      sources: [source(), source({ name: 'h.example', kind: 'unknown', passed: 600 })],
    },
    'done',
    null,
    /strictest one\. 400 failing messages from h\.example are rejected: /,
  ] as const,
  [
    'messages whose sources are not looked up yet',
    { unnamed: 11 },
    'not_enough_data',
    'quarantine',
    /not enough report data/,
  ] as const,
  [
    'one percent of messages from addresses that are not looked up yet',
    { unnamed: 10 },
    'ready',
    'quarantine',
    /You can/,
  ],
  [
    'test mode, whose end is the next step',
    { record: 'v=DMARC1; p=reject; t=y' },
    'ready',
    'reject',
    /You can change the policy to p=reject without t=y\. /,
  ] as const,
  [
    'reject of nothing',
    { record: 'v=DMARC1; p=reject; pct=0' },
    'ready',
    'reject',
    /You can change the policy to p=reject without pct=0\. /,
  ] as const,
  [
    'quarantine of a part',
    { record: 'v=DMARC1; p=quarantine; pct=50; t=y', sources: [source({ passed: 0 })] },
    'not_ready',
    'quarantine',
    /^Not ready for p=quarantine without t=y and pct=50: failing mail from Mailchimp would go to spam/,
  ] as const,
  [
    'reject of a part, with few reporters',
    { record: 'v=DMARC1; p=reject; pct=20', reporters: 1 },
    'not_enough_data',
    'reject',
    /recommend p=reject without pct=20\.$/,
  ] as const,
  ['reject of all', { record: 'v=DMARC1; p=reject; pct=100; t=n' }, 'done', null, /nothing to/],
  [
    'a percentage that receivers ignore',
    { record: 'v=DMARC1; p=reject; pct=half' },
    'done',
    null,
    /nothing to/,
  ] as const,
  [
    'test mode of nothing',
    { record: 'v=DMARC1; p=none; t=y; pct=20' },
    'ready',
    'quarantine',
    /p=quarantine/,
  ] as const,
  [
    'a subdomain without a record, whose organization rejects',
    { record: null, proposal: 'v=DMARC1; p=reject; rua=mailto:fb-x@inbox.example' },
    'not_published',
    'reject',
    /changes nothing for your mail/,
  ] as const,
  [
    'spoofing, which the policy is for',
    { sources: [source(), source({ kind: 'spoof', isService: false, passed: 0, messages: 9000 })] },
    'ready',
    'quarantine',
    /All your sources pass DMARC\.$/,
  ] as const,
  [
    'a service of which nothing passes',
    { sources: [source(), source({ name: 'SendGrid', kind: 'spoof', passed: 0 })] },
    'ready',
    'quarantine',
    /DMARC\. No messages from SendGrid pass DMARC, so it doesn’t count as yours\. If you use it, mark it as yours first\.$/,
  ] as const,
  [
    'addresses that are not looked up yet, while a source fails that they cannot repair',
    { unnamed: 900, sources: [source({ passed: 0 })] },
    'not_ready',
    'quarantine',
    /failing mail from Mailchimp/,
  ] as const,
  [
    'mail of which none is known to be own',
    { sources: [source({ kind: 'unknown', passed: 600 })] },
    'not_enough_data',
    'quarantine',
    /not enough report data/,
  ] as const,
  [
    'a domain that declares that it sends nothing, and has a sender that someone marked',
    { isParked: true, sources: [source({ kind: 'misconfigured', passed: 0 })] },
    'not_ready',
    'quarantine',
    /failing mail from Mailchimp/,
  ] as const,
  [
    'a domain that sends nothing, whose record is limited',
    { isParked: true, sources: [], record: 'v=DMARC1; p=reject; np=none' },
    'ready',
    'reject',
    /p=reject at once/,
  ] as const,
  [
    'forwarded mail that fails',
    { sources: [source(), source({ kind: 'forwarder', messages: 100, passed: 60 })] },
    'ready',
    'quarantine',
    /3\.6% of all messages fail because they were forwarded/,
  ] as const,
  [
    'five failing sources, of which three are named',
    { sources: ['A', 'B', 'C', 'D', 'E'].map((name) => source({ name, passed: 0 })) },
    'not_ready',
    'quarantine',
    /failing mail from A, B, C and 2 more sources would go to spam/,
  ] as const,
];

for (const [what, changes, state, next, says] of CASES)
  test(`The advice for ${what}: ${state}`, () => {
    const advice = advise(changes);
    assert.deepEqual([advice.state, advice.next, advice.ready], [state, next, state === 'ready']);
    assert.match(advice.summary, says);
    if (state === 'not_ready' || state === 'not_enough_data') assert.ok(advice.missing.length > 0);
    if (state === 'ready' || state === 'done') assert.deepEqual(advice.missing, []);
    if (next === null) assert.equal(advice.record, null);
    else {
      assert.match(advice.record!, new RegExp(`^v=DMARC1; p=${next}(?!.*(?:t=y|pct))`));
      assert.ok(advice.record!.includes(RUA), advice.record!);
    }
  });

test('What a policy would affect is listed without spoofers and repaired senders, with the most messages first', () => {
  const { wouldBeRejected } = advise({
    sources: [
      source(),
      source({ name: 'small', kind: 'misconfigured', messages: 10, passed: 0 }),
      source({ name: 'spoofer', kind: 'spoof', passed: 0 }),
      source({ name: 'repaired', ...repaired(100) }),
      source({ name: 'forwarder', kind: 'forwarder', messages: 100, passed: 60 }),
    ],
  });
  assert.deepEqual(
    wouldBeRejected.map(({ name, failed }) => [name, failed]),
    [
      ['forwarder', 40],
      ['small', 10],
    ],
  );
});
