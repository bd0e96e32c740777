/** What the page of a test shows without scrolling, and how long it is, in a real browser. */

// @one-database: about pages in a browser.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { StoredResult } from '../../src/analysis/result.ts';
import { checksToFix } from '../../src/analysis/summary.ts';
import { SENDER_ZONE, signed } from '../e2e/sender.ts';
import { startTestService, type TestService } from '../helpers/app.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { makeKey, signMessage } from '../helpers/signer.ts';
import { URGENT } from '../report/reports.ts';
import { checkLook, SIZES, startMemberBrowser } from './dashboard.ts';

const skip = skipUnlessInstalled('chromium');

const WEAK_KEY = makeKey('rsa1024');
const ZONE = {
  ...SENDER_ZONE,
  'acme.example': { A: ['192.0.2.80'], TXT: ['v=spf1 include:spf.sender.example ~all'] },
  'spf.sender.example': { TXT: ['v=spf1 ip4:203.0.114.0/25 -all'] },
  '_dmarc.acme.example': { TXT: ['v=DMARC1; p=none'] },
  'k1._domainkey.sender.example': { TXT: [WEAK_KEY.record] },
};

const start = (t: TestContext) => startTestService(t, { zone: ZONE });

async function upload({ call, getTest }: TestService, raw: Uint8Array, query: string) {
  const { body } = await call<{ id: string }>('POST', `/v1/tests/raw?${query}`, {
    body: raw,
    headers: { 'content-type': 'message/rfc822' },
  });
  return getTest(body.id, '?wait=30');
}

const CLEAN = 'client_ip=192.0.2.1&helo=mail.example.com&mail_from=news@example.com';
const BAD = 'client_ip=203.0.114.200&helo=localhost&mail_from=bounce@acme.example';

const bad = async (service: TestService) =>
  upload(
    service,
    await signMessage(URGENT, { domain: 'sender.example', selector: 'k1', key: WEAK_KEY }),
    BAD,
  );

type Checks = Extract<StoredResult['checks'], string>;

/** Changes the stored findings that come first on the page. */
async function changeFirst(
  { app }: TestService,
  id: string,
  change: { title?: string; record?: { type: string; name: string; value: string } },
): Promise<void> {
  const { checks } = await app.db
    .selectFrom('tests')
    .select('checks')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const list = JSON.parse(checks as Checks);
  for (const check of checksToFix(list as never).slice(0, 3)) {
    const stored = list.find((one: { id: string }) => one.id === check.id);
    if (change.title !== undefined) stored.title = change.title;
    if (change.record) stored.fix = { ...stored.fix, record: change.record };
  }
  await app.db
    .updateTable('tests')
    .set({ checks: JSON.stringify(list) })
    .where('id', '=', id)
    .execute();
}

/** The lowest edge of the elements in CSS pixels, of which there must be at least one. */
const bottomOf = (page: Page, selector: string): Promise<number> =>
  page.evaluate((wanted) => {
    const found = [...document.querySelectorAll(wanted)];
    if (found.length === 0) throw new Error(`No ${wanted}.`);
    return Math.max(...found.map((element) => element.getBoundingClientRect().bottom));
  }, selector);

const heightOf = (page: Page): Promise<number> =>
  page.evaluate(() => document.scrollingElement!.scrollHeight);

async function assertOneScreen(page: Page, name: string): Promise<void> {
  const { height, width } = SIZES.desktop;
  for (const selector of ['.verdict', '.first-finding', '.first-finding .record', '.glance']) {
    const bottom = await bottomOf(page, selector);
    assert.ok(bottom <= height, `${name}: ${selector} ends at ${bottom}`);
  }
  assert.equal(await page.locator('.first-finding').count(), 3, name);
  const [fixes, glance] = await Promise.all(
    ['.front-main', '.glance'].map((selector) => page.locator(selector).boundingBox()),
  );
  assert.ok(glance!.x >= fixes!.x + fixes!.width, `${name}: the preview is not beside the fixes`);
  assert.ok(glance!.x + glance!.width <= width, name);
}

