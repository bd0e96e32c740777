/** The table of placements: a row a provider, and a rate in which what is not known does not count. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { placementTable } from '../../src/render/placement-table.ts';
import type { SeedPlacement } from '../../src/render/report.ts';

const seed = (
  provider: string,
  placement: string,
  seconds: number | null = null,
): SeedPlacement => ({
  provider,
  placement,
  seconds,
});

describe('the table of placements', () => {
  it('counts the seeds of a provider by place, with the time of the first and the last', () => {
    const { columns, rows } = placementTable([
      seed('Gmail', 'spam', 30),
      seed('Yahoo', 'inbox', 5),
      seed('Gmail', 'inbox', 12),
      seed('Gmail', 'missing'),
    ]);
    assert.deepEqual(
      columns.map(({ name }) => name),
      ['Inbox', 'Spam', 'Missing'],
    );
    assert.deepEqual(rows, [
      { provider: 'Gmail', seeds: 3, counts: [1, 1, 1], seconds: [12, 30] },
      { provider: 'Yahoo', seeds: 1, counts: [1, 0, 0], seconds: [5, 5] },
    ]);
  });

  it('has a rate of which tabs are part, and the unsettled are not', () => {
    const places = ['inbox', 'promotions', 'social', 'updates', 'forums', 'spam', 'missing'];
    const { inbox, settled } = placementTable(
      [...places, 'pending', 'unknown'].map((place) => seed('Gmail', place)),
    );
    assert.deepEqual([inbox, settled], [5, 7]);
  });

  it('shows a place that it does not know under its own name, last', () => {
    const { columns } = placementTable([
      seed('A', 'attic'),
      seed('A', 'constructor'),
      seed('A', 'spam'),
    ]);
    assert.deepEqual(
      columns.map(({ name }) => name),
      ['Spam', 'attic', 'constructor'],
    );
  });

  it('is empty without seeds', () => {
    assert.deepEqual(placementTable([]), { columns: [], rows: [], inbox: 0, settled: 0 });
  });
});
