/** The page of a test in a real browser, with real mail: from one click to the report. */

// @one-database: about pages in a browser.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { Frame, Page } from 'playwright-core';
import { SENDER_ZONE, signed } from '../e2e/sender.ts';
import { startTestService, type TestService } from '../helpers/app.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { sendMail } from '../helpers/send.ts';
import { givePassword, signIn } from '../team/browser.ts';
import { checkLook, SIZES, startMemberBrowser } from './dashboard.ts';
import { HOSTILE_HTML } from './hostile-message.ts';

const skip = skipUnlessInstalled('chromium');

const start = (t: TestContext) => startTestService(t, { zone: SENDER_ZONE });

/** Set in the page, and gone if it is loaded again. */
const mark = (page: Page) => page.evaluate('window.isSamePage = true');
const isSamePage = (page: Page) => page.evaluate('window.isSamePage === true');

async function getAddress(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Get a test address' }).click();
  await page.waitForURL(/\/tests\/test_\w+$/);
  return (await page.locator('.test-address code').textContent())!;
}

const send = async ({ smtp }: TestService, to: string, message = goodMessage()) =>
  sendMail({ port: smtp.port, to, raw: await signed({ message }) });

const report = (page: Page) =>
  page.getByRole('heading', { name: 'How the score is calculated' }).waitFor();

test('One click, one message, one page: it fills and becomes the report', { skip }, async (t) => {
  const service = await start(t);
  const browser = await startMemberBrowser(t, service, 'member');
  for (const viewport of [SIZES.desktop, SIZES.phone]) {
    const page = await browser.open('/api-keys', { viewport });
    // On a phone, the button is not in the header.
    if (viewport === SIZES.phone) {
      const { id } = await service.createTest();
      await page.goto(`${service.url}/tests/${id}`);
    } else await getAddress(page);
    const address = (await page.locator('.test-address code').textContent())!;
    await mark(page);
    let loads = 0;
    page.on('load', () => {
      loads += 1;
    });
    await page.getByText('Waiting for a connection').waitFor();
    const socket = connect(service.smtp.port, '127.0.0.1');
    t.after(() => socket.destroy());
    socket.write('PROXY TCP4 192.0.2.1 192.0.2.255 40000 25\r\n');
    for (const command of ['EHLO mail.example.com', 'MAIL FROM:<a@example.com>']) {
      await once(socket, 'data');
      socket.write(`${command}\r\n`);
    }
    await once(socket, 'data');
    socket.write(`RCPT TO:<${address}>\r\n`);
    await page.getByText('Connected from 192.0.2.1').first().waitFor();
    await page.getByRole('status').filter({ hasText: 'Connected from 192.0.2.1.' }).waitFor();
    await send(service, address);
    await report(page);
    await page
      .getByRole('status')
      .filter({ hasText: /The report is ready\. Score \d+/ })
      .waitFor();
    assert.equal(await isSamePage(page), true);
    assert.equal(loads, 0);
    assert.match(await page.title(), /^\d+ [A-F] · .* · Deliverability$/);
    const isTooWide = 'document.documentElement.scrollWidth > innerWidth';
    assert.equal(await page.evaluate(isTooWide), false);
    // As a page that was loaded as the report looks.
    const looks = '[...document.querySelectorAll("main > *")].map((e) => e.offsetHeight)';
    const swapped = await page.evaluate(looks);
    await page.reload();
    await report(page);
    assert.deepEqual(await page.evaluate(looks), swapped);
    await page.context().close();
  }
});

test('Back, forward and reload show the current state', { skip }, async (t) => {
  const service = await start(t);
  const browser = await startMemberBrowser(t, service);
  const page = await browser.open('/api-keys');
  const address = await getAddress(page);
  await page.reload();
  await page.goBack();
  await page.waitForURL(/api-keys/);
  await page.goForward();
  await page.getByText('Waiting for a connection').waitFor();
  await page.goto(`${service.url}/api-keys`);
  await page.goBack();
  await page.getByText('Waiting for a connection').waitFor();
  await mark(page);
  await send(service, address);
  await report(page);
  assert.equal(await isSamePage(page), true);
  await page.goto(`${service.url}/api-keys`);
  await page.goBack();
  await report(page);
  await page.goForward();
  await page.getByRole('heading', { name: 'API keys', exact: true }).waitFor();
});

test('A lost connection does no harm', { skip }, async (t) => {
  const service = await start(t);
  const browser = await startMemberBrowser(t, service);
  const expectedErrors = /ERR_INTERNET_DISCONNECTED|ERR_FAILED/;
  const page = await browser.open('/api-keys', { expectedErrors });
  const address = await getAddress(page);
  await mark(page);
  await page.context().setOffline(true);
  // The request that waits goes on in an emulated disconnection: the message ends it.
  await page.evaluate("dispatchEvent(new Event('pageshow'))");
  await page.getByText('The connection to this service was lost.').waitFor();
  await send(service, address);
  await page.context().setOffline(false);
  await report(page);
  assert.equal(await isSamePage(page), true);
});

