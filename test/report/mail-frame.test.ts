/** The email layout: both parts have the same content, text is escaped, and it fits a phone in Chromium. */

import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { type MailContent, mailFrame } from '../../src/report/mail-frame.ts';
import { startBrowser } from '../helpers/chromium.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';

const URL = 'https://app.example/invitations/kJ8vS2cWm4qpQe7TnYx0bGf1ZrLd9oHaUi3EyXwAqNk';
const CONTENT: MailContent = {
  title: 'Ada invites you to the team',
  preheader: 'The link works once.',
  blocks: [
    'Ada would like you to join the team that tests its email with this service, and a sentence that is long enough to be wrapped.',
    {
      facts: [
        ['Role', 'Member'],
        ['Until', '28 November 2026'],
      ],
    },
  ],
  button: { label: 'Accept the invitation', url: URL },
  footer: 'You get this because somebody entered your address.',
};

test('mailFrame writes a plain-text part with whole URLs and short lines', () => {
  const { text } = mailFrame(CONTENT);
  assert.equal(
    text,
    `Ada invites you to the team

Ada would like you to join the team that tests its email with this
service, and a sentence that is long enough to be wrapped.

Role: Member
Until: 28 November 2026

Accept the invitation:
${URL}

-- 
You get this because somebody entered your address.
`,
  );
});

test('mailFrame without a button contains no link', () => {
  const { text, html } = mailFrame({ ...CONTENT, button: undefined });
  assert.ok(!text.includes('https://'));
  assert.ok(!html.includes('<a '));
});

const NEWS: MailContent = {
  ...CONTENT,
  badge: { tone: 'fail', word: 'Alert' },
  blocks: [
    {
      heading: 'What to do',
      steps: [
        {
          title: 'The SPF record lets too few through.',
          text: 'Publish this one, and wait for as long as the former one may be remembered.',
          record: {
            type: 'TXT',
            name: 'example.com',
            value: `v=spf1 ${'ip4:192.0.2.1 '.repeat(8)}-all`,
          },
        },
        { title: '', text: 'Then send again.', record: null },
      ],
    },
  ],
  button: undefined,
};

test('mailFrame numbers steps and shows records ready to copy', () => {
  const { text, html } = mailFrame(NEWS);
  assert.equal(
    text,
    `Alert: Ada invites you to the team

What to do:

1. The SPF record lets too few through. Publish this one, and wait for
   as long as the former one may be remembered.

   example.com  TXT
   v=spf1 ${'ip4:192.0.2.1 '.repeat(8)}-all

2. Then send again.

-- 
You get this because somebody entered your address.
`,
  );
  assert.ok(html.includes(`v=spf1 ${'ip4:192.0.2.1 '.repeat(8)}-all</td>`));
  const [block] = NEWS.blocks as [{ heading: string; steps: [] }];
  const one = mailFrame({ ...NEWS, blocks: [{ ...block, steps: block.steps.slice(1) }] });
  assert.match(one.text, /\n\nThen send again\.\n/);
  assert.ok(!one.html.includes('2.</td>') && !one.html.includes('1.</td>'));
});

test('mailFrame escapes hostile text and loads nothing', () => {
  const evil = '"><script>a()</script>\'&amp;\r\n\u0000\u202e';
  const { text, html } = mailFrame({
    title: evil,
    preheader: evil,
    badge: { tone: 'fail', word: evil },
    blocks: [
      evil,
      { facts: [[evil, evil]] },
      {
        heading: evil,
        steps: [
          { title: evil, text: evil, record: { type: evil, name: evil, value: evil } },
          { title: '', text: evil, record: null },
        ],
      },
    ],
    button: { label: evil, url: `https://a.example/?q=${evil}` },
    footer: evil,
  });
  assert.ok(!html.includes('<script'));
  assert.ok(!html.includes('"><s'));
  assert.ok(html.includes('&quot;&gt;&lt;script&gt;a()&lt;/script&gt;&#39;&amp;amp;'));
  for (const part of [text, html]) assert.doesNotMatch(part, /[\0\r\u202e]/);
  assert.doesNotMatch(html, /\bsrc=|url\(|@import|<link/);
});

test('mailFrame HTML stays small', () => {
  assert.ok(mailFrame(CONTENT).html.length < 5_000);
  const blocks = Array.from({ length: 30 }, () => 'A sentence of a good length. '.repeat(10));
  assert.ok(mailFrame({ ...CONTENT, blocks }).html.length < 20_000);
});

describe('Mail frame in Chromium', { skip: skipUnlessInstalled('chromium') }, () => {
  it('fits every width in both themes with a visible button', async (t) => {
    const browser = await startBrowser();
    t.after(() => browser.close());
    const long = 'x'.repeat(300);
    const { html } = mailFrame({
      ...CONTENT,
      title: `${CONTENT.title} ${long}`,
      badge: { tone: 'fail', word: 'Alert' },
      blocks: [
        ...CONTENT.blocks,
        ...NEWS.blocks,
        long,
        { facts: [['Subject', long]] },
        {
          heading: long,
          steps: [
            { title: long, text: long, record: { type: 'TXT', name: long, value: long } },
            { title: '', text: long, record: null },
          ],
        },
      ],
      footer: long,
    });
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await browser.newPage({ colorScheme });
      const requests: string[] = [];
      page.on('request', (request) => requests.push(request.url()));
      for (const width of [320, 390, 600, 1200]) {
        await page.setViewportSize({ width, height: 600 });
        await page.setContent(html);
        const needed = await page.evaluate('document.documentElement.scrollWidth');
        assert.equal(needed, width, `${colorScheme} at ${width}`);
        const card = (await page.locator('.card').boundingBox())!;
        assert.ok(card.width <= 600, `${card.width}`);
      }
      const colorOf = (selector: string, property: string) =>
        page.evaluate(
          `getComputedStyle(document.querySelector('${selector}'))['${property}']`,
        ) as Promise<string>;
      const card = luminance(await colorOf('.card', 'backgroundColor'));
      for (const [selector, least] of [
        ['h1', 4.5],
        ['p', 4.5],
        ['.card .accent', 4.5],
        ['th', 4.5],
        ['td b', 4.5],
      ] as const)
        assert.ok(
          contrast(luminance(await colorOf(selector, 'color')), card) >= least,
          `${selector} in ${colorScheme}`,
        );
      const button = luminance(await colorOf('.button', 'backgroundColor'));
      assert.ok(contrast(button, card) >= 3, `button in ${colorScheme}`);
      assert.ok(contrast(button, luminance(await colorOf('.button a', 'color'))) >= 4.5);
      for (const tone of ['fail', 'pass', 'unknown'] as const) {
        await page.setContent(mailFrame({ ...NEWS, badge: { tone, word: 'News' } }).html);
        for (const selector of [`.badge-${tone}`, '.sunken']) {
          const [ink, behind] = [
            await colorOf(selector, 'color'),
            await colorOf(selector, 'backgroundColor'),
          ].map(luminance) as [number, number];
          assert.ok(contrast(ink, behind) >= 4.5, `${selector} in ${colorScheme}`);
        }
      }
      assert.deepEqual(requests, []);
      await page.close();
    }
  });
});

/** Relative luminance of `rgb(r, g, b)` (WCAG 2.2). */
function luminance(color: string): number {
  const [r, g, b] = color.match(/\d+/g)!.map((part) => {
    const value = Number(part) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

const contrast = (a: number, b: number): number =>
  (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
