/** The arithmetic of the score: categories, coverage, caps, grades. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CATEGORIES, type Category, type CheckStatus } from '../../src/analysis/check.ts';
import { gradeOf } from '../../src/analysis/grade.ts';
import {
  earnedOf,
  gainOf,
  type ScoredCheck,
  scoreOf,
  WEIGHTS,
  wholeScore,
} from '../../src/analysis/score.ts';

// Helpers that create scored checks.

export const scored = (
  id: string,
  status: CheckStatus,
  points = 10,
  category: Category = 'authentication',
  more: Partial<ScoredCheck> = {},
): ScoredCheck => ({
  id,
  status,
  points,
  category,
  failedCauses: [],
  statusIfFixed: 'pass',
  fixedBy: [],
  evidence: {},
  ...more,
});

export const exactOf = (checks: ScoredCheck[]): number => scoreOf(checks).exact!;

describe('Score categories', () => {
  it('have the published weights, which sum to 100', () => {
    assert.deepEqual(WEIGHTS, {
      authentication: 35,
      reputation: 20,
      infrastructure: 15,
      compliance: 10,
      content: 10,
      spam_filters: 10,
    });
    assert.equal(
      CATEGORIES.reduce((sum, name) => sum + WEIGHTS[name], 0),
      100,
    );
  });

  it('count passes fully, warnings half and failures not at all', () => {
    const cases: [CheckStatus, number | null][] = [
      ['pass', 6],
      ['warn', 3],
      ['fail', 0],
      ['info', null],
      ['error', null],
      ['skipped', null],
    ];
    for (const [status, earned] of cases) {
      assert.equal(earnedOf({ points: 6, status }), earned, status);
      assert.equal(earnedOf({ points: 0, status }), null, status);
    }
  });

  it('divide earned points by points of checks that ran', () => {
    const { categories } = scoreOf([
      scored('a', 'pass', 6),
      scored('b', 'warn', 3),
      scored('c', 'fail', 4),
      scored('d', 'error', 50),
      scored('e', 'skipped', 50),
      scored('f', 'pass', 0),
      scored('g', 'fail', 5, 'content'),
    ]);
    assert.deepEqual(categories, [
      { name: 'authentication', score: 57, weight: 35, earned: 7.5, points: 13 },
      { name: 'content', score: 0, weight: 10, earned: 0, points: 5 },
    ]);
  });

  it('without results have no score and no weight', () => {
    const checks = [
      scored('a', 'pass'),
      scored('b', 'fail', 10, 'content'),
      scored('c', 'error', 10, 'reputation'),
      scored('d', 'info', 0, 'compliance'),
    ];
    const { categories, uncapped } = scoreOf(checks);
    assert.deepEqual(
      categories.map(({ name, score }) => [name, score]),
      [
        ['authentication', 100],
        ['reputation', null],
        ['content', 0],
      ],
    );
    assert.equal(uncapped, (100 * 35) / 45);
  });

  it('are averaged by weight, not by points', () => {
    const checks = [scored('a', 'pass', 1), scored('b', 'fail', 1000, 'infrastructure')];
    assert.equal(exactOf(checks), (100 * 35) / 50);
  });

  it('without any result give no score', () => {
    const { uncapped, exact, coverage } = scoreOf([
      scored('a', 'error'),
      scored('b', 'skipped'),
      scored('c', 'info', 0),
    ]);
    assert.deepEqual([uncapped, exact, coverage], [null, null, 0]);
    assert.deepEqual(scoreOf([]), {
      categories: [],
      uncapped: null,
      cap: null,
      exact: null,
      coverage: 1,
    });
  });
});

describe('Score coverage', () => {
  const cases: [name: string, checks: ScoredCheck[], coverage: number][] = [
    [
      'all applicable checks ran',
      [scored('a', 'pass'), scored('b', 'fail'), scored('c', 'warn')],
      1,
    ],
    [
      'a check with error counts as not run',
      [scored('a', 'pass', 3), scored('b', 'error', 1)],
      0.75,
    ],
    ['skipped checks do not count', [scored('a', 'pass', 3), scored('b', 'skipped', 9)], 1],
    ['checks without points do not count', [scored('a', 'pass', 3), scored('b', 'error', 0)], 1],
    ['points count, not checks', [scored('a', 'error', 9), scored('b', 'pass', 1)], 0.1],
  ];
  for (const [name, checks, coverage] of cases)
    it(`is ${coverage}: ${name}`, () => assert.equal(scoreOf(checks).coverage, coverage));
});

describe('Score caps', () => {
  /** Passing checks with the given changes. */
  const mail = (changes: Record<string, CheckStatus>): ScoredCheck[] => [
    ...['spf', 'dkim', 'dmarc'].map((id) => scored(id, changes[id] ?? 'pass', 1)),
    ...['ptr', 'fcrdns', 'tls'].map((id) => scored(id, changes[id] ?? 'pass', 1, 'infrastructure')),
    ...Object.keys(changes)
      .filter((id) => !['spf', 'dkim', 'dmarc', 'ptr', 'fcrdns', 'tls'].includes(id))
      .map((id) => scored(id, changes[id]!, 1)),
    scored('rest', 'pass', 1000),
    scored('rest2', 'pass', 1000, 'infrastructure'),
  ];
  const cases: [changes: Record<string, CheckStatus>, limit: number | null][] = [
    [{}, null],
    [{ spf: 'fail' }, 89],
    [{ dkim: 'fail' }, 89],
    [{ spf: 'fail', dkim: 'fail' }, 25],
    [{ spf: 'error', dkim: 'fail' }, 89],
    [{ spf: 'fail', dkim: 'skipped' }, 89],
    [{ spf: 'warn', dkim: 'fail' }, 89],
    [{ spf: 'error', dkim: 'error' }, null],
    [{ from: 'fail' }, 40],
    [{ attachments: 'fail' }, 65],
    [{ link_blocklists: 'fail' }, 50],
    [{ mx: 'fail' }, 65],
    [{ mx: 'warn' }, null],
    [{ return_path: 'warn' }, 65],
    [{ hidden_text: 'fail' }, 65],
    [{ hidden_text: 'warn' }, 89],
    [{ rspamd: 'fail' }, 69],
    [{ message_id: 'fail' }, 75],
    [{ message_id: 'warn' }, null],
    [{ header_duplicates: 'fail' }, 75],
    [{ active_content: 'fail' }, 79],
    [{ html_size: 'fail' }, 85],
    [{ html_size: 'warn' }, null],
    [{ line_length: 'fail' }, 89],
    [{ subject: 'fail' }, null],
    [{ dmarc: 'fail' }, 40],
    [{ dmarc: 'error' }, null],
    [{ dmarc: 'warn' }, null],
    [{ ptr: 'fail' }, 60],
    [{ fcrdns: 'fail' }, 60],
    [{ ptr: 'fail', fcrdns: 'skipped' }, 60],
    [{ ptr: 'skipped', fcrdns: 'skipped' }, null],
    [{ ptr: 'error', fcrdns: 'error' }, null],
    [{ tls: 'fail' }, 70],
    [{ tls: 'warn' }, null],
    [{ tls: 'skipped' }, null],
    [{ tls: 'fail', ptr: 'fail' }, 60],
    [{ tls: 'fail', ptr: 'fail', dmarc: 'fail' }, 40],
    [{ tls: 'fail', ptr: 'fail', dmarc: 'fail', spf: 'fail', dkim: 'fail' }, 25],
  ];
  for (const [changes, limit] of cases) {
    const named = Object.entries(changes).map((entry) => entry.join(' '));
    it(`${limit === null ? 'no cap' : `cap ${limit}`} for ${named.join(', ') || 'no failures'}`, () => {
      const { cap, exact, uncapped } = scoreOf(mail(changes));
      assert.equal(cap?.limit ?? null, limit);
      assert.ok(uncapped! > 99, 'the lost points alone hardly change the score');
      assert.equal(exact, limit ?? uncapped);
      if (cap) assert.ok(cap.reason.endsWith('.') && cap.reference !== '');
    });
  }

  it('are lower for marketing mail that lacks what bulk senders need', () => {
    for (const id of ['spf', 'dkim', 'dmarc_policy'])
      assert.equal(scoreOf(mail({ [id]: 'fail' }), 'marketing').cap?.limit, 79, id);
    assert.equal(scoreOf(mail({ dmarc_policy: 'fail' }), 'transactional').cap, null);
    assert.equal(scoreOf(mail({ one_click: 'fail' }), 'marketing').cap?.limit, 75);
  });

  it('do not change a score below the cap', () => {
    const checks = [scored('dmarc', 'fail', 9), scored('a', 'pass', 1)];
    assert.equal(scoreOf(checks).cap?.limit, 40);
    assert.equal(exactOf(checks), 10);
  });
});

