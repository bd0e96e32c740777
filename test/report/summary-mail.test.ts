/** The email of a scheduled report: its subject, both parts, hostile names, and its layout in Chromium. */

import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import type { ScheduledReport } from '../../src/report/summary.ts';
import { previewOf, reportMail } from '../../src/report/summary-mail.ts';
import { startBrowser } from '../helpers/chromium.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { DAY, HOSTILE, MONTH, NOTHING, UNSCORED, WEEK } from './scheduled-reports.ts';

const UNSUBSCRIBE = 'https://app.example.com/unsubscribe/kJ8vS2cWm4qpQe7TnYx0';
const READER = { unsubscribeUrl: UNSUBSCRIBE, hasPdf: false };
const mailOf = (report: ScheduledReport) => reportMail(report, READER);
const summaryWith = (change: Partial<ScheduledReport['summary']>): ScheduledReport => ({
  ...WEEK,
  summary: { ...WEEK.summary, ...change },
});

test('Report mail subject states score, change and problems', () => {
  const [critical, , healthy] = WEEK.domains as [never, never, never];
  const worse = summaryWith({ avg_score: 80.2 });
  const first = summaryWith({ previous: NOTHING.summary.previous });
  for (const [report, subject] of [
    [WEEK, 'Deliverability last week: 87 (+4), 2 domains need attention'],
    [MONTH, 'Deliverability last month: 87 (+4), 2 domains need attention'],
    [
      { ...DAY, domains: [critical] },
      'Deliverability yesterday: 87 (+4), 1 domain needs attention',
    ],
    [{ ...DAY, domains: [], incidents: [] }, 'Deliverability yesterday: 87 (+4)'],
    [{ ...WEEK, domains: [healthy] }, 'Deliverability last week: 87 (+4), 1 open incident'],
    [{ ...WEEK, sections: ['summary'] }, 'Deliverability last week: 87 (+4)'],
    [{ ...worse, sections: [] }, 'Deliverability last week: 80 (-3)'],
    [{ ...first, sections: [] }, 'Deliverability last week: 87'],
    [
      { ...summaryWith({ avg_score: 83 }), sections: [] },
      'Deliverability last week: 83 (unchanged)',
    ],
    [NOTHING, 'Deliverability last week: no tests'],
    [{ ...UNSCORED, sections: [] }, 'Deliverability last week: no score'],
    [HOSTILE, 'Deliverability last month: 87 (+4), 20 or more domains need attention'],
  ] as [ScheduledReport, string][])
    assert.equal(mailOf(report).subject, subject);
});

test('Report mail text part contains every figure', () => {
  const { text } = mailOf(WEEK);
  assert.ok(
    text.startsWith(
      'Deliverability last week\n\nShop and newsletter\nMon 16 Nov 2026 to Sun 22 Nov 2026 (Europe/Berlin)\n\nScore: 87 out of 100, grade B\nAverage of 42 tests (36 the week before).\nUp 4 points from the week before (83).\n\nSPF: 98% of 42 tests passed\nDKIM: 95% of 41 tests passed\nDMARC: 93% of 1 test passed\n',
    ),
    text,
  );
  for (const line of [
    'Inbox: 92% of 126 samples',
    'A 20, B 12, C 5, D 3, F 2',
    '- 12 tests: Your DMARC policy is missing or not enforced.',
    'Sun 22 Nov: no tests',
    '- ✗ Critical, 41: shop.example',
    '- ✗ Open: shop.example: SPF, DKIM or DMARC fails',
    '  Alert “Authentication of the shop”: open since Fri 20 Nov 2026, 14:05',
    UNSUBSCRIBE,
  ])
    assert.ok(text.split('\n').includes(line), line);
  assert.doesNotMatch(text, /<|&amp;|cid:/);
  for (const line of text.split('\n')) assert.ok(line.length <= 72 || line.includes('://'), line);
});

test('Report mail contains the requested sections; images only with trends', () => {
  const marks = {
    summary: 'Most frequent issues',
    trends: 'Average score by day',
    alerts: 'Domains',
  };
  for (const section of ['summary', 'trends', 'alerts'] as const) {
    const { text, html, images } = mailOf({ ...WEEK, sections: [section] });
    for (const [name, mark] of Object.entries(marks))
      for (const part of [text, html])
        assert.equal(part.includes(mark), name === section, `${mark} in ${section}`);
    assert.equal(images.length, section === 'trends' ? 2 : 0);
  }
});