test('Verdict, three fixes with their records and the preview fit one screen', {
  skip,
}, async (t) => {
  const service = await start(t);
  const { id, checks } = await bad(service);
  const findings = checks.filter(({ status }) => status === 'fail' || status === 'warn');
  assert.ok(findings.length >= 17, `${findings.length}`);
  const browser = await startMemberBrowser(t, service);
  const page = await browser.open(`/tests/${id}`);
  await assertOneScreen(page, 'many findings');
  assert.ok((await heightOf(page)) < 5000, `${await heightOf(page)}`);
  await page.setViewportSize(SIZES.phone);
  for (const selector of ['article:first-child h3', 'article:first-child .record']) {
    const bottom = await bottomOf(page, `.findings > ${selector}`);
    assert.ok(bottom <= SIZES.phone.height, `${selector} ends at ${bottom}`);
  }
  t.diagnostic(`phone: ${await heightOf(page)} px`);
  // A key of 2048 bits is one line, and the button copies all of it.
  const record = {
    type: 'TXT',
    name: `s1._domainkey.${'xn--80akhbyknj4f.'.repeat(9)}example`,
    value: makeKey().record,
  };
  await changeFirst(service, id, {
    record,
    title: `Die Nachricht von „${'Überraschungsgeschäft'.repeat(6)}“ 株式会社あいうえお العربية is not signed.`,
  });
  await page.setViewportSize(SIZES.desktop);
  await page.reload();
  await assertOneScreen(page, 'long records');
  const value = page.locator('.first-finding .record').first().locator('code').last();
  assert.equal(await value.textContent(), record.value);
  assert.ok((await value.boundingBox())!.height < 30);
  await page.locator('.first-finding summary').first().click();
  assert.ok((await value.boundingBox())!.height > 60);
  await checkLook(browser, `/tests/${id}`);
});

test('The page of a clean mail is short, and a link to a fold opens it', { skip }, async (t) => {
  const service = await start(t);
  const { id, score } = await upload(service, await signed(), CLEAN);
  assert.equal(score, 100);
  const browser = await startMemberBrowser(t, service);
  const page = await browser.open(`/tests/${id}`);
  assert.ok((await heightOf(page)) < 2500, `${await heightOf(page)}`);
  assert.ok((await bottomOf(page, '.verdict, .glance')) <= SIZES.desktop.height);
  const folds = await page
    .locator('.folded > details')
    .evaluateAll((all) => all.map((one) => one.id));
  assert.ok(folds.length >= 8, folds.join());
  // Neither with scripts nor without do readers have to look for what they followed a link to.
  for (const javaScriptEnabled of [true, false]) {
    const other = await browser.open(`/tests/${id}`, { javaScriptEnabled });
    for (const fold of folds) {
      await other.goto(`${service.url}/tests/${id}#${fold}`);
      const body = other.locator(`#${fold} > .fold-body`);
      assert.ok((await body.boundingBox())!.height > 20, `${fold} ${javaScriptEnabled}`);
    }
  }
  // Closed again by hand, it opens with the same link.
  await page.goto(`${service.url}/tests/${id}#passed`);
  await page.locator('#passed > summary').click();
  assert.equal(await page.locator('#passed').getAttribute('open'), null);
  await page.locator('.folded > a[href="#passed"]').click();
  await page.locator('#passed[open]').waitFor();
  await page.emulateMedia({ media: 'print' });
  const hidden = await page
    .locator('details:not(.screen-only details, .curl, .menu, .confirm)')
    .evaluateAll((all) =>
      all.flatMap((one) => {
        const content = [...one.children].find(({ localName }) => localName !== 'summary');
        return one.checkVisibility() && content?.getBoundingClientRect().height === 0
          ? [one.outerHTML.slice(0, 80)]
          : [];
      }),
    );
  assert.deepEqual(hidden, []);
});

test('A comparison shows causes first, then the messages side by side, stacked on a phone', {
  skip,
}, async (t) => {
  const service = await start(t);
  const [before, after] = [await upload(service, await signed(), CLEAN), await bad(service)];
  const browser = await startMemberBrowser(t, service);
  const path = `/tests/compare?a=${before.id}&b=${after.id}`;
  const page = await browser.open(path);
  const titles = await page.locator('main h2').allTextContents();
  const order = ['What changed', 'The messages', 'What changed the score'];
  assert.deepEqual(
    titles.filter((title) => order.includes(title)),
    order,
  );
  assert.ok((await page.locator('.causes > li').count()) > 3);
  const [left, right] = await page
    .locator('.difference tr:has(.removed):has(.added)')
    .first()
    .locator('.removed, .added')
    .evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().toJSON()));
  assert.ok(left.right <= right.left && left.top === right.top);
  await page.setViewportSize(SIZES.phone);
  const [above, below] = await page
    .locator('.difference tr:has(.removed):has(.added)')
    .first()
    .locator('.removed, .added')
    .evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().toJSON()));
  assert.ok(above.bottom <= below.top);
  await checkLook(browser, path);
});
