/** The declarations of all checks: issue titles and public evidence. */

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { CHECKS, DOMAIN_CHECKS } from '../../src/analysis/checks/index.ts';
import { DECLARATIONS } from '../../src/analysis/declarations.generated.ts';
import { declarationOf, issueTitle } from '../../src/analysis/declarations.ts';

test('Every scored check has exactly one issue title', () => {
  const titled = CHECKS.filter((check) => check.issueTitle !== undefined);
  const scoring = CHECKS.filter(({ points }) => points > 0);
  assert.deepEqual(
    titled.map(({ id }) => id),
    scoring.map(({ id }) => id),
  );
  const titles = titled.map((check) => issueTitle(check.id));
  assert.equal(new Set(titles).size, titles.length);
  for (const title of titles) assert.match(title, /^[A-Z].{5,60}[^.]$/, title);
});

test('issueTitle falls back to the ID of an unknown check', () => {
  assert.equal(issueTitle('old_check'), 'old check');
  assert.equal(declarationOf('old_check'), null);
  assert.equal(declarationOf('constructor'), null);
});

test('The generated declarations equal those of the checks', () => {
  const all = [...CHECKS, ...DOMAIN_CHECKS];
  assert.deepEqual(Object.keys(DECLARATIONS), [...new Set(all.map(({ id }) => id))]);
  for (const check of all) {
    const { label, category, points, reference, dependsOn } = check;
    const { issueTitle: title, publicEvidence, publicTexts } = check;
    const known = { label, category, points, reference, dependsOn };
    const declared = { ...known, issueTitle: title, publicEvidence, publicTexts };
    assert.deepEqual(DECLARATIONS[check.id], JSON.parse(JSON.stringify(declared)), check.id);
  }
});

test('Every file in src/analysis/checks is in the list, named after the ID of its check', () => {
  const files = readdirSync(new URL('../../src/analysis/checks/', import.meta.url));
  const ids = [...CHECKS, ...DOMAIN_CHECKS].map(({ id }) => `${id.replaceAll('_', '-')}.ts`);
  assert.deepEqual(files.filter((file) => file !== 'index.ts').toSorted(), ids.toSorted());
});
