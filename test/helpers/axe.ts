/** Finds accessibility problems of a page with axe. */

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

const AXE = readFileSync(
  fileURLToPath(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url)),
  'utf8',
);

interface Options {
  /** Whether frames are examined, too. */
  iframes?: boolean;
  /** The only rules to check. */
  runOnly?: string[];
}

/** All that a theme can change, because themes differ in colors only. They take about 60% of the time of all rules. */
export const COLOR_RULES = ['color-contrast', 'link-in-text-block'];

/** Runs in the page. */
async function run(options: Options): Promise<string[]> {
  interface Found {
    violations: { id: string; nodes: { html: string }[] }[];
  }
  const { axe } = window as never as { axe: { run(...args: unknown[]): Promise<Found> } };
  // Axe describes every element that passes, too, unless told otherwise.
  const found = await axe.run(document, { ...options, resultTypes: ['violations'] });
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`);
}

/** A line for each violated rule. */
export async function findViolations(page: Page, options: Options = {}): Promise<string[]> {
  // Once per page: loading it takes as long as a run.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE);
  return page.evaluate(run, options);
}