test('Report mail shows the inbox rate only with samples and no rates without tests', () => {
  const without = { placement_samples: 0, inbox_rate: 0, placement: { seeds: 0, by_provider: [] } };
  assert.ok(!mailOf(summaryWith(without)).text.includes('Inbox'));
  const few = mailOf(summaryWith({ placement_samples: 2, inbox_rate: 0.5 })).text;
  assert.match(few, /too few: 2 samples of 6 seed mailboxes/);
  const oneSeed = { seeds: 1, by_provider: [] };
  const one = mailOf(
    summaryWith({ placement_samples: 30, inbox_rate: 1, placement: oneSeed }),
  ).text;
  assert.match(one, /too few: 30 samples of 1 seed mailbox/);
  const { text, html, images } = mailOf(NOTHING);
  assert.ok(text.includes('No score: no tests were completed in this period.'));
  for (const part of [text, html])
    assert.doesNotMatch(part, /%\s+of tests|Score:|NaN|undefined|null/);
  assert.deepEqual(images, []);
});

test('Report mail shows the inbox rate of each provider with its samples, and none below 3', () => {
  const { text, html } = mailOf(WEEK);
  assert.ok(text.includes('95%: Gmail\n  of 84 samples, 30 in tabs, 4 in spam\n'));
  assert.ok(text.includes('too few: GMX\n  2 samples, 1 missing\n'));
  for (const part of [text, html].map((each) => each.replace(/\s+/g, ' '))) {
    assert.ok(
      part.includes('No rate is shown for a provider with fewer than 3 seed mailboxes or samples.'),
    );
    assert.ok(part.includes('Seed mailboxes are a sample.'));
  }
});

test('Report mail without scores says so and shows unknown rates as unknown', () => {
  const { text, html, subject } = mailOf(UNSCORED);
  assert.equal(subject, 'Deliverability last week: no score, 2 domains need attention');
  for (const part of [text, html]) {
    assert.ok(part.includes('No score: no test in this period has a score.'));
    assert.ok(part.includes('3 tests (36 the week before).'));
    assert.ok(part.includes('The score was 83 the week before.'));
    assert.doesNotMatch(part, /grade|Grades|Average|(?<!\d)0% of|NaN|undefined|null|0 out of 100/);
    assert.equal(part.match(/: unknown\n|>unknown</g)!.length, 3);
  }
  assert.ok(text.includes('SPF: unknown\nDKIM: unknown\nDMARC: unknown\n'));
  assert.ok(text.includes('Tests by day') && text.includes('Wed 18 Nov: 3\n'));
});

test('Report mail handles a previous period without score and partial scores', () => {
  const { text } = mailOf(
    summaryWith({ scored: 40, previous: { ...WEEK.summary.previous, scored: 0, avg_score: 0 } }),
  );
  assert.ok(text.includes('Average of 40 of 42 tests (36 the week before).'));
  assert.ok(text.includes('No score the week before.'));
  assert.doesNotMatch(text, /Up \d|87 points/);
});

test('Report mail says once that there were no tests in the previous period', () => {
  const previous = NOTHING.summary.previous;
  for (const [report, tests] of [
    [
      { ...DAY, summary: { ...DAY.summary, total_tests: 1, scored: 1, previous } },
      'Average of 1 test.',
    ],
    [{ ...UNSCORED, summary: { ...UNSCORED.summary, previous } }, '3 tests.'],
  ] as const) {
    const lines = mailOf(report).text.split('\n');
    const before = report.frequency === 'daily' ? 'the day before' : 'the week before';
    assert.deepEqual(
      lines.filter((line) => line.includes(before)),
      [`No tests ${before}.`],
    );
    assert.ok(lines.includes(tests), lines.join('\n'));
  }
});

test('Report mail names the single day of a daily report, also one of 23 hours', () => {
  const spring = { from: '2026-03-28T23:00:00.000Z', to: '2026-03-29T22:00:00.000Z' };
  for (const [change, line] of [
    [{}, 'Sun 22 Nov 2026 (Europe/Berlin)'],
    [spring, 'Sun 29 Mar 2026 (Europe/Berlin)'],
  ] as const) {
    const { text } = mailOf({ ...DAY, summary: { ...DAY.summary, ...change } });
    assert.ok(text.split('\n').includes(line), text);
  }
});

test('Report mail charts are drawn once for all recipients', () => {
  const report = { ...WEEK };
  const [one, other] = ['a', 'b'].map((name) =>
    reportMail(report, { ...READER, unsubscribeUrl: `${UNSUBSCRIBE}${name}` }),
  );
  assert.equal(one!.images.length, 2);
  for (const [i, { content }] of one!.images.entries())
    assert.equal(other!.images[i]!.content, content);
  assert.notEqual(one!.html, other!.html);
});