describe('Displayed score', () => {
  it('is rounded down', () => {
    const cases: [number, number][] = [
      [100, 100],
      [99.999, 99],
      [89.9999999999, 90],
      [0, 0],
      [0.9, 0],
      [57.69, 57],
    ];
    for (const [exact, whole] of cases) assert.equal(wholeScore(exact), whole, String(exact));
  });

  it('is 100 when everything passed', () => {
    for (const points of [1, 3, 7, 11, 13, 0.1])
      for (let count = 1; count <= CATEGORIES.length; count++) {
        const checks = CATEGORIES.slice(0, count).flatMap((category) =>
          Array.from({ length: 3 }, (_, i) => scored(`${category}${i}`, 'pass', points, category)),
        );
        const { exact, categories } = scoreOf(checks);
        assert.equal(wholeScore(exact!), 100);
        assert.ok(categories.every(({ score }) => score === 100));
      }
  });

  it('is below 100 when any points were lost', () => {
    const checks = [scored('a', 'warn', 1), scored('b', 'pass', 999)];
    const { exact, categories } = scoreOf(checks);
    assert.equal(wholeScore(exact!), 99);
    assert.equal(categories[0]!.score, 99);
  });

  it('has the published grade boundaries', () => {
    const boundaries = { A: [90, 100], B: [80, 89], C: [70, 79], D: [55, 69], F: [0, 54] } as const;
    for (const [grade, scores] of Object.entries(boundaries))
      for (const score of scores) assert.equal(gradeOf(score), grade, String(score));
  });
});

