/** The headline of a result, what is not known, and what to fix first. */

import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  type Check,
  type CheckStatus,
  type MessageKind,
  unknown,
} from '../../src/analysis/check.ts';
import type {
  AnalysisResult,
  ProviderVerdict,
  RuleStatus,
  RuleVerdict,
} from '../../src/analysis/result.ts';
import {
  checksToFix,
  scoreAfterFix,
  summarize,
  unknownResults,
} from '../../src/analysis/summary.ts';
import { analyzeMail, loadMail } from '../helpers/mail-corpus.ts';
import { analyzeBy, fakeCheck } from './fake-checks.ts';
import { NEEDED, passingEvidence } from './providers/results.ts';

/** No tier-1 list answers. */
const silentBlocklist = (id: string, name: string): Check =>
  fakeCheck(id, () => ({
    ...unknown('Could not determine whether it is listed.', 'No list responded.'),
    evidence: { lists: [{ zone: 'x', name, tier: 1, status: 'error' }] },
  }));

const points = (id: string, status: CheckStatus, count: number): Check =>
  fakeCheck(id, status, { points: count });

/** `analyzeBy` adds them with 10 points each. */
const SCORED = ['spf', 'dkim', 'dmarc'];

/** All checks that the provider rules need pass, so that every requirement is known. */
const known = (...others: Check[]): Check[] => [
  ...NEEDED.filter((id) => !SCORED.includes(id) && !others.some((check) => check.id === id)).map(
    (id) =>
      fakeCheck(
        id,
        () => ({
          status: 'pass',
          title: `${id} passes.`,
          detail: '',
          evidence: passingEvidence(id),
        }),
        { points: 0 },
      ),
  ),
  ...others,
];

const MEETS = 'This message meets the rules of Gmail, Yahoo, Microsoft and Apple.';
const WEAK = 'Mailbox providers are likely to accept this message, but a says fail.';

const CASES: [name: string, checks: Check[], headline: string, unknown?: string][] = [
  ['no findings', known(), MEETS],
  ['one warning', known(points('a', 'warn', 1)), MEETS],
  [
    'a low score without a serious problem',
    [points('a', 'fail', 5), points('b', 'fail', 10)],
    'Mailbox providers may send this message to spam: b says fail.',
  ],
  ['likely to be accepted', known(points('a', 'fail', 10)), WEAK],
  [
    'a cap of 40 or less',
    known(points('dmarc', 'fail', 1), points('a', 'pass', 100)),
    'Gmail, Yahoo, Microsoft and Apple are likely to reject this message: DMARC fails.',
  ],
  [
    'two caps',
    known(points('ptr', 'fail', 1), points('dmarc', 'fail', 1), points('a', 'pass', 100)),
    'Gmail, Yahoo, Microsoft and Apple are likely to reject this message: DMARC fails.',
  ],
  [
    'two problems that cause the same cap',
    known(points('ptr', 'fail', 1), points('fcrdns', 'fail', 1), points('a', 'pass', 100)),
    'Gmail, Yahoo and Microsoft are likely to reject this message: ptr says fail.',
  ],
  [
    'a problem that mail servers reject, but no provider rule names',
    known(points('mx', 'fail', 1), points('a', 'pass', 100)),
    'Many mail servers are likely to reject this message: mx says fail.',
  ],
  [
    'hidden text',
    known(points('hidden_text', 'fail', 1), points('a', 'pass', 100)),
    'Gmail may send this message to spam: it hides text from the recipient.',
  ],
  [
    'clipped HTML',
    known(points('html_size', 'fail', 1), points('a', 'pass', 100)),
    'Gmail hides part of this message: the HTML is too large.',
  ],
  [
    'only SPF passes',
    known(points('dkim', 'fail', 1), points('a', 'pass', 100)),
    'Likely to be accepted, but only SPF passes: dkim says fail.',
  ],
  [
    'the lowest cap comes before the worst effect',
    known(points('tls', 'fail', 1), points('hidden_text', 'fail', 1), points('a', 'pass', 100)),
    'Gmail may send this message to spam: it hides text from the recipient.',
  ],
  [
    'a problem, and a check with an error',
    known(points('tls', 'fail', 1), points('dkim', 'error', 1), points('a', 'pass', 100)),
    'Gmail is likely to reject this message: it was delivered without TLS.',
    'Not checked: DKIM.',
  ],
  [
    'a provider rule without a cap of its own',
    known(points('line_length', 'fail', 1), points('a', 'pass', 100)),
    'This message breaks rules of Gmail, Yahoo and Microsoft: line_length says fail.',
  ],
  [
    'one check with an error, which no provider requires',
    known(points('a', 'error', 10)),
    MEETS,
    'Not checked: A.',
  ],
  [
    'a required check with an error',
    known(points('tls', 'error', 10)),
    'This message meets the rules of Yahoo, Microsoft and Apple; for Gmail, that is unknown.',
    'Not checked: TLS.',
  ],
  [
    'a required check without a result',
    known(points('tls', 'skipped', 10)),
    'This message meets the rules of Yahoo, Microsoft and Apple; for Gmail, that is unknown.',
    'Not checked: TLS.',
  ],
  [
    'a required check of all providers with an error',
    known(points('from', 'error', 1), points('x', 'error', 1), points('date', 'error', 1)),
    'Whether this message meets the rules of Gmail, Yahoo, Microsoft and Apple is unknown.',
    'Not checked: FROM, X and DATE.',
  ],
  [
    'an unknown signature, although SPF satisfies all providers',
    known(points('dkim', 'error', 1)),
    MEETS.replace('.', ', as far as checked.'),
    'Not checked: DKIM.',
  ],
  [
    'many checks with errors',
    known(...['a', 'b', 'c', 'd', 'e', 'f'].map((id) => points(id, 'error', 1))),
    MEETS,
    'Not checked: A, B, C, D and 2 more.',
  ],
  [
    'Spamhaus refuses to answer',
    known(
      silentBlocklist('ip_blocklists', 'Spamhaus ZEN'),
      silentBlocklist('domain_blocklists', 'Spamhaus DBL'),
    ),
    'This message meets the rules of Gmail; for Yahoo, Microsoft and Apple, that is unknown.',
    'Spamhaus ZEN and Spamhaus DBL did not respond: blocklists are not fully checked.',
  ],
  [
    'temporary errors',
    [points('spf', 'error', 1), points('dkim', 'error', 1), points('a', 'pass', 20)],
    'This message has no score: fewer than two of SPF, DKIM and DMARC could be checked.',
    'Not checked: SPF and DKIM.',
  ],
  [
    'authentication checks skipped',
    ['spf', 'dkim', 'dmarc'].map((id) => points(id, 'skipped', 1)),
    'This message has no score: SPF, DKIM and DMARC were not checked.',
    'Not checked: SPF, DKIM and DMARC.',
  ],
  [
    'a failure without a score',
    [...['spf', 'dkim', 'dmarc'].map((id) => points(id, 'skipped', 1)), points('a', 'fail', 1)],
    'This message has no score: SPF, DKIM and DMARC were not checked.',
    'Not checked: SPF, DKIM and DMARC.',
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
  status: status === 'met' || applies === 'bulk' ? 'ready' : 'unknown',
  reference: { name: 'Rules', url: 'https://example.com' },
  rules: [{ id: 'r', title: 'R.', detail: 'R.', applies, status, checks: ['x'], error: null }],
});

