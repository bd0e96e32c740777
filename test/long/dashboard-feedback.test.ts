/** The pages of feedback in a real browser: a month of reports, and a domain without any. */

// @one-database: about pages in a browser.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { bounce, complaint, GMAIL, runTest, UNKNOWN, withId } from '../feedback/messages.ts';
import {
  BEGIN,
  dmarc,
  mail,
  record,
  text,
  tls,
  tlsFailure,
  tlsPolicy,
} from '../feedback/reading/builders.ts';
import { type FeedbackService, NOW, named, startFeedback } from '../feedback/start.ts';
import { reportsOfDay, SENDERS, STORY_ZONE } from '../feedback/story.ts';
import { checkLook, type MemberBrowser, SIZES, startMemberBrowser } from './dashboard.ts';

const DAY_S = 86_400;
/** Where pictures go, to look at them. */
const PICTURES = process.env.FEEDBACK_PICTURES;

async function startStory(t: TestContext) {
  const feedback = await startFeedback(t, { zone: STORY_ZONE });
  for (let day = 27; day >= 0; day--)
    for (const report of reportsOfDay(BEGIN - day * DAY_S, {
      reporters: 3,
      sendgridSigns: day < 6,
      newcomer: day < 8,
    }))
      await feedback.upload(report);
  await feedback.upload(tls({}, [tlsPolicy({}, {}, [tlsFailure()])]));
  await feedback.upload('{"not": "a report"}');
  await named(feedback);
  await feedback.service.call('POST', '/v1/domains', { json: { name: 'quiet.example' } });
  feedback.service.app.scheduler.wakeHere('domains.feedback-records');
  return feedback;
}

const DAY_MS = DAY_S * 1000;

/** Two weeks of complaints and bounces, most of them about one newsletter. */
async function sendMessages(feedback: FeedbackService) {
  const { clock, send } = feedback;
  for (let day = 14; day >= 0; day -= 2) {
    clock.set(NOW - day * DAY_MS);
    const id = (name: string) => `${name}-${day}`;
    await send(complaint('abuse', SENDERS.mailchimp, { id: id('a') }));
    if (day % 4 === 0) await send(complaint('abuse', '192.0.2.200', { id: id('b') }));
    if (day > 8) continue;
    await send(bounce({ ...GMAIL, original: withId(id('c')) }), { sign: false });
    await send(bounce({ status: '5.1.1', original: withId(id('d')) }), { sign: false });
    await send(
      bounce({
        server: 'mx.other.example',
        remote: 'eu-smtp-inbound-1.mimecast.com',
        status: '5.0.0',
        reply: '550 SPF Sender Invalid - envelope rejected',
        original: withId(id('e'), UNKNOWN),
      }),
      { sign: false },
    );
    await send(bounce({ status: '4.2.2', original: withId(id('f')) }), { sign: false });
  }
  await runTest(feedback, '203.0.113.7');
}

async function takePictures(browser: MemberBrowser, paths: Record<string, string>) {
  if (PICTURES === undefined) return;
  mkdirSync(PICTURES, { recursive: true });
  for (const [name, path] of Object.entries(paths))
    for (const [size, viewport] of Object.entries(SIZES))
      for (const colorScheme of ['light', 'dark'] as const) {
        const look = await browser.open(path, { viewport, colorScheme });
        await look.screenshot({
          path: `${PICTURES}/${name}-${size}-${colorScheme}.png`,
          fullPage: true,
        });
        await look.context().close();
      }
}