test('When the session ends or the test is deleted, the page says so', { skip }, async (t) => {
  const service = await start(t);
  const browser = await startMemberBrowser(t, service);
  const page = await browser.open('/api-keys', { expectedErrors: /404/ });
  await getAddress(page);
  const id = page.url().split('/').at(-1)!;
  await service.call('DELETE', `/v1/tests/${id}`);
  await page.getByText('No such test.').waitFor();
  const other = await browser.open('/api-keys');
  const address = await getAddress(other);
  await service.app.db.deleteFrom('sessions').execute();
  await send(service, address);
  await other.waitForURL(/\/sign-in/);
  await other.getByLabel('Email').fill('owner@example.com');
  await other.getByLabel('Password').fill('correct horse battery');
  await other.keyboard.press('Enter');
  await report(other);
});

test('A focus in the header stays, and one in the content moves to the report', {
  skip,
}, async (t) => {
  const service = await start(t);
  const browser = await startMemberBrowser(t, service);
  for (const [name, expected] of [
    ['owner', 'owner'],
    ['Copy the test address', 'main'],
  ] as const) {
    const page = await browser.open('/api-keys');
    const address = await getAddress(page);
    await page.getByRole('button', { name }).focus();
    await send(service, address);
    await report(page);
    const focused = await page.evaluate(
      'document.activeElement.id || document.activeElement.textContent.trim()',
    );
    assert.equal(String(focused).slice(0, 40), expected);
    await page.context().close();
  }
});

test('By keyboard alone: get an address, copy it, read the report, delete the test', {
  skip,
}, async (t) => {
  const service = await start(t);
  const browser = await startMemberBrowser(t, service);
  const page = await browser.open('/api-keys', {
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const tabTo = async (name: RegExp) => {
    for (let presses = 0; presses < 80; presses += 1) {
      await page.keyboard.press('Tab');
      const text = await page.evaluate(
        'document.activeElement.getAttribute("aria-label") || document.activeElement.textContent',
      );
      if (name.test(String(text).trim())) return;
    }
    assert.fail(`no ${name}`);
  };
  await tabTo(/^Get a test address$/);
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/tests\/test_\w+$/);
  await tabTo(/^Copy the test address$/);
  await page.keyboard.press('Enter');
  await page.getByText('Copied').waitFor();
  await send(service, String(await page.evaluate('navigator.clipboard.readText()')));
  await report(page);
  await tabTo(/^Delete…$/);
  await page.keyboard.press('Enter');
  await tabTo(/^Delete test$/);
  const id = page.url().split('/').at(-1)!;
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/tests\?deleted=1$/);
  assert.equal((await service.call('GET', `/v1/tests/${id}`)).status, 404);
});

/** Shows a client in a theme, and returns its frame. */
async function showFrame(page: Page, client: string, theme: string): Promise<Frame> {
  // The preview is folded.
  await page.evaluate("document.querySelector('#preview').open = true");
  for (const value of [client, theme])
    await page.locator(`.preview input[value="${value}"]`).check({ force: true });
  const element = page.locator(`.pane.${client} iframe.${theme}`).first();
  await element.scrollIntoViewIfNeeded();
  const frame = (await (await element.elementHandle())!.contentFrame())!;
  await frame.waitForSelector('#first');
  return frame;
}

/** An image with scripts and references, as if it had been loaded. */
async function storeImage({ app: { db } }: TestService, id: string): Promise<void> {
  const bytes = Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20" onload="console.log(\'ran: image\')"><script>console.log("ran: image script")</script><image href="http://nested.leak.example/x" width="9" height="9"/><rect width="20" height="20"/></svg>',
  );
  const at = new Date().toISOString();
  await db
    .insertInto('image_loads')
    .values({ id, requested_at: at, loaded_at: at, lease: null, leased_until: null })
    .execute();
  await db
    .insertInto('test_images')
    .values({
      test_id: id,
      position: 0,
      kind: 'content',
      url: 'http://img.leak.example/img',
      status: 'loaded',
      reason: null,
      detail: null,
      media_type: 'image/svg+xml',
      width: 20,
      height: 20,
      size: bytes.length,
      bytes,
    })
    .execute();
}

