/** Pages on paper, in Chromium: nothing folded or cut, and no controls. */

// @one-database: about pages in a browser.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spawnSync } from '../../scripts/programs.ts';
import { crawl } from '../dashboard/crawl.ts';
import { memberOf } from '../dashboard/member.ts';
import { populate, startReceiverOf } from '../dashboard/populated.ts';
import { startTestService } from '../helpers/app.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { startMemberBrowser } from './dashboard.ts';

/** The width of A4 within the margins of the print style, in CSS pixels. */
const PAPER = { width: 672, height: 1000 };

/** Runs in the page. */
function findPrintFaults(): string[] {
  const faults: string[] = [];
  const controls =
    'nav, button, .button, .filters, .pager, .confirm-panel, .curl, .menu, .test-mode-banner, dialog';
  for (const element of document.querySelectorAll(controls))
    if (element.checkVisibility()) faults.push(`prints ${element.outerHTML.slice(0, 100)}`);
  for (const element of document.querySelectorAll('table, pre, .copyable, h1, h2')) {
    const { left, right, width } = element.getBoundingClientRect();
    if (width > 0 && (left < -1 || right > innerWidth + 1))
      faults.push(`cuts ${element.outerHTML.slice(0, 100)} at ${Math.round(right)} px`);
  }
  for (const details of document.querySelectorAll('details')) {
    const content = [...details.children].find(({ localName }) => localName !== 'summary');
    const isControl = details.matches('.screen-only, .screen-only *');
    if (
      content &&
      !isControl &&
      details.checkVisibility() &&
      content.getBoundingClientRect().height === 0
    )
      faults.push(`folds ${details.outerHTML.slice(0, 100)}`);
  }
  return faults;
}

test('Every page prints everything and no controls', {
  skip: skipUnlessInstalled('chromium') || skipUnlessInstalled('pdftotext'),
}, async (t) => {
  const { receiver, env } = await startReceiverOf(t);
  const service = await startTestService(t, { env });
  await populate(service, receiver);
  const owner = await memberOf(service, 'owner@example.com');
  const paths = new Map<string, string>();
  await crawl({
    role: 'owner',
    async get(path) {
      const answer = await owner.get(path);
      const isPage = answer.html.includes('<nav id="navigation"');
      const kind = path.replace(/_[0-9a-z]{26}/g, '').replace(/\?.*/, '');
      if (answer.status === 200 && isPage && !paths.has(kind)) paths.set(kind, path);
      return answer;
    },
  });
  assert.ok(paths.size > 30, `${paths.size}`);
  const browser = await startMemberBrowser(t, service);
  const page = await browser.open('/');
  await page.setViewportSize(PAPER);
  await page.emulateMedia({ media: 'print' });
  const faults: string[] = [];
  for (const path of [...paths.values(), '/search?q=a', '/docs', '/docs/getTest']) {
    await page.goto(service.url + path);
    for (const fault of await page.evaluate(findPrintFaults)) faults.push(`${path} ${fault}`);
  }
  assert.deepEqual(faults, []);
  for (const kind of ['/domains/dom', '/monitors/mon', '/webhooks/deliveries/whd']) {
    const path = paths.get(kind)!;
    await page.goto(service.url + path);
    const pdf = await page.pdf({ preferCSSPageSize: true });
    // The address is on the paper, for whoever gets it.
    const { stdout } = spawnSync('pdftotext', ['-layout', '-', '-'], { input: pdf });
    assert.match(stdout.toString().replace(/\s+/g, ''), new RegExp(`Link.*${path}`), path);
  }
});
