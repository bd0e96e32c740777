/** The report page in a real browser: hostile messages, accessibility, printing. */

// @one-database: about pages in a browser.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type Server } from 'node:http';
import { type AddressInfo, createServer, type Server as TcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContextOptions, Frame, Page } from 'playwright-core';
import { messageDocument } from '../../src/report/html/message-frame.ts';
import { REPORT_CSP, reportPage } from '../../src/report/html/report-page.tsx';
import { PREVIEW_CLIENTS } from '../../src/report/preview/clients.ts';
import type { LoadedImage } from '../../src/report/preview/images.ts';
import type { Report } from '../../src/report/report.ts';
import { findViolations } from '../helpers/axe.ts';
import { startBrowser } from '../helpers/chromium.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import {
  badReport,
  goodReport,
  newsletterReport,
  shownOf,
  unscoredReport,
} from '../report/reports.ts';
import { HOSTILE_HTML, LEAKS, UNGUARDED_HTML } from './hostile-message.ts';

describe('Report page in a browser', { skip: skipUnlessInstalled('chromium') }, () => {
  /** Every host name resolves to this server: a request to it is a leak. */
  let outside: TcpServer;
  const reached: string[] = [];
  let web: Server;
  const served: string[] = [];
  const pages = new Map<string, { html: string; guarded: boolean }>();
  let browser: Browser;
  let reports: Record<'good' | 'bad' | 'unscored' | 'newsletter', Report>;

  before(async () => {
    outside = createServer((socket) => {
      const index = reached.push('connection') - 1;
      socket.on('error', () => {});
      socket.once('data', (data) => {
        reached[index] = /^Host: (\S+)/im.exec(data.toString('latin1'))?.[1] ?? 'unreadable';
        socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
      });
    });
    web = createHttpServer((request, response) => {
      served.push(request.url ?? '');
      const page = pages.get(request.url ?? '');
      if (page?.guarded) response.setHeader('Content-Security-Policy', REPORT_CSP);
      response.setHeader('Content-Type', 'text/html; charset=utf-8');
      response.statusCode = page ? 200 : 404;
      response.end(page?.html);
    });
    for (const server of [outside, web]) await once(server.listen(0, '127.0.0.1'), 'listening');
    browser = await startBrowser((outside.address() as AddressInfo).port);
    const [good, bad, unscored, newsletter] = await Promise.all([
      goodReport(),
      badReport(),
      unscoredReport(),
      newsletterReport(),
    ]);
    reports = { good, bad, unscored, newsletter };
  });

  after(async () => {
    await browser.close();
    for (const server of [outside, web]) server.close();
  });

  const urlOf = (html: string, guarded = true): string => {
    const path = `/${pages.size}`;
    pages.set(path, { html, guarded });
    return `http://127.0.0.1:${(web.address() as AddressInfo).port}${path}`;
  };

  const inFrame = (html: string, attributes = ''): string =>
    `<!doctype html><iframe ${attributes} srcdoc="${html.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"></iframe>`;

  interface OpenPage {
    page: Page;
    /** Console output of scripts in the message. */
    ran: string[];
    dialogs: string[];
    popups: string[];
    close(): Promise<void>;
  }

  async function open(url: string, options: BrowserContextOptions = {}): Promise<OpenPage> {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const [ran, dialogs, popups] = [[], [], []] as string[][];
    page.on('console', (message) => {
      if (message.text().startsWith('ran:')) ran!.push(message.text());
    });
    page.on('dialog', (dialog) => {
      dialogs!.push(dialog.message());
      void dialog.dismiss();
    });
    context.on('page', (popup) => popups!.push(popup.url()));
    await page.goto(url);
    await page.waitForLoadState('networkidle');
    return { page, ran: ran!, dialogs: dialogs!, popups: popups!, close: () => context.close() };
  }

  /** An image that the service loaded, whose scripts must not run. */
  const HOSTILE_SVG: LoadedImage = {
    kind: 'content',
    url: 'http://img.leak.example/img',
    status: 'loaded',
    reason: null,
    mediaType: 'image/svg+xml',
    bytes: Buffer.from(
      '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20" onload="console.log(\'ran: image\')"><script>console.log("ran: image script")</script><image href="http://nested.leak.example/x" width="9" height="9"/><rect width="20" height="20"/></svg>',
    ),
  };
  const HOSTILE_MAIL = Buffer.from(
    goodMessage({ 'Content-Type': 'text/html; charset=utf-8' }, HOSTILE_HTML).replaceAll(
      '\n',
      '\r\n',
    ),
  );

  async function hostile(images: LoadedImage[] | null): Promise<string> {
    return reportPage({ ...reports.good, ...(await shownOf(HOSTILE_MAIL, images)) });
  }

  /** Shows a client in a theme, and returns its frame. */
  async function show(
    page: Page,
    client: string,
    theme: string,
    content = '#first',
  ): Promise<Frame> {
    // The preview is folded.
    await page.evaluate("document.querySelector('#preview').open = true");
    for (const value of [client, theme])
      await page.locator(`.preview input[value="${value}"]`).check({ force: true });
    const frame = page.locator(`.pane.${client} iframe.${theme}`);
    await frame.scrollIntoViewIfNeeded();
    const shown = (await (await frame.elementHandle())!.contentFrame())!;
    await shown.waitForSelector(content, { state: 'attached' });
    return shown;
  }

  const CLIENTS = PREVIEW_CLIENTS.map(({ id }) => id);

  describe('with a hostile message', () => {
    it('control: the message leaks and runs scripts without protection', async () => {
      reached.length = 0;
      const { ran, dialogs, close } = await open(urlOf(inFrame(UNGUARDED_HTML), false));
      const hosts = new Set(reached.map((host) => host.replace('.leak.example', '')));
      assert.deepEqual([...hosts].filter((host) => LEAKS.includes(host)).sort(), LEAKS.toSorted());
      assert.ok(ran.length >= 8, ran.join(', '));
      assert.deepEqual(dialogs, ['1']);
      await close();
    });

    const assertUnharmed = async ({ page, ran, dialogs, popups }: OpenPage, url: string) => {
      assert.equal(page.url(), url);
      assert.doesNotMatch(await page.title(), /taken/);
      assert.deepEqual([ran, dialogs, popups, reached], [[], [], [], []]);
    };

    for (const [how, images] of [
      ['without images', null],
      ['with images', [HOSTILE_SVG]],
    ] as const)
      it(`makes no requests and runs no scripts in any client, ${how}`, async () => {
        reached.length = 0;
        const url = urlOf(await hostile(images && [...images]));
        const opened = await open(url);
        for (const client of CLIENTS)
          for (const theme of ['light', 'dark']) {
            const frame = await show(opened.page, client, theme);
            assert.match(await frame.locator('#first').innerText(), /^Text in another font$/);
            // Frames of the message would be further frames in it.
            assert.deepEqual(frame.childFrames(), [], client);
            const pictures = await frame.evaluate(
              () => document.querySelectorAll('img[src]').length,
            );
            assert.equal(pictures > 0, images !== null, client);
          }
        await opened.page.waitForLoadState('networkidle');
        await assertUnharmed(opened, url);
        await opened.close();
      });

    it('makes no requests and runs no scripts when saved as a file', async () => {
      reached.length = 0;
      const folder = mkdtempSync(join(tmpdir(), 'page-'));
      const file = join(folder, 'report.html');
      writeFileSync(file, await hostile([HOSTILE_SVG]));
      const url = pathToFileURL(file).href;
      const opened = await open(url);
      for (const client of CLIENTS) await show(opened.page, client, 'light');
      await assertUnharmed(opened, url);
      await opened.close();
      rmSync(folder, { recursive: true });
    });

    it('has inert links and buttons for mouse and keyboard', async () => {
      reached.length = 0;
      const url = urlOf(await hostile(null));
      const opened = await open(url);
      const frame = await show(opened.page, 'as_sent', 'light');
      for (const text of ['A link', 'Self', 'Run', 'Send']) {
        const target = frame.getByText(text, { exact: true }).first();
        await target.scrollIntoViewIfNeeded();
        const box = (await target.boundingBox())!;
        await opened.page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
        await opened.page.keyboard.press('Enter');
      }
      await opened.page.waitForLoadState('networkidle');
      await assertUnharmed(opened, url);
      await opened.close();
    });

    it('keeps the styles of the message in its frame', async () => {
      const css =
        'html,body,*,:root{display:none!important;color:red!important;position:fixed!important;inset:0!important;z-index:2147483647!important}</style></iframe><style>*{visibility:hidden!important}';
      const mail = (style: string) =>
        Buffer.from(
          goodMessage(
            { 'Content-Type': 'text/html; charset=utf-8' },
            `<style>${style}</style><p id="first">x</p>`,
          ).replaceAll('\n', '\r\n'),
        );
      const styles = [];
      for (const style of ['', css]) {
        const shown = { ...reports.good, ...(await shownOf(mail(style))) };
        const { page, close } = await open(urlOf(reportPage({ ...shown, message: null })));
        styles.push(
          await page.evaluate(() =>
            [...document.querySelectorAll('body, h1, h2, .preview, .pane, label')].map(
              (element) => {
                const { display, color, position, visibility, zIndex } = getComputedStyle(element);
                return [element.className, display, color, position, visibility, zIndex].join(' ');
              },
            ),
          ),
        );
        await close();
      }
      assert.ok(styles[0]!.length > 20);
      assert.deepEqual(styles[1], styles[0]);
    });

    it('does not move if the reader asked for less motion', async () => {
      const mail = Buffer.from(
        goodMessage(
          { 'Content-Type': 'text/html; charset=utf-8' },
          '<style>@keyframes k{to{opacity:.5}} #first{animation:k 1s infinite}</style><p id="first">x</p>',
        ).replaceAll('\n', '\r\n'),
      );
      const url = urlOf(reportPage({ ...reports.good, ...(await shownOf(mail)) }));
      const moving = async (reducedMotion: 'reduce' | 'no-preference') => {
        const { page, close } = await open(url, { reducedMotion });
        const frame = await show(page, 'apple_mail', 'light');
        const count = await frame.evaluate(() => document.getAnimations().length);
        await close();
        return count;
      };
      assert.deepEqual([await moving('no-preference'), await moving('reduce')], [1, 0]);
    });

    it('is harmless in its frame even if the preview removed nothing', async () => {
      reached.length = 0;
      const url = urlOf(
        `<!doctype html><title>Page</title>${inFrame(messageDocument(HOSTILE_HTML), 'sandbox=""')}`,
      );
      const opened = await open(url);
      await opened.page.frames()[1]!.waitForSelector('#first');
      await opened.page.waitForLoadState('networkidle');
      await assertUnharmed(opened, url);
      await opened.close();
    });
  });

  it('makes no external requests', async () => {
    reached.length = 0;
    served.length = 0;
    const url = urlOf(reportPage(reports.newsletter));
    const { page, close } = await open(url);
    assert.deepEqual([served, reached], [[new URL(url).pathname], []]);
    const frame = await show(page, 'as_sent', 'light', 'img');
    const pictures = await frame.evaluate(() =>
      [...document.images].map((image) => image.naturalWidth),
    );
    assert.deepEqual(pictures, [600, 0, 0], 'the inline image is shown, the remote ones are not');
    await close();
  });

  const unfold = (page: Page) =>
    page.evaluate(() => {
      for (const each of document.querySelectorAll('details')) each.open = true;
    });

  it('does not scroll sideways on a phone', async () => {
    const options = { viewport: { width: 390, height: 844 } };
    for (const report of Object.values(reports)) {
      const { page, close } = await open(urlOf(reportPage(report)), options);
      await unfold(page);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
      await close();
    }
  });

  for (const width of [1280, 390])
    it(`passes axe in both themes at ${width} px`, async () => {
      const options = { viewport: { width, height: 900 } };
      const { page, close } = await open(urlOf(reportPage(reports.bad)), options);
      await unfold(page);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        // Its frame has its own tests.
        assert.deepEqual(await findViolations(page, { iframes: false }), [], colorScheme);
      }
      await close();
    });

  it('can be read and unfolded without JavaScript', async () => {
    const { page, close } = await open(urlOf(reportPage(reports.bad)), {
      javaScriptEnabled: false,
    });
    assert.equal(await page.getByRole('button', { name: /copy|theme/i }).count(), 0);
    const finding = page.locator('details.finding').first();
    const inner = finding.locator('> .finding-body');
    assert.equal(await inner.isVisible(), false);
    await finding.locator('> summary').click();
    assert.equal(await inner.isVisible(), true);
    await close();
  });

  it('starts with a skip link for keyboard users', async () => {
    const { page, close } = await open(urlOf(reportPage(reports.bad)));
    await page.keyboard.press('Tab');
    const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '');
    assert.equal(await focused(), 'Skip to report');
    await page.keyboard.press('Enter');
    // The effect of a key follows asynchronously.
    await page.waitForURL(/#.+$/);
    await page.keyboard.press('Tab');
    assert.equal(await focused(), 'SPF');
    await page.keyboard.press('Enter');
    await page.waitForURL(/#authentication$/);
    await close();
  });

  it('copies a record and confirms it', async () => {
    const { page, close } = await open(urlOf(reportPage(reports.bad)), {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const button = page.getByRole('button', { name: 'Copy value' }).first();
    await button.click();
    await page.getByText('Copied').waitFor();
    const value = reports.bad.checks.find(({ id }) => id === 'spf')!.fix!.record!.value;
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), value);
    await close();
  });

  it('follows the system theme and remembers a chosen one', async () => {
    const { page, close } = await open(urlOf(reportPage(reports.good)), { colorScheme: 'dark' });
    const background = () =>
      page.evaluate(() => getComputedStyle(document.body).backgroundColor.replaceAll(' ', ''));
    const dark = await background();
    const button = page.getByRole('button', { name: /^(Light|Dark) theme$/ });
    assert.equal(await button.textContent(), 'Light theme');
    await button.click();
    assert.notEqual(await background(), dark);
    assert.equal(await button.textContent(), 'Dark theme');
    await page.reload();
    assert.notEqual(await background(), dark);
    await button.click();
    assert.equal(await background(), dark);
    assert.equal(await page.evaluate(() => localStorage.length), 0);
    await close();
  });

  it('unfolds the section a link points to', async () => {
    const smallest = reports.bad.checks.filter(({ status }) => status === 'warn').at(-1)!;
    const url = `${urlOf(reportPage(reports.bad))}#check-${smallest.id}`;
    const { page, close } = await open(url);
    assert.equal(await page.locator(`#check-${smallest.id} .finding-body`).isVisible(), true);
    await close();
  });

  it('has a link to each section and finding, which opens it', async () => {
    const { page, close } = await open(urlOf(reportPage(reports.bad)));
    const targets = await page.evaluate(() => {
      const links = [...document.querySelectorAll('a.anchor')];
      return links.map((link) => link.getAttribute('href')!.slice(1));
    });
    assert.ok(targets.includes('authentication') && targets.includes('check-dkim_alignment'));
    assert.equal(new Set(targets).size, targets.length);
    const isOpen = (id: string) =>
      page.evaluate((target) => {
        location.hash = target;
        return new Promise<boolean>((resolve) =>
          addEventListener(
            'hashchange',
            () => resolve(document.getElementById(target)!.checkVisibility()),
            { once: true },
          ),
        );
      }, id);
    for (const target of targets) assert.ok(await isOpen(target), target);
    await close();
  });

  it('prints with all sections expanded, link URLs shown and a white background', async () => {
    const { page, close } = await open(urlOf(reportPage(reports.bad)), { colorScheme: 'dark' });
    const height = () =>
      page.evaluate(() =>
        [...document.querySelectorAll('details > :not(summary)')].map(
          (element) =>
            element.checkVisibility({ contentVisibilityAuto: true }) &&
            element.getBoundingClientRect().height > 0,
        ),
      );
    assert.ok((await height()).includes(false), 'sections are folded on screen');
    await page.emulateMedia({ media: 'print' });
    const shown = await height();
    assert.ok(shown.length > 30);
    assert.ok(!shown.includes(false));
    const written = await page.evaluate(() => {
      const link = document.querySelector('a[href^="https:"]')!;
      const { content } = getComputedStyle(link, '::after');
      return [
        content.includes(link.getAttribute('href')!),
        getComputedStyle(document.body).backgroundColor,
      ];
    });
    assert.deepEqual(written, [true, 'rgb(255, 255, 255)']);
    const onScreenOnly = await page.evaluate(() =>
      ['button', 'nav', 'a[href^="#check-"].anchor', '.linked-heading .anchor', '.skip'].filter(
        (selector) =>
          [...document.querySelectorAll(selector)].some((element) => element.checkVisibility()),
      ),
    );
    assert.deepEqual(onScreenOnly, [], 'nothing to select is printed');
    const pdf = (await page.pdf({ format: 'A4' })).toString('latin1');
    assert.ok(pdf.match(/\/Type \/Page\b/g)!.length > 12, 'the PDF has all sections');
    await close();
  });
});
