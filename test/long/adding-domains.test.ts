/** Adding 30 domains and looking one up, in a browser: how many clicks and seconds it takes. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import type { Resolver } from '../../src/net/dns/resolver.ts';
import { type Zone, zoneResolver } from '../../src/net/dns/zone.ts';
import { GOOD_ZONE } from '../analysis/domain/domains.ts';
import { startTestService } from '../helpers/app.ts';
import { SIZES, startMemberBrowser } from './dashboard.ts';

const GOOD = Object.entries(GOOD_ZONE).filter(([name]) => name.endsWith('example.com'));
/** Below each, the records of the good domain; every tenth has none. */
const NAMES = Array.from({ length: 30 }, (_, i) => `shop${i}.example`);
const ZONE: Zone = Object.fromEntries(
  NAMES.filter((_, i) => i % 10 !== 5).flatMap((name) =>
    GOOD.map(([key, records]) => [
      key.replace('example.com', name),
      JSON.parse(JSON.stringify(records).replaceAll('example.com', name)),
    ]),
  ),
);

/** As public DNS: it takes 30 ms, and does not answer about one name for long. */
const resolver: Resolver = async (name, type) => {
  await delay(name === '_dmarc.slow.example' ? 9_000 : 30);
  return zoneResolver(ZONE)(name, type);
};

const hasNoOverflow = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth);

async function picture(page: Page, name: string): Promise<void> {
  if (process.env.PICTURES)
    await page.screenshot({ path: `${process.env.PICTURES}/${name}.png`, fullPage: true });
}

for (const [size, viewport] of Object.entries(SIZES))
  for (const colorScheme of ['light', 'dark'] as const)
    test(`30 pasted domains are looked up while their page is watched: ${size}, ${colorScheme}`, async (t) => {
      const service = await startTestService(t, { resolver });
      const browser = await startMemberBrowser(t, service, 'member');
      const page = await browser.open('/domains', { viewport, colorScheme });
      await picture(page, `form-${size}-${colorScheme}`);
      // One click to open the list, and one to add it.
      await page.getByText('Add a list or tags').click();
      await page
        .getByLabel('List of domains')
        .fill([...NAMES, 'co.uk', 'https://www.shop1.example/'].join('\n'));
      await page.getByLabel('Tags for all').fill('client:acme');
      await picture(page, `typed-${size}-${colorScheme}`);
      const began = performance.now();
      await page.getByRole('button', { name: 'Add', exact: true }).click();
      await page.waitForURL(/added/);
      const stored = performance.now() - began;
      await picture(page, `progress-${size}-${colorScheme}`);
      assert.ok(await hasNoOverflow(page));
      await page
        .getByRole('heading', { name: '30 domains added and looked up' })
        .waitFor({ timeout: 60_000 });
      t.diagnostic(
        `stored in ${Math.round(stored)} ms, looked up in ${Math.round(performance.now() - began)} ms`,
      );
      await picture(page, `done-${size}-${colorScheme}`);
      assert.ok(await hasNoOverflow(page));
      // The broken ones are first.
      const rows = page.locator('#added tbody tr');
      for (let i = 0; i < 3; i++)
        assert.match(await rows.nth(i).innerText(), /shop\d*5\.example\s+Critical/);
      await rows.nth(0).click();
      await page.getByRole('heading', { name: 'Verify shop15.example' }).waitFor();
      await picture(page, `domain-${size}-${colorScheme}`);
      await page.goBack();
      await page.getByRole('heading', { name: '30 domains added and looked up' }).waitFor();
      await page.getByRole('link', { name: 'Verify them' }).click();
      await page.getByRole('heading', { name: '30 domains not verified' }).waitFor();
      await picture(page, `verify-${size}-${colorScheme}`);
      assert.ok(await hasNoOverflow(page));
    });

test('A lookup shows what was answered after 5 seconds, and the rest without a click', async (t) => {
  const service = await startTestService(t, { resolver });
  const browser = await startMemberBrowser(t, service, 'member');
  const page = await browser.open('/domains');
  const look = async (name: string) => {
    await page.goto(`${service.url}/domains`);
    await page.getByLabel('Add domains').fill(name);
    const began = performance.now();
    await page.getByRole('button', { name: 'Look up only' }).click();
    await page.getByRole('heading', { name: 'What public DNS says' }).waitFor({ timeout: 15_000 });
    return performance.now() - began;
  };
  const fast = await look('https://www.shop1.example/');
  await picture(page, 'look');
  assert.ok(fast < 5_000, `${fast} ms`);
  ZONE['slow.example'] = ZONE['shop1.example']!;
  const slow = await look('slow.example');
  await picture(page, 'look-slow');
  t.diagnostic(
    `a look took ${Math.round(fast)} ms, one with a silent name server ${Math.round(slow)} ms`,
  );
  assert.ok(slow < 6_000, `${slow} ms`);
  await page.getByText('Waiting for more answers').waitFor();
  await page.getByText('Waiting for more answers').waitFor({ state: 'detached', timeout: 20_000 });
  // One click adds it.
  await page.getByRole('button', { name: 'Add domain' }).click();
  await page.waitForURL(/done=added/);
  await page.getByRole('heading', { name: 'Verify slow.example' }).waitFor();
  await page.locator('#health').waitFor({ timeout: 20_000 });
  await picture(page, 'added-one');
});
