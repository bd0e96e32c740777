/** A shared report in a real browser: it makes no external requests and does not reveal its URL. */

// @one-database: about pages in a browser.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { startBrowser } from '../helpers/chromium.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { startSharing } from '../shares/sharing.ts';

/** Receives requests to any host name below `.example`. */
async function startOutside(t: TestContext) {
  const reached: { url: string; headers: IncomingHttpHeaders }[] = [];
  const server = createServer(({ url, headers }, response) => {
    reached.push({ url: url!, headers });
    response.end('there');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  return { reached, port: (server.address() as AddressInfo).port };
}

const MESSAGE = goodMessage(
  { 'Content-Type': 'text/html; charset=utf-8' },
  '<img src="http://track.example/p.gif"><a href="http://shop.example/">Buy</a><p>Hello there.</p>\n',
);

test('Public report page makes no external requests and leaks no URL in links', {
  skip: skipUnlessInstalled('chromium'),
}, async (t) => {
  const { reached, port } = await startOutside(t);
  const { service, analysed, share } = await startSharing(t);
  const tests = [await analysed(MESSAGE), await analysed(MESSAGE)];
  const { token } = await share({ test_ids: tests.map(({ id }) => id) });
  const browser = await startBrowser(port);
  t.after(() => browser.close());
  const page = await browser.newPage();
  const requested: string[] = [];
  const faults: string[] = [];
  page.on('request', (request) => requested.push(request.url()));
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  page.on('pageerror', (error) => faults.push(String(error)));
  const address = `${service.url}/reports/public/${token}`;
  await page.goto(address);
  await page.locator('summary').first().click();
  assert.deepEqual(
    requested.filter((url) => !url.startsWith('data:')),
    [address],
  );
  assert.deepEqual(faults, []);
  assert.equal(reached.length, 0);

  // Uses a local target in place of links to published rules, which can't be reached here.
  await page.evaluate(() => {
    const link = document.querySelector<HTMLAnchorElement>('main a[href^="https:"]')!;
    link.href = 'http://elsewhere.example/landed';
    link.removeAttribute('target');
    link.closest('details')?.setAttribute('open', '');
    link.click();
  });
  await page.waitForURL('http://elsewhere.example/landed');
  const landed = reached.filter(({ url }) => url === '/landed');
  assert.equal(landed.length, 1);
  assert.equal(landed[0]!.headers.referer, undefined);
  assert.equal(await page.evaluate(() => document.referrer), '');

  await service.call('DELETE', `/v1/reports/shared/${(await newest(service))!}`);
  const response = await page.goto(address);
  assert.equal(response?.status(), 410);
  assert.match(await page.locator('main').innerText(), /This link has been revoked\./);
});

async function newest({ call }: Awaited<ReturnType<typeof startSharing>>['service']) {
  const { body } = await call<{ data: { id: string }[] }>('GET', '/v1/reports/shared?limit=1');
  return body.data[0]?.id;
}

test('Public report badge can be embedded by another site', {
  skip: skipUnlessInstalled('chromium'),
}, async (t) => {
  const { service, analysed, share } = await startSharing(t);
  const { token } = await share({ test_ids: [(await analysed()).id] });
  const other = createServer((_, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(`<img src="${service.url}/badges/${token}.svg" alt="">`);
  });
  await once(other.listen(0, '127.0.0.1'), 'listening');
  const browser = await startBrowser();
  t.after(async () => {
    await browser.close();
    other.close();
  });
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`);
  const size = await page.evaluate(() => {
    const image = document.querySelector('img')!;
    return [image.complete, image.naturalWidth > 60, image.naturalHeight];
  });
  assert.deepEqual(size, [true, true, 20]);
});