// The gain of each fix.

describe('Score gain', () => {
  it('is the increase in score if the check passed', () => {
    const checks = [scored('a', 'fail', 3), scored('b', 'warn', 3), scored('c', 'pass', 4)];
    assert.equal(exactOf(checks), 55);
    assert.equal(gainOf('a', checks, 55), 30);
    assert.equal(gainOf('b', checks, 55), 15);
    assert.equal(gainOf('c', checks, 55), 0);
  });

  it('is rounded to a tenth', () => {
    const checks = [scored('a', 'fail', 1), scored('b', 'pass', 2)];
    assert.equal(gainOf('a', checks, exactOf(checks)), 33.3);
  });

  it('includes checks skipped because of that check only', () => {
    const checks = [
      scored('ptr', 'fail', 6),
      scored('fcrdns', 'skipped', 6, 'authentication', { failedCauses: ['ptr'] }),
      scored('other', 'skipped', 6, 'authentication', { failedCauses: ['ptr', 'b'] }),
      scored('b', 'fail', 3),
      scored('c', 'pass', 3),
    ];
    // ptr caps at 60; now 3 of 12 points.
    assert.equal(exactOf(checks), 25);
    // With ptr and fcrdns, 15 of 18 points. `other` stays skipped, because b still fails.
    assert.equal(gainOf('ptr', checks, 25), 58.3);
    assert.equal(gainOf('b', checks, 25), 25);
  });

  it('includes skipped checks according to their own finding', () => {
    const gains = (['pass', 'warn', 'fail', 'error', 'skipped'] as const).map((statusIfFixed) => {
      const checks = [
        scored('a', 'fail', 5),
        scored('b', 'skipped', 10, 'authentication', { failedCauses: ['a'], statusIfFixed }),
        scored('c', 'pass', 5),
      ];
      return gainOf('a', checks, exactOf(checks));
    });
    // Before 5 of 10 points; after it 20, 15 or 10 of 20, or 10 of 10.
    assert.deepEqual(gains, [50, 25, 0, 50, 50]);
  });

  it('includes failures that the same fix resolves', () => {
    const checks = [
      scored('spf', 'fail', 10),
      scored('dkim', 'fail', 10),
      scored('dmarc', 'fail', 10, 'authentication', { fixedBy: [['dkim']] }),
      scored('a', 'pass', 70),
    ];
    assert.equal(exactOf(checks), 25);
    // The cap of 40 for DMARC goes, and that of 89 for SPF remains.
    assert.equal(gainOf('dkim', checks, 25), 64);
    assert.equal(gainOf('spf', checks, 25), 15);
  });

  it('includes other failures only if all checks that fix them pass', () => {
    const alignment = { failedCauses: ['spf'], statusIfFixed: 'fail' as const };
    const fixed = { fixedBy: [['spf', 'spf_alignment']] };
    const checks = (statusIfFixed: 'pass' | 'fail') => [
      scored('spf', 'fail', 10),
      scored('dkim', 'fail', 10),
      scored('spf_alignment', 'skipped', 10, 'authentication', { ...alignment, statusIfFixed }),
      scored('dmarc', 'fail', 10, 'authentication', fixed),
    ];
    // Not aligned: DMARC still fails, and its cap of 40 remains.
    assert.equal(gainOf('spf', checks('fail'), 0), 25);
    // Aligned: SPF, its alignment and DMARC pass, which is three of four.
    assert.equal(gainOf('spf', checks('pass'), 0), 75);
  });

  it('excludes warnings, errors and skipped checks that the same fix resolves', () => {
    for (const status of ['warn', 'error', 'skipped', 'info'] as const) {
      const checks = [
        scored('a', 'fail', 5),
        scored('b', status, 5, 'authentication', { fixedBy: [['a']] }),
      ];
      const alone = scoreOf([scored('a', 'pass', 5), checks[1]!]).exact!;
      const now = exactOf(checks);
      assert.equal(gainOf('a', checks, now), Math.round((alone - now) * 10) / 10, status);
    }
  });

  it('is 0 when another failure caps the score', () => {
    const checks = [
      scored('dmarc', 'fail', 1),
      scored('tls', 'fail', 1, 'infrastructure'),
      scored('a', 'pass', 98),
      scored('b', 'pass', 98, 'infrastructure'),
    ];
    assert.equal(exactOf(checks), 40);
    assert.equal(gainOf('tls', checks, 40), 0);
    assert.equal(gainOf('dmarc', checks, 40), 30);
  });
});
