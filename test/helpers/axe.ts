/** Finds accessibility problems of a page with axe. */

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

const AXE = readFileSync(
  fileURLToPath(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url)),
  'utf8',
);

/** Runs in the page. */
async function run(): Promise<string[]> {
  interface Found {
    violations: { id: string; nodes: { html: string }[] }[];
  }
  const { axe } = window as never as { axe: { run(...args: unknown[]): Promise<Found> } };
  const found = await axe.run(document);
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`);
}

/** A line for each violated rule. */
export async function findViolations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(run);
}
