/** Previews of a hostile message in a real browser, without any other protection around them. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { PREVIEW_CLIENTS } from '../../src/report/preview/clients.ts';
import { type PreviewImage, previewFor } from '../../src/report/preview/rewrite.ts';
import { startBrowser } from '../helpers/chromium.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { HOSTILE_HTML, UNGUARDED_HTML } from './hostile-message.ts';

describe('Previews in a browser', { skip: skipUnlessInstalled('chromium') }, () => {
  /** Every host name resolves to this server: a request to it is a leak. */
  let outside: Server;
  let connections = 0;
  let browser: Browser;

  before(async () => {
    outside = createServer((socket) => {
      connections += 1;
      socket.on('error', () => {});
      socket.destroy();
    });
    await once(outside.listen(0, '127.0.0.1'), 'listening');
    browser = await startBrowser((outside.address() as AddressInfo).port);
  });
  after(async () => {
    await browser?.close();
    outside?.close();
  });

  /** Shows a document with scripts enabled; returns what it did. */
  async function effectsOf(html: string): Promise<{ effects: string[]; url: string }> {
    const page = await browser.newPage();
    const effects: string[] = [];
    page.on('console', (message) => effects.push(`console: ${message.text()}`));
    page.on('dialog', (dialog) => {
      effects.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('request', (request) => {
      if (!request.url().startsWith('data:')) effects.push(`request: ${request.url()}`);
    });
    page.on('framenavigated', (frame) => {
      if (frame.url() !== 'about:blank') effects.push(`navigation: ${frame.url()}`);
    });
    await page.setContent(html, { waitUntil: 'load' });
    // Links and buttons, if any are left, do nothing.
    const clickAll = () => {
      for (const element of document.querySelectorAll('a, button, span'))
        if (element instanceof HTMLElement) element.click();
      return new Promise((resolve) => requestAnimationFrame(resolve));
    };
    await page.evaluate(clickAll).catch((error) => effects.push(`navigation: ${error}`));
    const url = page.url();
    await page.close();
    return { effects, url };
  }

  const images: Record<string, PreviewImage> = {
    blocked: { kind: 'blocked' },
    shown: {
      kind: 'shown',
      dataUri: 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7',
    },
    marked: { kind: 'tracking_pixel' },
  };
  for (const client of PREVIEW_CLIENTS)
    for (const [name, image] of Object.entries(images))
      it(`${client.name}, images ${name}: no request, script, dialog or navigation`, async () => {
        connections = 0;
        for (const theme of ['light', 'dark'] as const)
          for (const message of [HOSTILE_HTML, `<!--[if mso]>${UNGUARDED_HTML}<![endif]-->`]) {
            const { html } = previewFor(message, client, { theme, imageAt: () => image });
            assert.deepEqual(await effectsOf(`<!doctype html>${html}`), {
              effects: [],
              url: 'about:blank',
            });
          }
        assert.equal(connections, 0);
      });

  it('blocked images keep their size and alt text', async () => {
    const client = PREVIEW_CLIENTS[0]!;
    const message = '<img src="//a.example/b.png" width="200" height="80" alt="Our spring offer">';
    const { html } = previewFor(message, client, {
      theme: 'light',
      imageAt: () => ({ kind: 'blocked' }),
    });
    const page = await browser.newPage();
    await page.setContent(`<!doctype html>${html}`);
    const image = page.getByAltText('Our spring offer');
    const { width, height } = (await image.boundingBox())!;
    assert.deepEqual([width, height], [200, 80]);
    await page.close();
  });

  it('a tracking pixel is visible in a box that hides images', async () => {
    const message =
      '<div style="font-size:0;line-height:0"><img src="//a.example/b" width="1"></div>';
    for (const client of PREVIEW_CLIENTS) {
      const { html } = previewFor(message, client, {
        theme: 'dark',
        imageAt: () => ({ kind: 'tracking_pixel' }),
      });
      const page = await browser.newPage();
      await page.setContent(`<!doctype html>${html}`);
      const { width, height } = (await page.getByText('Tracking pixel').boundingBox())!;
      assert.ok(width > 60 && height >= 16, client.name);
      await page.close();
    }
  });

  // The last, because its connections can come late.
  it('the message itself has effects, so the test sees them', async () => {
    connections = 0;
    const { effects } = await effectsOf(UNGUARDED_HTML);
    assert.ok(connections > 0);
    assert.ok(effects.length > 10, effects.join('\n'));
  });
});
