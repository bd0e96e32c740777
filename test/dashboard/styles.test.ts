/** All pages of the web application share one stylesheet. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALERT_STYLE } from '../../src/dashboard/alerts/style.ts';
import { DOMAINS_STYLE } from '../../src/dashboard/domains/style.ts';
import { OVERVIEW_STYLE } from '../../src/dashboard/overview/style.ts';
import { REPORTS_STYLE } from '../../src/dashboard/reports/style.ts';
import { TEAM_STYLE } from '../../src/dashboard/team/style.ts';
import { TEST_STYLE } from '../../src/dashboard/tests/page-style.ts';
import { TESTS_STYLE } from '../../src/dashboard/tests/style.ts';
import { WEBHOOK_STYLE } from '../../src/dashboard/webhooks/style.ts';

/** Classes of the frame, which any area may adapt inside its own elements. */
const SHARED = new Set(['page']);

/** The classes with which the selectors of a stylesheet begin. */
function classesOf(style: string): Set<string> {
  const selectors = [...style.matchAll(/([^{}]+)\{/g)].flatMap(([, list = '']) => list.split(','));
  return new Set(selectors.flatMap((selector) => /^\s*\.([\w-]+)/.exec(selector)?.[1] ?? []));
}

test('A class has its style in one area only, so that no area changes the pages of another', () => {
  const areas = Object.entries({
    alerts: ALERT_STYLE,
    domains: DOMAINS_STYLE,
    overview: OVERVIEW_STYLE,
    reports: REPORTS_STYLE,
    team: TEAM_STYLE,
    tests: TEST_STYLE + TESTS_STYLE,
    webhooks: WEBHOOK_STYLE,
  });
  const owners = new Map<string, string>();
  const shared: string[] = [];
  for (const [area, style] of areas)
    for (const name of classesOf(style)) {
      const owner = owners.get(name);
      if (owner !== undefined && !SHARED.has(name)) shared.push(`${name}: ${owner} and ${area}`);
      owners.set(name, area);
    }
  assert.deepEqual(shared, []);
});