test('A hostile message runs nothing and requests nothing, however its report is reached', {
  skip,
}, async (t) => {
  const reached: string[] = [];
  const outside = createServer((socket) => {
    reached.push('connection');
    socket.on('error', () => {});
    socket.destroy();
  });
  await once(outside.listen(0, '127.0.0.1'), 'listening');
  t.after(() => outside.close());
  const service = await start(t);
  const { port } = outside.address() as AddressInfo;
  const browser = await startMemberBrowser(t, service, 'owner', port);
  const subject = `\u202e${'\u200b<img src=x onerror=alert(1)>'.repeat(3000)}`;
  const words = Buffer.from(subject)
    .toString('base64')
    .match(/.{1,40}/g)!;
  const raw = goodMessage(
    {
      Subject: words.map((word) => `=?utf-8?b?${word}?=`).join('\n '),
      'Content-Type': 'text/html; charset=utf-8',
    },
    HOSTILE_HTML,
  );
  assert.ok(raw.length > 100_000);
  const page = await browser.open('/api-keys', {
    expectedErrors: /Content Security Policy|sandbox/i,
  });
  const ran: string[] = [];
  page.on('console', (message) => {
    if (message.text().startsWith('ran:')) ran.push(message.text());
  });
  page.on('dialog', (dialog) => {
    ran.push(dialog.message());
    void dialog.dismiss();
  });
  const address = await getAddress(page);
  const url = page.url();
  await sendMail({ port: service.smtp.port, to: address, raw });
  const id = url.split('/').at(-1)!;
  const assertUnharmed = async (how: string) => {
    // A request of the page itself comes back after those of the message would have left.
    await page.evaluate('fetch(location.href)');
    assert.deepEqual([page.url(), ran, reached], [url, [], []], how);
    assert.doesNotMatch(await page.title(), /taken|\u202e/);
  };
  for (const how of ['swapped', 'loaded', 'with images']) {
    if (how === 'with images') await storeImage(service, id);
    if (how !== 'swapped') await page.reload();
    await report(page);
    for (const client of ['as_sent', 'gmail', 'outlook_windows', 'apple_mail', 'gmail_app'])
      for (const theme of ['light', 'dark']) {
        const frame = await showFrame(page, client, theme);
        assert.match(await frame.locator('#first').innerText(), /^Text in another font$/, how);
        assert.match(frame.url(), /\/v1\/tests\/test_\w+\/preview\.html\?/);
        assert.deepEqual(frame.childFrames(), []);
        const pictures = await frame.evaluate(() => document.querySelectorAll('img[src]').length);
        assert.equal(pictures > 0, how === 'with images', `${how} ${client}`);
      }
    const frame = await showFrame(page, 'as_sent', 'light');
    for (const text of ['A link', 'Run', 'Send']) {
      await frame.getByText(text, { exact: true }).first().click({ force: true });
      await page.keyboard.press('Enter');
    }
    await assertUnharmed(how);
  }
  // The frame opened on its own is sandboxed by its policy.
  const source = `/v1/tests/${id}/preview.html?client=as_sent&images=on`;
  const response = await page.goto(new URL(source, url).href);
  assert.match(response!.headers()['content-security-policy']!, /default-src 'none'.*sandbox/);
  assert.match(await page.locator('#first').innerText(), /^Text in another font$/);
  await page.waitForLoadState('networkidle');
  assert.deepEqual(
    [new URL(page.url()).pathname, ran, reached],
    [`/v1/tests/${id}/preview.html`, [], []],
  );
  await page.goto(url);
  await report(page);
  await page.setViewportSize(SIZES.phone);
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), SIZES.phone.width);
});

test('The pages of a test are accessible at both sizes, in both themes', { skip }, async (t) => {
  const service = await start(t);
  const browser = await startMemberBrowser(t, service);
  const waiting = await service.createTest({ name: 'Waiting' });
  const late = await service.createTest({ name: 'x'.repeat(100) });
  const failed = await service.createTest({ name: 'Failed' });
  const done = await service.createTest({ name: 'Completed' });
  const at = new Date(Date.now() - 300_000).toISOString();
  const change = (id: string, set: object) =>
    service.app.db.updateTable('tests').set(set).where('id', '=', id).execute();
  await change(late.id, { created_at: at });
  await change(failed.id, { status: 'failed', failure_reason: 'not_received' });
  await send(service, done.address);
  assert.equal((await service.getTest(done.id, '?wait=50')).status, 'completed');
  for (const { id } of [waiting, late, failed, done]) await checkLook(browser, `/tests/${id}`);
  await checkLook(browser, `/tests/${done.id}/edit`);
  const viewer = await startMemberBrowser(t, service, 'viewer');
  await checkLook(viewer, `/tests/${done.id}`);
});

test('A report with its style and script is below 60 kB compressed', async (t) => {
  const service = await start(t);
  const { id, address } = await service.createTest();
  await send(service, address);
  await service.getTest(id, '?wait=50');
  await givePassword(service, 'owner@example.com');
  const { cookie } = await signIn(service, 'owner@example.com');
  const load = async (path: string) => {
    const request = get(service.url + path, { headers: { cookie, 'accept-encoding': 'br' } });
    const [response] = await once(request, 'response');
    let bytes = 0;
    for await (const chunk of response) bytes += chunk.length;
    return bytes;
  };
  const html = await (await fetch(`${service.url}/tests/${id}`, { headers: { cookie } })).text();
  const files = [...html.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path]) => path!);
  assert.equal(files.length, 2);
  const sizes = await Promise.all([`/tests/${id}`, ...files].map(load));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  t.diagnostic(`page, style and script: ${sizes.join(', ')} bytes`);
  assert.ok(total < 60_000, `${sizes}`);
});
