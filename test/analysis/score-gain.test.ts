/** What each thing that is wrong would gain. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gainOf, scoreOf } from '../../src/analysis/score.ts';
import { exactOf, scored } from './scored.ts';

describe('gain', () => {
  it('is what the score would rise by if the one check passed', () => {
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

  it('comes with what was skipped because of it alone', () => {
    const checks = [
      scored('ptr', 'fail', 6),
      scored('fcrdns', 'skipped', 6, 'authentication', { followsFrom: ['ptr'] }),
      scored('other', 'skipped', 6, 'authentication', { followsFrom: ['ptr', 'mx'] }),
      scored('mx', 'fail', 3),
      scored('c', 'pass', 3),
    ];
    // ptr caps at 60; now 3 of 12 points.
    assert.equal(exactOf(checks), 25);
    // With ptr and fcrdns 15 of 18: `other` stays skipped, because mx still fails.
    assert.equal(gainOf('ptr', checks, 25), 58.3);
    assert.equal(gainOf('mx', checks, 25), 25);
  });

  it('comes with what was skipped because of it as that was found itself', () => {
    const gains = (['pass', 'warn', 'fail', 'error', 'skipped'] as const).map((freed) => {
      const checks = [
        scored('a', 'fail', 5),
        scored('b', 'skipped', 10, 'authentication', { followsFrom: ['a'], freed }),
        scored('c', 'pass', 5),
      ];
      return gainOf('a', checks, exactOf(checks));
    });
    // Before 5 of 10 points; after it 20, 15 or 10 of 20, or 10 of 10.
    assert.deepEqual(gains, [50, 25, 0, 50, 50]);
  });

  it('comes with the failures that it cures, and no other', () => {
    const checks = [
      scored('spf', 'fail', 10),
      scored('dkim', 'fail', 10),
      scored('dmarc', 'fail', 10, 'authentication', { curedBy: [['dkim']] }),
      scored('a', 'pass', 70),
    ];
    assert.equal(exactOf(checks), 25);
    // Without the curing DMARC's own cap of 40 would hold.
    assert.equal(gainOf('dkim', checks, 25), 65);
    assert.equal(gainOf('spf', checks, 25), 15);
  });

  it('frees what follows only as far as its own finding goes, and cures by whole groups', () => {
    const alignment = { followsFrom: ['spf'], freed: 'fail' as const };
    const cure = { curedBy: [['spf', 'spf_alignment']] };
    const checks = (freed: 'pass' | 'fail') => [
      scored('spf', 'fail', 10),
      scored('dkim', 'fail', 10),
      scored('spf_alignment', 'skipped', 10, 'authentication', { ...alignment, freed }),
      scored('dmarc', 'fail', 10, 'authentication', cure),
    ];
    // The sender's domain is not aligned: DMARC fails still, and its cap of 40 holds.
    assert.equal(gainOf('spf', checks('fail'), 0), 25);
    // Aligned: SPF, its alignment and DMARC pass, three of four.
    assert.equal(gainOf('spf', checks('pass'), 0), 75);
  });

  it('a cure is no help to what only warns, errs or is skipped', () => {
    for (const status of ['warn', 'error', 'skipped', 'info'] as const) {
      const checks = [
        scored('a', 'fail', 5),
        scored('b', status, 5, 'authentication', { curedBy: [['a']] }),
      ];
      const alone = scoreOf([scored('a', 'pass', 5), checks[1]!]).exact!;
      const now = exactOf(checks);
      assert.equal(gainOf('a', checks, now), Math.round((alone - now) * 10) / 10, status);
    }
  });

  it('is nothing where another failure holds the score down anyway', () => {
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
