/** Makes docs/report-*.png: the report page on a wide screen and on a telephone, as Chromium shows it. */

import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { reportPage } from '../src/render/page/report-page.tsx';
import { startBrowser } from '../test/helpers/chromium.ts';
import { badReport } from '../test/render/reports.ts';

const PICTURES = [
  { name: 'report-light', colorScheme: 'light', width: 1280, height: 1480, scale: 1 },
  { name: 'report-dark', colorScheme: 'dark', width: 390, height: 1000, scale: 2 },
] as const;
/** A README is loaded by telephones too. */
const MAX_OCTETS = 300_000;

async function shoot(browser: Browser, html: string, picture: (typeof PICTURES)[number]) {
  const { name, colorScheme, width, height, scale } = picture;
  const page = await browser.newPage({
    colorScheme,
    viewport: { width, height },
    deviceScaleFactor: scale,
  });
  await page.setContent(html);
  const png = await page.screenshot();
  if (png.length > MAX_OCTETS) throw new Error(`${name}.png has ${png.length} octets`);
  writeFileSync(fileURLToPath(new URL(`../docs/${name}.png`, import.meta.url)), png);
  console.log(`docs/${name}.png: ${png.length} octets`);
}

const html = reportPage(await badReport());
const browser = await startBrowser();
for (const picture of PICTURES) await shoot(browser, html, picture);
await browser.close();
