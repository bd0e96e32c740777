/** Creates the pictures in docs: pages rendered by Chromium, a PDF by poppler. */

import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { reportPage, sharedPage } from '../src/report/html/report-page.tsx';
import { sharedPdf } from '../src/report/pdf/pdf.ts';
import { startBrowser } from '../test/helpers/chromium.ts';
import { badReport, campaignShare } from '../test/report/reports.ts';
import { givePassword, signIn } from '../test/team/browser.ts';
import { spawnSync } from './programs.ts';
import { startSampleTeam } from './sample-team.ts';

interface Picture {
  name: string;
  html: string;
  colorScheme: 'light' | 'dark';
  width: number;
  height: number;
  scale: number;
}

/** The README is also read on phones. */
const MAX_BYTES = 300_000;

async function takeScreenshot(browser: Browser, picture: Picture) {
  const { name, html, colorScheme, width, height, scale } = picture;
  const page = await browser.newPage({
    colorScheme,
    viewport: { width, height },
    deviceScaleFactor: scale,
  });
  await page.setContent(html);
  save(name, await page.screenshot());
}

function save(name: string, png: Uint8Array): void {
  if (png.length > MAX_BYTES) throw new Error(`${name}.png is too large: ${png.length} bytes`);
  writeFileSync(fileURLToPath(new URL(`../docs/${name}.png`, import.meta.url)), png);
  console.log(`docs/${name}.png: ${png.length} bytes`);
}

/** Renders a page of a PDF, 794 pixels wide. */
function renderPage(pdf: Uint8Array, page: number): Uint8Array {
  const only = ['-f', `${page}`, '-l', `${page}`, '-singlefile'];
  const { status, stdout, stderr } = spawnSync('pdftoppm', ['-png', '-r', '96', ...only, '-'], {
    input: pdf,
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`pdftoppm: ${stderr}`);
  return stdout;
}

/** The overview, and a test that waits for its message, as the owner of a small team sees them. */
async function takeDashboardScreenshots() {
  const cleanUps: (() => unknown)[] = [];
  const t = { after: (work: () => unknown) => void cleanUps.unshift(work) };
  try {
    const service = await startSampleTeam(t as never);
    await givePassword(service, 'owner@example.com');
    const { cookie } = await signIn(service, 'owner@example.com');
    const [name, value] = cookie.split(/=(.*)/s) as [string, string];
    const take = async (picture: Omit<Picture, 'html'> & { path: string }) => {
      const { width, height, scale: deviceScaleFactor, colorScheme } = picture;
      const viewport = { width, height };
      const context = await browser.newContext({ viewport, deviceScaleFactor, colorScheme });
      // The address of the sample is https, but its listener is not.
      await context.setExtraHTTPHeaders({ cookie: `${name}=${value}` });
      const page = await context.newPage();
      await page.goto(service.url + picture.path);
      save(picture.name, await page.screenshot());
      await context.close();
    };
    const { id } = await service.createTest({ name: 'Summer newsletter' });
    await take({ ...wide, name: 'overview-light', path: '/', height: 1240 });
    await take({ ...narrow, name: 'overview-dark', path: '/' });
    await take({ ...wide, name: 'test-light', path: `/tests/${id}`, height: 760 });
  } finally {
    for (const work of cleanUps) await work();
  }
}

const report = reportPage(await badReport());
const share = await campaignShare();
const shared = sharedPage({ ...share, deletedTests: 0 });
const wide = { width: 1280, scale: 1, colorScheme: 'light' } as const;
const narrow = { width: 390, height: 1000, scale: 2, colorScheme: 'dark' } as const;
const browser = await startBrowser();
for (const picture of [
  { ...wide, name: 'report-light', html: report, height: 1480 },
  { ...narrow, name: 'report-dark', html: report },
  { ...wide, name: 'shared-light', html: shared, height: 980 },
  { ...narrow, name: 'shared-dark', html: shared },
])
  await takeScreenshot(browser, picture);
await takeDashboardScreenshots();
await browser.close();
const pdf = await sharedPdf({ ...share, reports: share.reports.slice(1), deletedTests: 0 });
save('shared-pdf', renderPage(pdf, 2));
