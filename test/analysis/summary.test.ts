/** The summary of a report: the verdict, and what to fix first. */

import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Check, CheckStatus, MessageKind } from '../../src/analysis/check.ts';
import type {
  AnalysisResult,
  ProviderVerdict,
  RuleStatus,
  RuleVerdict,
} from '../../src/analysis/result.ts';
import { checksToFix, summarize } from '../../src/analysis/summary.ts';
import { analyzeBy, fakeCheck } from './fake-checks.ts';

const summaryOf = async (...checks: Check[]): Promise<string> => (await analyzeBy(checks)).summary;

const points = (id: string, status: CheckStatus, count: number): Check =>
  fakeCheck(id, status, { points: count });

const CASES: [name: string, checks: Check[], summary: string][] = [
  [
    'no findings',
    [],
    'Based on the completed checks, this message meets the sender requirements of Gmail, Yahoo, Microsoft and Apple.',
  ],
  [
    'one warning',
    [points('a', 'warn', 1)],
    'Based on the completed checks, this message meets the sender requirements of Gmail, Yahoo, Microsoft and Apple. First: a says warn. Fixing this alone raises the score from 98 to 100.',
  ],
  [
    'the largest gain first',
    [points('a', 'fail', 5), points('b', 'fail', 10)],
    'Mailbox providers may send this message to spam. First: b says fail. Fixing this alone raises the score from 66 to 88.',
  ],
  [
    'likely to be accepted',
    [points('a', 'fail', 10)],
    'Mailbox providers are likely to accept this message, but it has weaknesses. First: a says fail. Fixing this alone raises the score from 75 to 100.',
  ],
  [
    'a cap of 40 or less',
    [points('dmarc', 'fail', 1), points('a', 'pass', 100)],
    'Gmail, Yahoo, Microsoft and Apple are likely to reject this message or send it to spam: DMARC fails. First: dmarc says fail. Fixing this alone raises the score from 40 to 100.',
  ],
  [
    'two caps, the gain ends at the next cap',
    [points('ptr', 'fail', 1), points('dmarc', 'fail', 1), points('a', 'pass', 100)],
    'Gmail, Yahoo, Microsoft and Apple are likely to reject this message or send it to spam: DMARC fails. First: dmarc says fail. Fixing this alone raises the score from 40 to 60.',
  ],
  [
    'no single fix raises the score',
    [points('ptr', 'fail', 1), points('fcrdns', 'fail', 1), points('a', 'pass', 100)],
    'Mailbox providers may send this message to spam. First: The sending IP address has no reverse DNS name that resolves back to it.',
  ],
  [
    'one check with an error',
    [points('a', 'error', 10)],
    'Based on the completed checks, this message meets the sender requirements of Gmail, Yahoo, Microsoft and Apple. 1 check could not be completed: A.',
  ],
  [
    'two checks with errors',
    [points('a', 'error', 10), points('b', 'error', 1), points('c', 'error', 0)],
    'Based on the completed checks, this message meets the sender requirements of Gmail, Yahoo, Microsoft and Apple. 2 checks could not be completed: A, B.',
  ],
  [
    'a fifth of the points missing',
    [points('a', 'error', 7)],
    'Based on the completed checks, this message meets the sender requirements of Gmail, Yahoo, Microsoft and Apple.',
  ],
  [
    'temporary errors',
    [points('spf', 'error', 1), points('dkim', 'error', 1), points('a', 'pass', 20)],
    'This message has no score: fewer than two of SPF, DKIM and DMARC could be checked.',
  ],
  [
    'authentication checks skipped',
    ['spf', 'dkim', 'dmarc'].map((id) => points(id, 'skipped', 1)),
    'This message has no score: SPF, DKIM and DMARC were not checked.',
  ],
  [
    'first step without a score',
    [...['spf', 'dkim', 'dmarc'].map((id) => points(id, 'skipped', 1)), points('a', 'fail', 1)],
    'This message has no score: SPF, DKIM and DMARC were not checked. First: a says fail.',
  ],
];

/** A provider with one rule. */
const provider = (
  name: string,
  status: RuleStatus,
  applies: RuleVerdict['applies'] = 'any',
): ProviderVerdict => ({
  provider: 'gmail',
  name,
  ready: status === 'met' || applies === 'bulk',
  reference: { name: 'Rules', url: 'https://example.com' },
  rules: [{ id: 'r', title: 'R.', detail: 'R.', applies, status, checks: [], error: null }],
});

const JUDGED: [name: string, providers: ProviderVerdict[], kind: MessageKind, summary: string][] = [
  [
    'meets the rules of every provider',
    [provider('Gmail', 'met'), provider('Yahoo', 'met')],
    'transactional',
    'This message meets the sender requirements of Gmail and Yahoo.',
  ],
  [
    'breaks a rule of one provider',
    [provider('Gmail', 'not_met'), provider('Yahoo', 'met')],
    'transactional',
    'This message scores well, but it does not meet all sender requirements of Gmail.',
  ],
  [
    'breaks a rule for bulk mail of two providers',
    [provider('Gmail', 'not_met', 'bulk'), provider('Yahoo', 'not_met', 'bulk')],
    'marketing',
    'This message scores well, but it does not meet all sender requirements of Gmail and Yahoo.',
  ],
  [
    'a rule for bulk mail does not count for other mail',
    [provider('Gmail', 'not_met', 'bulk')],
    'transactional',
    'This message meets the sender requirements of Gmail.',
  ],
  [
    'one rule is unknown',
    [provider('Gmail', 'unknown')],
    'transactional',
    'Based on the completed checks, this message meets the sender requirements of Gmail.',
  ],
];

for (const [name, providers, kind, summary] of JUDGED)
  it(`summarize: ${name}`, async () => {
    const result = await analyzeBy([]);
    const judged_kind = { kind, by: 'message', reasons: [] } as AnalysisResult['judged_kind'];
    assert.equal(summarize({ ...result, providers, judged_kind }), summary);
  });

for (const [name, checks, summary] of CASES)
  it(`analyze summary: ${name}`, async () => assert.equal(await summaryOf(...checks), summary));

it('toFix orders by gain, failures before warnings, then points', async () => {
  const { checks } = await analyzeBy([
    points('info', 'info', 0),
    points('small_warning', 'warn', 1),
    points('large_failure', 'fail', 8),
    points('missing', 'error', 9),
    points('free_warning', 'warn', 0),
    points('free_failure', 'fail', 0),
    points('large_warning', 'warn', 8),
  ]);
  const before = [...checks];
  assert.deepEqual(
    checksToFix(checks).map(({ id }) => id),
    ['large_failure', 'large_warning', 'small_warning', 'free_failure', 'free_warning'],
  );
  assert.deepEqual(checks, before, 'the order of the result is unchanged');
});
