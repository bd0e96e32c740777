/** Every check that can find something to put right has a title for it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHECKS } from '../../src/analysis/checks/index.ts';
import { ISSUE_TITLES, issueTitle } from '../../src/analysis/issue-titles.ts';

test('Every scored check has exactly one issue title', () => {
  const counting = CHECKS.filter(({ points }) => points > 0).map(({ id }) => id);
  assert.deepEqual(Object.keys(ISSUE_TITLES).toSorted(), counting.toSorted());
  const titles = Object.values(ISSUE_TITLES);
  assert.equal(new Set(titles).size, titles.length);
  for (const title of titles) assert.match(title, /^[A-Z].{5,60}[^.]$/, title);
});

test('issueTitle falls back to the ID of an unknown check', () => {
  assert.equal(issueTitle('old_check'), 'old check');
});