const JUDGED: [name: string, providers: ProviderVerdict[], kind: MessageKind, summary: string][] = [
  [
    'meets the rules of every provider',
    [provider('Gmail', 'met'), provider('Yahoo', 'met')],
    'transactional',
    'This message meets the rules of Gmail and Yahoo.',
  ],
  [
    'one rule is unknown',
    [provider('Gmail', 'unknown'), provider('Yahoo', 'met')],
    'transactional',
    'This message meets the rules of Yahoo; for Gmail, that is unknown.',
  ],
  [
    'a rule for bulk mail does not count for other mail',
    [provider('Gmail', 'not_met', 'bulk')],
    'transactional',
    'This message meets the rules of Gmail.',
  ],
];

for (const [name, providers, kind, summary] of JUDGED)
  it(`summarize: ${name}`, async () => {
    const result = await analyzeBy(known());
    const judged_kind = {
      kind,
      by: 'message',
      confidence: 'likely',
      reasons: [],
    } as AnalysisResult['judged_kind'];
    assert.equal(summarize({ ...result, providers, judged_kind }), summary);
  });

for (const [name, checks, headline, unknownText = null] of CASES)
  it(`analyze summary: ${name}`, async () => {
    const result = await analyzeBy(checks);
    assert.equal(result.summary, headline);
    assert.equal(unknownResults(result), unknownText);
  });

const FIRST_FIXES: [name: string, checks: Check[], id: string, before: number, after: number][] = [
  ['a warning', known(points('a', 'warn', 1)), 'a', 98, 100],
  ['the larger of two gains', [points('a', 'fail', 5), points('b', 'fail', 10)], 'b', 66, 88],
  ['a cap', known(points('dmarc', 'fail', 1), points('a', 'pass', 100)), 'dmarc', 40, 100],
  [
    'a second cap above the first',
    known(points('ptr', 'fail', 1), points('dmarc', 'fail', 1), points('a', 'pass', 100)),
    'dmarc',
    40,
    60,
  ],
];

for (const [name, checks, id, before, after] of FIRST_FIXES)
  it(`scoreAfterFix of ${name} is ${after}`, async () => {
    const result = await analyzeBy(checks);
    const [first] = checksToFix(result.checks);
    assert.deepEqual([first!.id, result.score, scoreAfterFix(result, first!)], [id, before, after]);
  });

it('scoreAfterFix is null if the fix alone raises no score', async () => {
  const capped = known(points('ptr', 'fail', 1), points('fcrdns', 'fail', 1));
  const unscored = ['spf', 'dkim', 'dmarc'].map((id) => points(id, 'skipped', 1));
  for (const checks of [
    [...capped, points('a', 'pass', 100)],
    [...unscored, points('a', 'fail', 1)],
  ]) {
    const result = await analyzeBy(checks);
    assert.equal(scoreAfterFix(result, checksToFix(result.checks)[0]!), null);
  }
});

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

// Microsoft and Apple have no rule about one-click unsubscribe.
const UNSUBSCRIBE: [mail: string, says: RegExp][] = [
  [
    'kinds/fifty-percent-off',
    /^This message breaks rules of Gmail: it has no List-Unsubscribe field\.$/,
  ],
  [
    'kinds/survey-after-support',
    /^As marketing mail, it breaks rules of Gmail: it has no List-Unsubscribe field\.$/,
  ],
  [
    'contradictions/comma-in-from-name',
    /^Gmail, Yahoo and Microsoft are likely to reject this message: its From field is invalid\.$/,
  ],
];

for (const [name, says] of UNSUBSCRIBE)
  it(`analyze summary of a whole mail: ${name}`, async () => {
    assert.match((await analyzeMail(loadMail(name))).summary, says);
  });