test('Report mail images are attached, referenced once and have alt text', () => {
  const { html, images } = mailOf(WEEK);
  const named = [...html.matchAll(/<img src="cid:([^"]+)" alt="([^"]+)"/g)];
  assert.deepEqual(
    named.map(([, cid]) => cid),
    images.map(({ cid }) => cid),
  );
  assert.equal(
    named[0]![2],
    'Average score by day. Mon 16 Nov: 62; Tue 17 Nov: 75; Wed 18 Nov: 88; Thu 19 Nov: 64; Fri 20 Nov: 77; Sat 21 Nov: 90; Sun 22 Nov: no tests.',
  );
  for (const { cid, content } of images) {
    assert.match(cid, /^[a-z]+\.[a-z0-9]+@app\.example\.com$/);
    assert.ok(content.length < 3000);
  }
  assert.deepEqual(mailOf(WEEK), mailOf(WEEK));
});

test('Report mail preview loads nothing external', () => {
  const preview = previewOf(reportMail(WEEK, { unsubscribeUrl: null, hasPdf: false }));
  assert.ok(!preview.includes('cid:'));
  assert.equal(preview.match(/src="data:image\/png;base64,/g)!.length, 2);
  assert.ok(!preview.includes('Unsubscribe'));
});

test('Report mail with a PDF is short and mentions the attachment', () => {
  const { text, html, images } = reportMail(WEEK, { ...READER, hasPdf: true });
  assert.deepEqual(images, []);
  for (const part of [text, html]) {
    assert.ok(part.includes('See the attached PDF for the full report.'));
    assert.ok(!part.includes('Most frequent issues'));
    assert.ok(part.includes(UNSUBSCRIBE));
  }
});

test('Report mail escapes hostile names and stays below the clipping size', () => {
  const { subject, text, html } = mailOf(HOSTILE);
  for (const part of [subject, text, html]) assert.doesNotMatch(part, /[\0\r\u202e\ud800]/u);
  assert.doesNotMatch(subject, /\n/);
  assert.doesNotMatch(text, /^Bcc:/m);
  assert.doesNotMatch(html, /<script|"><scr/);
  assert.doesNotMatch(html, /url\(|@import|<link/);
  assert.ok(Buffer.byteLength(html) < 60 * 1024, `${html.length}`);
  assert.ok(text.includes('And 980 more.') && html.includes('And 980 more.'));
});

describe('Report mail in Chromium', { skip: skipUnlessInstalled('chromium') }, () => {
  it('fits every width in both themes, is readable and loads nothing', async (t) => {
    const browser = await startBrowser();
    t.after(() => browser.close());
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await browser.newPage({ colorScheme });
      const requests: string[] = [];
      page.on('request', (request) => {
        if (!request.url().startsWith('data:')) requests.push(request.url());
      });
      for (const report of [WEEK, MONTH, NOTHING, UNSCORED, HOSTILE])
        for (const width of [320, 360, 600, 1200]) {
          await page.setViewportSize({ width, height: 600 });
          await page.setContent(previewOf(mailOf(report)));
          const needed = await page.evaluate('document.documentElement.scrollWidth');
          assert.equal(needed, width, `${report.name} in ${colorScheme} at ${width}`);
        }
      await page.setContent(previewOf(mailOf(WEEK)));
      const lowContrast = (await page.evaluate(LOW_CONTRAST_TEXTS)) as string[];
      assert.deepEqual(lowContrast, [], colorScheme);
      assert.deepEqual(requests, []);
      await page.close();
    }
  });
});

/** Visible texts with a contrast below 4.5, except the squares of the legend (3). */
const LOW_CONTRAST_TEXTS = `(() => {
  const luminance = (color) => {
    const [r, g, b] = color.match(/\\d+/g).map((part) => {
      const value = part / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = luminance(getComputedStyle(document.querySelector('.card')).backgroundColor);
  const lowContrast = [];
  const walker = document.createTreeWalker(document.querySelector('.card'), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { textContent, parentElement } = walker.currentNode;
    const text = textContent.trim();
    if (text === '' || parentElement.closest('.button')) continue;
    const ink = luminance(getComputedStyle(parentElement).color);
    const contrast = (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
    if (contrast < (text === '■' ? 3 : 4.5)) lowContrast.push(text + ' ' + contrast.toFixed(2));
  }
  return lowContrast;
})()`;