test('Feedback is read, marked and understood in a browser', async (t) => {
  const feedback = await startStory(t);
  const { domain, service } = feedback;
  const browser = await startMemberBrowser(t, service, 'member');
  const page = await browser.open('/feedback');
  await page.getByRole('link', { name: 'example.com' }).click();
  await page
    .getByText('Not ready for p=quarantine: failing mail from SendGrid would go to spam.')
    .waitFor();
  await page.getByText('SendGrid: 660 of 840 messages fail DMARC.').waitFor();
  const senders = page.locator('#sources tbody tr');
  // Choices apply at once.
  await page.getByLabel('Show').selectOption({ label: 'Only new' });
  await page.getByText('New: seen in the last 30 days').waitFor();
  // All others were there when reports began.
  assert.equal(await senders.count(), 1);
  await senders.first().getByText('example.net').waitFor();
  await page.getByLabel('Show').selectOption({ label: 'Only failing' });
  await page.waitForURL(/show=failing/);
  assert.equal(await senders.count(), 1);
  await page.getByLabel('Period').selectOption({ label: 'Last 90 days' });
  await page.waitForURL(/days=90/);
  assert.match(page.url(), /show=failing/);
  await page.getByLabel('Reported by').selectOption({ label: 'yahoo.com' });
  await page.getByText('For one reporter, the page shows the last 30 days only.').waitFor();
  assert.equal(await senders.first().locator('td').nth(2).innerText(), '280');
  await page.getByLabel('Reported by').selectOption({ label: 'All reporters' });
  await page.waitForURL(/days=90(?!.*reporter)/);
  await senders.first().getByRole('link').click();
  await page.getByRole('heading', { name: 'SendGrid', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Send a test through SendGrid' }).waitFor();
  await page.getByRole('combobox', { name: 'Classification' }).selectOption({ label: 'Not ours' });
  await page.getByLabel('Name').fill('Old shop');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved. It applies to all reports.').waitFor();
  await page.getByRole('link', { name: 'example.com' }).click();
  await page.getByText('You can change the policy to p=quarantine.').waitFor();
  await page.goto(`${service.url}/feedback/reports`);
  await page.getByLabel('Status').selectOption({ label: 'Refused' });
  await page.waitForURL(/status=refused/);
  assert.equal(await page.locator('main tbody tr').count(), 1);
  const overridden = '<reason><type>local_policy</type><comment>arc=pass</comment></reason>';
  const records = record({ dkim: 'fail', spf: 'fail', reasons: overridden });
  const strange = mail([{ type: 'text/xml', content: dmarc({ id: 'strange', records }) }]);
  await feedback.send(strange, { from: 'stranger.example' });
  const [unconfirmed] = await feedback.reports('&status=unconfirmed');
  const reports = await service.call<{ data: { id: string }[] }>(
    'GET',
    '/v1/feedback/reports?type=dmarc&limit=1',
  );
  const sources = await service.call<{ data: { id: string }[] }>(
    'GET',
    `/v1/feedback/sources?domain_id=${domain.id}`,
  );
  const domains = await service.call<{ data: { id: string; name: string }[] }>(
    'GET',
    '/v1/domains',
  );
  const quiet = domains.body.data.find(({ name }) => name === 'quiet.example')!;
  const paths = {
    list: '/feedback',
    domain: `/feedback/domains/${domain.id}`,
    quiet: `/feedback/domains/${quiet.id}`,
    source: `/feedback/sources/${sources.body.data[2]!.id}`,
    shown: `/feedback/domains/${domain.id}?show=new&reporter=yahoo.com`,
    reports: '/feedback/reports',
    report: `/feedback/reports/${reports.body.data[0]!.id}`,
    tls: `/feedback/domains/${domain.id}/tls`,
    'quiet-tls': `/feedback/domains/${quiet.id}/tls`,
    reporters: `/feedback/domains/${domain.id}/reporters`,
    past: `/feedback/sources/${sources.body.data[2]!.id}?from=2026-11-01&to=2026-11-10`,
    unconfirmed: `/feedback/reports/${unconfirmed!.id}`,
  };
  for (const path of Object.values(paths)) await checkLook(browser, path);
  await takePictures(browser, paths);

  await page.goto(`${service.url}/feedback/reports/${unconfirmed!.id}`);
  await page.getByRole('heading', { name: 'Trusted ARC chain: 2 messages' }).waitFor();
  await page.getByText('Confirm this reporter…').click();
  await page.getByRole('button', { name: 'Confirm and count its reports' }).click();
  await page.getByRole('button', { name: 'Stop counting its reports' }).click();
  await page.getByText('The reporter is no longer confirmed.').waitFor();
  await page.getByText('Delete report…').click();
  await page.getByRole('button', { name: 'Delete report', exact: true }).click();
  await page.getByText('The report is deleted.').waitFor();
  await page.goto(`${service.url}/feedback/domains/${domain.id}`);
  await page.getByText('Show as a table').click();
  await page.locator('#by-day tbody th a').last().click();
  await page.waitForURL(/type=dmarc&day=2026-11-21&status=counted/);
  assert.equal(await page.locator('main tbody tr').count(), 3);
});

test('Complaints and bounces are read in a browser, with what to fix', async (t) => {
  const feedback = await startStory(t);
  await sendMessages(feedback);
  const { domain, service } = feedback;
  const browser = await startMemberBrowser(t, service, 'viewer');
  const page = await browser.open(`/feedback/domains/${domain.id}`);
  await page.getByRole('link', { name: 'Complaints', exact: true }).click();
  await page.getByText('Recipients marked 12 messages as spam.').waitFor();
  await page.getByLabel('Period').selectOption({ label: 'Last 7 days' });
  await page.getByText('Recipients marked 6 messages as spam.').waitFor();
  await page.getByText('Show as a table').click();
  assert.equal(await page.locator('#by-day tbody tr').count(), 4);
  const source = page.locator('#by-source').getByRole('link', { name: 'Mailchimp' });
  assert.match((await source.getAttribute('href'))!, /^\/feedback\/sources\/src_/);
  await page.getByRole('link', { name: 'Bounces', exact: true }).click();
  await page.getByText('20 bounces: 10 policy, 5 hard, 5 soft.').waitFor();
  await page.getByRole('heading', { name: 'Gmail 5.7.26' }).waitFor();
  await page.getByLabel('Result').selectOption({ label: 'Hard bounce' });
  await page.getByRole('link', { name: 'Clear filters' }).waitFor();
  assert.equal(await page.locator('#newest tbody tr').count(), 5);
  await page.locator('#rejected .finding').first().getByRole('link').click();
  await page.locator('#check-dkim').waitFor();
  const domains = await service.call<{ data: { id: string; name: string }[] }>(
    'GET',
    '/v1/domains',
  );
  const quiet = domains.body.data.find(({ name }) => name === 'quiet.example')!;
  const paths = {
    complaints: `/feedback/domains/${domain.id}/complaints`,
    bounces: `/feedback/domains/${domain.id}/bounces`,
    empty: `/feedback/domains/${quiet.id}/bounces`,
  };
  for (const path of Object.values(paths)) await checkLook(browser, path);
  await takePictures(browser, paths);
});

const file = (name: string, text: string) => ({
  name,
  mimeType: 'application/octet-stream',
  buffer: Buffer.from(text),
});

test('Files are uploaded one by one with a line for each, chosen with the keyboard or dropped', async (t) => {
  const { service } = await startFeedback(t);
  const browser = await startMemberBrowser(t, service, 'member');
  const page = await browser.open('/feedback/reports', { expectedErrors: /status of 401/ });
  const lines = page.locator('.upload-lines li');
  await page
    .getByLabel('Files')
    .setInputFiles([
      file('first.xml', dmarc({ id: 'first' })),
      file('again.xml', dmarc({ id: 'first' })),
      file('notes.txt', 'hello'),
      file('empty.xml', ''),
      file('huge.xml', 'x'.repeat(service.app.config.FEEDBACK_MAX_SIZE + 1)),
    ]);
  await page.getByLabel('Files').press('Tab');
  await page.keyboard.press('Enter');
  await page.getByText('Larger than').waitFor();
  const shown = (await lines.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '));
  assert.deepEqual(shown.slice(0, 2), ['first.xml Counted', 'again.xml Duplicate']);
  assert.match(shown[2]!, /^notes\.txt Refused: /);
  assert.deepEqual(shown.slice(3), ['empty.xml The file is empty', 'huge.xml Larger than 16 MB']);
  await page.getByText('Files with accepted reports: 2. Other files: 3.').waitFor();

  // As a browser does when files are dropped.
  await page.evaluate(
    `(() => {
      const data = new DataTransfer();
      data.items.add(new File([${JSON.stringify(dmarc({ id: 'dropped' }))}], 'dropped.xml'));
      for (const type of ['dragover', 'drop'])
        document.querySelector('h1').dispatchEvent(
          new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: data }));
    })()`,
  );
  await lines.nth(5).getByRole('link', { name: 'Counted' }).click();
  await page.getByRole('heading', { name: 'DMARC report from receiver.example' }).waitFor();

  // A session that ends meanwhile is said so.
  await page.goto(`${service.url}/feedback/reports`);
  await page.context().clearCookies();
  await page.getByLabel('Files').setInputFiles([file('late.xml', dmarc({ id: 'late' }))]);
  await page.getByRole('button', { name: 'Upload' }).click();
  await page.getByText('Your session has ended.').waitFor();
});

test('Without scripts, the form uploads several files, and each has a line', async (t) => {
  const { service } = await startFeedback(t);
  const browser = await startMemberBrowser(t, service, 'member');
  const page = await browser.open('/feedback/reports', { javaScriptEnabled: false });
  await page
    .getByLabel('Files')
    .setInputFiles([file('a.xml', dmarc({ id: 'a' })), file('b.txt', 'hello'), file('c.xml', '')]);
  await page.getByRole('button', { name: 'Upload' }).click();
  const lines = await page.locator('#uploaded li').allInnerTexts();
  const shown = lines.map((text) => text.replaceAll(/\s+/g, ' '));
  assert.equal(shown[0], 'a.xml Counted');
  assert.match(shown[1]!, /^b\.txt Refused: /);
  assert.match(shown[2]!, /^c\.xml The request body is empty/);
});

test('Sources and rows are read in pages; the chart is readable as a table, and nothing moves', async (t) => {
  const feedback = await startFeedback(t);
  const { service, domain } = feedback;
  const addresses = Array.from({ length: 120 }, (_, i) => `198.18.${i}.1`);
  const [report] = await feedback.upload(
    dmarc({ records: addresses.map((source) => record({ source })).join('') }),
  );
  await named(feedback);
  const browser = await startMemberBrowser(t, service, 'viewer');
  const page = await browser.open(`/feedback/domains/${domain.id}`);
  const senders = page.locator('#sources tbody tr');
  const seen = new Set<string>();
  for (const [count, link] of [
    [50, 'Next →'],
    [50, 'Next →'],
    [20, '← Previous'],
    [50, null],
  ] as const) {
    await page.waitForFunction(
      `document.querySelectorAll('#sources tbody tr').length === ${count}`,
    );
    for (const name of await senders.locator('a').allInnerTexts()) seen.add(name);
    if (link) await page.getByRole('link', { name: link }).click();
  }
  assert.equal(seen.size, 120);
  await page.getByText('Show as a table').click();
  await page.getByRole('cell', { name: '240' }).first().waitFor();
  const shift = await page.evaluate(
    `new Promise((resolve) => {
      let sum = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value;
      }).observe({ type: 'layout-shift', buffered: true });
      requestAnimationFrame(() => requestAnimationFrame(() => resolve(sum)));
    })`,
  );
  assert.equal(shift, 0);

  await page.goto(`${service.url}/feedback/reports/${report!.id}`);
  await page.getByRole('link', { name: 'Next rows →' }).click();
  await page.getByRole('link', { name: 'Next rows →' }).click();
  await page.getByRole('link', { name: '← Previous rows' }).waitFor();
  assert.equal(await page.locator('#rows tbody tr').count(), 20);
  assert.equal(await page.getByRole('link', { name: '198.18.119.0/24' }).count(), 1);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Export as CSV' }).click(),
  ]);
  assert.equal(download.suggestedFilename(), `rows-${report!.id}.csv`);
  await page.getByLabel('Show').selectOption({ label: 'Only failed' });
  await page.getByText('No row matches.').waitFor();
});

test('The steps of the set-up are marked as done automatically', async (t) => {
  const published: { TXT?: string[] } = {};
  const feedback = await startFeedback(t, { zone: { '_dmarc.example.com': published } });
  const { service, domain } = feedback;
  const browser = await startMemberBrowser(t, service, 'member');
  const page = await browser.open(`/feedback/domains/${domain.id}`);
  const states = () =>
    page.locator('.step-head .state').evaluateAll((all) => all.map((each) => each.textContent));
  service.app.scheduler.wakeHere('domains.feedback-records');
  await page.getByText('Not published yet').waitFor();
  assert.deepEqual(await states(), ['Not published yet', 'Not started', 'Not started']);
  assert.equal(await page.getByRole('button', { name: 'Copy the value' }).count(), 3);
  const { body } = await service.call<{ feedback: { records: { name: string; value: string }[] } }>(
    'GET',
    `/v1/domains/${domain.id}`,
  );
  const [dmarcRecord] = body.feedback.records;
  published.TXT = [dmarcRecord!.value];
  feedback.clock.advance(3_600_000);
  service.app.scheduler.wakeHere('domains.feedback-records');
  await page.locator('.step-head').first().getByText('Done').waitFor();
  assert.deepEqual(await states(), ['Done', 'Waiting', 'Waiting']);
  // Only a report that arrives shows that the address works.
  await feedback.upload(dmarc({ id: 'uploaded' }));
  await page.getByText('This page shows the reports that you uploaded.').waitFor();
  assert.deepEqual(await states(), ['Done', 'Waiting', 'Waiting']);
  await feedback.send(mail([text('A report.'), { type: 'application/xml', content: dmarc() }]));
  await page.getByText('Set up: receiving reports').waitFor();
});

test('A viewer reads feedback and changes nothing', async (t) => {
  const { domain, service } = await startStory(t);
  const browser = await startMemberBrowser(t, service, 'viewer');
  const page = await browser.open(`/feedback/domains/${domain.id}`);
  await page.locator('#sources tbody tr').first().getByRole('link').click();
  await page.getByRole('heading', { name: 'Addresses' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Save' }).count(), 0);
});
